//! One pass: the record is booked, what must leave is released, open apps take their turns.
//!
//! Passes are repeated until one changes nothing; since a pass is a function of what runs and of nothing else, the
//! result scheduled again changes nothing either.

mod first;
mod open;
mod turn;

use std::collections::BTreeMap;

use super::stage::Stage;
use super::state::AppState;
use super::view::is_daemon;
use crate::base::AppId;

use open::Open;

/// One pass over all apps. Gives those that took a turn.
pub(super) fn pass(stage: &mut Stage<'_, '_>) -> Vec<AppId> {
    let order = stage.view.order.clone();
    order.iter().for_each(|id| stage.look_around(*id));
    first::book_the_record(stage);
    stage.settle_homes();
    let open = take_turns(stage, &order);
    stage.is_booked = true;
    open
}

/// One pass over some apps, in the order of their turns, all others being booked and at rest.
pub(super) fn pass_over(stage: &mut Stage<'_, '_>, some: &[AppId]) {
    some.iter().for_each(|id| stage.look_around(*id));
    first::give_up_in_place(stage, some);
    stage.settle_homes_of(some);
    take_turns(stage, some);
}

fn take_turns(stage: &mut Stage<'_, '_>, order: &[AppId]) -> Vec<AppId> {
    let mut open: Vec<(AppId, Open)> = Vec::new();
    for id in order {
        stage.deficits[id.index()].clear();
        open.extend(open::open(stage, *id).map(|why| (*id, why)));
    }
    let mut all: Vec<AppId> = open.iter().map(|(id, _)| *id).collect();
    // What only gives up replicas goes first: how it does depends on no room, and others may want the place.
    let (shrinking, others): (Vec<_>, Vec<_>) = open.into_iter().partition(|(_, why)| why.only_shrinks);
    for (id, why) in shrinking {
        turn::take(stage, id, why);
    }
    // DaemonSets shrink the nodes before anybody is placed on them.
    let daemons: Vec<(AppId, AppState)> = others
        .iter()
        .filter(|(id, _)| stage.view.fleet.app(*id).workloads.iter().any(is_daemon))
        .map(|(id, _)| *id)
        .collect::<Vec<_>>()
        .into_iter()
        .map(|id| (id, turn::book_daemons_ahead(stage, id)))
        .collect();
    let mut turns: BTreeMap<_, (AppId, Open)> = others.into_iter().map(|one| (position(stage, one.0), one)).collect();
    while let Some((_, (id, why))) = turns.pop_first() {
        if let Ok(at) = daemons.binary_search_by_key(&position(stage, id), |(id, _)| position(stage, *id)) {
            turn::unbook_daemons_ahead(stage, id, &daemons[at].1);
        }
        let of_followers = turn::book_daemons_of_followers(stage, id, &daemons);
        let unfit = stage.unfit.len();
        turn::take(stage, id, why);
        for (follower, ahead) in &of_followers {
            turn::unbook_daemons_ahead(stage, *follower, ahead);
        }
        if stage.unfit.len() > unfit {
            // where its group was to gather it does not: those that were there already are not where it is
            for follower in stage.view.together.of(id).map(|group| group.members.clone()).unwrap_or_default() {
                if follower != id
                    && order.contains(&follower)
                    && position(stage, follower) > position(stage, id)
                    && !turns.contains_key(&position(stage, follower))
                    && let Some(why) = open::open(stage, follower)
                {
                    turns.insert(position(stage, follower), (follower, why));
                    all.push(follower);
                }
            }
        }
    }
    all
}

/// The position of an app in the order of the second phase.
fn position(stage: &Stage<'_, '_>, id: AppId) -> (std::cmp::Reverse<i32>, AppId) {
    (std::cmp::Reverse(stage.view.fleet.app(id).priority), id)
}
