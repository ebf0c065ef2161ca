//! Groups of apps of one team: by the value of a label.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::base::{AppId, SmolStr, TeamId};
use crate::model::{Fleet, Placement};

/// By app that shares its clusters with others and is not the first of them: the first.
pub(crate) fn leaders(fleet: &Fleet) -> BTreeMap<AppId, AppId> {
    if fleet.apps.iter().all(|app| app.placement.affinity.is_none()) {
        return BTreeMap::new();
    }
    let together = Groups::new(fleet, &in_turn(fleet), |placement| placement.affinity.as_ref());
    let others = together.groups.iter().filter_map(|group| group.members.split_first());
    others.flat_map(|(first, others)| others.iter().map(|id| (*id, *first))).collect()
}

/// All apps in the order of the second phase: by priority, then by name.
pub(super) fn in_turn(fleet: &Fleet) -> Vec<AppId> {
    let mut order: Vec<AppId> = fleet.app_ids().collect();
    order.sort_by_key(|id| (Reverse(fleet.app(*id).priority), *id));
    order
}

/// Groups of two or more apps. Each app is in one at most.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    groups: Vec<Group>,
    /// By app.
    of: BTreeMap<AppId, usize>,
}

/// One group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// `key=value`
    pub name: SmolStr,
    /// In the order of the second phase: the first leads.
    pub members: Vec<AppId>,
}

impl Groups {
    /// Groups apps by the label that their placement names; `order` is that of the second phase.
    pub fn new(fleet: &Fleet, order: &[AppId], key: impl Fn(&Placement) -> Option<&SmolStr>) -> Self {
        let mut members: BTreeMap<(TeamId, SmolStr), Vec<AppId>> = BTreeMap::new();
        for id in order {
            let app = fleet.app(*id);
            let Some(key) = key(&app.placement) else { continue };
            let Some(value) = app.labels.get(key) else { continue };
            members.entry((app.team, format!("{key}={value}").into())).or_default().push(*id);
        }
        members.retain(|_, members| members.len() > 1);
        let groups: Vec<Group> = members.into_iter().map(|((_, name), members)| Group { name, members }).collect();
        let of = groups.iter().enumerate().flat_map(|(at, group)| group.members.iter().map(move |id| (*id, at)));
        let of = of.collect();
        Self { groups, of }
    }

    /// The first app of each group, in order of the groups.
    pub fn leaders(&self) -> Vec<AppId> {
        self.groups.iter().filter_map(|group| group.members.first().copied()).collect()
    }

    /// The group of an app.
    pub fn of(&self, id: AppId) -> Option<&Group> {
        self.groups.get(*self.of.get(&id)?)
    }
}
