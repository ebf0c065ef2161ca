use std::cmp::Reverse;

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
        let sought = Sought { at_least: least, cap, unknown: 5, most, groups };
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
}
