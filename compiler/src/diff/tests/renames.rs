//! An app that had another name before: what is recorded of it is its own.

use std::collections::BTreeMap;

use super::fixture::Files;
use crate::Compiled;
use crate::base::SmolStr;
use crate::diag::codes;
use crate::diff::{AppChange, ObjectChange, diff};
use crate::placements::{PlacedApp, file_path, placements_text, state_text};
use crate::report;
use crate::schedule::placed;

const API: &str = "apiVersion: fleetwright.io/v1alpha1";
const APP: &str = "{namespace: shop, placement: {replicas: {strategy: StaticWeight}}";

/// The shop with six replicas of web, all recorded in eu-a though each cluster would get two.
fn running() -> Files {
    let files = Files::shop().app("web", &format!("{APP}}}"));
    let files = files.edit("teams/shop/web/web.yaml", "replicas: 2", "replicas: 6");
    let mut apps = placed(&files.compiled().fleet, &files.compiled().target);
    for app in apps.values_mut() {
        for workload in app.workloads.values_mut() {
            workload.seats.truncate(1);
            workload.seats[0].replicas = 6;
        }
    }
    written(files, &apps)
}

/// With these placements in place of those that are recorded.
fn written(mut files: Files, apps: &BTreeMap<(SmolStr, SmolStr), PlacedApp>) -> Files {
    let mut teams: BTreeMap<&SmolStr, Vec<(&SmolStr, &PlacedApp)>> = BTreeMap::new();
    apps.iter().for_each(|((team, app), placed)| teams.entry(team).or_default().push((app, placed)));
    for (team, apps) in teams {
        files = files.with(&file_path(team), &placements_text(apps));
    }
    files
}

/// The same app in another folder, with another name.
fn moved(files: Files, folder: &str, name: &str, spec: &str) -> Files {
    let mut files = files.without("teams/shop/web/app.yaml");
    for file in ["web.yaml", "config.yaml", "secret.yaml"] {
        let old = format!("teams/shop/web/{file}");
        let text = files.text(&old).unwrap().to_owned();
        files = files.without(&old).with(&format!("{folder}/{file}"), &text);
    }
    files.with(&format!("{folder}/app.yaml"), &format!("{API}\nkind: App\nmetadata: {{name: {name}}}\nspec: {spec}\n"))
}

fn seats(compiled: &Compiled) -> Vec<String> {
    let name = |seat: &crate::schedule::Seat| compiled.fleet.cluster(seat.cluster).name.clone();
    let apps = compiled.fleet.app_ids().zip(&compiled.target.apps);
    apps.flat_map(|(id, app)| {
        app.seats.iter().map(move |s| format!("{} {}={}", compiled.fleet.app_name(id), name(s), s.replicas))
    })
    .collect()
}

fn said(compiled: &Compiled) -> Vec<&str> {
    let gone = compiled.diagnostics.iter().filter(|d| d.code == codes::record::RECORD_GONE);
    gone.map(|d| d.message.as_str()).collect()
}

#[test]
fn a_rename_moves_nothing_and_deletes_nothing() {
    let base = running();
    for (previous, expected) in [
        ("[web]", ["shop/front eu-a=6"].as_slice()),
        ("[shop/web]", &["shop/front eu-a=6"]),
        ("[never, web]", &["shop/front eu-a=6"]),
        ("[]", &["shop/front eu-a=2", "shop/front eu-b=2", "shop/front us-a=2"]),
    ] {
        let head =
            moved(base.clone(), "teams/shop/front", "front", &format!("{APP}, previousNames: {previous}}}")).compiled();
        assert_eq!(seats(&head), expected, "{previous}");
    }

    let base = base.compiled();
    let files = moved(running(), "teams/shop/front", "front", &format!("{APP}, previousNames: [web]}}"));
    let head = files.compiled();
    assert_eq!(said(&head), [""; 0]);
    assert_eq!((head.plan.removals.len(), report::plan(&head).moves), (0, Vec::new()));
    assert!(
        report::plan(&head).to_text(false).contains("\nTransfers\n  shop/front takes over what runs as shop/web\n")
    );

    let diff = diff(&base, &head);
    let app = &diff.placements[0];
    assert_eq!(
        (diff.placements.len(), app.app.as_str(), app.change, app.renamed_from.as_deref(), app.workloads.len()),
        (1, "shop/front", AppChange::Changed, Some("shop/web"), 0)
    );
    for object in &diff.objects {
        let ObjectChange::Changed { fields, .. } = &object.change else { panic!("{object:?}") };
        let paths: Vec<&str> = fields.iter().map(|field| field.path.as_str()).collect();
        assert_eq!(paths, ["metadata.labels[\"fleetwright.io/app\"]"], "{}", object.object);
    }
    assert_eq!(diff.objects.len(), 3);
    assert!(diff.impact.iter().all(|i| i.added + i.removed + i.released + i.replicas_added + i.replicas_removed == 0));
    let text = report::diff_text(&diff);
    assert!(text.contains("  shop/front was shop/web\n"), "{}", text);

    // Recorded as it is called now, it needs no transfer.
    let settled = written(files, &placed(&head.fleet, &head.target)).compiled();
    assert_eq!(seats(&settled), ["shop/front eu-a=6"]);
    assert_eq!((settled.record.transfers.len(), settled.plan.removals.len()), (0, 0));
}

#[test]
fn what_is_recorded_under_the_name_of_now_counts_first() {
    let now = moved(running(), "teams/shop/front", "front", &format!("{APP}, previousNames: [older, web]}}"));
    let placed = now.compiled().record.apps.into_values().next().unwrap();
    let with = |names: &[(&str, u32)]| {
        let entry = |(name, replicas): &(&str, u32)| {
            let mut placed = placed.clone();
            placed.workloads.values_mut().for_each(|w| w.seats[0].replicas = *replicas);
            (("shop".into(), (*name).into()), placed)
        };
        written(now.clone(), &names.iter().map(entry).collect()).compiled()
    };
    for (recorded, was, gone) in [
        (&[("web", 6)][..], Some("shop/web"), &[][..]),
        (&[("web", 6), ("older", 5)], Some("shop/older"), &["App `shop/web` is recorded and no longer there"][..]),
        (&[("web", 6), ("front", 4)], None, &["App `shop/web` is recorded and no longer there"]),
    ] {
        let compiled = with(recorded);
        let transfer = compiled.record.transfers.values().map(|(team, app)| format!("{team}/{app}")).next();
        assert_eq!(transfer.as_deref(), was, "{recorded:?}");
        let said = said(&compiled);
        assert_eq!(said.len(), gone.len(), "{said:?}");
        assert!(said.iter().zip(gone).all(|(said, gone)| said.starts_with(gone)), "{said:?}");
        let running: u32 = compiled.record.apps[&("shop".into(), "front".into())]
            .workloads
            .values()
            .flat_map(|w| &w.seats)
            .map(|seat| seat.replicas)
            .sum();
        assert_eq!(running, recorded.last().unwrap().1, "{recorded:?}");
    }
}

#[test]
fn an_app_that_changes_its_team_stays_where_it_is() {
    let team = |quota: &str| {
        format!("{API}\nkind: Team\nmetadata: {{name: pay}}\nspec: {{namespaces: [{{name: shop}}]{quota}}}\n")
    };
    let spec = format!("{APP}, previousNames: [shop/web]}}");
    let head = |quota: &str| moved(running(), "teams/pay/web", "web", &spec).with("teams/pay.yaml", &team(quota));
    let compiled = head("").compiled();
    assert_eq!(seats(&compiled), ["pay/web eu-a=6"]);
    assert_eq!(diff(&running().compiled(), &compiled).placements[0].renamed_from.as_deref(), Some("shop/web"));
    // The new team's quota is asked in review; what runs is not taken away.
    let short = head(", quota: [{hard: {pods: \"4\"}}]").compiled();
    assert_eq!(seats(&short), ["pay/web eu-a=6"]);
    assert_eq!(diff(&running().compiled(), &short).errors.len(), 1);
}

#[test]
fn an_app_is_suspended_by_its_file_or_by_the_record() {
    let suspended = |spec: &str, record: Option<&[&str]>| {
        let mut files = moved(running(), "teams/shop/front", "front", &format!("{APP}, previousNames: [web]{spec}}}"));
        // Without the suspension these weights move everything.
        files = files.edit("teams/shop/front/app.yaml", "StaticWeight", "StaticWeight, weights: {us-a: 1}");
        if let Some(record) = record {
            files = files.with("state/suspended.yaml", &state_text(&record));
        }
        seats(&files.compiled())
    };
    assert_eq!(suspended("", None), ["shop/front us-a=6"]);
    assert_eq!(suspended(", suspend: false", None), ["shop/front us-a=6"]);
    assert_eq!(suspended(", suspend: true", None), ["shop/front eu-a=6"]);
    assert_eq!(suspended("", Some(&["shop/web"])), ["shop/front eu-a=6"]);
    assert_eq!(suspended("", Some(&["shop/front"])), ["shop/front eu-a=6"]);
}

#[test]
fn rules_that_move_nothing_are_shown() {
    let base = Files::shop();
    let team = "teams/shop.yaml";
    let rows: [(&str, Files, &[&str]); 7] = [
        ("nothing", base.clone(), &[]),
        (
            "an app",
            base.clone().app(
                "web",
                "{namespace: shop, suspend: true, prune: false, placement: {move: {minAvailable: 90%}}, failover: {after: 2m}}",
            ),
            &[
                "App shop/web: suspend not stated -> true",
                "App shop/web: prune not stated -> false",
                "App shop/web: placement.move.minAvailable not stated -> 90%",
                "App shop/web: failover.after not stated -> 120s",
            ],
        ),
        ("what goes without saying", base.clone().app("web", "{namespace: shop, suspend: false, prune: true}"), &[]),
        (
            "a cluster",
            base.clone().cluster("us-a", "{region: us, mode: Observe, connection: {context: us}}"),
            &["Cluster us-a: mode not stated -> Observe", "Cluster us-a: connection.context not stated -> us"],
        ),
        (
            "a team",
            base.clone().edit(team, "spec: {", "spec: {serviceAccountName: fleet/shop, owners: [ann, bob], "),
            &["Team shop: serviceAccountName not stated -> fleet/shop", "Team shop: owners not stated -> ann, bob"],
        ),
        (
            "the fleet",
            base.clone().edit(
                "fleet.yaml",
                "spec:\n",
                "spec:\n  limits: {deletions: {share: 5%, count: 9}}\n  drift: Report\n  adopt: {managers: [helm]}\n  \
                 branches: {rendered: out}\n  failover: {maxClusters: 10%}\n",
            ),
            &[
                "Fleet: branches.rendered not stated -> out",
                "Fleet: limits.deletions not stated -> share 5%, count 9",
                "Fleet: adopt.managers not stated -> helm",
                "Fleet: drift not stated -> Report",
                "Fleet: failover.maxClusters not stated -> 10%",
            ],
        ),
        ("an app that goes", base.clone().without("teams/shop/web/app.yaml"), &[]),
    ];
    for (what, head, expected) in rows {
        let diff = diff(&base.compiled(), &head.compiled());
        let rules: Vec<String> = diff.rules.iter().map(ToString::to_string).collect();
        assert_eq!(rules, expected, "{what}");
        assert_eq!(diff.is_empty(), what == "nothing" || what == "what goes without saying", "{what}");
        for line in expected {
            assert!(report::diff_text(&diff).contains(&format!("\n  {line}\n")), "{what}");
        }
    }
}
