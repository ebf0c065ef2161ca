//! `why` in words.

use std::fmt::Write as _;

use super::names::short_list;
use super::table::table;
use super::why::{ClusterWhy, WhyReport, WrittenAt};

impl WhyReport {
    /// The text of the report: the cluster that was asked about first. `wide` names all clusters of each reason.
    #[must_use]
    pub fn to_text(&self, wide: bool) -> String {
        let mut text = format!("{}  {}\n", self.app, self.written);
        if !self.owners.is_empty() {
            let _ = writeln!(text, "  ask {}", self.owners.join(", "));
        }
        if let Some(was) = &self.was {
            let _ = writeln!(text, "  takes over what runs as {was}");
        }
        for (what, apps) in [("waits for", &self.waits_for), ("waited for by", &self.waited_for_by)] {
            if !apps.is_empty() {
                let _ = writeln!(text, "  {what} {}", apps.join(", "));
            }
        }
        for treatment in &self.treatment {
            let _ = writeln!(text, "  {}", treatment.words());
        }
        if let Some(cluster) = &self.cluster {
            cluster_text(&mut text, cluster, &self.app);
        }
        if !self.fields.is_empty() {
            text.push_str("\nPlacement comes from\n");
            let row = |field: &super::why::FieldReport| {
                vec![field.field.to_owned(), format!("{} {}", field.layer, field.name), field.written.to_string()]
            };
            text.push_str(&table(&self.fields.iter().map(row).collect::<Vec<_>>(), &[], "  "));
        }
        for workload in &self.workloads {
            let _ = write!(text, "\n{}: {}\n", workload.workload, workload.rule);
            let rows: Vec<Vec<String>> = workload
                .seats
                .iter()
                .map(|seat| {
                    let weight = seat.weight.map(|weight| format!("weight {weight}")).unwrap_or_default();
                    let overridden = if seat.overridden { "stated by an override" } else { "" };
                    vec![seat.cluster.to_string(), seat.replicas.to_string(), weight, overridden.to_owned()]
                })
                .collect();
            text.push_str(if rows.is_empty() { "  nowhere\n" } else { "" });
            text.push_str(&table(&rows, &[1], "  "));
        }
        if !self.needs.is_empty() {
            text.push_str("\nRefers to what the App does not have\n");
            let row = |need: &super::why::NeedReport| {
                let from = need.app.as_ref().map_or_else(|| "of no App".to_owned(), |app| format!("of {app}"));
                vec![need.object.clone(), need.needs.clone(), from]
            };
            text.push_str(&table(&self.needs.iter().map(row).collect::<Vec<_>>(), &[], "  "));
        }
        if !self.moves.is_empty() {
            text.push_str("\nMoves\n");
            let row = |m: &super::plan::MoveReport| {
                vec![
                    m.workload.to_string(),
                    m.cluster.to_string(),
                    format!("{} -> {}", m.before, m.after),
                    m.why.to_owned(),
                ]
            };
            text.push_str(&table(&self.moves.iter().map(row).collect::<Vec<_>>(), &[], "  "));
        }
        if !self.shortfalls.is_empty() {
            text.push_str("\nNot possible\n");
            for shortfall in &self.shortfalls {
                let _ = writeln!(text, "  {shortfall}");
            }
        }
        if !self.preemptions.is_empty() {
            text.push_str("\nPossible, if somebody gives way\n");
            for of in &self.preemptions {
                let _ = writeln!(text, "  {of}");
            }
        }
        let _ = write!(text, "\n{}\n", self.summary);
        for verdict in &self.verdicts {
            let names = if wide { verdict.clusters.join(", ") } else { short_list(&verdict.clusters) };
            let _ = writeln!(text, "  {} ({names})", verdict.reason);
            let _ = writeln!(text, "    to change that: {}", verdict.remedy);
        }
        text
    }
}

fn cluster_text(text: &mut String, cluster: &ClusterWhy, app: &str) {
    let ClusterWhy { cluster: name, written, used, workloads, verdict } = cluster;
    let _ = write!(text, "\n{name}  {written}\n");
    for (workload, replicas) in workloads {
        let _ = writeln!(text, "  {workload}: {replicas}");
    }
    if !used {
        let _ = writeln!(text, "  gets nothing of {app}");
    }
    if let Some(verdict) = verdict {
        let _ = writeln!(text, "  {}", verdict.reason);
        let _ = writeln!(text, "    to change that: {}", verdict.remedy);
    }
}

impl std::fmt::Display for WrittenAt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.position {
            Some(position) => write!(f, "{}:{}:{}", self.path, position.line, position.column),
            None => f.write_str(&self.path),
        }
    }
}
