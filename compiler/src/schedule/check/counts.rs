//! Sums, floors and caps.

use super::facts::{AppFacts, Inputs, WorkloadFacts, limits, sum};
use crate::api::AutoscaledRoom;
use crate::base::ClusterId;
use crate::divide::share::divide_by_seats;
use crate::model::Share;
use crate::schedule::Deficit;

pub(super) fn check(inputs: &Inputs<'_>, app: &AppFacts<'_>, violations: &mut Vec<String>) {
    // An app that its quota keeps at fewer replicas is divided by those; so is one whose quota was freed after its turn, where it
    // found no room for the rest.
    let has_quota = !inputs.fleet.team(app.app.team).quota.is_empty();
    let refused = app.target.deficits.iter().any(|deficit| {
        matches!(deficit, Deficit::Quota { .. }) || (has_quota && matches!(deficit, Deficit::Unplaced { .. }))
    });
    for facts in &app.workloads {
        let mut wrong = |what: String| violations.push(format!("{}: {what}", inputs.name(app, facts.workload)));
        match facts.workload.share {
            Share::Divided | Share::Whole => {
                let (runs, wanted) = (sum(&facts.after), facts.wanted());
                if runs > u64::from(wanted) {
                    wrong(format!("{runs} replicas of {wanted}"));
                }
            }
            Share::Everywhere => copies(inputs, facts, &mut wrong),
        }
        match facts.workload.share {
            Share::Divided => bounds(inputs, facts, refused, &mut wrong),
            Share::Whole if facts.after.len() > 1 => wrong(format!("in {} clusters", facts.after.len())),
            Share::Whole | Share::Everywhere => {}
        }
        completions(facts, &mut wrong);
        autoscaling(facts, &mut wrong);
    }
}

fn copies(inputs: &Inputs<'_>, facts: &WorkloadFacts<'_>, wrong: &mut impl FnMut(String)) {
    let wanted = if facts.is_daemon() { 1 } else { facts.wanted() };
    for (cluster, replicas) in &facts.after {
        let before = facts.before.get(cluster).copied().unwrap_or(0);
        if *replicas > wanted && *replicas > before.min(wanted) && facts.proper.contains_key(cluster) {
            wrong(format!("{replicas} replicas in cluster {}, {wanted} in each", inputs.cluster(*cluster)));
        }
        if *replicas < wanted && *replicas > before {
            wrong(format!("a new copy of {replicas} of {wanted} in cluster {}", inputs.cluster(*cluster)));
        }
    }
}

fn bounds(inputs: &Inputs<'_>, facts: &WorkloadFacts<'_>, refused: bool, wrong: &mut impl FnMut(String)) {
    for (cluster, replicas) in &facts.proper {
        let (least, most) = limits(facts.workload, *cluster);
        if *replicas > most {
            wrong(format!("{replicas} replicas in cluster {}, at most {most}", inputs.cluster(*cluster)));
        }
        let before = facts.before.get(cluster).copied().unwrap_or(0);
        // Where more is owed than a cluster may have (the most replicas of an autoscaler, over few clusters), it has that.
        if *replicas < least.min(most).min(facts.wanted()) && *replicas > before && !refused {
            wrong(format!("{replicas} replicas in cluster {}, at least {least}", inputs.cluster(*cluster)));
        }
    }
}

/// All completions of a Job are given out, by the shares of its seats; nothing else has any.
fn completions(facts: &WorkloadFacts<'_>, wrong: &mut impl FnMut(String)) {
    let given: u64 = facts.seats.iter().filter_map(|seat| seat.completions).map(u64::from).sum();
    let copies = if facts.is_copied() { facts.after.len() as u64 } else { 1 };
    let all = facts.workload.completions.map_or(0, |n| u64::from(n) * copies);
    let expected = if facts.seats.is_empty() { 0 } else { all };
    if given != expected || facts.seats.iter().any(|s| s.completions.is_some() != facts.workload.completions.is_some())
    {
        wrong(format!("{given} completions given out, of {expected}"));
        return;
    }
    if let Some(total) = facts.workload.completions.filter(|_| !facts.is_copied()) {
        let seats: Vec<u32> = facts.after.values().copied().collect();
        for (cluster, part) in facts.after.keys().zip(divide_by_seats(total, &seats)) {
            if part != given_in(facts, *cluster) {
                wrong("completions that do not follow the seats".to_owned());
            }
        }
    }
}

fn given_in(facts: &WorkloadFacts<'_>, cluster: ClusterId) -> u32 {
    facts.seats.iter().filter(|seat| seat.cluster == cluster).filter_map(|seat| seat.completions).sum()
}

/// Both bounds of an autoscaler are given out to the clusters it runs in, the one that is divided as the seats have it.
fn autoscaling(facts: &WorkloadFacts<'_>, wrong: &mut impl FnMut(String)) {
    let Some(autoscaled) = facts.workload.autoscaled else {
        if facts.seats.iter().any(|seat| seat.bounds.is_some()) {
            wrong("bounds of an autoscaler, and it has none".to_owned());
        }
        return;
    };
    let (mut least, mut most) = (0_u64, 0_u64);
    for seat in &facts.seats {
        let Some((min, max)) = seat.bounds else {
            wrong("a seat without the bounds of its autoscaler".to_owned());
            return;
        };
        let divided = if autoscaled.policy.room == AutoscaledRoom::Max { max } else { min };
        if min > max || divided != seat.replicas && !facts.is_copied() {
            wrong(format!("{min} to {max} replicas where the seats are {}", seat.replicas));
        }
        least += u64::from(min);
        most += u64::from(max);
    }
    let clusters = facts.after.len() as u64;
    let (min, max) = (u64::from(autoscaled.min), u64::from(autoscaled.max));
    let all = sum(&facts.after) == u64::from(facts.wanted());
    let right = match facts.is_copied() {
        true => least == min * clusters && most == max * clusters,
        // Where something is missing, less may be given out; nobody gets less than what is booked.
        false => !all || clusters > min || (least == min && most == max),
    };
    if !right && !facts.seats.is_empty() {
        wrong(format!("{least} to {most} replicas given out, of {min} to {max}"));
    }
    if !facts.is_copied() && autoscaled.policy.room != AutoscaledRoom::Max && clusters > min {
        wrong(format!("in {clusters} clusters, and has {min} replicas at least"));
    }
}
