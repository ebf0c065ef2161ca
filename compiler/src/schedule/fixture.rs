//! Small fleets for tests, built from values.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::{Scenario, Target, check, placed, schedule};
use crate::api::{AutoscaledRoom, Capacity, ClusterMode, Lifecycle, Strategy};
use crate::base::labels::Labels;
use crate::base::taint::{Taint, TaintEffect, Toleration};
use crate::base::{ClusterId, DigestWriter, FileId, Resources, SmolStr, Span, TeamId};
use crate::kinds::replicas::{Counts, CustomForm};
use crate::kinds::{native, pod};
use crate::model::{
    App, Autoscaled, AutoscaledPolicy, Cluster, ClusterSet, Fleet, NamespaceRule, Object, Placement, Pool, Quota,
    Replicas, Settings, Share, Spread, Team, Tiers, TopologyKey, WeightRule, Workload, WorkloadKind,
};
use crate::parse::{Defined, Facts, ObjKey, Template};
use crate::placements::{Observed, PlacedApp, PlacedSeat, PlacedWorkload, Record};
use crate::variants::{AppVariants, Variant, Variants, WorkloadVariant};

/// A fleet in the making. Clusters are named in ascending order.
#[derive(Clone, Debug)]
pub struct FleetFixture {
    pub fleet: Fleet,
    pub variants: Variants,
    pub record: Record,
    pub scenario: Scenario,
}

/// An app in the making.
#[derive(Clone, Debug)]
pub struct AppFixture {
    app: App,
    pods: Vec<serde_json::Value>,
    /// By workload: cluster and the number an override writes there.
    written: Vec<BTreeMap<ClusterId, u32>>,
    all: ClusterSet,
}

/// Amounts such as `cpu=4000 memory=1024`.
pub fn resources(text: &str) -> Resources {
    let pairs = text.split_whitespace().map(|pair| pair.split_once('=').unwrap());
    Resources(pairs.map(|(name, amount)| (name.into(), amount.parse().unwrap())).collect())
}

/// A taint such as `maint:NoExecute` or `gpu=v100:NoSchedule`.
pub fn taint(text: &str) -> Taint {
    let (key_value, effect) = text.split_once(':').unwrap();
    let (key, value) = key_value.split_once('=').unwrap_or((key_value, ""));
    let effect = match effect {
        "NoSchedule" => TaintEffect::NoSchedule,
        "PreferNoSchedule" => TaintEffect::PreferNoSchedule,
        "NoExecute" => TaintEffect::NoExecute,
        other => panic!("{other}"),
    };
    Taint { key: key.into(), value: value.into(), effect }
}

impl FleetFixture {
    /// Clusters without stated capacity, and one team, `team`, that may use all of them.
    pub fn new(clusters: &[&str]) -> Self {
        assert!(clusters.is_sorted());
        let cluster = |name: &&str| {
            Arc::new(Cluster {
                name: (*name).into(),
                file: FileId(0),
                name_span: Span::default(),
                provider: None,
                region: None,
                zones: Vec::new(),
                labels: Labels::new(),
                taints: Vec::new(),
                pools: None,
                overcommit: BTreeMap::new(),
                reserved: Resources::default(),
                apis: None,
                values: BTreeMap::new(),
                lifecycle: Lifecycle::Active,
                mode: ClusterMode::Apply,
                connection: None,
            })
        };
        let fleet = Fleet {
            settings: Settings::default(),
            clusters: clusters.iter().map(cluster).collect(),
            teams: Vec::new(),
            apps: Vec::new(),
            tides: Vec::new(),
            kinds: Vec::new(),
        };
        let mut fixture =
            Self { fleet, variants: Variants::default(), record: Record::default(), scenario: Scenario::default() };
        fixture.team("team");
        fixture
    }

    /// Another team; names ascend.
    pub fn team(&mut self, name: &str) -> &mut Self {
        assert!(self.fleet.teams.last().is_none_or(|last| last.name.as_str() < name));
        self.fleet.teams.push(Arc::new(Team {
            name: name.into(),
            file: FileId(0),
            name_span: Span::default(),
            namespaces: vec![NamespaceRule { text: "".into(), prefix: true, labels: Labels::new() }],
            clusters: ClusterSet::all(self.fleet.clusters.len()),
            quota: Vec::new(),
            allow: Vec::new(),
            deny: Vec::new(),
            survive: None,
            priority_classes: Vec::new(),
            service_account: None,
            owners: Vec::new(),
        }));
        self
    }

    pub fn id(&self, cluster: &str) -> ClusterId {
        self.fleet.cluster_id(cluster).unwrap_or_else(|| panic!("no cluster {cluster}"))
    }

    pub fn set(&self, clusters: &[&str]) -> ClusterSet {
        clusters.iter().map(|name| self.id(name)).collect()
    }

    pub fn cluster(&mut self, name: &str) -> &mut Cluster {
        let id = self.id(name);
        Arc::make_mut(&mut self.fleet.clusters[id.index()])
    }

    pub fn team_mut(&mut self, name: &str) -> &mut Team {
        let team = self.fleet.teams.iter_mut().find(|team| team.name == name).unwrap();
        Arc::make_mut(team)
    }

    /// An app of the first team, to change what no call of its own sets.
    pub fn app_mut(&mut self, name: &str) -> &mut App {
        let id = self.fleet.app_id("team", name).unwrap();
        Arc::make_mut(&mut self.fleet.apps[id.index()])
    }

    pub fn observed(&mut self, cluster: &str) -> &mut Observed {
        self.record.clusters.entry(cluster.into()).or_default()
    }

    /// A pool of nodes that offer amounts such as `cpu=8000`.
    pub fn pool(&mut self, cluster: &str, name: &str, nodes: u32, allocatable: &str) -> &mut Pool {
        let pool = Pool {
            name: name.into(),
            nodes,
            allocatable: resources(allocatable),
            labels: Labels::new(),
            taints: Vec::new(),
            scalable_to: None,
        };
        let pools = self.cluster(cluster).pools.get_or_insert_default();
        pools.push(pool);
        pools.last_mut().unwrap()
    }

    pub fn quota(&mut self, team: &str, hard: &str) -> &mut Self {
        let hard = resources(hard).0;
        let clusters = ClusterSet::all(self.fleet.clusters.len());
        self.team_mut(team).quota.push(Quota { span: Span::default(), hard, clusters, of_cluster: None });
        self
    }

    /// A quota that holds for each cluster by itself.
    pub fn quota_per_cluster(&mut self, team: &str, hard: &str) -> &mut Self {
        let hard = resources(hard).0;
        // As if each quota were written in a line of its own.
        let line = u32::try_from(self.team_mut(team).quota.len()).unwrap();
        let span = Span { start: line, end: line };
        for cluster in self.fleet.cluster_ids() {
            let clusters = [cluster].into_iter().collect();
            let quota = Quota { span, hard: hard.clone(), clusters, of_cluster: Some(cluster) };
            self.team_mut(team).quota.push(quota);
        }
        self
    }

    /// An app of the first team, without workloads, over all clusters; [`add`](Self::add) it when it is done.
    pub fn app(&self, name: &str, strategy: Strategy) -> AppFixture {
        let all = ClusterSet::all(self.fleet.clusters.len());
        AppFixture {
            app: App {
                namespace: None,
                team: TeamId(0),
                name: name.into(),
                file: FileId(0),
                name_span: Span::default(),
                labels: Labels::new(),
                priority: 0,
                preempts: false,
                survive: None,
                placement: Placement {
                    candidates: all.clone(),
                    selector: None,
                    tiers: None,
                    affinity: None,
                    anti_affinity: None,
                    layers: Vec::new(),
                    tolerations: Vec::new(),
                    spread: Vec::new(),
                    replicas: policy(strategy),
                },
                objects: Vec::new(),
                workloads: Vec::new(),
                overrides: Vec::new(),
                depends_on: Vec::new(),
                keep_removed: false,
                suspended: false,
                exclusive: false,
                previous_names: Vec::new(),
                min_available: None,
                steps: None,
                tide_steps: None,
                failover_after_secs: None,
            },
            pods: Vec::new(),
            written: Vec::new(),
            all,
        }
    }

    /// Adds an app, or puts another in its place.
    pub fn add(&mut self, app: AppFixture) -> &mut Self {
        let key = (app.app.team, app.app.name.clone());
        let (app, variants) = app.build(&self.fleet);
        match self.fleet.apps.binary_search_by(|a| (a.team, a.name.clone()).cmp(&key)) {
            Ok(at) => {
                self.fleet.apps[at] = Arc::new(app);
                self.variants.apps[at] = variants;
            }
            Err(at) => {
                self.fleet.apps.insert(at, Arc::new(app));
                self.variants.apps.insert(at, variants);
            }
        }
        self
    }

    /// Records seats of an app of the first team such as `a=8 b/spot=4`, for all its workloads alike, divided by today's
    /// rules.
    pub fn runs(&mut self, app: &str, seats: &str) -> &mut Self {
        let id = self.fleet.app_id("team", app).unwrap();
        let seats: Vec<PlacedSeat> = seats
            .split_whitespace()
            .map(|pair| {
                let (at, replicas) = pair.split_once('=').unwrap();
                let (cluster, pool) = at.split_once('/').map_or((at, None), |(c, p)| (c, Some(p.into())));
                PlacedSeat {
                    cluster: cluster.into(),
                    pool,
                    replicas: replicas.parse().unwrap(),
                    completions: None,
                    bounds: None,
                }
            })
            .collect();
        let mut clusters: Vec<SmolStr> = seats.iter().map(|seat| seat.cluster.clone()).collect();
        clusters.dedup();
        let workloads = self.fleet.app(id).workloads.iter().map(|w| {
            let weights = w.policy.digest.short().into();
            (w.key.clone(), PlacedWorkload { weights, seats: seats.clone(), gave_way: Vec::new() })
        });
        let placed = PlacedApp { place: None, tier: None, clusters, workloads: workloads.collect() };
        self.record.apps.insert(("team".into(), app.into()), placed);
        self
    }

    /// Records the tier in use.
    pub fn in_tier(&mut self, app: &str, tier: &str) -> &mut Self {
        self.record.apps.get_mut(&("team".into(), app.into())).unwrap().tier = Some(tier.into());
        self
    }

    /// Forgets by which rules the workloads of an app were divided.
    pub fn divided_otherwise(&mut self, app: &str) -> &mut Self {
        let placed = self.record.apps.get_mut(&("team".into(), app.into())).unwrap();
        placed.workloads.values_mut().for_each(|w| w.weights = "b3:0123456789abcdef".into());
        self
    }

    /// The target, which its check must accept.
    pub fn schedule(&self) -> Target {
        let target = schedule(&self.fleet, &self.variants, &self.record, &self.scenario);
        let violations = self.violations(&target);
        assert_eq!(violations, Vec::<String>::new());
        target
    }

    pub fn violations(&self, target: &Target) -> Vec<String> {
        check::check(&self.fleet, &self.variants, &self.record, &self.scenario, target)
    }

    /// Makes a target what runs.
    pub fn record_target(&mut self, target: &Target) -> &mut Self {
        self.record.apps = placed(&self.fleet, target);
        self
    }

    /// Seats of the first workload of an app of the first team, by cluster: `a=6 b=4`.
    pub fn seats(&self, target: &Target, app: &str) -> String {
        self.seats_of(target, app, 0)
    }

    pub fn seats_of(&self, target: &Target, app: &str, workload: u16) -> String {
        let id = self.fleet.app_id("team", app).unwrap();
        let mut by_cluster: BTreeMap<ClusterId, u32> = BTreeMap::new();
        for seat in target.apps[id.index()].seats.iter().filter(|seat| seat.workload == workload) {
            *by_cluster.entry(seat.cluster).or_default() += seat.replicas;
        }
        let rows = by_cluster.iter().map(|(id, n)| format!("{}={n}", self.fleet.cluster(*id).name));
        rows.collect::<Vec<_>>().join(" ")
    }

    /// Schedules, and gives the seats of the first workload of an app.
    pub fn placed(&self, app: &str) -> String {
        self.seats(&self.schedule(), app)
    }
}

/// A policy without weights or bounds.
pub fn policy(strategy: Strategy) -> Replicas {
    let capacity = if strategy == Strategy::StaticWeight { Capacity::Cap } else { Capacity::Require };
    let digest = DigestWriter::new().part(format!("{strategy:?}").as_bytes()).finish();
    let autoscaled = AutoscaledPolicy { room: AutoscaledRoom::Min, counts_max: true };
    Replicas {
        strategy: Some(strategy),
        total: None,
        weights: None,
        weigh_by: None,
        capacity,
        min: 0,
        max: None,
        autoscaled,
        digest,
    }
}

impl AppFixture {
    /// A workload of so many pods that request amounts such as `cpu=1000`.
    pub fn workload(mut self, kind: WorkloadKind, name: &str, replicas: u32, requests: &str) -> Self {
        let strategy = self.app.placement.replicas.strategy;
        let share = match kind {
            _ if strategy == Some(Strategy::Duplicated) => Share::Everywhere,
            WorkloadKind::DaemonSet => Share::Everywhere,
            WorkloadKind::CronJob | WorkloadKind::Pod | WorkloadKind::StatefulSet => Share::Whole,
            _ => Share::Divided,
        };
        let (group, kind_name) = match kind {
            WorkloadKind::CronJob => ("batch", "CronJob"),
            WorkloadKind::DaemonSet => ("apps", "DaemonSet"),
            WorkloadKind::Deployment => ("apps", "Deployment"),
            WorkloadKind::Job => ("batch", "Job"),
            WorkloadKind::Pod => ("", "Pod"),
            WorkloadKind::ReplicaSet => ("apps", "ReplicaSet"),
            WorkloadKind::ReplicationController => ("", "ReplicationController"),
            WorkloadKind::StatefulSet => ("apps", "StatefulSet"),
            WorkloadKind::Custom(_) => ("example.com", "Thing"),
        };
        self = self.object(group, "v1", kind_name, name);
        let key = format!("{group}/{kind_name}/{name}");
        self.push(kind, share, (key, None), replicas, requests)
    }

    /// A set of parts, each a name, pods of it, and what one requests.
    pub fn parts(mut self, name: &str, parts: &[(&str, u32, &str)]) -> Self {
        let copied = self.app.placement.replicas.strategy == Some(Strategy::Duplicated);
        let share = if copied { Share::Everywhere } else { Share::Whole };
        self = self.object("example.com", "v1", "Set", name);
        for (part, pods, requests) in parts {
            let key = format!("example.com/Set/{name}#{part}");
            self = self.push(WorkloadKind::Custom(CustomForm::Part), share, (key, Some(part)), *pods, requests);
        }
        self
    }

    fn push(
        mut self,
        kind: WorkloadKind,
        share: Share,
        (key, part): (String, Option<&str>),
        replicas: u32,
        requests: &str,
    ) -> Self {
        let object = self.app.objects.len() - 1;
        self.app.workloads.push(Workload {
            object,
            kind,
            part: part.map(Into::into),
            key: key.into(),
            share,
            replicas,
            completions: None,
            autoscaled: None,
            policy: self.app.placement.replicas.clone(),
            stated: None,
        });
        let requests: BTreeMap<String, String> = resources(requests)
            .0
            .into_iter()
            .map(|(name, n)| (name.to_string(), if name == "cpu" { format!("{n}m") } else { n.to_string() }))
            .collect();
        self.pods.push(json!({"containers": [{"name": "main", "image": "x", "resources": {"requests": requests}}]}));
        self.written.push(BTreeMap::new());
        self
    }

    pub fn deployment(self, replicas: u32) -> Self {
        self.workload(WorkloadKind::Deployment, "main", replicas, "")
    }

    /// A Deployment whose pods request amounts such as `cpu=1000`.
    pub fn deployment_of(self, replicas: u32, requests: &str) -> Self {
        self.workload(WorkloadKind::Deployment, "main", replicas, requests)
    }

    pub fn object(mut self, group: &str, version: &str, kind: &str, name: &str) -> Self {
        let key = ObjKey {
            kind: kind.into(),
            namespace: Some("ns".into()),
            name: name.into(),
            group: group.into(),
            version: version.into(),
        };
        let value = json!({"apiVersion": key.api_version(), "kind": kind, "metadata": {"name": name}});
        let plural = native::guessed_plural(kind);
        let resource = if group.is_empty() { plural } else { format!("{plural}.{group}").into() };
        self.app.objects.push(Object {
            key,
            resource,
            namespaced: true,
            file: FileId(0),
            doc: 0,
            item: None,
            facts: Facts { counts: Counts::default(), ..Facts::default() },
            custom: None,
            template: Template::of(&value),
            only: None,
        });
        self
    }

    /// The last object defines a kind.
    pub fn defines(mut self, group: &str, kind: &str) -> Self {
        let plural = native::guessed_plural(kind);
        let defined = Defined { group: group.into(), kind: kind.into(), plural, namespaced: true };
        self.app.objects.last_mut().unwrap().facts.defines = Some(defined);
        self
    }

    /// The last object lies in a namespace.
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.app.objects.last_mut().unwrap().key.namespace = Some(namespace.into());
        self
    }

    /// The last object lies in no namespace.
    pub fn clustered(mut self) -> Self {
        let object = self.app.objects.last_mut().unwrap();
        (object.key.namespace, object.namespaced) = (None, false);
        self
    }

    /// The last object goes only to these clusters.
    pub fn only(mut self, clusters: ClusterSet) -> Self {
        self.app.objects.last_mut().unwrap().only = Some(clusters);
        self
    }

    pub fn clusters(mut self, clusters: ClusterSet) -> Self {
        self.app.placement.candidates = clusters;
        self
    }

    pub fn tiers(mut self, tiers: Tiers) -> Self {
        self.app.placement.candidates =
            tiers.groups.iter().fold(ClusterSet::empty(), |all, tier| all.or(&tier.clusters));
        self.app.placement.tiers = Some(tiers);
        self
    }

    /// Of another team, by its position.
    pub fn of_team(mut self, team: u32) -> Self {
        self.app.team = TeamId(team);
        self
    }

    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.app.labels.insert(key.into(), value.into());
        self
    }

    /// Shares its clusters with the apps that have the same value of a label.
    pub fn together(mut self, key: &str) -> Self {
        self.app.placement.affinity = Some(key.into());
        self
    }

    /// Shares no cluster with the apps that have the same value of a label.
    pub fn apart(mut self, key: &str) -> Self {
        self.app.placement.anti_affinity = Some(key.into());
        self
    }

    /// Never runs in two clusters.
    pub fn exclusive(mut self) -> Self {
        self.app.exclusive = true;
        self
    }

    pub fn priority(mut self, priority: i32) -> Self {
        self.app.priority = priority;
        self
    }

    pub fn tolerates(mut self, json: serde_json::Value) -> Self {
        let toleration: Toleration = serde_json::from_value(json).unwrap();
        self.app.placement.tolerations.push(toleration);
        self
    }

    pub fn spread(mut self, key: TopologyKey, min: u32, max: Option<u32>) -> Self {
        self.app.placement.spread.push(Spread { key, min, max });
        self
    }

    /// An autoscaler owns the replicas of the last workload.
    pub fn autoscaled(mut self, min: u32, max: u32, room: AutoscaledRoom) -> Self {
        self = self.object("autoscaling", "v2", "HorizontalPodAutoscaler", "main");
        let object = self.app.objects.len() - 1;
        let policy = AutoscaledPolicy { room, counts_max: true };
        self.app.workloads.last_mut().unwrap().own(Autoscaled { object, min, max, policy });
        self
    }

    /// Changes the policy of the last workload, or of all parts of the last set.
    pub fn with(mut self, change: impl FnOnce(&mut Replicas)) -> Self {
        let last = self.app.workloads.last_mut().unwrap();
        change(&mut last.policy);
        let policy = last.policy.clone();
        let members = self.app.members(self.app.workloads.len() - 1);
        self.app.workloads[members].iter_mut().for_each(|part| part.policy = policy.clone());
        self
    }

    /// Changes the last workload.
    pub fn with_workload(mut self, change: impl FnOnce(&mut Workload)) -> Self {
        change(self.app.workloads.last_mut().unwrap());
        self
    }

    /// Static weights such as `a=3 b=2` of the last workload; other clusters have none.
    /// By what an estimator says.
    pub fn weigh_by(self, name: &str) -> Self {
        self.with(|policy| policy.weigh_by = Some(name.into()))
    }

    pub fn weights(self, fixture: &FleetFixture, text: &str) -> Self {
        let rules = text.split_whitespace().map(|pair| {
            let (cluster, weight) = pair.split_once('=').unwrap();
            WeightRule { clusters: fixture.set(&[cluster]), weight: weight.parse().unwrap(), min: None, max: None }
        });
        let rules = rules.collect();
        self.with(|policy| policy.weights = Some(rules))
    }

    /// Changes the pod spec of the last workload.
    pub fn pod(mut self, change: impl FnOnce(&mut serde_json::Value)) -> Self {
        change(self.pods.last_mut().unwrap());
        self
    }

    /// An override writes a number of replicas of the last workload in a cluster.
    pub fn writes(mut self, cluster: ClusterId, replicas: u32) -> Self {
        self.written.last_mut().unwrap().insert(cluster, replicas);
        self
    }

    fn build(self, fleet: &Fleet) -> (App, AppVariants) {
        let Self { app, pods, written, all } = self;
        let facts: Vec<_> = pods.iter().map(|pod| Arc::new(pod::read(pod).facts)).collect();
        let base = app.objects.iter().map(|object| Arc::clone(&object.template)).collect();
        let variant = |cluster: ClusterId| {
            let each = facts.iter().zip(&written).map(|(pod, written)| WorkloadVariant {
                pod: Some(Arc::clone(pod)),
                replicas: written.get(&cluster).copied(),
                completions: false,
                first_ordinal: 0,
                bounds: None,
            });
            Variant::of_workloads(each.collect())
        };
        assert_eq!(all.len(), fleet.clusters.len());
        let of_cluster = (0..u16::try_from(all.len()).unwrap()).map(Some).collect();
        (app, AppVariants::new(all.iter().map(variant).collect(), of_cluster, base))
    }
}
