//! Reports of many clusters, and of copies that not all of them hold.

use crate::Compiled;
use crate::diff::diff;
use crate::diff::tests::fixture::Files;
use crate::report::{deficits, diff_markdown, diff_text, diff_text_whole, plan, why};

/// The shop with clusters `c00` to `c39` beside its three.
fn forty() -> Files {
    (0..40).fold(Files::shop(), |files, n| files.cluster(&format!("c{n:02}"), "{region: eu}"))
}

fn why_web(compiled: &Compiled, all: bool) -> String {
    let app = compiled.fleet.app_id("shop", "web").unwrap();
    why(compiled, app, None, &|_| None).to_text(all)
}

#[test]
fn many_clusters_that_fare_alike_are_one_line() {
    let compiled = forty().compiled();
    let text = why_web(&compiled, false);
    let seats = "\napps/Deployment/web: 2 replicas in every selected cluster\n  c00, c01, c02 and 40 more, each  2\n";
    assert!(text.contains(seats), "{text}");
    let moves = "\nMoves\n  apps/Deployment/web  c00, c01, c02 and 40 more, each  0 -> 2  nothing ran before\n";
    assert!(text.contains(moves), "{text}");
    let text = plan(&compiled).to_text(false);
    let line = "\n  shop/web apps/Deployment/web  c00, c01, c02 and 40 more, each  0 -> 2  nothing ran before\n";
    assert!(text.contains(line), "{text}");
    for all in [why_web(&compiled, true), plan(&compiled).to_text(true)] {
        assert!(all.contains("c17") && all.contains("us-a"), "{all}");
    }
}

#[test]
fn a_diff_of_many_clusters_is_short() {
    let base = forty();
    let head = base.clone().edit("teams/shop/web/web.yaml", "replicas: 2", "replicas: 3");
    let diff = diff(&base.compiled(), &head.compiled());
    let text = diff_text(&diff);
    assert!(text.contains("\n      c00, c01, c02 and 40 more, each  2 -> 3\n"), "{text}");
    assert!(text.contains("c00, c01, c02 and 40 more, each        4"), "{text}");
    assert!(text.lines().count() < 20 && !text.contains("c17"), "{text}");
    assert!(diff_text_whole(&diff).contains("c17"));
    let comment = diff_markdown(&diff);
    assert!(comment.contains("| c00, c01, c02 and 40 more, each | 4 |") && !comment.contains("| c17 |"), "{comment}");
}

/// One node of this many CPUs.
fn node(cpu: u32) -> String {
    format!("{{region: eu, nodePools: [{{name: general, nodes: 1, allocatable: {{cpu: {cpu}, memory: 64Gi}}}}]}}")
}

#[test]
fn copies_that_do_not_fit_say_where_and_what_is_missing() {
    let app = "{namespace: shop, placement: {clusters: {names: [eu-a, eu-b, us-a]}, replicas: {strategy: Duplicated, capacity: Cap}}}";
    let files = ["eu-a", "eu-b", "us-a"].into_iter().fold(Files::shop().app("web", app), |files, name| {
        files.cluster(name, &node(if name == "us-a" { 3 } else { 2 }))
    });
    let first = files.compiled();
    let placed = crate::schedule::placed(&first.fleet, &first.target);
    let apps: Vec<_> = placed.iter().map(|((_, app), placed)| (app, placed)).collect();
    let record = crate::placements::placements_text(apps);
    let grown =
        files.with("placements/shop.yaml", &record).edit("teams/shop/web/web.yaml", "replicas: 2", "replicas: 5");
    let compiled = grown.compiled();
    let line =
        "apps/Deployment/web wants 5 replicas in every selected cluster: eu-a, eu-b have 2 each and lack 0.5 cpu each";
    let plan = plan(&compiled).to_text(false);
    assert!(plan.contains(&format!("\nNot possible\n  shop/web: {line}\n")), "{plan}");
    assert!(why_web(&compiled, false).contains(&format!("\nNot possible\n  {line}\n")));
    let found = deficits(&compiled.fleet, &compiled.variants, &compiled.record, &compiled.target);
    assert!(found.iter().any(|of| of.message.starts_with(line)), "{found:?}");
}

/// A neighbour that asks for more changes what copies lack, and is no news about the app.
#[test]
fn what_copies_lack_is_no_difference() {
    let app =
        "{namespace: shop, placement: {clusters: {names: [eu-a]}, replicas: {strategy: Duplicated, capacity: Cap}}}";
    let of = |cpu| {
        Files::shop().app("web", app).cluster("eu-a", &node(cpu)).edit(
            "teams/shop/web/web.yaml",
            "replicas: 2",
            "replicas: 8",
        )
    };
    let (base, head) = (of(1).compiled(), of(2).compiled());
    let plan = plan(&base).to_text(false);
    let line =
        "shop/web: apps/Deployment/web wants 8 replicas in every selected cluster: eu-a has none and lacks 3 cpu\n";
    assert!(plan.contains(line), "{plan}");
    let diff = diff(&base, &head);
    assert!(diff.new_shortfalls.is_empty() && diff.solved_shortfalls.is_empty(), "{diff:?}");
}
