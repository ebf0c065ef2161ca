use std::cmp::Reverse;
use std::collections::BTreeSet;

use proptest::prelude::*;

use serde_json::json;

use super::*;
use crate::base::Resources;
use crate::kinds::pod;
use crate::model::ClusterSet;
use crate::room::PoolSpec;

fn cpu(milli: u32) -> Resources {
    Resources([("cpu".into(), i128::from(milli))].into_iter().collect())
}

fn pod_of(milli: u32) -> PodFacts {
    let cpu = format!("{milli}m");
    pod::read(&json!({"containers": [{"name": "a", "image": "a", "resources": {"requests": {"cpu": cpu}}}]})).facts
}

/// Clusters of pools with so many nodes of 4 CPU each; without pools the capacity is unknown.
fn ledger(clusters: &[Vec<u32>]) -> Ledger {
    let of = |pools: &Vec<u32>| ClusterPools {
        known: !pools.is_empty(),
        specs: pools.iter().map(|nodes| PoolSpec::new("pool", *nodes, cpu(4000))).collect(),
        nodes: pools
            .iter()
            .map(|_| NodeFacts {
                name: SmolStr::default(),
                labels: Labels::new(),
                taints: Vec::new(),
                unschedulable: false,
                of_pool: true,
            })
            .collect(),
    };
    Ledger::new(clusters.iter().map(of).collect())
}

/// What [`Ledger::roomiest`] should say: all rooms worked out, sorted.
fn by_sorting(ledger: &mut Ledger, class: ClassId, among: &ClusterSet, sought: &Sought<'_>) -> ClusterSet {
    let mut rooms: Vec<(Option<u32>, Reverse<u64>, ClusterId)> = Vec::new();
    for cluster in among.iter() {
        let room = match (ledger.room(class, cluster), sought.cap) {
            (None, None) => sought.unknown,
            (room, cap) => room.into_iter().chain(cap).min().unwrap_or(0),
        };
        let group = sought.groups.map_or(Some(0), |groups| groups[cluster.index()]);
        if room >= sought.at_least && group.is_some() {
            rooms.push((group, Reverse(room), cluster));
        }
    }
    rooms.sort();
    let groups = rooms.chunk_by(|a, b| a.0 == b.0);
    groups.flat_map(|group| group.iter().take(sought.most)).map(|(_, _, cluster)| *cluster).collect()
}

/// What happens to a ledger: which class, where, how many, and whether they are taken back or all is.
type Step = (usize, usize, u32, u8);

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever was booked and asked before, what is remembered gives the answers of a ledger that remembers nothing.
    #[test]
    fn what_is_remembered_is_what_is_worked_out(
        clusters in prop::collection::vec(prop::collection::vec(0_u32..6, 0..3), 1..14),
        steps in prop::collection::vec((0_usize..3, 0_usize..14, 1_u32..9, 0_u8..12), 0..30),
        (least, most, cap) in (0_u64..6, 1_usize..4, prop::option::of(1_u64..12)),
        users in 1_usize..6,
        grouped in any::<bool>(),
    ) {
        let mut ledger = ledger(&clusters);
        let sizes = [700, 1000, 3000].map(pod_of);
        let classes = sizes.each_ref().map(|pod| (0..users).map(|_| ledger.class(pod)).last().expect("a user"));
        let groups: Vec<Option<u32>> = (0..clusters.len()).map(|at| u32::try_from(at % 4).ok().filter(|g| *g < 3)).collect();
        let groups = grouped.then_some(groups.as_slice());
        let none = ClusterSet::empty();
        let sought = Sought { at_least: least, cap, unknown: 5, most, groups, most_groups: usize::MAX, used: &none };
        let all = ClusterSet::all(clusters.len());
        let mut booked: Vec<(ClassId, PoolRef, u32)> = Vec::new();
        for (class, cluster, replicas, what) in steps as Vec<Step> {
            let class = classes[class];
            let cluster = ClusterId(u16::try_from(cluster % clusters.len()).expect("few"));
            match (what, ledger.eligible(class, cluster).first().map(|pool| pool.pool)) {
                (0, _) => {
                    ledger.clear();
                    booked.clear();
                }
                (1..=4, _) => {
                    if let Some((class, pool, replicas)) = booked.pop() {
                        ledger.unbook(class, pool, replicas);
                    }
                }
                (_, Some(pool)) => {
                    ledger.book(class, pool, replicas);
                    booked.push((class, pool, replicas));
                }
                (_, None) => {}
            }
            let mut forgetful = ledger.clone();
            forgetful.classes.iter_mut().for_each(|class| class.rooms = Remembered::default());
            let among = if what % 2 == 0 { all.clone() } else { all.without(&[cluster].into_iter().collect()) };
            for class in classes {
                let expected = by_sorting(&mut forgetful, class, &among, &sought);
                prop_assert_eq!(ledger.roomiest(class, &among, &sought), expected);
            }
            let holds = ledger.holds(class, cluster, replicas);
            prop_assert_eq!(holds, forgetful.room(class, cluster).is_none_or(|room| room >= u64::from(replicas)));
        }
    }

    /// Of all sets of few clusters in few groups, whatever is used besides and was asked before, those with most room and the
    /// earliest names or groups lie among what is found.
    #[test]
    fn the_best_sets_are_among_the_roomiest(
        clusters in prop::collection::vec(prop::collection::vec(0_u32..4, 0..2), 1..10),
        groups in prop::collection::vec(prop::option::weighted(0.9, 0_u32..5), 10),
        (most, most_groups, size) in (1_usize..4, 1_usize..4, 0_usize..3),
        used in prop::collection::vec(prop::bool::weighted(0.1), 10),
        (asked, booked) in (prop::collection::vec(any::<bool>(), 10), prop::collection::vec(0_u32..5, 10)),
        cap in prop::option::weighted(0.3, 1_u64..9),
    ) {
        let mut ledger = ledger(&clusters);
        let class = ledger.class(&pod_of([700, 1500, 3000][size]));
        // what others asked and got before
        for cluster in all_of(clusters.len()) {
            let pool = ledger.eligible(class, cluster).first().map(|pool| pool.pool);
            if let Some(pool) = pool.filter(|_| booked[cluster.index()] > 2) {
                ledger.book(class, pool, booked[cluster.index()] - 2);
            }
            if asked[cluster.index()] {
                ledger.room(class, cluster);
            }
        }
        let groups = groups.get(..clusters.len()).unwrap_or_default();
        let used: ClusterSet = all_of(clusters.len()).filter(|cluster| used[cluster.index()]).collect();
        let among = ClusterSet::all(clusters.len()).without(&used);
        let sought = Sought { at_least: 1, cap, unknown: 5, most, groups: Some(groups), most_groups, used: &used };
        let found = ledger.roomiest(class, &among, &sought);
        let capped = |room: u64| cap.map_or(room, |cap| room.min(cap));
        let rooms: Vec<u64> = all_of(clusters.len())
            .map(|c| ledger.room(class, c).map_or(cap.unwrap_or(5), capped))
            .collect();
        let usable: Vec<ClusterId> =
            among.iter().filter(|c| rooms[c.index()] > 0 && groups[c.index()].is_some()).collect();
        let groups_of = |set: &[ClusterId]| -> BTreeSet<u32> { set.iter().filter_map(|c| groups[c.index()]).collect() };
        let used_groups = groups_of(&used.iter().collect::<Vec<_>>());
        for count in 1..=most.min(usable.len()) {
            for groups_in_all in used_groups.len()..=most_groups {
                let sets = (0_u32..1 << usable.len()).filter(|bits| bits.count_ones() as usize == count).map(|bits| {
                    let set = usable.iter().enumerate().filter(|(at, _)| bits & (1 << at) != 0);
                    set.map(|(_, cluster)| *cluster).collect::<Vec<_>>()
                });
                let allowed = sets.filter(|set| groups_of(set).union(&used_groups).count() == groups_in_all);
                let total = |set: &[ClusterId]| set.iter().map(|c| rooms[c.index()]).sum::<u64>();
                // by names, and by groups before names
                let by_names = allowed.clone().min_by_key(|set| (Reverse(total(set)), set.clone()));
                let by_groups = allowed.min_by_key(|set| (Reverse(total(set)), groups_of(set), set.clone()));
                for best in by_names.into_iter().chain(by_groups) {
                    prop_assert!(best.iter().all(|c| found.contains(*c)), "{best:?} of {rooms:?}, {groups:?}; {found:?}");
                }
            }
        }
    }
}

fn all_of(clusters: usize) -> impl Iterator<Item = ClusterId> {
    (0..clusters).filter_map(|at| u16::try_from(at).ok()).map(ClusterId)
}
