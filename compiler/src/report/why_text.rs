//! `why` in words.

use std::fmt::Write as _;

use super::names::short_list;
use super::plan_text::{move_rows, section};
use super::rows::by_cluster;
use super::table::table;
use super::why::{WhyReport, WrittenAt};
use super::why_cluster::{ClusterWhy, PoolReport, RoomReport};

impl WhyReport {
    /// The text of the report: the cluster that was asked about first. `wide` names all clusters of each reason.
    #[must_use]
    pub fn to_text(&self, wide: bool) -> String {
        let mut text = self.record.as_ref().map(|record| format!("Record: {record}\n\n")).unwrap_or_default();
        let _ = writeln!(text, "{}  {}", self.app, self.written);
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
        if let Some(moving) = &self.moving {
            let _ = writeln!(text, "  on the way, until its next step it stays as it is: {moving}");
        }
        if let Some(steps) = &self.steps {
            let _ = writeln!(text, "  in steps: {steps}");
        }
        if let Some(floor) = &self.min_available {
            let _ = writeln!(
                text,
                "  no cluster is lowered while less than {floor} of a workload's replicas would be ready"
            );
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
            let row = |seat: &super::why::WhySeat| {
                let weight = seat.weight.map(|weight| format!("weight {weight}")).unwrap_or_default();
                let overridden = if seat.overridden { "stated by an override" } else { "" };
                let booked = seat.booked.map(|booked| booked.to_string()).unwrap_or_default();
                (seat.cluster.to_string(), vec![seat.replicas.to_string(), weight, overridden.to_owned(), booked])
            };
            let rows = by_cluster(workload.seats.iter().map(row).collect(), wide);
            let rows: Vec<Vec<String>> =
                rows.into_iter().map(|(cluster, cells)| std::iter::once(cluster).chain(cells).collect()).collect();
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
        let moves = move_rows(&self.moves, wide).into_iter().map(|mut row| {
            // all of one app: the workload is enough
            if let Some(name) = row.first_mut() {
                *name = name.split_once(' ').map(|(_, workload)| workload.to_owned()).unwrap_or_default();
            }
            row
        });
        let moves = table(&moves.collect::<Vec<_>>(), &[], "");
        for (title, lines) in [
            ("Moves", moves.lines().map(str::to_owned).collect()),
            ("Not possible", self.shortfalls.iter().map(ToString::to_string).collect::<Vec<_>>()),
            ("Possible, if somebody gives way", self.preemptions.iter().map(ToString::to_string).collect()),
        ] {
            section(&mut text, title, &lines);
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
    let ClusterWhy { cluster: name, written, used, workloads, booked, verdict: _, reasons, .. } = cluster;
    let ClusterWhy { changes, room, shares, quotas, .. } = cluster;
    let _ = write!(text, "\n{name}  {written}\n");
    for (workload, replicas) in workloads {
        let booked = booked.get(workload).map(|booked| format!("; {booked}")).unwrap_or_default();
        let _ = writeln!(text, "  {workload}: {replicas}{booked}");
    }
    if !used {
        let _ = writeln!(text, "  gets nothing of {app}");
    }
    for reason in reasons {
        let _ = writeln!(text, "  {reason}");
    }
    if !changes.is_empty() {
        text.push_str("  to change that:\n");
    }
    for change in changes {
        let at = change.written.as_ref().map(|at| format!("  ({at})")).unwrap_or_default();
        let _ = writeln!(text, "    {}{at}", change.change);
    }
    room.iter().for_each(|room| room_text(text, room));
    if !shares.is_empty() {
        text.push_str("  division: each seat goes to the largest weight / (2 x seats + 1)\n");
    }
    for share in shares {
        let max = share.max.map(|max| format!(", at most {max}")).unwrap_or_default();
        let min = if share.min > 0 { format!(", at least {}", share.min) } else { String::new() };
        let _ = writeln!(
            text,
            "    {}: weight {}, {} seats{min}{max}; its quotient for the next is {}",
            share.workload, share.weight, share.replicas, share.next_quotient
        );
    }
    if !quotas.is_empty() {
        text.push_str("  quota of the team\n");
    }
    for quota in quotas {
        let here = if quota.per_cluster { " in this cluster" } else { "" };
        let short = quota.short.as_ref().map(|short| format!(": {short} too little")).unwrap_or_default();
        let _ = writeln!(
            text,
            "    {}: {} of {} used{here}, {} of it by {app}; one more replica adds {}{short}  ({})",
            quota.resource, quota.used, quota.hard, quota.own, quota.one_more, quota.written
        );
    }
}

fn room_text(text: &mut String, room: &RoomReport) {
    let request: Vec<String> = room.request.iter().map(|of| format!("{} {}", of.amount, of.resource)).collect();
    let asks = if request.is_empty() { "nothing".to_owned() } else { request.join(", ") };
    let fits = room.fits.map_or_else(|| "unknown".to_owned(), |fits| fits.to_string());
    let _ = writeln!(text, "  room for {}: a pod asks for {asks}; {fits} more fit", room.workload);
    for pool in &room.pools {
        let PoolReport { pool: name, nodes, more_nodes, misfit, fits, resources } = pool;
        let scaled =
            if *more_nodes > 0 { format!(" and {more_nodes} that an autoscaler may add") } else { String::new() };
        let nodes = if *nodes == 1 { "1 node".to_owned() } else { format!("{nodes} nodes") };
        match misfit {
            Some(misfit) => {
                let _ = writeln!(text, "    pool {name}, {nodes}{scaled}: {misfit}");
            }
            None => {
                let _ = writeln!(text, "    pool {name}, {nodes}{scaled}: {fits} fit");
            }
        }
        for row in resources {
            let _ = writeln!(text, "      {}: {}", row.resource, row.text);
        }
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
