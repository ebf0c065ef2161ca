//! What the reconciler is told to do differently: rules that change no manifest and move no replica, and that a reviewer
//! wants to see all the same.
//!
//! The next rule is a line of the function of its kind.

use std::collections::BTreeSet;

use serde::Serialize;

use super::placements::pairs;
use crate::Compiled;
use crate::base::{AppId, SmolStr};
use crate::model::{App, Cluster, DeletionLimit, Settings, Team};

/// A rule that changed. What came or went is listed elsewhere, but for rules that are not those of everybody.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleChange {
    /// `App shop/web`, `Cluster eu-a`, `Team shop`, `Fleet`.
    pub of: String,
    /// The field as `explain` takes it, below `spec`.
    pub field: &'static str,
    /// What it was; none where nobody stated it.
    pub before: Option<String>,
    /// What it is; none where nobody states it.
    pub after: Option<String>,
}

/// A field and what it says; none where that is what goes without saying.
type Rule = (&'static str, Option<String>);

/// All that changed: of the Fleet, of clusters, of teams, of apps, each by name.
pub(super) fn rule_changes(base: &Compiled, head: &Compiled) -> Vec<RuleChange> {
    let mut changes = Vec::new();
    compare(&mut changes, "Fleet", &of_fleet(&base.fleet.settings), &of_fleet(&head.fleet.settings));
    let names: BTreeSet<&SmolStr> = base.fleet.clusters.iter().chain(&head.fleet.clusters).map(|c| &c.name).collect();
    for name in names {
        let of = |compiled: &Compiled| {
            let cluster = compiled.fleet.cluster_id(name).map(|id| compiled.fleet.cluster(id));
            cluster.map(of_cluster).unwrap_or_default()
        };
        compare(&mut changes, &format!("Cluster {name}"), &of(base), &of(head));
    }
    let names: BTreeSet<&SmolStr> = base.fleet.teams.iter().chain(&head.fleet.teams).map(|t| &t.name).collect();
    for name in names {
        let of = |compiled: &Compiled| {
            let found = compiled.fleet.teams.binary_search_by(|team| team.name.cmp(name));
            found.ok().and_then(|at| compiled.fleet.teams.get(at)).map(|team| of_team(team)).unwrap_or_default()
        };
        compare(&mut changes, &format!("Team {name}"), &of(base), &of(head));
    }
    for ((team, app), (before, after)) in pairs(base, head) {
        let of = |compiled, id: Option<AppId>| id.map(|id| of_app(compiled, id)).unwrap_or_default();
        // with an app that goes, its rules go without saying
        if after.is_some() {
            compare(&mut changes, &format!("App {team}/{app}"), &of(base, before), &of(head, after));
        }
    }
    changes
}

fn compare(changes: &mut Vec<RuleChange>, of: &str, before: &[Rule], after: &[Rule]) {
    let fields: Vec<&'static str> =
        if after.is_empty() { before } else { after }.iter().map(|(field, _)| *field).collect();
    for field in fields {
        let says = |rules: &[Rule]| rules.iter().find(|(name, _)| *name == field).and_then(|(_, says)| says.clone());
        let (before, after) = (says(before), says(after));
        if before != after {
            changes.push(RuleChange { of: of.to_owned(), field, before, after });
        }
    }
}

fn of_fleet(settings: &Settings) -> Vec<Rule> {
    let Settings {
        name: _,
        file: _,
        live_branch,
        intents_branch,
        rendered_branch,
        limits,
        adopt_managers,
        drift,
        failover,
        plaintext: _,
        values: _,
    } = settings;
    let default = Settings::default();
    let drift = (*drift != default.drift).then(|| format!("{drift:?}"));
    let after = (failover.after_secs != default.failover.after_secs).then(|| format!("{}s", failover.after_secs));
    vec![
        ("branches.intents", (intents_branch != "main").then(|| intents_branch.to_string())),
        ("branches.live", (live_branch != "live").then(|| live_branch.to_string())),
        ("branches.rendered", rendered_branch.as_ref().map(ToString::to_string)),
        ("limits.deletions", limits.deletions.map(budget)),
        ("adopt.managers", listed(adopt_managers.iter().map(ToString::to_string))),
        ("drift", drift),
        ("failover.after", after),
        ("failover.maxClusters", failover.max_clusters.map(|most| most.to_string())),
    ]
}

fn budget(limit: DeletionLimit) -> String {
    let DeletionLimit { share_percent, count } = limit;
    let share = share_percent.map(|percent| format!("share {percent}%"));
    let count = count.map(|count| format!("count {count}"));
    share.into_iter().chain(count).collect::<Vec<_>>().join(", ")
}

fn of_cluster(cluster: &Cluster) -> Vec<Rule> {
    let mode = (cluster.mode != crate::api::ClusterMode::default()).then(|| format!("{:?}", cluster.mode));
    let connection = cluster.connection.as_ref();
    vec![
        ("mode", mode),
        ("connection.context", connection.and_then(|c| c.context.as_ref()).map(ToString::to_string)),
        ("connection.secretRef", connection.and_then(|c| c.secret_ref.as_ref()).map(ToString::to_string)),
    ]
}

fn of_team(team: &Team) -> Vec<Rule> {
    let account = team.service_account.as_ref();
    vec![
        ("serviceAccountName", account.map(|account| format!("{}/{}", account.namespace, account.name))),
        ("owners", listed(team.owners.iter().map(ToString::to_string))),
    ]
}

fn of_app(compiled: &Compiled, id: AppId) -> Vec<Rule> {
    let App { depends_on, keep_removed, suspended, exclusive, min_available, failover_after_secs, .. } =
        compiled.fleet.app(id);
    let floor = min_available.filter(|_| !exclusive).map(|floor| floor.to_string());
    vec![
        ("dependsOn", listed(depends_on.iter().map(|id| compiled.fleet.app_name(*id)))),
        ("suspend", suspended.then(|| "true".to_owned())),
        ("prune", keep_removed.then(|| "false".to_owned())),
        ("exclusive", exclusive.then(|| "true".to_owned())),
        ("placement.move.minAvailable", floor),
        ("failover.after", failover_after_secs.map(|secs| format!("{secs}s"))),
    ]
}

fn listed(names: impl Iterator<Item = String>) -> Option<String> {
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| names.join(", "))
}

impl std::fmt::Display for RuleChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { of, field, before, after } = self;
        let shown = |says: &Option<String>| says.clone().unwrap_or_else(|| "not stated".to_owned());
        write!(f, "{of}: {field} {} -> {}", shown(before), shown(after))
    }
}
