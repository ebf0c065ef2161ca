//! `what-if`, and what apps state that they survive.

use super::{assert_code, line, new_fleet, workspace, write};

#[test]
fn losses_are_tried_and_nothing_is_written() {
    let root = workspace();
    let facts = [
        ("--lose cluster=eu-2", 0, "Without cluster eu-2: 2 replicas start elsewhere, 3 more run nowhere"),
        ("--lose cluster=eu-2 --exit-code", 1, "shop/checkout-staging: 1 of 1 replicas"),
        ("--lose cluster=eu-1 --exit-code", 0, "Without cluster eu-1: 6 replicas start elsewhere, 0 more run nowhere"),
        ("--lose any-cluster", 0, "LOST          MOVED  MISSING"),
        ("--lose any-region -o json", 0, "\"region us-east\""),
        ("--lose region=us-east -o markdown", 0, "| region us-east | 0 |"),
        ("--replicas shop/storefront-prod=20 -o yaml", 0, "shop/storefront-prod has 20 replicas"),
        ("--replicas shop/storefront-prod=storefront=20", 0, "of storefront"),
        ("--lose pool=eu-2/general", 0, "Supposed: pool general of eu-2 has no nodes"),
        ("--lose pool=eu-2/genral", 2, "there is no node pool of eu-2 `genral`; did you mean `general`?"),
        ("--lose pool=general", 2, "pool=CLUSTER/POOL"),
        ("--at 2026-11-30T15:00:00Z", 0, "Supposed: it is 2026-11-30T15:00:00Z"),
        ("--at then", 2, "expected an instant"),
        ("--lose eu-1", 2, "expected cluster=NAME"),
        ("--lose cluster=eu-3", 2, "did you mean `eu-"),
        ("--lose region=us-eest", 2, "did you mean `us-east`?"),
        ("--replicas shop/storefront-prod=many", 2, "TEAM/APP=N"),
        ("--replicas shop/search=nothing=3", 2, "has no workload `nothing`"),
        ("--weight shop/storefront-prod eu-9=1", 2, "eu-9"),
        ("", 2, "suppose something"),
        (
            "--replicas storefront-prod=3 --replicas shop/storefront-prod=5",
            2,
            "`--replicas storefront-prod=3` and `--replicas shop/storefront-prod=5`: each states the replicas of \
             shop/storefront-prod",
        ),
        ("--replicas shop/search=3 --replicas shop/search=search=3", 2, "each states the replicas of shop/search"),
        (
            "--weight shop/storefront-prod eu-1=1 --weight shop/storefront-prod us-1=2,eu-1=3",
            2,
            "`--weight shop/storefront-prod eu-1=1` and `--weight shop/storefront-prod eu-1=3`: each states the weight of \
             shop/storefront-prod in eu-1",
        ),
        ("--weight shop/storefront-prod eu-1=1,eu-1=1", 2, "`--weight shop/storefront-prod eu-1=1` is given twice"),
        ("--weight shop/storefront-prod eu-1=1 --weight shop/storefront-prod us-1=2", 0, "weighs us-1=2"),
        ("--lose cluster=eu-2 --lose cluster=eu-2", 2, "`--lose cluster=eu-2` is given twice"),
    ];
    for (words, code, said) in facts {
        let result = line(&root, &format!("-C examples/web-shop what-if --record none {words}"));
        assert_code(&result, code);
        let text = format!("{}{}", result.stdout, result.stderr);
        assert!(text.contains(said), "`{words}`: {text}");
    }
    assert!(!root.join("examples/web-shop/placements").exists());
}

#[test]
fn a_change_that_an_app_does_not_survive_is_refused() {
    let folder = new_fleet();
    let fleet = folder.path().join("fleet");
    let app = |survive: &str, clusters: &str| {
        format!(
            "apiVersion: fleetwright.io/v1alpha1\nkind: App\nmetadata: {{name: web}}\nspec:\n  namespace: shop\n{survive}  \
             placement:\n    clusters: {clusters}\n    replicas: {{strategy: StaticWeight}}\n"
        )
    };
    let path = "teams/shop/web/app.yaml";
    let other = folder.path().join("other");
    assert_code(&line(folder.path(), "init other"), 0);
    write(&fleet, path, &app("  survive: any-cluster\n", "{names: [prod-eu, prod-us]}"));
    assert_code(&line(&fleet, "plan"), 0);
    write(&other, path, &app("  survive: any-cluster\n", "{names: [prod-eu]}"));
    let plan = line(&other, "check");
    assert_code(&plan, 0);
    let said = format!("{}{}", plan.stdout, plan.stderr);
    assert!(said.contains("FW1142") && said.contains("without cluster prod-eu"), "{said}");
    let diff = line(folder.path(), "diff fleet other");
    assert_code(&diff, 3);
    assert!(diff.stdout.contains("Refused") && diff.stderr.contains("not surviving"), "{}{}", diff.stdout, diff.stderr);
}
