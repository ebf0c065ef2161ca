//! One valid document of each kind, with every field that the kind has.

pub(super) const FLEET: &str = r#"
apiVersion: fleetwright.io/v1alpha1
kind: Fleet
metadata: {name: fleet, labels: {a: b}, annotations: {note: text}}
spec:
  toolVersion: 0.1.0
  defaults:
    placement:
      clusters:
        matchLabels: {env: prod}
        matchExpressions: [{key: env, operator: In, values: [prod]}]
        names: [eu-a]
        exclude: [eu-b]
        providers: [aws]
        regions: [eu]
        zones: [eu-1]
        tiers:
          mode: FirstFit
          groups: [{name: own, clusters: {names: [eu-a]}}]
      tolerations: [{key: gpu, operator: Equal, value: "1", effect: NoExecute, tolerationSeconds: 60}]
      spread: [{topologyKey: region, min: 1, max: 2}]
      replicas:
        strategy: StaticWeight
        total: 4
        weights: [{clusters: {names: [eu-a]}, weight: 2, min: 1, max: 3}]
        weighBy: Available
        capacity: Cap
        perCluster: {min: 1, max: 5}
        autoscaled: {room: Min, quota: Max}
      affinity: {groupBy: stack}
      antiAffinity: {groupBy: stack}
      move: {max: 20%, every: 5m, minAvailable: 80%, wait: Current, deadline: 2h}
    tolerations: [{key: maint, operator: Exists}]
  branches: {intents: main, live: live, rendered: rendered}
  limits: {deletions: {share: 10%, count: 3}, moves: {share: 5}}
  failover: {maxClusters: 1, after: 5m, purgeMode: Gracefully}
  adopt: {managers: [kubectl]}
  drift: Correct
  secrets: {plaintext: Deny, decryption: {provider: sops}}
  values: {registry: registry.example}
"#;

pub(super) const CLUSTER: &str = r#"
apiVersion: fleetwright.io/v1alpha1
kind: Cluster
metadata: {name: eu-a}
spec:
  provider: aws
  region: eu
  zones: [eu-1]
  taints: [{key: gpu, value: "1", effect: NoSchedule}]
  nodePools:
  - name: general
    nodes: 10
    allocatable: {cpu: "8", memory: 32Gi, pods: 110}
    labels: {disk: ssd}
    taints: [{key: spot, effect: PreferNoSchedule}]
    scalableTo: 20
  overcommit: {cpu: "1.5"}
  reserved: {cpu: 500m}
  apis: [{groupVersion: example.com/v1, kinds: [Thing]}]
  values: {domain: eu-a.example}
  lifecycle: Active
  mode: Apply
  connection: {context: eu-a, secretRef: eu-a}
"#;

pub(super) const TEAM: &str = r#"
apiVersion: fleetwright.io/v1alpha1
kind: Team
metadata: {name: search}
spec:
  namespaces: [{name: search, labels: {a: b}}, {prefix: search-}]
  clusters: {regions: [eu]}
  quota: [{hard: {requests.cpu: "40"}, clusters: {names: [eu-a]}, scope: Total}]
  kinds: {allow: [{group: "", kind: Namespace}], deny: [{group: batch, kind: "*"}]}
  priorityClassNames: [urgent]
  serviceAccountName: search
  placement: {replicas: {strategy: Duplicated}}
  survive: any-cluster
  owners: [ann]
"#;

pub(super) const APP: &str = r#"
apiVersion: fleetwright.io/v1alpha1
kind: App
metadata: {name: web, labels: {tier: web}}
spec:
  namespace: search
  manifests: [base/*.yaml]
  sources:
  - helm: {chart: "oci://registry.example/chart", version: v1, values: [values.yaml]}
    kustomize: {path: overlays/prod}
    variants: [{name: aws, clusters: {providers: [aws]}, values: [aws.yaml]}]
  images: [{name: acme/web, newName: acme/web2, newTag: "2", digest: "sha256:0"}]
  priorityClassName: urgent
  placement: {replicas: {strategy: StaticWeight, weights: {eu-a: 2, us-a: 1}}}
  objects:
  - match: {kind: Job, name: import, labels: {a: b}}
    replicas: {strategy: Aggregated}
    clusters: {names: [eu-a]}
    divide: true
  overrides:
  - target: {group: apps, kind: Deployment, name: web, namespace: search, labels: {a: b}, container: web}
    clusters: {providers: [aws]}
    patch: {spec: {paused: true}}
    set: {/spec/replicas: 3}
    remove: [/spec/paused]
    jsonPatch: [{op: remove, path: /spec/paused}]
    images: [{name: a, newName: b, newRegistry: c, newTag: d, digest: e}]
    env: {A: b, C: null}
    args: [--debug]
    command: [/web]
    labels: {a: b, c: null}
    annotations: {a: b, c: null}
  dependsOn: [search/db]
  failover: {after: 5m, purgeMode: Directly, preserve: [{path: /status/id, label: id}], failBack: {soak: 1h}}
  survive: any-region
  traffic: {follow: true}
  rollout: {steps: 3}
  suspend: false
  prune: true
  exclusive: false
  previousNames: [search/old]
  tide: Ignore
"#;

pub(super) const PLACEMENT_POLICY: &str = r#"
apiVersion: fleetwright.io/v1alpha1
kind: PlacementPolicy
metadata: {name: web}
spec:
  apps:
    matchLabels: {tier: web}
    matchExpressions: [{key: tier, operator: Exists}]
    names: [search/web]
    teams: [search]
  precedence: 10
  placement: {spread: [{topologyKey: zone}]}
"#;

pub(super) const OVERRIDE_POLICY: &str = r#"
apiVersion: fleetwright.io/v1alpha1
kind: OverridePolicy
metadata: {name: mirror}
spec:
  apps: {}
  precedence: -1
  enforced: true
  overrides: [{images: [{newRegistry: mirror.example}]}]
"#;

pub(super) const TIDE: &str = r#"
apiVersion: fleetwright.io/v1alpha1
kind: Tide
metadata: {name: inference}
spec:
  timeZone: Asia/Shanghai
  apps: {matchLabels: {tier: inference}}
  precedence: 1
  days: [Mon, Tue, Wed, Thu, Fri, Sat, Sun]
  calendar: holidays
  phases:
  - {name: day, from: "07:00", weights: {eu-a: 80, eu-b: 20}}
  - name: night
    from: "23:00"
    weights: [{clusters: {names: [eu-b]}, weight: 1, min: 1, max: 9}]
    replicas: 40%
  move: {max: 20%, every: 5m, minAvailable: 80%, wait: Current, deadline: 2h}
"#;

pub(super) const CALENDAR: &str = r#"
apiVersion: fleetwright.io/v1alpha1
kind: Calendar
metadata: {name: holidays}
spec:
  holidays:
  - {name: National Day, date: "2026-10-01", until: "2026-10-07"}
  workingDays: [{date: 2026-10-10}]
"#;

pub(super) const WORKLOAD_KIND: &str = r#"
apiVersion: fleetwright.io/v1alpha1
kind: WorkloadKind
metadata: {name: flinkdeployments}
spec:
  group: flink.apache.org
  kind: FlinkDeployment
  replicas: [/spec/taskManager/replicas]
  templates: [/spec/podTemplate]
  components:
  - {name: jobmanager, replicas: /spec/jobManager/replicas, template: /spec/podTemplate, requests: /spec/resource}
  dividable: false
  health: {current: status.state == 'RUNNING', inProgress: status.state == 'CREATED', failed: status.state == 'FAILED'}
  dependencies: [/spec/configRef/name]
  statePaths: [/status/jobId]
"#;

pub(super) const PRIORITY_CLASS: &str = r#"
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: urgent}
value: 1000
globalDefault: false
description: for what earns money
preemptionPolicy: Never
"#;

/// By kind.
pub(super) const ALL: &[(&str, &str)] = &[
    ("Fleet", FLEET),
    ("Cluster", CLUSTER),
    ("Team", TEAM),
    ("App", APP),
    ("PlacementPolicy", PLACEMENT_POLICY),
    ("OverridePolicy", OVERRIDE_POLICY),
    ("Tide", TIDE),
    ("Calendar", CALENDAR),
    ("WorkloadKind", WORKLOAD_KIND),
    ("PriorityClass", PRIORITY_CLASS),
];
