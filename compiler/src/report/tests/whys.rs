//! `why APP CLUSTER`: for every reason what would have to change, in words.

use crate::diff::tests::fixture::Files;
use crate::report::{ClusterWhy, WhyReport, why};

/// The web app of the shop: one Deployment of 2 pods of 500m CPU and 1Gi, everything else as `edit` makes it.
fn report(files: &Files, app: &str, cluster: &str) -> WhyReport {
    let compiled = files.compiled();
    let id = compiled.fleet.app_id("shop", app).unwrap();
    let at = compiled.fleet.cluster_id(cluster).unwrap();
    why(&compiled, id, Some(at), &|file| files.text(file.path.as_str()).map(|text| text.as_bytes().into()))
}

fn there(files: &Files, app: &str, cluster: &str) -> ClusterWhy {
    report(files, app, cluster).cluster.unwrap()
}

/// Changes, each with `file:line` where it is written.
fn changes(cluster: &ClusterWhy) -> Vec<String> {
    let line = |change: &crate::report::ChangeReport| {
        let at = change.written.as_ref().map(|at| {
            let line = at.position.map(|position| format!(":{}", position.line)).unwrap_or_default();
            format!(" @{}{line}", at.path)
        });
        format!("{}{}", change.change, at.unwrap_or_default())
    };
    cluster.changes.iter().map(line).collect()
}

fn web(placement: &str) -> Files {
    Files::shop().app("web", &format!("\n  namespace: shop\n  placement: {placement}"))
}

/// One pool of `nodes` nodes of 2 CPU and 8Gi, with more of its fields.
fn pool(nodes: u32, more: &str) -> String {
    format!(
        "{{region: us, nodePools: [{{name: general, nodes: {nodes}, allocatable: {{cpu: 2, memory: 8Gi}}{more}}}]}}"
    )
}

/// Apps `other` and `web` of one group, each with its clusters.
fn group(rule: &str, other: &str, web: &str) -> Files {
    let placement = |clusters: &str| {
        format!(
            "{{namespace: shop, placement: {{clusters: {clusters}, {rule}: {{groupBy: tier}}, replicas: {{strategy: StaticWeight}}}}}}"
        )
    };
    let mut files = Files::shop();
    for (name, clusters) in [("other", other), ("web", web)] {
        let labels = format!("{{name: {name}, labels: {{tier: a}}}}");
        let path = format!("teams/shop/{name}/app.yaml");
        files = files.app(name, &placement(clusters)).edit(&path, &format!("{{name: {name}}}"), &labels);
    }
    let deployment = files.text("teams/shop/web/web.yaml").unwrap().replace("web", "other");
    files.with("teams/shop/other/other.yaml", &deployment)
}

#[test]
fn every_reason_says_what_would_have_to_change() {
    let divided = |more: &str| format!("{{replicas: {{strategy: StaticWeight, capacity: Cap{more}}}}}");
    let big = |from: Files, cpu: &str| from.edit("teams/shop/web/web.yaml", "cpu: 500m", &format!("cpu: {cpu}"));
    let table: Vec<(&str, Files, &[&str], &[&str])> = vec![
        (
            "every part of the selector",
            web("{clusters: {matchLabels: {env: prod}, regions: [eu], exclude: [us-a]}}")
                .edit("clusters/eu-a.yaml", "{name: eu-a}", "{name: eu-a, labels: {env: prod}}"),
            &["excluded"],
            &[
                "take us-a out of `placement.clusters.exclude` @teams/shop/web/app.yaml:6",
                "add us, the region of us-a, to `placement.clusters.regions` (eu) @teams/shop/web/app.yaml:6",
                "label us-a `env: prod` (it has no such label), or change `placement.clusters.matchLabels` @clusters/us-a.yaml:3",
            ],
        ),
        (
            "names and expressions",
            web("{clusters: {names: [eu-a], matchExpressions: [{key: tier, operator: In, values: [a, b]}]}}")
                .edit("clusters/us-a.yaml", "{name: us-a}", "{name: us-a, labels: {tier: c}}")
                .edit("clusters/eu-a.yaml", "{name: eu-a}", "{name: eu-a, labels: {tier: a}}"),
            &["not in names"],
            &[
                "add us-a to `placement.clusters.names` @teams/shop/web/app.yaml:6",
                "label us-a `tier` with one of a, b, or change `placement.clusters.matchExpressions` @clusters/us-a.yaml:3",
            ],
        ),
        (
            "the team's rights",
            web("{}").edit("teams/shop.yaml", "{namespaces:", "{clusters: {regions: [eu]}, namespaces:"),
            &["not among the team's clusters"],
            &["let `clusters` of team shop select us-a @teams/shop.yaml:3"],
        ),
        (
            "in no tier",
            web("{clusters: {tiers: {mode: FirstFit, groups: [{name: own, clusters: {regions: [eu]}}]}}}"),
            &["in no tier"],
            &["let a group of `placement.clusters.tiers` select us-a @teams/shop/web/app.yaml:6"],
        ),
        (
            "a tier that is not reached",
            web("{replicas: {strategy: StaticWeight}, clusters: {tiers: {mode: FirstFit, groups: [{name: own, clusters: {regions: [eu]}}, {name: cloud, clusters: {regions: [us]}}]}}}"),
            &["tier own is in use"],
            &["list tier cloud, which us-a is in, before own; or tier own must no longer hold all replicas @teams/shop/web/app.yaml:6"],
        ),
        (
            "all taints, stated and recorded, and a lifecycle besides",
            web("{}")
                .cluster("us-a", "{region: us, taints: [{key: gpu, value: v100, effect: NoSchedule}], lifecycle: Cordoned}")
                .with("state/taints/us-a.yaml", "- {key: maint, effect: NoSchedule}\n"),
            &["cordoned", "taint gpu=v100:NoSchedule"],
            &[
                "set `lifecycle: Active` (it is Cordoned) @clusters/us-a.yaml:3",
                "add the toleration {key: gpu, operator: Equal, value: v100, effect: NoSchedule} to `placement.tolerations` @teams/shop/web/app.yaml:3",
                "or take the taint gpu=v100:NoSchedule off us-a @clusters/us-a.yaml:3",
                "add the toleration {key: maint, operator: Exists, effect: NoSchedule} to `placement.tolerations` @teams/shop/web/app.yaml:3",
                "or take the taint maint:NoSchedule off us-a: it is recorded in state/taints/us-a.yaml",
            ],
        ),
        (
            "a lifecycle that is recorded",
            web("{}").with("state/lifecycle/us-a.yaml", "lifecycle: Cordoned\n"),
            &["cordoned"],
            &["`fleetwright uncordon us-a`: state/lifecycle/us-a.yaml says Cordoned"],
        ),
        (
            "health",
            web("{}").with("state/outages/us-a.yaml", "state: Lost\nepoch: 1\n"),
            &["not ready"],
            &["us-a has to answer again and be cleaned of what moved away (state/outages/us-a.yaml): it is then ready by itself"],
        ),
        (
            "larger than any node",
            big(web(&divided("")).cluster("us-a", &pool(3, "")), "3"),
            &["larger than any node: need 3 cpu, largest node 2"],
            &[
                "lower the request of a pod from 3 to at most 2 cpu @teams/shop/web/app.yaml:3",
                "or add a pool to `nodePools` whose nodes offer at least 3 cpu that the pod may use @clusters/us-a.yaml:3",
            ],
        ),
        (
            "a resource that no node has",
            web(&divided("")).cluster("us-a", &pool(3, "")).edit("teams/shop/web/web.yaml", "{requests: {cpu: 500m", "{limits: {nvidia.com/gpu: 1}, requests: {cpu: 500m"),
            &["larger than any node: need 1 nvidia.com/gpu, largest node 0"],
            &["add a pool to `nodePools` whose nodes offer at least 1 nvidia.com/gpu that the pod may use: no node of us-a that it may use has nvidia.com/gpu @clusters/us-a.yaml:3"],
        ),
        (
            "no pool that the pod may use",
            web(&divided(""))
                .cluster("us-a", &pool(3, ", taints: [{key: dedicated, value: db, effect: NoSchedule}]")),
            &["no pool's nodes may run it"],
            &["pool general: the pod does not tolerate dedicated=db:NoSchedule; tolerate `dedicated` in the pod template @teams/shop/web/app.yaml:3"],
        ),
        (
            "no room for copies",
            big(web("{replicas: {strategy: Duplicated}}").cluster("us-a", &pool(1, "")), "1500m"),
            &["no room for all of it: 2 replicas have to fit, 1 do"],
            &["for 2 replicas, add 1 to pool general (`nodes: 1` to 2) @clusters/us-a.yaml:3"],
        ),
        (
            "weight 0, and what would be enough",
            web(&divided(", weights: {eu-a: 3, eu-b: 1, us-a: 0}")),
            &["no weight"],
            &["give us-a a weight above 0 in `placement.replicas.weights`; 2 or more gives it a replica as things are @teams/shop/web/app.yaml:6"],
        ),
        (
            "a share that rounds to zero",
            web(&divided(", weights: {eu-a: 9, eu-b: 9, us-a: 1}")),
            &["share rounds to zero"],
            &[
                "raise the weight of us-a from 1 to 10 @teams/shop/web/app.yaml:6",
                "or ask for 9 replicas in all: the last of them is its first @teams/shop/web/app.yaml:6",
                "or give us-a a `min` of 1 in its weight rule @teams/shop/web/app.yaml:6",
            ],
        ),
        (
            "a spread that is full",
            web("{replicas: {strategy: StaticWeight}, spread: [{topologyKey: region, min: 1, max: 1}]}"),
            &["not chosen"],
            &["raise `max` of the spread over region from 1 to 2: eu is in use @teams/shop/web/app.yaml:6"],
        ),
        (
            "a bound",
            web("{replicas: {strategy: Duplicated, perCluster: {max: 1}}}"),
            &["a bound leaves no place"],
            &["raise `max` for us-a from 1 to 2 (`placement.replicas.perCluster.max`, or `max` of its weight rule) @teams/shop/web/app.yaml:6"],
        ),
        (
            "quota",
            web("{replicas: {strategy: Duplicated}}")
                .edit("teams/shop.yaml", "[{name: shop}]}", "[{name: shop}], quota: [{hard: {requests.cpu: 2}}]}"),
            &["over quota"],
            &[
                "raise requests.cpu of the quota of team shop from 2 to 3: 0 is used and 3 would be added @teams/shop.yaml:4",
                "or ask for 1 requests.cpu less @teams/shop/web/app.yaml:3",
            ],
        ),
        (
            "all or nothing",
            big(web("{replicas: {strategy: StaticWeight, capacity: Require, total: 4}}"), "1500m")
                .cluster("eu-a", &pool(1, "")).cluster("eu-b", &pool(1, "")).cluster("us-a", &pool(1, "")),
            &["not all replicas fit"],
            &["`capacity: Require` adds nothing unless all 4 replicas of apps/Deployment/web find a place, and 4 have none: make room for them, or state `capacity: Cap` @teams/shop/web/app.yaml:6"],
        ),
        (
            "as few clusters as hold it",
            web("{replicas: {strategy: Aggregated}}"),
            &["not chosen"],
            &["Aggregated uses the fewest clusters that hold the 2 replicas of apps/Deployment/web: ask for more than these hold, or raise `min` of the spread over cluster @teams/shop/web/app.yaml:6"],
        ),
        (
            "a rule of single objects",
            Files::shop().app("web", "{namespace: shop, placement: {replicas: {strategy: StaticWeight}}, objects: [{match: {kind: Deployment}, clusters: {regions: [eu]}}]}"),
            &["kept out by a rule of `objects`"],
            &["let `clusters` of the rule of apps/Deployment/web in `objects` select us-a @teams/shop/web/app.yaml:3"],
        ),
        (
            "a group that shares no cluster",
            group("antiAffinity", "{names: [us-a]}", "{names: [us-a]}"),
            &["group tier=a is there"],
            &["shop/other of group tier=a has to leave us-a, or the app to have another value of that label @teams/shop/web/app.yaml:4"],
        ),
        (
            "a group that shares its clusters",
            group("affinity", "{regions: [eu]}", "{}"),
            &["group tier=a is not there"],
            &["shop/other, the first of group tier=a, has to be placed in us-a: `why shop/other us-a` @teams/shop/web/app.yaml:4"],
        ),
    ];
    let mut wrong = Vec::new();
    for (what, files, reasons, expected) in table {
        let cluster = there(&files, "web", "us-a");
        if cluster.reasons != *reasons || changes(&cluster) != *expected {
            wrong.push(format!("{what}: {:#?}\n{:#?}", cluster.reasons, changes(&cluster)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The whole text of a cluster with an autoscaler, overcommit, a reserve, others, a DaemonSet and a quota.
#[test]
fn the_arithmetic_of_a_room() {
    let daemon = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent}\nspec:\n  selector: {matchLabels: {app: agent}}\n  \
                  template:\n    metadata: {labels: {app: agent}}\n    spec: {containers: [{name: a, image: a, resources: {requests: \
                  {cpu: 200m}}}]}\n";
    let files = web("{replicas: {strategy: StaticWeight, capacity: Cap, total: 5, weights: {eu-a: 0, eu-b: 1, us-a: 2}}}")
        .cluster(
            "us-a",
            "{region: us, overcommit: {cpu: '1.5'}, reserved: {cpu: 1}, nodePools: [{name: general, nodes: 2, allocatable: {cpu: 2, \
             memory: 8Gi}, scalableTo: 3}, {name: gpu, nodes: 1, allocatable: {cpu: 8, memory: 8Gi}, taints: [{key: gpu, effect: \
             NoSchedule}]}]}",
        )
        .app("agent", "{namespace: shop, placement: {replicas: {strategy: Duplicated}}}")
        .with("teams/shop/agent/agent.yaml", daemon)
        .edit("teams/shop.yaml", "[{name: shop}]}", "[{name: shop}], quota: [{hard: {requests.cpu: 4, pods: 50, count/deployments.apps: 9}}]}");
    let text = report(&files, "web", "us-a").to_text(false);
    let (_, rest) = text.split_once("\nus-a  ").unwrap();
    let (section, _) = rest.split_once("\nPlacement comes from").unwrap();
    assert_eq!(
        section,
        "\
clusters/us-a.yaml:3:18
  apps/Deployment/web: 3
  room for apps/Deployment/web: a pod asks for 0.5 cpu, 1Gi memory; 12 more fit
    pool general, 2 nodes and 1 that an autoscaler may add: 12 fit
      cpu: 3 x (2 x 1.5 - 0.2 for DaemonSets) - 0.334 reserved - 1.5 booked = 6.566 free, largest piece 2.8
      memory: 3 x 8Gi - 3Gi booked = 21Gi free, largest piece 8Gi
      pods: 3 x (110 - 1 for DaemonSets) - 3 booked = 324 free, largest piece 109
    pool gpu, 1 node: the pod does not tolerate gpu:NoSchedule
  division: each seat goes to the largest weight / (2 x seats + 1)
    apps/Deployment/web: weight 2, 3 seats; its quotient for the next is 2/7
  quota of the team
    count/deployments.apps: 2 of 9 used, 2 of it by shop/web; one more replica adds 0  (teams/shop.yaml:4:44)
    pods: 9 of 50 used, 5 of it by shop/web; one more replica adds 1  (teams/shop.yaml:4:44)
    requests.cpu: 3.3 of 4 used, 2.5 of it by shop/web; one more replica adds 0.5  (teams/shop.yaml:4:44)
"
    );
}

/// What is booked of an autoscaled workload, and where that comes from, is said where its replicas are.
#[test]
fn what_is_booked_of_an_autoscaler_says_where_it_comes_from() {
    let hpa = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec: {scaleTargetRef: {apiVersion: \
               apps/v1, kind: Deployment, name: web}, minReplicas: 3, maxReplicas: 12}\n";
    let observed = web("{replicas: {strategy: StaticWeight, capacity: Cap, autoscaled: {room: Observed}}}")
        .cluster("us-a", &pool(4, ""));
    let observed = observed.with("teams/shop/web/hpa.yaml", hpa).with(
        "state/apps/shop/web.yaml",
        "observed: {apps/Deployment/web: {eu-b: {replicas: 9}, us-a: {replicas: 3}}}\n",
    );
    let why = report(&observed, "web", "us-a");
    let text = why.to_text(false);
    for expected in [
        "us-a  clusters/us-a.yaml:3:18\n  apps/Deployment/web: 1; 3 booked, as observed\n",
        "      cpu: 4 x 2 - 1.5 booked = 6.5 free, largest piece 2\n",
        "apps/Deployment/web: 3 to 12 replicas, as its autoscaler says, in equal shares; room is booked for those that are \
         observed\n",
        "  eu-a  1  weight 1    1 booked, its least there; nothing is observed yet\n",
        "  eu-b  1  weight 1    4 booked, its most there; 9 observed\n",
        "  us-a  1  weight 1    3 booked, as observed\n",
    ] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
    let plan = crate::report::plan(&observed.compiled()).to_text(false);
    let expected = "eu-a 1, eu-b 1 (4 booked, its most there; 9 observed), us-a 1 (3 booked, as observed)";
    assert!(plan.contains(expected), "{plan}");
    let data = serde_json::to_value(&why).unwrap();
    assert_eq!(data["cluster"]["booked"]["apps/Deployment/web"], serde_json::json!({"replicas": 3, "observed": 3}));
    // where the minimum is booked nothing is said of it
    let least = observed.edit("teams/shop/web/app.yaml", "room: Observed", "room: Min");
    assert!(!report(&least, "web", "us-a").to_text(false).contains("observed"));
}

/// A quota of each cluster refuses in each: `why` of a cluster tells of that one, `why` of the app of all.
#[test]
fn the_quota_of_each_cluster_is_told_for_the_cluster_that_is_asked_about() {
    let files = web("{replicas: {strategy: StaticWeight}}")
        .edit(
            "teams/shop.yaml",
            "{namespaces:",
            "{quota: [{scope: PerCluster, hard: {requests.cpu: 500m}}], namespaces:",
        )
        .edit("teams/shop/web/web.yaml", "replicas: 2", "replicas: 8");
    let here = |cluster: &str, others: &str| {
        format!(
            "the team's quota in cluster {cluster} allows 0.5 requests.cpu: 0.5 are used, 2.5 more are asked for; the quotas of \
             clusters {others} refuse it as well"
        )
    };
    let shortfalls = |at: Option<&str>| -> Vec<String> {
        let compiled = files.compiled();
        let id = compiled.fleet.app_id("shop", "web").unwrap();
        let at = at.and_then(|name| compiled.fleet.cluster_id(name));
        let report = why(&compiled, id, at, &|file| files.text(file.path.as_str()).map(|text| text.as_bytes().into()));
        report.shortfalls.iter().map(ToString::to_string).filter(|text| text.contains("quota")).collect()
    };
    assert_eq!(shortfalls(None), [here("eu-a", "eu-b, us-a")]);
    for (at, others) in [("eu-a", "eu-b, us-a"), ("us-a", "eu-a, eu-b")] {
        assert_eq!(shortfalls(Some(at)), [here(at, others)]);
        let there = there(&files, "web", at);
        assert_eq!(there.reasons, [""; 0], "{at}");
    }
}

#[test]
fn what_must_be_ready_before_a_cluster_is_lowered() {
    let of = |placement: &str| {
        let report = report(&web(placement), "web", "eu-a");
        let line =
            report.to_text(false).lines().find(|line| line.contains("is lowered")).map(str::trim).map(str::to_owned);
        (report.min_available, line)
    };
    let said = |floor: &str| {
        let line = format!("no cluster is lowered while less than {floor} of a workload's replicas would be ready");
        (Some(floor.to_owned()), Some(line))
    };
    assert_eq!(of("{move: {minAvailable: 90%}}"), said("90%"));
    assert_eq!(of("{move: {minAvailable: 3, max: 10%}}"), said("3"));
    assert_eq!(of("{move: {max: 10%}}"), (None, None));
}
