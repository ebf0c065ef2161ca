//! The typed verdict of each class of clusters.

use std::sync::Arc;

use crate::api::{Lifecycle, Strategy};
use crate::base::labels::{LabelSelector, Labels};
use crate::model::{Mismatch, Selector, ServedApi};
use crate::placements::OutageState;
use crate::schedule::Verdict;
use crate::schedule::fixture::{FleetFixture, taint};

fn verdicts(fleet: &FleetFixture, app: usize) -> Vec<(Verdict, Vec<String>)> {
    let target = fleet.schedule();
    let names = |set: &crate::model::ClusterSet| set.iter().map(|c| fleet.fleet.cluster(c).name.to_string()).collect();
    target.apps[app].verdicts.iter().map(|(verdict, set)| (verdict.clone(), names(set))).collect()
}

#[test]
fn ux_03_one_reason_for_each_class() {
    let mut fleet = FleetFixture::new(&["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9"]);
    fleet.cluster("m2").labels.insert("env".into(), "dev".into());
    for name in ["m1", "m3", "m4", "m5", "m6", "m7", "m8", "m9"] {
        fleet.cluster(name).labels.insert("env".into(), "prod".into());
    }
    fleet.cluster("m3").taints = vec![taint("gpu=v100:NoSchedule")];
    fleet.pool("m4", "p", 1, "cpu=2500");
    fleet.observed("m5").outage = Some(OutageState::Quarantined);
    fleet.cluster("m6").lifecycle = Lifecycle::Cordoned;
    fleet.team_mut("team").clusters.remove(crate::base::ClusterId(6));
    fleet.pool("m8", "p", 2, "cpu=8000").labels.insert("arch".into(), "arm64".into());
    let selector = Selector {
        labels: LabelSelector {
            match_labels: Labels::from([("env".into(), "prod".into())]),
            match_expressions: Vec::new(),
        },
        names: None,
        exclude: vec!["m1".into()],
        providers: None,
        regions: None,
        zones: None,
    };
    let matching = fleet.fleet.cluster_ids().filter(|id| selector.matches(fleet.fleet.cluster(*id)));
    let candidates = matching.collect::<crate::model::ClusterSet>().and(&fleet.fleet.teams[0].clusters);
    let app = fleet.app("web", Strategy::DynamicWeight).deployment_of(1, "cpu=4000").clusters(candidates);
    fleet.add(app.pod(|pod| pod["nodeSelector"] = serde_json::json!({"arch": "amd64"})));
    fleet.cluster("m4").pools.as_mut().unwrap()[0].labels.insert("arch".into(), "amd64".into());
    Arc::make_mut(&mut fleet.fleet.apps[0]).placement.selector = Some(selector);
    let larger = Verdict::LargerThanNode { resource: "cpu".into(), needed: 4000, largest: 2500 };
    let expected = [
        (Verdict::Mismatch(Mismatch::Excluded), vec!["m1".to_owned()]),
        (Verdict::Mismatch(Mismatch::Labels), vec!["m2".to_owned()]),
        (Verdict::Team, vec!["m7".to_owned()]),
        (Verdict::Taint("gpu=v100:NoSchedule".into()), vec!["m3".to_owned()]),
        (Verdict::Lifecycle(Lifecycle::Cordoned), vec!["m6".to_owned()]),
        (Verdict::Unhealthy, vec!["m5".to_owned()]),
        (larger, vec!["m4".to_owned()]),
        (Verdict::NoEligiblePool, vec!["m8".to_owned()]),
    ];
    assert_eq!(verdicts(&fleet, 0), expected);
    assert_eq!(fleet.placed("web"), "m9=1");
}

#[test]
fn rounding_bounds_weights_and_choice() {
    let mut fleet = FleetFixture::new(&["a", "b", "c", "d", "e"]);
    let app = fleet.app("web", Strategy::StaticWeight).deployment(2).weights(&fleet, "a=3 b=1 c=1 d=5");
    let app = app.with(|policy| policy.weights.as_mut().unwrap()[3].max = Some(0));
    fleet.add(app);
    let one = |name: &str| vec![name.to_owned()];
    let expected =
        [(Verdict::Bound, one("d")), (Verdict::NoWeight, one("e")), (Verdict::RoundedToZero, one("c"))];
    assert_eq!(verdicts(&fleet, 0), expected);
    let app = fleet.app("web", Strategy::Aggregated).deployment(2);
    fleet.add(app);
    let rest = ["b", "c", "d", "e"].map(str::to_owned).to_vec();
    assert_eq!(verdicts(&fleet, 0), [(Verdict::NotChosen, rest)]);
}

#[test]
fn kinds_that_are_not_served() {
    let mut fleet = FleetFixture::new(&["a", "b", "c"]);
    for name in ["a", "b"] {
        fleet.cluster(name).apis = Some(vec![]);
    }
    fleet.cluster("a").apis =
        Some(vec![ServedApi { group: "x.io".into(), version: "v1".into(), kinds: Some(vec!["Widget".into()]) }]);
    let app = fleet.app("web", Strategy::Duplicated).deployment(1).object("x.io", "v1", "Widget", "w");
    fleet.add(app);
    assert_eq!(verdicts(&fleet, 0), [(Verdict::ApiNotServed("x.io/v1 Widget".into()), vec!["b".to_owned()])]);
    // The definition is on its way to b, by another app.
    let crds = fleet.app("zz-crds", Strategy::Duplicated).object(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "widgets.x.io",
    );
    fleet.add(crds.defines("x.io", "Widget"));
    assert_eq!(fleet.placed("web"), "a=1 b=1 c=1");
}
