use super::*;
use crate::import::tests::{compiled, files, notes};

const CLUSTERS: &str = "\
=== clusters.yaml
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: member1, labels: {env: prod}, uid: 3b1}
spec:
  apiEndpoint: https://10.0.0.1:6443
  provider: aws
  region: eu-west-1
  zones: [eu-west-1a, eu-west-1b]
  taints: [{key: cluster.karmada.io/not-ready, effect: NoSchedule}, {key: gpu, value: 'yes', effect: NoSchedule}]
status:
  conditions: [{type: CompleteAPIEnablements, status: 'True'}]
  apiEnablements:
  - {groupVersion: apps/v1, resources: [{kind: Deployment}]}
  - {groupVersion: cert-manager.io/v1, resources: [{kind: Certificate}, {kind: Issuer}]}
  nodeSummary: {totalNum: 4, readyNum: 3}
  resourceSummary: {allocatable: {cpu: '34', memory: 100Gi, pods: '440'}}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: member2, labels: {env: prod}}
spec: {provider: gcp, region: us-east1, zone: us-east1-b}
---
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: member3, labels: {env: test}}
spec: {provider: gcp, region: us-east1}
";

fn deployment(name: &str, extra: &str) -> String {
    format!(
        "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: shop, labels: {{app: {name}, tier: \
         web}}{extra}}}\nspec:\n  replicas: 12\n  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: \
         {{labels: {{app: {name}}}}}\n    spec:\n      containers:\n      - name: main\n        image: \
         docker.io/shop/{name}:1.2\n        args: [-a, -b]\n        resources: {{requests: {{cpu: 100m}}}}\n        envFrom: \
         [{{configMapRef: {{name: settings}}}}]\n"
    )
}

fn policy(kind: &str, name: &str, spec: &str) -> String {
    let namespace = if kind.starts_with("Cluster") { "" } else { ", namespace: shop" };
    format!(
        "---\napiVersion: policy.karmada.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}{namespace}}}\nspec:\n{spec}"
    )
}

const ALL_DEPLOYMENTS: &str = "  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]\n";

fn imported(text: &str) -> Imported {
    import(&files(text)).unwrap()
}

/// `cluster: replicas` of a workload.
fn seats(imported: &Imported, app: &str) -> Vec<String> {
    let compiled = compiled(imported);
    let id = compiled.fleet.app_ids().find(|id| compiled.fleet.app_name(*id) == app).unwrap();
    let seats = compiled.target.apps[id.0 as usize].seats.iter();
    seats.map(|seat| format!("{}: {}", compiled.fleet.cluster(seat.cluster).name, seat.replicas)).collect()
}

#[test]
fn clusters_keep_what_placement_looks_at() {
    let imported = imported(CLUSTERS);
    compiled(&imported);
    assert_eq!(
        imported.files["clusters/member1.yaml"],
        "\
apiVersion: fleetwright.io/v1alpha1
kind: Cluster
metadata:
  name: member1
  labels:
    env: prod
spec:
  provider: aws
  region: eu-west-1
  zones:
  - eu-west-1a
  - eu-west-1b
  taints:
  - key: gpu
    value: \"yes\"
    effect: NoSchedule
  nodePools:
  - name: general
    nodes: 3
    allocatable:
      cpu: \"8500m\"
      memory: \"25Gi\"
      pods: \"110\"
  apis:
  - groupVersion: cert-manager.io/v1
    kinds:
    - Certificate
    - Issuer
"
    );
    let notes = notes(&imported);
    for expected in
        ["spec.apiEndpoint", "cluster.karmada.io/not-ready is Karmada's own", "its 3 ready nodes are taken as equal"]
    {
        assert!(notes.iter().any(|note| note.contains(expected)), "{expected}: {notes:#?}");
    }
}

#[test]
fn each_strategy_divides_as_it_did() {
    for (placement, expected) in [
        ("", vec!["member1: 12", "member2: 12"]),
        ("    replicaScheduling: {replicaSchedulingType: Duplicated}\n", vec!["member1: 12", "member2: 12"]),
        ("    replicaScheduling: {replicaSchedulingType: Divided}\n", vec!["member1: 6", "member2: 6"]),
        (
            "    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: \
             {staticWeightList: [{targetCluster: {clusterNames: [member1]}, weight: 2}, {targetCluster: {fieldSelector: \
             {matchExpressions: [{key: region, operator: In, values: [us-east1]}]}}, weight: 1}]}}\n",
            vec!["member1: 8", "member2: 4"],
        ),
        (
            "    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}\n",
            vec!["member1: 12"],
        ),
        (
            "    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}\n    \
             spreadConstraints: [{spreadByField: cluster, minGroups: 2}]\n",
            vec!["member1: 11", "member2: 1"],
        ),
        ("    spreadConstraints: [{spreadByField: cluster, maxGroups: 1}]\n", vec!["member1: 12"]),
    ] {
        let spec = format!(
            "{ALL_DEPLOYMENTS}  placement:\n    clusterAffinity: {{labelSelector: {{matchLabels: {{env: prod}}}}}}\n    clusterTolerations: [{{key: gpu, operator: Exists}}]\n{placement}"
        );
        let text = format!("{CLUSTERS}{}{}", deployment("web", ""), policy("PropagationPolicy", "web", &spec));
        let imported = imported(&text);
        if placement.contains("Aggregated") {
            // which is the emptier one depends on room, which only member1 states
            assert_eq!(
                seats(&imported, "shop/web")
                    .iter()
                    .map(|seat| seat.split(": ").nth(1).unwrap().parse::<u32>().unwrap())
                    .sum::<u32>(),
                12
            );
            assert_eq!(seats(&imported, "shop/web").len(), expected.len(), "{placement}");
        } else {
            assert_eq!(seats(&imported, "shop/web"), expected, "{placement}");
        }
    }
}

/// The placement policy that holds an app, and its strategy.
fn held_by(imported: &Imported, app: &str) -> String {
    let of = |(path, text): (&String, &String)| {
        (text.contains("kind: PlacementPolicy") && text.contains(app)).then(|| path.clone())
    };
    imported.files.iter().find_map(of).unwrap_or_default()
}

#[test]
fn one_policy_has_each_template() {
    let selector = |rest: &str| format!("  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment{rest}}}]\n");
    let by_name = selector(", name: web");
    let by_label = selector(", labelSelector: {matchLabels: {tier: web}}");
    let by_kind = selector("");
    let pp = |name: &str, spec: &str| policy("PropagationPolicy", name, spec);
    let cpp = |name: &str, spec: &str| policy("ClusterPropagationPolicy", name, spec);
    let claimed = |by: &str| {
        format!(
            ", annotations: {{propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: {by}}}"
        )
    };
    let cluster_claimed = ", annotations: {clusterpropagationpolicy.karmada.io/name: wide}".to_owned();
    let always = "  preemption: Always\n";
    for (policies, extra, expected) in [
        // more exact wins, then the lower name
        (vec![pp("a", &by_kind), pp("b", &by_label), pp("c", &by_name)], String::new(), "teams/shop/shop-c.yaml"),
        (vec![pp("a", &by_kind), pp("b", &by_label)], String::new(), "teams/shop/shop-b.yaml"),
        (vec![pp("b", &by_kind), pp("a", &by_kind)], String::new(), "teams/shop/shop-a.yaml"),
        // stated priority before that, and the namespace before the cluster
        (
            vec![pp("a", &by_name), pp("b", &format!("{by_kind}  priority: 1\n"))],
            String::new(),
            "teams/shop/shop-b.yaml",
        ),
        (
            vec![cpp("wide", &format!("{by_name}  priority: 9\n")), pp("a", &by_kind)],
            String::new(),
            "teams/shop/shop-a.yaml",
        ),
        (vec![cpp("wide", &by_kind)], String::new(), "policies/wide.yaml"),
        // a claim stays, and is taken only by a higher one that preempts
        (vec![pp("a", &by_kind), pp("c", &by_name)], claimed("a"), "teams/shop/shop-a.yaml"),
        (vec![pp("a", &by_kind), pp("c", &format!("{by_name}{always}"))], claimed("a"), "teams/shop/shop-a.yaml"),
        (
            vec![pp("a", &by_kind), pp("c", &format!("{by_name}{always}  priority: 1\n"))],
            claimed("a"),
            "teams/shop/shop-c.yaml",
        ),
        (
            vec![pp("a", &by_kind), pp("c", &format!("{by_name}  priority: 1\n"))],
            claimed("a"),
            "teams/shop/shop-a.yaml",
        ),
        (vec![cpp("wide", &by_kind), pp("a", &by_kind)], cluster_claimed.clone(), "policies/wide.yaml"),
        (
            vec![cpp("wide", &by_kind), pp("a", &format!("{by_kind}{always}"))],
            cluster_claimed,
            "teams/shop/shop-a.yaml",
        ),
        // a claim of a policy that is gone counts for nothing
        (vec![pp("a", &by_kind), pp("c", &by_name)], claimed("gone"), "teams/shop/shop-c.yaml"),
    ] {
        let text = format!("{CLUSTERS}{}{}", deployment("web", &extra), policies.join(""));
        let imported = imported(&text);
        compiled(&imported);
        assert_eq!(held_by(&imported, "shop/web"), expected, "{}", policies.join(""));
    }
}

#[test]
fn what_no_policy_selects_follows_or_is_left_out() {
    let map = |name: &str| {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\ndata: {{a: b}}\n")
    };
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: shop}\ndata: {a: Yg==}\n";
    let follow = format!("{ALL_DEPLOYMENTS}  propagateDeps: true\n");
    let one = format!(
        "{CLUSTERS}{}{}{}{secret}{}",
        deployment("web", ""),
        map("settings"),
        map("lost"),
        policy("PropagationPolicy", "all", &follow)
    );
    let imported_one = imported(&one);
    compiled(&imported_one);
    assert!(imported_one.files.contains_key("teams/shop/web/configmap-settings.yaml"));
    let said = notes(&imported_one);
    assert!(
        said.contains(&"Skipped ConfigMap shop/lost : no policy selects it: it runs nowhere".to_owned()),
        "{said:#?}"
    );
    assert!(
        said.iter().any(|note| note.starts_with("NoCounterpart Secret shop/token : holds data in the clear")),
        "{said:#?}"
    );
    assert!(imported_one.files.values().all(|text| !text.contains("Yg==")));

    let two = format!("{one}{}", deployment("api", ""));
    let imported_two = imported(&two);
    compiled(&imported_two);
    assert!(imported_two.files.contains_key("teams/shop/shared/configmap-settings.yaml"));
}

#[test]
fn overrides_change_what_they_changed() {
    let rule = |overriders: &str| {
        format!(
            "{ALL_DEPLOYMENTS}  overrideRules:\n  - targetCluster: {{clusterNames: [member1]}}\n    overriders: {overriders}\n"
        )
    };
    for (overriders, expected) in [
        (
            "{imageOverrider: [{component: Registry, operator: replace, value: mirror.local}]}",
            vec!["image: mirror.local/shop/web:1.2", "image: mirror.local/shop/api:1.2"],
        ),
        (
            "{imageOverrider: [{component: Tag, operator: replace, value: '1.3'}]}",
            vec!["image: docker.io/shop/web:1.3"],
        ),
        (
            "{imageOverrider: [{component: Tag, operator: add, value: -arm64}]}",
            vec!["image: docker.io/shop/web:1.2-arm64"],
        ),
        (
            "{imageOverrider: [{component: Repository, operator: add, value: -eu}, {component: Registry, operator: remove}]}",
            vec!["image: shop/web-eu:1.2"],
        ),
        (
            "{imageOverrider: [{predicate: {path: /spec/template/spec/containers/0/image}, component: Registry, operator: add, \
             value: ':5000'}]}",
            vec!["image: docker.io:5000/shop/web:1.2"],
        ),
        ("{argsOverrider: [{containerName: main, operator: add, value: [-c]}]}", vec!["-a", "-b", "-c"]),
        ("{argsOverrider: [{containerName: main, operator: remove, value: [-a]}]}", vec!["- \"-b\""]),
        ("{commandOverrider: [{containerName: main, operator: add, value: [run]}]}", vec!["command:\n        - run"]),
        ("{labelsOverrider: [{operator: add, value: {zone: a}}]}", vec!["zone: a"]),
        ("{labelsOverrider: [{operator: replace, value: {tier: db, none: x}}]}", vec!["tier: db"]),
        ("{annotationsOverrider: [{operator: add, value: {note: 'a ${b}'}}]}", vec!["a ${b}"]),
        ("{plaintext: [{path: /spec/paused, operator: add, value: true}]}", vec!["paused: true"]),
    ] {
        let all = format!("{ALL_DEPLOYMENTS}  placement: {{clusterTolerations: [{{operator: Exists}}]}}\n");
        let text = format!(
            "{CLUSTERS}{}{}{}{}",
            deployment("web", ""),
            deployment("api", ""),
            policy("PropagationPolicy", "all", &all),
            policy("OverridePolicy", "o", &rule(overriders))
        );
        let imported = imported(&text);
        let compiled = compiled(&imported);
        let mut texts = [String::new(), String::new()];
        for (cluster, text) in (0..).map(crate::base::ClusterId).zip(&mut texts) {
            compiled.rendered.files(cluster).iter().for_each(|file| file.write(&compiled.fleet, text));
        }
        for expected in expected {
            assert!(texts[0].contains(expected), "{overriders}: {expected} in\n{}", texts[0]);
        }
        assert_ne!(texts[0], texts[1], "{overriders}");
        let untouched = ["image: docker.io/shop/web:1.2\n", "tier: web"];
        assert!(untouched.iter().all(|kept| texts[1].contains(kept)), "{overriders}: {}", texts[1]);
    }
}

#[test]
fn the_more_exact_override_wins() {
    let mark = |selector: &str, value: &str| {
        format!(
            "  resourceSelectors: [{{apiVersion: apps/v1, kind: Deployment{selector}}}]\n  overrideRules: [{{overriders: {{labelsOverrider: [{{operator: add, value: {{by: {value}}}}}]}}}}]\n"
        )
    };
    let all = format!("{ALL_DEPLOYMENTS}  placement: {{clusterAffinity: {{clusterNames: [member2]}}}}\n");
    let text = format!(
        "{CLUSTERS}{}{}{}{}{}{}",
        deployment("web", ""),
        deployment("api", ""),
        policy("PropagationPolicy", "all", &all),
        policy("OverridePolicy", "a-exact", &mark(", name: web", "exact")),
        policy("OverridePolicy", "z-kind", &mark("", "kind")),
        policy("ClusterOverridePolicy", "cluster", &mark(", name: api", "cluster")),
    );
    let imported = imported(&text);
    let compiled = compiled(&imported);
    let files = compiled.rendered.files(crate::base::ClusterId(1)).iter().map(|file| {
        let mut text = String::new();
        file.write(&compiled.fleet, &mut text);
        text
    });
    let files: Vec<String> = files.collect();
    let of = |name: &str| {
        let document = files.iter().find(|document| document.contains(&format!("name: {name}\n"))).unwrap();
        document.lines().find_map(|line| line.trim().strip_prefix("by: ")).unwrap().to_owned()
    };
    // the namespace's after the cluster's, and in it the exact one last
    assert_eq!([of("web"), of("api")], ["exact", "kind"], "{:#?}", imported.files);
}

#[test]
fn quotas_groups_priorities_and_what_has_no_counterpart() {
    let spec = format!(
        "{ALL_DEPLOYMENTS}  schedulePriority: {{priorityClassSource: KubePriorityClass, priorityClassName: high}}\n  schedulerName: \
         other\n  conflictResolution: Overwrite\n  preserveResourcesOnDeletion: true\n  activationPreference: Lazy\n  placement:\n    \
         workloadAffinity: {{affinity: {{groupByLabelKey: app}}}}\n    spreadConstraints: [{{spreadByField: zone, minGroups: 2}}]\n    \
         clusterAffinities:\n    - {{affinityName: own, labelSelector: {{matchLabels: {{env: prod}}}}}}\n    - {{affinityName: rest, \
         fieldSelector: {{matchExpressions: [{{key: provider, operator: NotIn, values: [aws]}}]}}}}\n"
    );
    let text = format!(
        "{CLUSTERS}{}{}---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: high}}\nvalue: 100\npreemptionPolicy: \
         PreemptLowerPriority\n---\napiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\nmetadata: {{name: q, namespace: \
         shop}}\nspec:\n  overall: {{cpu: '100', memory: 1Gi, pods: '7'}}\n  staticAssignments: [{{clusterName: member2, hard: \
         {{requests.cpu: '4', pods: '50'}}}}]\n---\napiVersion: apps.karmada.io/v1alpha1\nkind: WorkloadRebalancer\nmetadata: {{name: \
         now}}\nspec: {{workloads: [{{apiVersion: apps/v1, kind: Deployment, name: web, namespace: shop}}]}}\n---\napiVersion: \
         config.karmada.io/v1alpha1\nkind: ResourceInterpreterCustomization\nmetadata: {{name: r}}\nspec:\n  target: {{apiVersion: \
         example.io/v1, kind: Thing}}\n  customizations:\n    healthInterpretation:\n      luaScript: |\n        function \
         InterpretHealth(o)\n          return o.status.ready == o.spec.size\n        end\n    retention: {{luaScript: 'function Retain(a, \
         b) return a end'}}\n",
        deployment("web", ""),
        policy("PropagationPolicy", "all", &spec)
    );
    let imported = imported(&text);
    let compiled = compiled(&imported);
    let app = compiled.fleet.apps.first().unwrap();
    assert_eq!(app.priority, 100);
    let team = &imported.files["teams/shop.yaml"];
    for expected in ["requests.cpu: \"100\"", "requests.memory: \"1Gi\"", "scope: PerCluster", "pods: \"50\""] {
        assert!(team.contains(expected), "{expected}: {team}");
    }
    assert!(!team.contains("pods: \"7\""));
    let kind = &imported.files["policies/workloadkind-thing.example.io.yaml"];
    assert!(kind.contains("current: status.ready == spec.size"), "{kind}");
    let manifest = &imported.files["teams/shop/web/deployment-web.yaml"];
    for expected in ["fleetwright.io/conflicts: Force", "fleetwright.io/prune: disabled"] {
        assert!(manifest.contains(expected), "{manifest}");
    }
    assert!(imported.files["teams/shop/web/app.yaml"].contains("    app: web\n"));
    let said = notes(&imported);
    for expected in [
        "NoCounterpart PropagationPolicy shop/all spec.schedulerName: there is one scheduler",
        "NoCounterpart FederatedResourceQuota shop/q spec.overall: `pods` counts nothing in Karmada",
        "NoCounterpart WorkloadRebalancer now : is a command",
        "NoCounterpart ResourceInterpreterCustomization r spec.customizations.retention",
        "Resolved PropagationPolicy shop/all spec.placement.clusterAffinities[1].fieldSelector: provider NotIn became `exclude`",
        "Differs PropagationPolicy shop/all spec.placement.spreadConstraints[0]: in Karmada only keeps out clusters without a zone",
    ] {
        assert!(said.iter().any(|note| note.starts_with(expected)), "{expected}: {said:#?}");
    }
}

#[test]
fn everything_at_once_compiles() {
    let spec = "  resourceSelectors:\n  - {apiVersion: apps/v1, kind: Deployment}\n  - {apiVersion: apps/v1, kind: StatefulSet}\n  \
                - {apiVersion: batch/v1, kind: CronJob}\n  - {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler}\n  \
                - {apiVersion: cert-manager.io/v1, kind: Certificate}\n  placement:\n    clusterAffinity: {clusterNames: [member2], \
                overflowAffinities: [{affinityName: x, clusterNames: [member3]}]}\n    replicaScheduling: {replicaSchedulingType: \
                Divided, replicaDivisionPreference: Aggregated}\n";
    let wide = "  resourceSelectors: [{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}]\n";
    let templates = "\
---
apiVersion: v1
kind: List
items:
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: 'system:read'}
  rules: []
- apiVersion: batch/v1
  kind: CronJob
  metadata: {name: tick, namespace: shop}
  spec:
    schedule: '* * * * *'
    jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: tick}]}}}}
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: db, namespace: shop}
  spec:
    serviceName: db
    replicas: 3
    selector: {matchLabels: {app: db}}
    template: {metadata: {labels: {app: db}}, spec: {containers: [{name: c, image: db}]}}
- apiVersion: autoscaling/v2
  kind: HorizontalPodAutoscaler
  metadata: {name: web, namespace: shop}
  spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 9}
- apiVersion: cert-manager.io/v1
  kind: Certificate
  metadata: {name: tls, namespace: shop}
  spec: {secretName: tls}
";
    let text = format!(
        "{CLUSTERS}{}{templates}{}{}",
        deployment("web", ""),
        policy("PropagationPolicy", "all", spec),
        policy("ClusterPropagationPolicy", "wide", wide)
    );
    let imported = imported(&text);
    compiled(&imported);
    let files: Vec<&str> =
        imported.files.keys().map(String::as_str).filter(|path| path.starts_with("teams/")).collect();
    assert_eq!(
        files,
        [
            "teams/cluster-scoped.yaml",
            "teams/cluster-scoped/wide/app.yaml",
            "teams/cluster-scoped/wide/clusterrole-system-read.yaml",
            "teams/shop.yaml",
            "teams/shop/all/app.yaml",
            "teams/shop/all/certificate-tls.yaml",
            "teams/shop/all/cronjob-tick.yaml",
            "teams/shop/db/app.yaml",
            "teams/shop/db/statefulset-db.yaml",
            "teams/shop/shop-all.yaml",
            "teams/shop/web/app.yaml",
            "teams/shop/web/deployment-web.yaml",
            "teams/shop/web/horizontalpodautoscaler-web.yaml",
        ]
    );
}

#[test]
fn what_runs_is_recorded_and_nothing_moves() {
    let spec = format!(
        "{ALL_DEPLOYMENTS}  placement:\n    clusterTolerations: [{{operator: Exists}}]\n    replicaScheduling: \
         {{replicaSchedulingType: Divided}}\n"
    );
    let binding = "\
---
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata: {name: web-deployment, namespace: shop}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web}
  clusters: [{name: member3, replicas: 1}, {name: member1, replicas: 11}]
";
    let text = format!("{CLUSTERS}{}{}{binding}", deployment("web", ""), policy("PropagationPolicy", "all", &spec));
    let mut imported = imported(&text);
    assert_eq!(seats(&imported, "shop/web"), ["member1: 4", "member2: 4", "member3: 4"], "without the record");
    imported.files.extend(imported.placements.clone());
    assert_eq!(seats(&imported, "shop/web"), ["member1: 11", "member3: 1"]);
    let compiled = compiled(&imported);
    assert!(compiled.plan.apps.iter().all(|app| app.moves.is_empty()));
}

fn quota(name: &str, spec: &str) -> String {
    format!(
        "---\napiVersion: policy.karmada.io/v1alpha1\nkind: FederatedResourceQuota\nmetadata: {{name: {name}, namespace: \
         shop}}\nspec: {spec}\n"
    )
}

/// What is no amount is left out and said; what limits one thing twice is said, and the smaller counts.
#[test]
fn odd_and_doubled_quotas_are_said() {
    let spec = "{overall: {cpu: 40, requests.cpu: 30, memory: -1Gi, nvidia.com/gpu: 16Ei, ephemeral-storage: lots}, \
                staticAssignments: [{clusterName: member1, hard: {cpu: 10, memory: -2}}, {clusterName: member1, hard: {cpu: 5}}]}";
    let text = format!("{CLUSTERS}{}{}", quota("one", spec), quota("two", "{overall: {cpu: 20}}"));
    let imported = imported(&text);
    compiled(&imported);
    let said = notes(&imported).join("\n");
    for line in [
        "Resolved FederatedResourceQuota shop/one spec.overall: `cpu` and `requests.cpu` both limit requests.cpu: the smaller of the \
         two is written",
        "NoCounterpart FederatedResourceQuota shop/one spec.overall.memory: `-1Gi` is less than nothing: left out",
        "spec.overall.nvidia.com/gpu: `16Ei` is no amount of nvidia.com/gpu: expected at most 2^63-1",
        "spec.overall.ephemeral-storage: `lots` is no amount of ephemeral-storage: expected a number",
        "spec.staticAssignments[0].memory: `-2` is less than nothing: left out",
        "spec.staticAssignments[1]: is for member1, as staticAssignments[0] is: both hold, and the smaller amount decides",
        "Resolved FederatedResourceQuota shop/one : is one of 2 of its namespace: all of them hold, each as a quota of team shop",
        "Resolved FederatedResourceQuota shop/two : is one of 2 of its namespace",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    let team = &imported.files["teams/shop.yaml"];
    assert!(team.contains("requests.cpu: \"30\"") && !team.contains("\"40\"") && !team.contains("-1Gi"), "{team}");
}

#[test]
fn an_object_that_is_there_twice_and_differs_is_refused() {
    let same = format!("{CLUSTERS}{}=== other.yaml\n{}", deployment("web", ""), deployment("web", ""));
    let said = notes(&imported(&same)).join("\n");
    assert!(
        said.contains("Skipped Deployment shop/web : is in clusters.yaml:28 as well, and the same there"),
        "{said}"
    );
    let other = deployment("web", "").replace("replicas: 12", "replicas: 13");
    let wrong = import(&files(&format!("{CLUSTERS}{}=== other.yaml\n{other}", deployment("web", "")))).unwrap_err();
    let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].starts_with("other.yaml:2: Deployment shop/web is in clusters.yaml:"), "{wrong:?}");
    assert!(wrong[0].ends_with("as well, and differs there: leave one of them out"), "{wrong:?}");
}
