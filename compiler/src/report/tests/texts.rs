//! Whole texts, as a person sees them.

use std::sync::Arc;

use crate::Compiled;
use crate::base::ClusterId;
use crate::diff::diff;
use crate::diff::tests::fixture::Files;
use crate::model::{ClusterSet, Mismatch};
use crate::plan::{Cause, Move, Removal};
use crate::report::{diff_markdown, diff_text, plan, why};
use crate::schedule::{Deficit, Verdict};
use crate::source::SourceFile;

fn set(ids: &[u16]) -> ClusterSet {
    ids.iter().copied().map(ClusterId).collect()
}

fn reader(files: &Files) -> impl Fn(&SourceFile) -> Option<Arc<[u8]>> {
    let files = files.clone();
    move |file| files.text(file.path.as_str()).map(|text| Arc::from(text.as_bytes()))
}

fn with_pools() -> Files {
    let pools = "{name: general, nodes: 3, allocatable: {cpu: \"4\", memory: 8Gi, pods: \"20\"}}";
    Files::shop().cluster(
        "eu-a",
        &format!("{{region: eu, nodePools: [{pools}], reserved: {{cpu: \"1\"}}, overcommit: {{cpu: \"1.5\"}}}}"),
    )
}

/// The fleet as if `us-a` did not match.
fn without_us(files: &Files) -> Compiled {
    let mut compiled = files.compiled();
    compiled.plan.apps[0].moves.clear();
    compiled.target.apps[0].verdicts = vec![(Verdict::Mismatch(Mismatch::Region), set(&[2]))];
    compiled.target.apps[0].deficits = vec![Deficit::Unplaced { workload: 0, replicas: 1, wanted: 6, displaced: 1 }];
    compiled
}

#[test]
fn a_plan() {
    let report = plan(&without_us(&with_pools()));
    let text = "\
APP       WORKLOAD             REPLICAS  CLUSTERS
shop/web  apps/Deployment/web         6  eu-a 2, eu-b 2, us-a 2

Not possible
  shop/web: apps/Deployment/web wants 6 replicas in every selected cluster and lacks 1 in all; 1 of them ran before and no longer fit where they were
";
    assert_eq!(report.to_text(false), text);
    let wide = "
Clusters without
  shop/web: 2/3 clusters: 1 other region (us-a)

Clusters
  CLUSTER  APPS  OBJECTS  REPLICAS  REQUESTED OF ALLOCATABLE
  eu-a        1        4         2  cpu 1 of 17 (5%), memory 2Gi of 24Gi (8%), pods 2 of 60 (3%)
  eu-b        1        4         2  capacity unknown
  us-a        1        4         2  capacity unknown
";
    assert_eq!(report.to_text(true), format!("{text}{wide}"));
}

#[test]
fn moves() {
    let mut compiled = Files::shop().compiled();
    compiled.plan.apps[0].moves = vec![
        Move { workload: 0, cluster: ClusterId(0), before: 0, after: 2, cause: Cause::New },
        Move { workload: 0, cluster: ClusterId(2), before: 4, after: 0, cause: Cause::Lifecycle },
    ];
    let removed = |app: &str, with_app| Removal {
        team: "shop".into(),
        app: app.into(),
        workload: "apps/Deployment/old".into(),
        cluster: ClusterId(1),
        before: 3,
        with_app,
    };
    compiled.plan.removals = vec![removed("till", true), removed("web", false), removed("zoo", true)];
    let text = plan(&compiled).to_text(false);
    let expected = "
Moves
  shop/till apps/Deployment/old  eu-b  3 -> 0  the app is no longer there
  shop/web apps/Deployment/web   eu-a  0 -> 2  nothing ran before
  shop/web apps/Deployment/web   us-a  4 -> 0  the cluster is Draining or Retired
  shop/web apps/Deployment/old   eu-b  3 -> 0  the workload is no longer there
  shop/zoo apps/Deployment/old   eu-b  3 -> 0  the app is no longer there
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn why_there() {
    let files = with_pools();
    let compiled = without_us(&files);
    let app = compiled.fleet.app_id("shop", "web").unwrap();
    let report = why(&compiled, app, Some(ClusterId(2)), &reader(&files));
    let text = "\
shop/web  teams/shop/web/app.yaml:3:18

us-a  clusters/us-a.yaml:3:18
  apps/Deployment/web: 2
  other region
  to change that:
    change `placement.clusters`, or the cluster's labels

Placement comes from
  placement.replicas  Fleet fleet  fleet.yaml:8:17

apps/Deployment/web: 2 replicas in every selected cluster
  eu-a  2
  eu-b  2
  us-a  2

Not possible
  apps/Deployment/web wants 6 replicas in every selected cluster and lacks 1 in all; 1 of them ran before and no longer fit where they were

2/3 clusters: 1 other region (us-a)
  other region (us-a)
    to change that: change `placement.clusters`, or the cluster's labels
";
    assert_eq!(report.to_text(false), text);
}

#[test]
fn a_diff() {
    let base = Files::shop();
    let head = base
        .clone()
        .app("web", "{namespace: shop, placement: {clusters: {regions: [eu]}}}")
        .cluster("eu-b", "{region: eu, taints: [{key: gpu, effect: PreferNoSchedule}]}")
        .edit("teams/shop/web/web.yaml", "web:1", "web:2")
        .edit("teams/shop/web/web.yaml", "replicas: 2", "replicas: 3")
        .edit("teams/shop/web/config.yaml", "b = 2", "b = 3")
        .edit("teams/shop/web/secret.yaml", "one", "two");
    let diff = diff(&base.compiled(), &head.compiled());
    let text = "\
3 clusters, 9 objects: +0 ~6 -3, replicas: +2 -2; 2 objects unchanged

Deleted
  - ConfigMap shop/config (shop/web) on us-a; stays on 2 clusters
  - Deployment shop/web (shop/web) on us-a; stays on 2 clusters
  - Secret shop/db (shop/web) on us-a; stays on 2 clusters

Clusters
  eu-b: new taint gpu:PreferNoSchedule

Placements
  shop/web clusters: -us-a
    apps/Deployment/web: 6 -> 6 (allowed clusters changed: -us-a; total 2 -> 3)
      eu-a  2 -> 3
      eu-b  2 -> 3
      us-a  2 -> -  other region

Objects
    Namespace shop on us-a: no longer managed, stays in the cluster
  ~ ConfigMap shop/config (shop/web) on eu-a, eu-b
      data[\"app.conf\"]:
        a = 1
    -   b = 2
    +   b = 3
  ~ Deployment shop/web (shop/web) on eu-a, eu-b; restarts pods
    - spec.template.spec.containers[name=web].image: web:1
    + spec.template.spec.containers[name=web].image: web:2
  ~ Secret shop/db (shop/web) on eu-a, eu-b
    ! key pw changed: *** -> ***

By cluster
  cluster  objects  added  changed  scaled  deleted  replicas +  replicas -
  eu-a           4      0        3       0        0           1           0
  eu-b           4      0        3       0        0           1           0
  us-a           4      0        0       0        3           0           2
";
    assert_eq!(diff_text(&diff), text);
    let comment = "\
<!-- fleetwright-diff -->
**fleetwright:** 3 clusters, 9 objects: +0 \\~6 -3, replicas: +2 -2; 2 objects unchanged

#### Deleted

- `ConfigMap shop/config (shop/web) on us-a; stays on 2 clusters`
- `Deployment shop/web (shop/web) on us-a; stays on 2 clusters`
- `Secret shop/db (shop/web) on us-a; stays on 2 clusters`

#### Clusters

- `eu-b`: new taint gpu:PreferNoSchedule

#### Placements

| app | workload | before | after | clusters | why |
|---|---|--:|--:|---|---|
| `shop/web` | `apps/Deployment/web` | 6 | 6 | eu-a 2 -> 3, eu-b 2 -> 3, us-a 2 -> - | allowed clusters changed: -us-a; total 2 -> 3; us-a: other region |

#### By cluster

| cluster | objects | added | changed | scaled | deleted | replicas + | replicas - |
|---|--:|--:|--:|--:|--:|--:|--:|
| eu-a | 4 | 0 | 3 | 0 | 0 | 1 | 0 |
| eu-b | 4 | 0 | 3 | 0 | 0 | 1 | 0 |
| us-a | 4 | 0 | 0 | 0 | 3 | 0 | 2 |

#### Objects

<details><summary>generated Namespaces: 1 change</summary>

`Namespace shop on us-a: no longer managed, stays in the cluster`

</details>
<details><summary>shop/web: 3 changes</summary>

`~ ConfigMap shop/config (shop/web) on eu-a, eu-b`

```diff
  data[\"app.conf\"]:
    a = 1
-   b = 2
+   b = 3
```

`~ Deployment shop/web (shop/web) on eu-a, eu-b; restarts pods`

```diff
- spec.template.spec.containers[name=web].image: web:1
+ spec.template.spec.containers[name=web].image: web:2
```

`~ Secret shop/db (shop/web) on eu-a, eu-b`

```diff
! key pw changed: *** -> ***
```

</details>
";
    assert_eq!(diff_markdown(&diff), comment);
}

/// A plan, a diff and a comment say in how many steps replicas move, and so does `why`; once it is on the way, where it is.
#[test]
fn moves_in_steps_are_said_wherever_moves_are() {
    let of = |weights: &str| {
        let spec = format!(
            "{{namespace: shop, placement: {{clusters: {{names: [eu-a, us-a]}}, replicas: {{strategy: StaticWeight, weights: \
             {weights}}}, move: {{max: 20%, every: 5m}}}}}}"
        );
        Files::shop().app("web", &spec).edit("teams/shop/web/web.yaml", "replicas: 2", "replicas: 10")
    };
    let placed = |compiled: &Compiled| {
        let placed = crate::schedule::placed(&compiled.fleet, &compiled.target);
        let apps: Vec<_> = placed.iter().map(|((_, app), placed)| (app, placed)).collect();
        crate::placements::placements_text(apps)
    };
    let first = of("{eu-a: 4, us-a: 1}");
    let record = placed(&first.compiled());
    let base = first.with("placements/shop.yaml", &record).compiled();
    let changed = of("{eu-a: 1, us-a: 4}").with("placements/shop.yaml", &record);
    let head = changed.compiled();
    let line = "shop/web: 3 steps of at most 2 replicas (20%), one every 5m at most, 10m in all at least";
    let changes = diff(&base, &head);
    let none = |_: &_| None;
    let id = head.fleet.app_id("shop", "web").unwrap();
    for text in [
        plan(&head).to_text(false),
        diff_text(&changes),
        diff_markdown(&changes).replace('\\', ""),
        why(&head, id, None, &none).to_text(false),
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(diff(&base, &base).steps.is_empty() && !plan(&base).to_text(false).contains("In steps"));

    let target = crate::schedule::placed(&head.fleet, &head.target).into_values().next().unwrap();
    let open = crate::placements::OpenMove {
        cause: "Pin".into(),
        key: "b3:1".into(),
        begun: None,
        intent: crate::schedule::intent(&head.fleet, &head.variants, &head.record, id, &target),
        target,
        step: 1,
        since: "2026-11-30T10:00:00Z".into(),
        deadline: None,
    };
    let text = crate::placements::move_text(&"web".into(), &open);
    let moving = changed.with("state/moves/shop/web.yaml", &text).compiled();
    let line = "step 1 since 2026-11-30T10:00:00Z, 3 left, begun by Pin; apps/Deployment/web: eu-a 8 -> 2, us-a 2 -> 8";
    for text in [plan(&moving).to_text(false), why(&moving, id, None, &none).to_text(false)] {
        assert!(text.contains(line) && !text.contains("\nMoves\n"), "{text}");
    }
}
