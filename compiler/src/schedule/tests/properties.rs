//! Random small fleets: the target scheduled again changes nothing, and its check accepts it.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy as Generate, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::test_runner::Config;

use crate::api::{AutoscaledRoom, Capacity, Lifecycle, Strategy, TierMode};
use crate::kinds::replicas::CustomForm;
use crate::model::{Autoscaled, AutoscaledPolicy, ClusterSet, Tier, Tiers, TopologyKey, WorkloadKind};
use crate::placements::{ObservedApp, ObservedWorkload, OutageState};
use crate::schedule::fixture::{AppFixture, FleetFixture, taint};
use crate::schedule::{AtRest, Outcome, Scenario, Seat, Target};

/// Of a head and workers.
const SET: WorkloadKind = WorkloadKind::Custom(CustomForm::Part);

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

#[derive(Clone, Debug)]
struct ClusterSpec {
    region: u8,
    /// Nodes of each pool; no pools: capacity unknown.
    pools: Vec<(u32, bool)>,
    lifecycle: Lifecycle,
    taint: Option<&'static str>,
    lost: bool,
    others: u8,
}

#[derive(Clone, Debug)]
struct WorkloadSpec {
    kind: WorkloadKind,
    replicas: u32,
    cpu: u32,
    written: Option<(u8, u32)>,
    only: Option<u8>,
}

#[derive(Clone, Debug)]
struct AppSpec {
    strategy: Strategy,
    capacity: Option<Capacity>,
    workloads: Vec<WorkloadSpec>,
    priority: i32,
    candidates: u8,
    weights: Option<Vec<u32>>,
    min: u32,
    max: Option<u32>,
    cluster_spread: Option<(u32, Option<u32>)>,
    region_spread: Option<(u32, Option<u32>)>,
    tolerates: bool,
    gpu: bool,
    bound: bool,
}

#[derive(Clone, Debug)]
struct FleetSpec {
    clusters: Vec<ClusterSpec>,
    apps: Vec<AppSpec>,
    quota: Option<u32>,
}

fn a_cluster() -> impl Generate<Value = ClusterSpec> {
    let lifecycle = prop_oneof![
        8 => Just(Lifecycle::Active),
        1 => Just(Lifecycle::Cordoned),
        1 => Just(Lifecycle::Draining),
        1 => Just(Lifecycle::Retired)
    ];
    let taint = prop_oneof![
        6 => Just(None),
        1 => Just(Some("maint:NoSchedule")),
        1 => Just(Some("maint:NoExecute")),
        1 => Just(Some("soft:PreferNoSchedule"))
    ];
    let pools = prop_oneof![
        1 => Just(vec![]),
        4 => vec((0_u32..5, any::<bool>()), 1..3)
    ];
    (0_u8..3, pools, lifecycle, taint, 0_u8..10, 0_u8..6).prop_map(|(region, pools, lifecycle, taint, lost, others)| {
        ClusterSpec { region, pools, lifecycle, taint, lost: lost == 0, others: others.saturating_sub(3) }
    })
}

fn a_workload() -> impl Generate<Value = WorkloadSpec> {
    let kind = prop_oneof![
        6 => Just(WorkloadKind::Deployment),
        1 => Just(WorkloadKind::StatefulSet),
        1 => Just(WorkloadKind::DaemonSet),
        1 => Just(WorkloadKind::CronJob),
        2 => Just(SET)
    ];
    let written = option::weighted(0.1, (0_u8..5, 0_u32..6));
    (kind, 0_u32..12, 0_u32..5, written, option::weighted(0.15, any::<u8>())).prop_map(
        |(kind, replicas, cpu, written, only)| {
            let replicas = if matches!(kind, WorkloadKind::DaemonSet | WorkloadKind::CronJob) { 1 } else { replicas };
            WorkloadSpec { kind, replicas, cpu, written, only }
        },
    )
}

fn a_strategy() -> impl Generate<Value = Strategy> {
    prop_oneof![
        3 => Just(Strategy::StaticWeight),
        2 => Just(Strategy::DynamicWeight),
        2 => Just(Strategy::Aggregated),
        2 => Just(Strategy::Duplicated)
    ]
}

fn a_spread() -> impl Generate<Value = Option<(u32, Option<u32>)>> {
    option::weighted(0.25, (1_u32..4, option::of(0_u32..3)).prop_map(|(min, more)| (min, more.map(|more| min + more))))
}

fn an_app() -> impl Generate<Value = AppSpec> {
    let capacity =
        option::weighted(0.3, prop_oneof![Just(Capacity::Cap), Just(Capacity::Ignore), Just(Capacity::Require)]);
    let where_to = (any::<u8>(), option::weighted(0.4, vec(0_u32..4, 5)), a_spread(), a_spread());
    let bounds = (prop_oneof![4 => Just(0_u32), 1 => 1_u32..4], option::weighted(0.2, 1_u32..6));
    let rarely = || prop_oneof![5 => Just(false), 1 => Just(true)];
    let rest = (0_i32..3, any::<bool>(), rarely(), rarely());
    (a_strategy(), capacity, vec(a_workload(), 0..3), where_to, bounds, rest).prop_map(
        |(strategy, capacity, workloads, where_to, (min, max), (priority, tolerates, gpu, bound))| {
            let (candidates, weights, cluster_spread, region_spread) = where_to;
            let max = max.map(|max| max.max(min));
            let weights = weights.filter(|_| strategy == Strategy::StaticWeight);
            AppSpec {
                strategy,
                capacity,
                workloads,
                priority,
                candidates,
                weights,
                min,
                max,
                cluster_spread,
                region_spread,
                tolerates,
                gpu,
                bound,
            }
        },
    )
}

fn a_fleet() -> impl Generate<Value = FleetSpec> {
    (vec(a_cluster(), 1..6), vec(an_app(), 1..6), option::weighted(0.3, 0_u32..30_000))
        .prop_map(|(clusters, apps, quota)| FleetSpec { clusters, apps, quota })
}

/// What narrows the clusters of apps, or counts them otherwise.
#[derive(Clone, Debug)]
struct Extras {
    /// By app: whether tiers overflow, and which clusters are in the first.
    tiers: Vec<Option<(bool, u8)>>,
    /// By app: which group it is in, and whether that shares no cluster.
    groups: Vec<Option<(bool, bool)>>,
    /// By app: bounds of an autoscaler for its first Deployment, what is booked of it, and what was observed of it by cluster.
    autoscaled: Vec<Option<Scaled>>,
    quota_per_cluster: Option<u32>,
}

/// Fewest replicas, how many more there may be, what is booked, and what was observed by cluster.
type Scaled = (u32, u32, AutoscaledRoom, Vec<Option<u32>>);

fn extras() -> impl Generate<Value = Extras> {
    let tiers = vec(option::weighted(0.4, (any::<bool>(), any::<u8>())), 6);
    let groups = vec(option::weighted(0.5, (any::<bool>(), any::<bool>())), 6);
    let room = prop_oneof![1 => Just(AutoscaledRoom::Min), 3 => Just(AutoscaledRoom::Observed), 1 => Just(AutoscaledRoom::Max)];
    let autoscaled =
        vec(option::weighted(0.3, (1_u32..5, 0_u32..6, room, vec(option::weighted(0.7, 0_u32..12), 5))), 6);
    (tiers, groups, autoscaled, option::weighted(0.4, 0_u32..12_000)).prop_map(
        |(tiers, groups, autoscaled, quota_per_cluster)| Extras { tiers, groups, autoscaled, quota_per_cluster },
    )
}

fn add_extras(fleet: &mut FleetFixture, extras: &Extras) {
    if let Some(quota) = extras.quota_per_cluster {
        fleet.quota_per_cluster("team", &format!("requests.cpu={quota}"));
    }
    let count = fleet.fleet.clusters.len();
    for at in 0..fleet.fleet.apps.len() {
        let app = Arc::make_mut(&mut fleet.fleet.apps[at]);
        if let Some((overflows, first)) = extras.tiers[at] {
            let first = bits(first, count).and(&app.placement.candidates);
            let second = app.placement.candidates.without(&first);
            let mode = if overflows { TierMode::Overflow } else { TierMode::FirstFit };
            let groups = [("own", first), ("cloud", second)];
            let tier = |(name, clusters): (&str, ClusterSet)| Tier { name: name.into(), clusters };
            app.placement.tiers = Some(Tiers { mode, groups: groups.map(tier).into() });
        }
        if let Some((one, anti)) = extras.groups[at] {
            app.labels.insert("set".into(), if one { "one" } else { "two" }.into());
            let key = if anti { &mut app.placement.anti_affinity } else { &mut app.placement.affinity };
            *key = Some("set".into());
        }
        let deployment = app.workloads.iter_mut().find(|w| w.kind == WorkloadKind::Deployment);
        if let (Some((min, more, room, seen)), Some(workload)) = (&extras.autoscaled[at], deployment) {
            let policy = AutoscaledPolicy { room: *room, counts_max: true };
            workload.own(Autoscaled { object: workload.object, min: *min, max: min + more, policy });
            let seen = NAMES.iter().zip(seen).filter_map(|(cluster, seen)| Some((*cluster, (*seen)?)));
            let of = |(cluster, replicas): (&str, u32)| {
                (cluster.into(), ObservedWorkload { replicas: Some(replicas), finished: false })
            };
            let seen: ObservedApp = [(workload.key.clone(), seen.map(of).collect())].into();
            fleet.record.observed.insert(("team".into(), app.name.clone()), seen);
        }
    }
}

fn bits(mask: u8, count: usize) -> ClusterSet {
    (0_u16..).take(count).filter(|i| mask >> i & 1 == 1).map(crate::base::ClusterId).collect()
}

fn build(spec: &FleetSpec) -> FleetFixture {
    let count = spec.clusters.len();
    let mut fleet = FleetFixture::new(&NAMES[..count]);
    for (name, cluster) in NAMES.iter().zip(&spec.clusters) {
        fleet.cluster(name).region = Some(format!("r{}", cluster.region).into());
        fleet.cluster(name).lifecycle = cluster.lifecycle;
        fleet.cluster(name).taints = cluster.taint.map(taint).into_iter().collect();
        for (i, (nodes, gpu)) in cluster.pools.iter().enumerate() {
            let pool = fleet.pool(name, &format!("p{i}"), *nodes, "cpu=4000");
            if *gpu {
                pool.labels.insert("gpu".into(), "yes".into());
            }
        }
        if cluster.lost {
            fleet.observed(name).outage = Some(OutageState::Lost);
        }
        if cluster.others > 0 && !cluster.pools.is_empty() {
            let (nodes, _) = cluster.pools[0];
            fleet.observed(name).capacity = Some(vec![crate::placements::ObservedPool {
                name: "p0".into(),
                nodes,
                allocatable: crate::schedule::fixture::resources("cpu=4000"),
                others: vec![(
                    "apps/Deployment/x/y".into(),
                    crate::schedule::fixture::resources(&format!("cpu={}", 1500 * u32::from(cluster.others))),
                )],
            }]);
        }
    }
    if let Some(quota) = spec.quota {
        fleet.quota("team", &format!("requests.cpu={quota}"));
    }
    for (i, app) in spec.apps.iter().enumerate() {
        let app = build_app(&fleet, &format!("app{i}"), app, count);
        fleet.add(app);
    }
    fleet
}

fn build_app(fleet: &FleetFixture, name: &str, spec: &AppSpec, count: usize) -> AppFixture {
    let mut app = fleet.app(name, spec.strategy).priority(spec.priority);
    if !spec.candidates.is_multiple_of(3) {
        app = app.clusters(bits(spec.candidates, count));
    }
    if let Some((min, max)) = spec.cluster_spread {
        app = app.spread(TopologyKey::Cluster, min, max);
    }
    if let Some((min, max)) = spec.region_spread {
        app = app.spread(TopologyKey::Region, min, max);
    }
    if spec.tolerates {
        app = app.tolerates(serde_json::json!({"key": "maint", "operator": "Exists"}));
    }
    let mut kinds: Vec<&WorkloadSpec> = spec.workloads.iter().collect();
    kinds.sort_by_key(|w| w.kind);
    for (i, w) in kinds.into_iter().enumerate() {
        let cpu = if w.cpu > 0 { format!("cpu={}", w.cpu * 700) } else { String::new() };
        app = match w.kind {
            SET => app.parts(&format!("w{i}"), &[("head", 1, "cpu=500"), ("worker", w.replicas % 5, &cpu)]),
            kind => app.workload(kind, &format!("w{i}"), w.replicas, &cpu),
        };
        app = app.with(|policy| {
            policy.capacity = spec.capacity.unwrap_or(policy.capacity);
            (policy.min, policy.max) = (spec.min, spec.max);
        });
        if let Some(weights) = &spec.weights {
            let text: Vec<_> = NAMES[..count].iter().zip(weights).map(|(c, w)| format!("{c}={w}")).collect();
            app = app.weights(fleet, &text.join(" "));
        }
        if let Some((cluster, replicas)) = w.written {
            app = app.writes(crate::base::ClusterId(u16::from(cluster)), replicas);
        }
        if let Some(only) = w.only {
            app = app.only(bits(only, count));
        }
        if spec.gpu {
            app = app.pod(|pod| pod["nodeSelector"] = serde_json::json!({"gpu": "yes"}));
        }
        if spec.bound {
            let volumes = serde_json::json!([{"name": "d", "persistentVolumeClaim": {"claimName": "d"}}]);
            app = app.pod(|pod| pod["volumes"] = volumes);
        }
    }
    app
}

fn settles(fleet: &mut FleetFixture) -> Result<(), proptest::test_runner::TestCaseError> {
    let first = crate::schedule::schedule(&fleet.fleet, &fleet.variants, &fleet.record, &fleet.scenario);
    prop_assert_eq!(fleet.violations(&first), Vec::<String>::new(), "{:#?} {:#?}", fleet.record.apps, first);
    fleet.record_target(&first);
    let second = crate::schedule::schedule(&fleet.fleet, &fleet.variants, &fleet.record, &fleet.scenario);
    prop_assert_eq!(fleet.violations(&second), Vec::<String>::new());
    for (first, second) in first.apps.iter().zip(&second.apps) {
        prop_assert_eq!(&first.seats, &second.seats);
        prop_assert_eq!(&first.clusters, &second.clusters);
        prop_assert_eq!(&first.former_weights, &second.former_weights);
        prop_assert_eq!(&first.verdicts, &second.verdicts);
        prop_assert_eq!(first.deficits.len(), second.deficits.len());
    }
    Ok(())
}

/// Losses tried on what is displaced give what a schedule from scratch gives, and leave no trace.
fn losses_agree(fleet: &mut FleetFixture) -> Result<(), proptest::test_runner::TestCaseError> {
    fleet.scenario = Scenario::default();
    let first = crate::schedule::schedule(&fleet.fleet, &fleet.variants, &fleet.record, &fleet.scenario);
    fleet.record_target(&first);
    let schedule = |lose: &ClusterSet| {
        let lose = lose.iter().map(|id| fleet.fleet.cluster(id).name.clone()).collect();
        let scenario = Scenario { lose, ..Scenario::default() };
        crate::schedule::schedule(&fleet.fleet, &fleet.variants, &fleet.record, &scenario)
    };
    let at_rest = schedule(&ClusterSet::empty());
    let Some(mut rerun) = AtRest::new(&fleet.fleet, &fleet.variants, &fleet.record) else { return Ok(()) };
    let count = fleet.fleet.clusters.len();
    let mut losses: Vec<ClusterSet> = fleet.fleet.cluster_ids().map(|id| [id].into_iter().collect()).collect();
    losses.extend([bits(0b11, count), bits(0b101, count), bits(0b11010, count), ClusterSet::all(count)]);
    for lost in losses {
        let Some(outcomes) = rerun.lose(&lost) else { continue };
        let scratch = schedule(&lost);
        for id in fleet.fleet.app_ids() {
            let of = |target: &Target| {
                let app = &target.apps[id.index()];
                Outcome { deficits: app.deficits.clone(), used: crate::what_if::used_by(app) }
            };
            let rest = of(&at_rest);
            prop_assert_eq!(outcomes.get(&id).unwrap_or(&rest), &of(&scratch), "app {:?}, {:?} lost", id, lost);
        }
        prop_assert_eq!(rerun.lose(&lost), Some(outcomes), "asked again");
    }
    Ok(())
}

/// Makes the target of one fleet what runs in another.
fn run_in(ran: &FleetFixture, fleet: &mut FleetFixture) {
    let target = crate::schedule::schedule(&ran.fleet, &ran.variants, &ran.record, &ran.scenario);
    let mut record = crate::schedule::placed(&ran.fleet, &target);
    let known = |name: &smol_str::SmolStr| fleet.fleet.cluster_id(name).is_some();
    for placed in record.values_mut() {
        placed.clusters.retain(known);
        placed.workloads.values_mut().for_each(|w| w.seats.retain(|seat| known(&seat.cluster)));
    }
    record.retain(|(team, app), _| fleet.fleet.app_id(team, app).is_some());
    fleet.record.apps = record;
}

proptest! {
    #![proptest_config(Config { cases: cases(), ..Config::default() })]

    #[test]
    fn the_target_scheduled_again_changes_nothing(spec in a_fleet()) {
        settles(&mut build(&spec))?;
    }

    #[test]
    fn with_tiers_groups_and_quotas_of_clusters(spec in a_fleet(), extras in extras()) {
        let mut fleet = build(&spec);
        add_extras(&mut fleet, &extras);
        settles(&mut fleet)?;
    }

    #[test]
    fn losses_rerun_only_what_they_displace(spec in a_fleet(), extras in option::of(extras())) {
        let mut fleet = build(&spec);
        if let Some(extras) = extras {
            add_extras(&mut fleet, &extras);
        }
        losses_agree(&mut fleet)?;
    }

    /// What autoscalers are seen to run where everything is at rest takes nothing from anybody.
    #[test]
    fn what_is_observed_displaces_nothing(spec in a_fleet(), extras in extras()) {
        let mut fleet = build(&spec);
        add_extras(&mut fleet, &extras);
        let observed = std::mem::take(&mut fleet.record.observed);
        settles(&mut fleet)?;
        let before = crate::schedule::schedule(&fleet.fleet, &fleet.variants, &fleet.record, &fleet.scenario);
        fleet.record.observed = observed;
        let after = crate::schedule::schedule(&fleet.fleet, &fleet.variants, &fleet.record, &fleet.scenario);
        prop_assert_eq!(fleet.violations(&after), Vec::<String>::new());
        for (before, after) in before.apps.iter().zip(&after.apps) {
            for seat in &before.seats {
                let place = |of: &Seat| (of.workload, of.cluster, of.pool);
                let now = after.seats.iter().find(|of| place(of) == place(seat)).map_or(0, |of| of.replicas);
                prop_assert!(now >= seat.replicas, "{:?} became {}", seat, now);
            }
        }
        settles(&mut fleet)?;
    }

    /// The same where something runs already, under other tiers, groups and quotas.
    #[test]
    fn changed_tiers_groups_and_quotas_settle(
        before in a_fleet(), after in a_fleet(), ran in extras(), runs in extras()
    ) {
        let mut old = build(&before);
        add_extras(&mut old, &ran);
        let mut fleet = build(&after);
        add_extras(&mut fleet, &runs);
        run_in(&old, &mut fleet);
        settles(&mut fleet)?;
    }

    /// The same where something runs already, under other intents and in another state of the fleet.
    #[test]
    fn a_changed_fleet_settles(before in a_fleet(), after in a_fleet()) {
        let mut fleet = build(&after);
        run_in(&build(&before), &mut fleet);
        settles(&mut fleet)?;
    }
}

/// Small in a debug run; a nightly run sets more by the environment variable that proptest reads.
fn cases() -> u32 {
    Config::default().cases
}
