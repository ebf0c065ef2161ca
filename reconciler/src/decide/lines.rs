//! Lines of a message: what moves, and no more of them than somebody reads.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::moves::by_cluster;
use fleetwright_compiler::placements::PlacedApp;

/// Lines that a part of a message holds.
const LINES: usize = 100;

/// What differs between two placements of an app, by workload: `apps/Deployment/web: eu-a 8 -> 6, eu-b 4 -> 6`. `before` is `None`
/// for an app that ran nowhere.
pub(super) fn changes(before: Option<&PlacedApp>, after: &PlacedApp) -> Vec<String> {
    let keys = after.workloads.keys().chain(before.into_iter().flat_map(|before| before.workloads.keys()));
    let keys: BTreeSet<&SmolStr> = keys.collect();
    let line = |key: &SmolStr| {
        let (before, after) =
            (before.map(|before| by_cluster(before, key)).unwrap_or_default(), by_cluster(after, key));
        let number = |of: &BTreeMap<&SmolStr, u32>, cluster| of.get(cluster).copied().unwrap_or(0);
        let clusters: BTreeSet<&SmolStr> = before.keys().chain(after.keys()).copied().collect();
        let parts = clusters.into_iter().map(|cluster| (cluster, number(&before, cluster), number(&after, cluster)));
        let parts = parts.filter(|(_, was, is)| was != is).map(|(cluster, was, is)| format!("{cluster} {was} -> {is}"));
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| format!("{key}: {}", parts.join(", ")))
    };
    keys.into_iter().filter_map(line).collect()
}

/// The same under the name of the app, which is (team, app).
pub(super) fn of_app((team, app): &(SmolStr, SmolStr), before: Option<&PlacedApp>, after: &PlacedApp) -> Vec<String> {
    changes(before, after).into_iter().map(|line| format!("{team}/{app} {line}")).collect()
}

/// Lines as one text; of very many, how many more there are.
pub(super) fn text(lines: &[String]) -> String {
    let mut text: String = lines.iter().take(LINES).map(|line| format!("{line}\n")).collect();
    if lines.len() > LINES {
        text.push_str(&format!("and {} more\n", lines.len() - LINES));
    }
    text
}

#[cfg(test)]
mod tests {
    use fleetwright_compiler::placements::{PlacedSeat, PlacedWorkload};

    use super::*;

    /// Workloads, each with its seats: (cluster, replicas).
    fn placed(workloads: &[(&str, &[(&str, u32)])]) -> PlacedApp {
        let seat = |(cluster, replicas): &(&str, u32)| PlacedSeat {
            cluster: (*cluster).into(),
            pool: None,
            replicas: *replicas,
            completions: None,
            bounds: None,
        };
        let workload = |(key, seats): &(&str, &[(&str, u32)])| {
            let seats = seats.iter().map(seat).collect();
            ((*key).into(), PlacedWorkload { seats, ..PlacedWorkload::default() })
        };
        let workloads = workloads.iter().map(workload).collect();
        PlacedApp { place: None, tier: None, clusters: Vec::new(), workloads }
    }

    #[test]
    fn what_differs_between_two_placements() {
        let before = placed(&[("api", &[("a", 3)]), ("web", &[("a", 3), ("b", 1)]), ("x", &[("a", 1)])]);
        // seats of two pools are one cluster's
        let after = placed(&[("api", &[("a", 1), ("a", 2)]), ("web", &[("a", 1), ("c", 2), ("b", 1)])]);
        assert_eq!(changes(Some(&before), &after), ["web: a 3 -> 1, c 0 -> 2", "x: a 1 -> 0"]);
        assert_eq!(changes(None, &after), ["api: a 0 -> 3", "web: a 0 -> 1, b 0 -> 1, c 0 -> 2"]);
        assert_eq!(changes(Some(&after), &after), [""; 0]);
        let only = placed(&[("web", &[("a", 2)])]);
        assert_eq!(of_app(&("t".into(), "shop".into()), None, &only), ["t/shop web: a 0 -> 2"]);
    }

    #[test]
    fn of_very_many_lines_the_rest_is_counted() {
        let lines = |count: usize| vec!["x".to_owned(); count];
        assert_eq!((text(&[]), text(&lines(2))), (String::new(), "x\nx\n".to_owned()));
        for (count, last) in [(100, "x"), (101, "and 1 more"), (250, "and 150 more")] {
            assert_eq!(text(&lines(count)).lines().last(), Some(last), "{count}");
        }
    }
}
