//! Files of `state/`: which is which, and that what is read is written back the same.

use super::*;
use crate::yaml::{self, Limits};

fn doc(path: &str, text: &str) -> Result<Option<RecordDoc>, String> {
    let (documents, errors) = yaml::compose(text, &Limits::default());
    assert!(errors.is_empty(), "{errors:?}");
    read(documents[0].root.as_ref().unwrap(), Some(StateForm::of(path))).map_err(|finding| finding.message)
}

fn written(doc: &RecordDoc) -> String {
    match doc {
        RecordDoc::Placements(doc) => state_text(doc),
        RecordDoc::Capacity(doc) => state_text(doc),
        RecordDoc::Taints(doc) => state_text(doc),
        RecordDoc::Lifecycle(doc) => state_text(doc),
        RecordDoc::Outage(doc) => state_text(doc),
        RecordDoc::Tides(doc) => state_text(doc),
        RecordDoc::Suspended(doc) => state_text(doc),
        RecordDoc::Estimates(doc) => state_text(doc),
        RecordDoc::Move(doc) => state_text(doc),
        RecordDoc::App(doc) => state_text(doc),
        RecordDoc::Decider(doc) => state_text(doc),
        RecordDoc::Pin(doc) => state_text(doc),
        RecordDoc::Holds(doc) => state_text(doc),
        RecordDoc::Fence(doc) => state_text(doc),
        RecordDoc::Approval(doc) => state_text(doc),
    }
}

/// A file of each form, as it is written.
const FILES: [(&str, StateForm, &str); 14] = [
    (
        "state/capacity/eu-a.yaml",
        StateForm::Capacity,
        "uid: 6d0e\npools:\n- name: general\n  nodes: 40\n  allocatable:\n    cpu: \"8\"\n  others:\n  - owner: \
         apps/DaemonSet/kube-system/proxy\n    requests:\n      cpu: \"4\"\n",
    ),
    (
        "state/taints/eu-a.yaml",
        StateForm::Taints,
        "- key: maint\n  effect: NoExecute\n  since: \"2026-11-30T10:00:00Z\"\n",
    ),
    ("state/lifecycle/eu-a.yaml", StateForm::Lifecycle, "lifecycle: Cordoned\nby: ann\n"),
    ("state/outages/eu-a.yaml", StateForm::Outage, "state: Lost\nepoch: 7\nsince: \"2026-11-30T10:00:00Z\"\nby: ann\n"),
    (
        "state/tides.yaml",
        StateForm::Tides,
        "batch:\n  phase: day\n  window: \"2026-11-30T01:00:00Z\"\ninference:\n  phase: night\n  window: \
         \"2026-11-30T15:00:00Z\"\n",
    ),
    ("state/suspended.yaml", StateForm::Suspended, "- payments/checkout\n"),
    (
        "state/estimates/gpu-room.yaml",
        StateForm::Estimates,
        "- team: payments\n  cluster: eu-a\n  pool: general\n  room: 40\n- team: payments\n  cluster: eu-b\n  room: 7\n",
    ),
    (
        "state/moves/payments/checkout-prod.yaml",
        StateForm::Move,
        "cause:\n  kind: Tide\n  key: \"b3:77\"\nintent: \"b3:51\"\nstep:\n  number: 2\n  since: \"2026-11-30T10:02:00Z\"\n  \
         deadline: \"2026-11-30T12:00:00Z\"\ntarget:\n  app: checkout-prod\n  clusters:\n  - eu-b\n  workloads:\n  - \
         workload: apps/Deployment/checkout\n    weights: \"b3:9f2c\"\n    seats:\n    - cluster: eu-b\n      replicas: 12\n",
    ),
    (
        "state/apps/payments/checkout-prod.yaml",
        StateForm::App,
        "observed:\n  apps/Deployment/checkout:\n    eu-a:\n      replicas: 5\n    eu-b:\n      replicas: 0\n  \
         batch/Job/migrate:\n    eu-a:\n      finished: true\n",
    ),
    ("state/decider.yaml", StateForm::Decider, "term: 3\nholder: hub-1\n"),
    ("state/pin.yaml", StateForm::Pin, "main: 4f1c\n"),
    (
        "state/holds.yaml",
        StateForm::Holds,
        "- key: \"b3:77\"\n  until: \"2026-11-30T18:00:00Z\"\n  by: ann\n  reason: load test\n",
    ),
    ("state/fences/eu-a.yaml", StateForm::Fence, "uid: 6d0e\nepoch: 7\nby: ann\n"),
    (
        "state/approvals/77.yaml",
        StateForm::Approval,
        "hash: \"b3:77\"\nby: ann\nexpires: \"2026-12-01T00:00:00Z\"\nused: 9c1d\n",
    ),
];

/// Without the quotes that YAML allows around texts, so that the table holds for any way of quoting.
fn plain(text: &str) -> String {
    text.replace('"', "")
}

#[test]
fn what_is_read_is_written_back_the_same() {
    for (path, form, text) in FILES {
        assert_eq!(StateForm::of(path), form);
        let read = doc(path, text).unwrap_or_else(|e| panic!("{path}: {e}")).expect("every form has documents");
        assert_eq!(plain(&written(&read)), plain(text), "{path}");
        assert_eq!(doc(path, &written(&read)), Ok(Some(read)), "{path}");
    }
}

#[test]
fn what_is_not_known_is_refused() {
    for (path, form, text) in FILES {
        // a field that nobody knows, in the map or in the first item of the list
        let more = match form {
            StateForm::Suspended | StateForm::Tides => continue,
            StateForm::Taints | StateForm::Holds | StateForm::Estimates => {
                text.replacen("- ", "- unknownField: 1\n  ", 1)
            }
            _ => format!("unknownField: 1\n{text}"),
        };
        let message = doc(path, &more).expect_err(path);
        assert!(message.contains("unknownField"), "{path}: {message}");
    }
    for path in [
        "state/moves/a.yaml",
        "state/moves/t/a/b.yaml",
        "state/apps/a.yaml",
        "state/apps/t/a/b.yaml",
        "state/estimates/x/y.yaml",
        "state/tides/x.yaml",
        "state/pin/x.yaml",
        "state/x.yaml",
    ] {
        assert_eq!(StateForm::of(path), StateForm::Unknown, "{path}");
        assert!(doc(path, "{}").is_err(), "{path}");
    }
}
