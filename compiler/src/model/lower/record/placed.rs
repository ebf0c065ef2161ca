//! `placements/`: what runs where.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::Lowering;
use super::twice;
use crate::base::{FileId, SmolStr, Span, Spanned};
use crate::diag::{Diagnostic, Place, codes, some_of};
use crate::model::App;
use crate::placements::{
    GaveWay, GaveWayDoc, MoveCauseDoc, MoveDoc, MoveStepDoc, OTHER_POOL, OpenMove, PlacedApp, PlacedAppDoc,
};
use crate::placements::{PlacedSeat, PlacedWorkload, PlacedWorkloadDoc, Record, SeatDoc};
use crate::tide::Timestamp;

/// (team, app)
type AppName = (SmolStr, SmolStr);

/// Where an app is, workloads aside.
fn empty(file: FileId, app: &Spanned<SmolStr>, tier: Option<&SmolStr>, clusters: &[Spanned<SmolStr>]) -> PlacedApp {
    let mut clusters: Vec<SmolStr> = clusters.iter().map(|cluster| cluster.value.clone()).collect();
    clusters.sort();
    clusters.dedup();
    PlacedApp { place: Some((file, app.span)), tier: tier.cloned(), clusters, workloads: BTreeMap::new() }
}

fn seat(doc: &SeatDoc) -> PlacedSeat {
    let SeatDoc { cluster, pool, replicas, completions, min, max } = doc;
    PlacedSeat {
        cluster: cluster.value.clone(),
        pool: pool.as_ref().map(|pool| pool.value.clone()),
        replicas: *replicas,
        completions: *completions,
        bounds: min.zip(*max),
    }
}

/// Reads placements against the fleet.
pub(super) struct Placements<'f> {
    /// By (team, app), the apps there are.
    apps: BTreeMap<AppName, &'f App>,
    /// By each name that apps had before, the name of now.
    heirs: BTreeMap<AppName, AppName>,
    /// By recorded name, the apps that are recorded under a name that they had before.
    transfers: BTreeMap<AppName, AppName>,
    /// Clusters without a file that the record still names: where first, and by which apps.
    gone: BTreeMap<SmolStr, (FileId, Span, BTreeSet<String>)>,
    /// By cluster, once a seat names one of its pools: the pools it has, and those that were said to be gone.
    pools: BTreeMap<SmolStr, BTreeSet<SmolStr>>,
}

impl<'f> Placements<'f> {
    /// Of these apps, where placements of these are recorded.
    pub(super) fn new(cx: &Lowering<'_>, apps: &'f [Arc<App>], recorded: &BTreeSet<AppName>) -> Self {
        let apps: BTreeMap<AppName, &App> =
            apps.iter().map(|app| ((cx.teams[app.team.index()].name.clone(), app.name.clone()), &**app)).collect();
        let previous = |(name, app): (&AppName, &&'f App)| {
            let name = name.clone();
            app.previous_names.iter().map(move |old| (old.clone(), name.clone()))
        };
        let heirs = apps.iter().flat_map(previous).collect();
        // What is recorded under the name of now is the newer; of older ones the first that the app lists.
        let transfers = apps.iter().filter(|(name, _)| !recorded.contains(*name)).filter_map(|(name, app)| {
            let old = app.previous_names.iter().find(|old| recorded.contains(*old))?;
            Some((old.clone(), name.clone()))
        });
        let transfers = transfers.collect();
        Self { apps, heirs, transfers, gone: BTreeMap::new(), pools: BTreeMap::new() }
    }

    /// Reads one app of a team's file.
    pub(super) fn app(
        &mut self,
        cx: &mut Lowering<'_>,
        file: FileId,
        team: &SmolStr,
        doc: &PlacedAppDoc,
        record: &mut Record,
    ) {
        let PlacedAppDoc { app, tier, clusters, workloads } = doc;
        let recorded = (team.clone(), app.value.clone());
        let name = self.transfers.get(&recorded).unwrap_or(&recorded).clone();
        let known = self.apps.get(&name).copied();
        let keys: Option<BTreeSet<&SmolStr>> =
            known.filter(|_| !cx.unread.objects_of(&name.0)).map(|app| app.workloads.iter().map(|w| &w.key).collect());
        let mut placed = empty(file, app, tier.as_ref(), clusters);
        for name in clusters {
            self.holds(cx, file, name, team, &app.value);
        }
        for PlacedWorkloadDoc { workload, weights, seats, gave_way } in workloads {
            let seats = self.seats(cx, file, (team, &app.value), seats, record);
            if keys.as_ref().is_some_and(|keys| !keys.contains(&workload.value)) {
                let running: u64 = seats.iter().map(|seat| u64::from(seat.replicas)).sum();
                let message = format!(
                    "workload `{}` of App `{team}/{}` is recorded and no longer there; its {running} replicas are given up",
                    workload.value, app.value
                );
                cx.error(codes::record::RECORD_GONE, Place::Span(file, workload.span), message);
            }
            let gave_way = gave_way.iter().filter_map(|doc| gave_way_of(cx, file, doc)).collect();
            let entry = PlacedWorkload { weights: weights.clone(), seats, gave_way };
            if placed.workloads.insert(workload.value.clone(), entry).is_some() {
                twice(cx, file, workload, &format!("workload `{}`", workload.value));
            }
        }
        if known.is_none() && !cx.unread.apps() {
            cx.error(
                codes::record::RECORD_GONE,
                Place::Span(file, app.span),
                format!("App `{team}/{}` is recorded and no longer there; its seats are given up", app.value),
            );
        }
        if name != recorded {
            record.transfers.insert(name.clone(), recorded);
        }
        if record.apps.insert(name, placed).is_some() {
            twice(cx, file, app, &format!("App `{team}/{}`", app.value));
        }
    }

    fn seats(
        &mut self,
        cx: &mut Lowering<'_>,
        file: FileId,
        (team, app): (&SmolStr, &SmolStr),
        seats: &[SeatDoc],
        record: &Record,
    ) -> Vec<PlacedSeat> {
        let mut rows: Vec<PlacedSeat> = Vec::with_capacity(seats.len());
        let mut seen: BTreeSet<(&SmolStr, Option<&SmolStr>)> = BTreeSet::new();
        for doc in seats {
            let SeatDoc { cluster, pool, .. } = doc;
            self.holds(cx, file, cluster, team, app);
            if !seen.insert((&cluster.value, pool.as_ref().map(|pool| &pool.value))) {
                twice(cx, file, cluster, &format!("a seat in cluster `{}`", cluster.value));
                continue;
            }
            if let Some(pool) = pool {
                self.pool(cx, file, &cluster.value, pool, record);
            }
            rows.push(seat(doc));
        }
        rows.sort();
        rows
    }

    /// Notes a cluster that holds something and has no file.
    fn holds(&mut self, cx: &Lowering<'_>, file: FileId, cluster: &Spanned<SmolStr>, team: &SmolStr, app: &SmolStr) {
        if cx.clusters.binary_search_by(|c| c.name.cmp(&cluster.value)).is_ok() || cx.unread.clusters {
            return;
        }
        let first = || (file, cluster.span, BTreeSet::new());
        let (_, _, apps) = self.gone.entry(cluster.value.clone()).or_insert_with(first);
        apps.insert(format!("{team}/{app}"));
    }

    /// Reports a pool that its cluster no longer has, once.
    fn pool(
        &mut self,
        cx: &mut Lowering<'_>,
        file: FileId,
        cluster: &SmolStr,
        pool: &Spanned<SmolStr>,
        record: &Record,
    ) {
        let Ok(index) = cx.clusters.binary_search_by(|c| c.name.cmp(cluster)) else { return };
        let pools = self.pools.entry(cluster.clone()).or_insert_with(|| {
            let stated = cx.clusters[index].pools.iter().flatten().map(|pool| &pool.name);
            let observed = record.clusters.get(cluster).and_then(|observed| observed.capacity.as_ref());
            let other = observed.into_iter().flatten().map(|pool| &pool.name).filter(|name| *name == OTHER_POOL);
            stated.chain(other).cloned().collect()
        });
        if !pools.insert(pool.value.clone()) {
            return;
        }
        let message = format!(
            "pool `{}` of cluster `{cluster}` is recorded and no longer there; what runs in it is placed anew",
            pool.value
        );
        cx.error(codes::record::RECORD_GONE, Place::Span(file, pool.span), message);
    }

    /// The app that a file named after `team/app` is about, by its name of now; `None`, with that name, where there is none.
    pub(super) fn known(&self, named: &SmolStr) -> (AppName, Option<&'f App>) {
        let (team, app) = named.split_once('/').unwrap_or_default();
        let recorded = (SmolStr::new(team), SmolStr::new(app));
        let name =
            self.heirs.get(&recorded).filter(|_| !self.apps.contains_key(&recorded)).unwrap_or(&recorded).clone();
        let app = self.apps.get(&name).copied();
        (name, app)
    }

    /// Reads the move of an app. Where it leads to what is no longer there, what is there now says where the app goes.
    pub(super) fn moves(
        &mut self,
        cx: &mut Lowering<'_>,
        file: FileId,
        named: &SmolStr,
        doc: &MoveDoc,
        record: &mut Record,
    ) {
        let MoveDoc { cause, intent, step, target } = doc;
        let PlacedAppDoc { app, tier, clusters, workloads } = target;
        let (team, stem) = named.split_once('/').unwrap_or_default();
        if app.value != stem {
            let message = format!("the file of the move of `{team}/{stem}` says where `{}` goes", app.value);
            cx.report(
                Diagnostic::new(codes::record::UNKNOWN_RECORD, Place::Span(file, app.span), message)
                    .help("the record is written by fleetwright: revert the commit that changed it"),
            );
            return;
        }
        let is_instant = |text: &SmolStr| text.parse::<Timestamp>().is_ok();
        let instants = std::iter::once(&step.since).chain(&step.deadline).chain(&cause.at);
        let odd = instants.into_iter().find(|text| !is_instant(text));
        let odd = odd.or_else(|| Some(&cause.kind).filter(|kind| !kind.chars().all(|c| c.is_ascii_alphanumeric())));
        if let Some(odd) = odd {
            let message =
                format!("`{}` is neither an instant (RFC 3339) nor the cause of a decision", odd.escape_debug());
            cx.report(
                Diagnostic::new(codes::record::UNKNOWN_RECORD, Place::Span(file, app.span), message)
                    .help("the record is written by fleetwright: revert the commit that changed it"),
            );
            return;
        }
        let (name, known) = self.known(named);
        if known.is_none() {
            // its placements are reported
            return;
        }
        let mut placed = empty(file, app, tier.as_ref(), clusters);
        for PlacedWorkloadDoc { workload, weights, seats, gave_way } in workloads {
            let mut rows: Vec<PlacedSeat> = seats.iter().map(seat).collect();
            rows.sort();
            if rows.windows(2).any(|two| (&two[0].cluster, &two[0].pool) == (&two[1].cluster, &two[1].pool)) {
                twice(cx, file, workload, &format!("a seat of workload `{}`", workload.value));
            }
            let gave_way = gave_way.iter().filter_map(|doc| gave_way_of(cx, file, doc)).collect();
            let entry = PlacedWorkload { weights: weights.clone(), seats: rows, gave_way };
            if placed.workloads.insert(workload.value.clone(), entry).is_some() {
                twice(cx, file, workload, &format!("workload `{}`", workload.value));
            }
        }
        let MoveCauseDoc { kind, key, at } = cause.clone();
        let MoveStepDoc { number, since, deadline } = step.clone();
        let open = OpenMove {
            cause: kind,
            key,
            begun: at,
            intent: intent.clone(),
            target: placed,
            step: number,
            since,
            deadline,
        };
        record.moves.insert(name, open);
    }

    /// Reads one app of `state/suspended.yaml`.
    pub(super) fn suspended(&self, cx: &mut Lowering<'_>, file: FileId, app: &Spanned<SmolStr>, record: &mut Record) {
        let key = app.value.split_once('/').map(|(team, name)| (SmolStr::new(team), SmolStr::new(name)));
        let key = key.map(|key| self.heirs.get(&key).cloned().unwrap_or(key));
        match key.filter(|key| self.apps.contains_key(key)) {
            Some(key) => {
                record.suspended.insert(key);
            }
            None if cx.unread.apps() => {}
            None => cx.error(
                codes::record::RECORD_GONE,
                Place::Span(file, app.span),
                format!("App `{}` is suspended and no longer there", app.value),
            ),
        }
    }

    /// What apps say of themselves joins what is recorded. A cluster that holds placements and has no file is reported: its
    /// file was removed too early. Said once, however much it holds.
    pub(super) fn finish(self, cx: &mut Lowering<'_>, record: &mut Record) {
        record.suspended.extend(self.apps.iter().filter(|(_, app)| app.suspended).map(|(name, _)| name.clone()));
        for (cluster, (file, span, apps)) in self.gone {
            let apps: Vec<String> = apps.into_iter().collect();
            let message =
                format!("cluster `{cluster}` has no file in clusters/ and still holds {}", some_of("App", &apps));
            cx.report(
                Diagnostic::new(codes::record::CLUSTER_STILL_HOLDS, Place::Span(file, span), message).help(
                    "restore its file with `lifecycle: Draining`, let its apps move, set Retired, then remove it",
                ),
            );
        }
    }
}

/// A row of what was given up. An app or a cluster that is gone says nothing any more; that is no mistake.
fn gave_way_of(cx: &mut Lowering<'_>, file: FileId, doc: &GaveWayDoc) -> Option<GaveWay> {
    let Some((team, app)) = doc.to.value.split_once('/') else {
        let message = format!("`{}` is no `team/app`", doc.to.value);
        cx.error(codes::record::UNKNOWN_RECORD, Place::Span(file, doc.to.span), message);
        return None;
    };
    let to = (SmolStr::new(team), SmolStr::new(app));
    Some(GaveWay { to, cluster: doc.cluster.value.clone(), replicas: doc.replicas })
}
