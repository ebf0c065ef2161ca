//! All mistakes of one document, in one go, each at its place.

use super::super::mistakes::list;
use super::{told, with_root};

fn check(kind: &str, text: &str, expected: &[&str]) {
    assert_eq!(told(text, &with_root(text, |node| list(node, kind))), expected, "{text}");
}

#[test]
fn words_of_a_list() {
    check(
        "Cluster",
        "spec: {lifecycle: Drained, mode: 3, taints: [{key: a, effect: noexecute}]}",
        &[
            "FW1022 `spec` the document has no `apiVersion`; add `apiVersion:`",
            "FW1022 `spec` the document has no `kind`; add `kind:`",
            "FW1022 `spec` the document has no `metadata`; add `metadata:`",
            "FW1023 `Drained` `spec.lifecycle` takes one of Active, Cordoned, Draining, Retired",
            "FW1021 `3` `spec.mode` takes one of Apply, Observe, Suspended",
            "FW1023 `noexecute` `spec.taints[0].effect` takes one of NoSchedule, PreferNoSchedule, NoExecute; did you mean `NoExecute`?",
        ],
    );
}

const HEAD: &str = "apiVersion: fleetwright.io/v1alpha1\nkind: App\nmetadata: {name: a}\n";

#[test]
fn weights_are_a_list_or_a_map() {
    for (weights, expected) in [
        ("{a: 1}", &[][..]),
        ("[{weight: 1}]", &[]),
        (
            "{a: -1, b: x}",
            &[
                "FW1023 `-1` `spec.placement.replicas.weights.a` must be at least 0",
                "FW1021 `x` `spec.placement.replicas.weights.b` takes a whole number, not a string",
            ],
        ),
        (
            "[{weight: x}, {wieght: 2}, 3]",
            &[
                "FW1021 `x` `spec.placement.replicas.weights[0].weight` takes a whole number, not a string",
                "FW1020 `wieght` unknown field `wieght` in `spec.placement.replicas.weights[1]`; did you mean `weight`?",
                "FW1022 `wieght` `spec.placement.replicas.weights[1]` has no `weight`; add `weight:`",
                "FW1021 `3` `spec.placement.replicas.weights[2]` takes a map, not a number",
            ],
        ),
        (
            "3",
            &[
                "FW1021 `3` `spec.placement.replicas.weights` takes a list of weight rules, or a map of cluster names to weights, not a number",
            ],
        ),
    ] {
        check("App", &format!("{HEAD}spec: {{placement: {{replicas: {{weights: {weights}}}}}}}\n"), expected);
    }
}

#[test]
fn scalars_with_more_than_one_spelling() {
    for (field, expected) in [
        ("max: 20%, every: 1h30m", &[][..]),
        ("max: 7, minAvailable: 0%", &[]),
        (
            "max: 120%",
            &[
                "FW1023 `120%` `spec.placement.move.max` takes a count (3) or a share from 0% to 100% (20%); all of it is 100%",
            ],
        ),
        (
            "max: '20'",
            &[
                "FW1023 `'20'` `spec.placement.move.max` takes a count (3) or a share from 0% to 100% (20%); add `%` for a share, or take the quotes off for a count",
            ],
        ),
        (
            "max: 20 %",
            &[
                "FW1023 `20 %` `spec.placement.move.max` takes a count (3) or a share from 0% to 100% (20%); write it without a space",
            ],
        ),
        ("max: -1", &["FW1023 `-1` `spec.placement.move.max` must be at least 0"]),
        (
            "max: 1.5",
            &[
                "FW1021 `1.5` `spec.placement.move.max` takes a count (3) or a share from 0% to 100% (20%), not a number",
            ],
        ),
        (
            "max: [1]",
            &["FW1021 `[1]` `spec.placement.move.max` takes a count (3) or a share from 0% to 100% (20%), not a list"],
        ),
        ("every: 5 minutes", &["FW1023 `5 minutes` `spec.placement.move.every` takes a span of time: 90s, 30m, 1h30m"]),
        ("every: 30", &["FW1021 `30` `spec.placement.move.every` takes a string, not a number"]),
    ] {
        check("App", &format!("{HEAD}spec: {{placement: {{move: {{{field}}}}}}}\n"), expected);
    }
}

#[test]
fn numbers_as_wide_as_what_reads_them() {
    for (value, expected) in [
        ("2147483647", &[][..]),
        ("2147483648", &["FW1023 `2147483648` `value` must be at most 2147483647"]),
        ("-2147483649", &["FW1023 `-2147483649` `value` must be at least -2147483648"]),
        ("1.5", &["FW1021 `1.5` `value` takes a whole number, not a number"]),
    ] {
        let head = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: a}\n";
        check("PriorityClass", &format!("{head}value: {value}\n"), expected);
    }
}

#[test]
fn deep_in_lists_of_maps_of_lists() {
    check(
        "App",
        &format!(
            "{HEAD}spec:\n  overrides:\n  - target: {{kind: 1}}\n    images: [{{nmae: a}}]\n  - {{clusters: {{matchExpressions: [{{key: a, operator: in}}]}}}}\n"
        ),
        &[
            "FW1021 `1` `spec.overrides[0].target.kind` takes a string, not a number",
            "FW1020 `nmae` unknown field `nmae` in `spec.overrides[0].images[0]`; did you mean `name`?",
            "FW1023 `in` `spec.overrides[1].clusters.matchExpressions[0].operator` takes one of In, NotIn, Exists, DoesNotExist; did you mean `In`?",
        ],
    );
}

#[test]
fn a_field_with_nothing_near_lists_what_there_is() {
    check(
        "App",
        &format!("{HEAD}spec: {{namespace: a, objects: [{{match: {{}}, qqq: 1}}]}}\n"),
        &[
            "FW1020 `qqq` unknown field `qqq` in `spec.objects[0]`; known fields here: match, replicas, clusters, divide",
        ],
    );
}
