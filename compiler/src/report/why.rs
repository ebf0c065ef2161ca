//! Why an app runs where it runs, and why not elsewhere.

use serde::Serialize;

use super::booked::{BookedReport, booked};
use super::located::{Position, ReadFile, positions};
use super::plan::{MoveReport, PreemptionReport, move_reports, preemption};
use super::references::needs;
use super::remedy::Remedies;
use super::rule::{field_name, layer_name, rule, weight};
use super::steps::{MovingReport, on_the_way};
use super::verdicts::{grouped, remedy, verdicts_line};
use super::why_cluster::{self, ChangeReport, ClusterWhy};
use crate::Compiled;
use crate::base::{AppId, ClusterId, FileId, SmolStr, Span};
use crate::diag::Place;
use crate::diff::{Ground, Provenance, Shortfall, StepsReport, placed, to_make, verdict_text};
use crate::model::{App, Layer, Workload};
use crate::schedule::{Deficit, Verdict, explain};

/// Why an app runs where it runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhyReport {
    /// The record it was made from, where that lies elsewhere than the intents. Whoever opened it says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Provenance>,
    /// `team/app`.
    pub app: String,
    /// Where it is defined.
    pub written: WrittenAt,
    /// Whom the team's file names to be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<SmolStr>,
    /// The name under which what runs of it is recorded, `team/app`, where it had that before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Apps that must be Current in a cluster first, by (team, app).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// Apps that wait for it, by (team, app).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waited_for_by: Vec<String>,
    /// How it is treated that differs from other apps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub treatment: Vec<Treatment>,
    /// Every field of its placement that a layer states, and which layer that is.
    pub fields: Vec<FieldReport>,
    /// Clusters that match the selector and that the team may use, by name.
    pub candidates: Vec<SmolStr>,
    /// How many clusters take it and why each other does not, in one line.
    pub summary: String,
    /// Why each other cluster gets nothing, one entry for each reason.
    pub verdicts: Vec<VerdictReport>,
    /// Its workloads and where they are.
    pub workloads: Vec<WhyWorkload>,
    /// What its objects refer to and the App does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeedReport>,
    /// What differs from what runs.
    pub moves: Vec<MoveReport>,
    /// The steps in which the decider makes that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepsReport>,
    /// What a placement or a tide states as `move.minAvailable`: so much of each workload must be ready before a cluster is lowered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_available: Option<String>,
    /// The move in steps that it is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moving: Option<MovingReport>,
    /// What could not be done.
    pub shortfalls: Vec<Shortfall>,
    /// What others could give up for it, where its priority class asks for that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preemptions: Vec<PreemptionReport>,
    /// The cluster that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterWhy>,
}

/// How an app is treated that differs from other apps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub enum Treatment {
    /// Its counts and clusters stay as they are, because its file says so (`suspend: true`).
    Suspended,
    /// The same, because a person said so in the record.
    SuspendedInRecord,
    /// It never runs in two clusters.
    Exclusive,
    /// What leaves the repository or a cluster is not deleted.
    KeepsRemoved,
}

impl Treatment {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Suspended => "suspended by its file: counts and clusters stay, nothing is deleted",
            Self::SuspendedInRecord => "suspended in the record: counts and clusters stay, nothing is deleted",
            Self::Exclusive => "exclusive: never runs in two clusters",
            Self::KeepsRemoved => "`prune: false`: what is no longer wanted is not deleted",
        }
    }
}

/// Where something is written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WrittenAt {
    /// The file.
    pub path: String,
    /// Where in it; none where the file could not be had again.
    #[serde(flatten)]
    pub position: Option<Position>,
}

/// A field of `placement` and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldReport {
    /// `placement.replicas`.
    pub field: &'static str,
    /// `App`, `PlacementPolicy`, `Team` or `Fleet`.
    pub layer: &'static str,
    /// The name of that App, policy, Team or Fleet.
    pub name: SmolStr,
    /// Where.
    pub written: WrittenAt,
}

/// A reason and its clusters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerdictReport {
    /// `no room: need 4 cpu, largest free 2.5`.
    pub reason: String,
    /// The clusters, by name.
    pub clusters: Vec<SmolStr>,
    /// What would have to change.
    pub remedy: String,
}

/// A workload: how it is divided and where it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhyWorkload {
    /// `apps/Deployment/web`.
    pub workload: SmolStr,
    /// In words: `12 replicas divided by StaticWeight, at most what fits`.
    pub rule: String,
    /// Where it is, by cluster.
    pub seats: Vec<WhySeat>,
}

/// A workload in one cluster.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WhySeat {
    /// The cluster.
    pub cluster: SmolStr,
    /// Replicas, as written into the manifest; 1 for a kind that states none.
    pub replicas: u32,
    /// Its static weight, where weights decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<u32>,
    /// Whether an override states the replicas.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub overridden: bool,
    /// What is booked as room, where that is what was observed of its autoscaler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub booked: Option<BookedReport>,
}

/// What an object refers to and its App does not have.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NeedReport {
    /// The object: `Deployment shop/web`.
    pub object: String,
    /// What it refers to: `Secret shop/tls`.
    pub needs: String,
    /// The App that has it, as `team/app`; what none has must be in the clusters by other means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
}

/// Explains an app, and one cluster of it if asked.
#[must_use]
pub fn why(compiled: &Compiled, app: AppId, cluster: Option<ClusterId>, read: &ReadFile<'_>) -> WhyReport {
    Explain { compiled, id: app, app: compiled.fleet.app(app) }.report(cluster, read)
}

struct Explain<'c> {
    compiled: &'c Compiled,
    id: AppId,
    app: &'c App,
}

impl Explain<'_> {
    fn report(&self, cluster: Option<ClusterId>, read: &ReadFile<'_>) -> WhyReport {
        let app_place = Place::Span(self.app.file, self.app.name_span);
        let layers = &self.app.placement.layers;
        let layer_places: Vec<Place> = layers.iter().map(|(_, layer)| Place::Span(layer.file, layer.span)).collect();
        let cluster_place = cluster.map(|id| self.compiled.fleet.cluster(id)).map(|c| Place::Span(c.file, c.name_span));
        let team = self.compiled.fleet.team(self.app.team);
        let of_team = team.quota.iter().map(|quota| quota.span).chain([team.name_span]);
        let team_places: Vec<Place> = of_team.map(|span| Place::Span(team.file, span)).collect();
        let all = std::iter::once(&app_place).chain(&layer_places).chain(&cluster_place).chain(&team_places);
        let positions = positions(all, &self.compiled.files, read);
        let written = |file: FileId, span: Span| WrittenAt {
            path: self.compiled.files.get(file.index()).map(|f| f.path.as_str().to_owned()).unwrap_or_default(),
            position: positions.get(&Place::Span(file, span)).copied(),
        };

        let fields = layers.iter().map(|(field, layer)| {
            let Layer { kind, name, file, span } = layer;
            FieldReport {
                field: field_name(*field),
                layer: layer_name(*kind),
                name: name.clone(),
                written: written(*file, *span),
            }
        });
        let target = self.compiled.target.apps.get(self.id.index());
        let verdicts = target.map(|target| grouped(&target.verdicts)).unwrap_or_default();
        let deficits = target.into_iter().flat_map(|target| &target.deficits);
        let fleet = &self.compiled.fleet;
        let key = (fleet.team(self.app.team).name.clone(), self.app.name.clone());
        let waiting = fleet.app_ids().filter(|id| fleet.app(*id).depends_on.binary_search(&self.id).is_ok());
        WhyReport {
            record: None,
            app: self.compiled.fleet.app_name(self.id),
            written: written(self.app.file, self.app.name_span),
            owners: fleet.team(self.app.team).owners.clone(),
            was: self.compiled.record.transfers.get(&key).map(|(team, app)| format!("{team}/{app}")),
            waits_for: self.app.depends_on.iter().map(|id| fleet.app_name(*id)).collect(),
            waited_for_by: waiting.map(|id| fleet.app_name(id)).collect(),
            treatment: self.treatment(&key),
            fields: fields.collect(),
            candidates: self.app.placement.candidates.iter().map(|id| self.name(id)).collect(),
            summary: target.map(|target| verdicts_line(&self.compiled.fleet, target)).unwrap_or_default(),
            verdicts: verdicts.iter().map(|(v, set)| self.verdict(v, set.iter())).collect(),
            workloads: self.workloads(),
            needs: needs(&self.compiled.fleet, self.id)
                .into_iter()
                .map(|(object, needs, app)| NeedReport { object, needs, app })
                .collect(),
            moves: move_reports(&self.compiled.fleet, &self.compiled.plan, self.id).collect(),
            steps: to_make(self.compiled).into_iter().find(|of| of.app == fleet.app_name(self.id)),
            min_available: self.app.min_available.filter(|_| !self.app.exclusive).map(|floor| floor.to_string()),
            moving: on_the_way(self.compiled).into_iter().find(|of| of.app == fleet.app_name(self.id)),
            shortfalls: {
                let ground = Ground::of(self.compiled);
                let asked = cluster.map(|id| self.name(id)).unwrap_or_default();
                deficits.map(|of| Shortfall::in_detail(&ground, self.id, of).seen_from(&asked)).collect()
            },
            preemptions: {
                let own = self.compiled.preemptions.iter().filter(|of| of.app == self.id);
                own.filter_map(|of| preemption(&self.compiled.fleet, of)).collect()
            },
            cluster: cluster.map(|id| self.cluster(id, &written)),
        }
    }

    fn treatment(&self, key: &(SmolStr, SmolStr)) -> Vec<Treatment> {
        let App { suspended, exclusive, keep_removed, .. } = self.app;
        let in_record = !suspended && self.compiled.record.suspended.contains(key);
        [
            (*suspended, Treatment::Suspended),
            (in_record, Treatment::SuspendedInRecord),
            (*exclusive, Treatment::Exclusive),
            (*keep_removed, Treatment::KeepsRemoved),
        ]
        .into_iter()
        .filter_map(|(is, treatment)| is.then_some(treatment))
        .collect()
    }

    fn name(&self, id: ClusterId) -> SmolStr {
        self.compiled.fleet.cluster(id).name.clone()
    }

    fn verdict(&self, verdict: &Verdict, clusters: impl Iterator<Item = ClusterId>) -> VerdictReport {
        VerdictReport {
            reason: verdict_text(verdict),
            clusters: clusters.map(|id| self.name(id)).collect(),
            remedy: remedy(verdict),
        }
    }

    fn workloads(&self) -> Vec<WhyWorkload> {
        let placed = placed(self.compiled, self.id);
        let report = |(index, workload): (usize, &Workload)| {
            let counts = placed.counts.get(&workload.key).into_iter().flatten();
            let booked = booked(self.compiled, self.id, index);
            let seats = counts.filter_map(|(cluster, count)| {
                let id = self.compiled.fleet.cluster_id(cluster)?;
                let variant = self.compiled.variants.apps.get(self.id.index()).map(|variants| variants.of(id));
                let overridden = variant.and_then(|v| v.workloads.get(index)).is_some_and(|w| w.replicas.is_some());
                Some(WhySeat {
                    cluster: (*cluster).clone(),
                    replicas: count.replicas,
                    weight: weight(workload, id),
                    overridden,
                    booked: booked.get(&id).copied(),
                })
            });
            WhyWorkload { workload: workload.key.clone(), rule: rule(workload), seats: seats.collect() }
        };
        self.app.workloads.iter().enumerate().map(report).collect()
    }

    fn cluster(&self, id: ClusterId, written: &dyn Fn(FileId, Span) -> WrittenAt) -> ClusterWhy {
        let Compiled { fleet, variants, record, target, .. } = self.compiled;
        let name = self.name(id);
        let (file, span) = (fleet.cluster(id).file, fleet.cluster(id).name_span);
        let explained = explain(fleet, variants, record, target, (self.id, id));
        let team = fleet.team(self.app.team);
        let quotas = explained.quotas.iter().map(|of| {
            let span = team.quota.get(of.quota).map_or(team.name_span, |quota| quota.span);
            why_cluster::quota(team, of, written(team.file, span))
        });
        let placed = placed(self.compiled, self.id);
        let here = placed.counts.iter().filter_map(|(key, counts)| Some(((*key).clone(), counts.get(&name)?.replicas)));
        let of_workload = |(index, workload): (usize, &Workload)| {
            let booked = booked(self.compiled, self.id, index).get(&id).copied();
            booked.map(|booked| (workload.key.clone(), booked))
        };
        let target = self.compiled.target.apps.get(self.id.index());
        let verdict = target.and_then(|target| target.verdicts.iter().find(|(_, set)| set.contains(id)));
        let verdict = verdict.map(|(verdict, _)| verdict);
        let mut reasons: Vec<&Verdict> = verdict.into_iter().collect();
        reasons.extend(explained.vetoes.iter().filter(|veto| Some(*veto) != verdict));
        let over_quota = target.into_iter().flat_map(|target| &target.deficits);
        let over_quota = over_quota.clone().any(|deficit| matches!(deficit, Deficit::Quota { .. }));
        if over_quota && verdict.is_some_and(|verdict| *verdict != Verdict::Quota) {
            reasons.push(&Verdict::Quota);
        }
        let remedies =
            Remedies { compiled: self.compiled, id: self.id, app: self.app, at: id, explained: &explained, written };
        let mut changes: Vec<ChangeReport> = Vec::new();
        let helps = |verdict: &&Verdict| {
            let changes = remedies.changes(verdict);
            let in_general = || vec![ChangeReport { change: remedy(verdict), written: None }];
            if changes.is_empty() { in_general() } else { changes }
        };
        for change in reasons.iter().flat_map(helps) {
            if !changes.contains(&change) {
                changes.push(change);
            }
        }
        let rooms = explained.workloads.iter().filter(|there| !there.pools.is_empty());
        ClusterWhy {
            used: placed.clusters.contains(&name),
            workloads: here.collect(),
            booked: self.app.workloads.iter().enumerate().filter_map(of_workload).collect(),
            verdict: verdict.map(|verdict| self.verdict(verdict, std::iter::once(id))),
            reasons: reasons.iter().map(|verdict| verdict_text(verdict)).collect(),
            changes,
            room: rooms.map(|there| why_cluster::room(self.app, there)).collect(),
            shares: explained.workloads.iter().filter_map(|there| why_cluster::share(self.app, id, there)).collect(),
            quotas: quotas.collect(),
            cluster: name,
            written: written(file, span),
        }
    }
}
