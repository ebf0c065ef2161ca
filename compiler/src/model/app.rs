//! An app, its objects and its workloads.

use std::sync::Arc;

use super::{ClusterSet, OverrideRule, Placement, Replicas, WorkloadKind};
use crate::base::labels::Labels;
use crate::base::{FileId, SmolStr, Span, Spanned, TeamId};
use crate::parse::{Facts, ObjKey, Template};

/// An app, with its objects.
#[derive(Clone, Debug)]
pub struct App {
    /// Its team.
    pub team: TeamId,
    /// Its name.
    pub name: SmolStr,
    /// Its file.
    pub file: FileId,
    /// Where its name is written.
    pub name_span: Span,
    /// Set on its objects of namespaced kinds that name none.
    pub namespace: Option<Spanned<SmolStr>>,
    /// Its labels.
    pub labels: Labels,
    /// Its priority: higher is placed first.
    pub priority: i32,
    /// Where it runs.
    pub placement: Placement,
    /// Its objects, ascending by key.
    pub objects: Vec<Object>,
    /// Its workloads, ascending by (kind, name, namespace).
    pub workloads: Vec<Workload>,
    /// Its images, then the overrides of the fleet, the team and the app, then enforced ones: the order of application.
    pub overrides: Vec<Arc<OverrideRule>>,
}

/// An object of an app.
#[derive(Clone, Debug)]
pub struct Object {
    /// Group, version, kind, namespace (resolved), name.
    pub key: ObjKey,
    /// Whether its kind lies in namespaces.
    pub namespaced: bool,
    /// Where it is written.
    pub file: FileId,
    /// The document in that file.
    pub doc: u16,
    /// Where the object lies in its document, for items of a List.
    pub item: Option<u32>,
    /// What was read of it without keeping its tree.
    pub facts: Facts,
    /// Its text.
    pub template: Arc<Template>,
    /// Only on these of the app's clusters, where a rule says so.
    pub only: Option<ClusterSet>,
}

/// How a workload takes part in division.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Share {
    /// Its replicas are divided by the strategy.
    Divided,
    /// It runs as a whole in one of the selected clusters.
    Whole,
    /// It runs as it is in every selected cluster (DaemonSets; everything under Duplicated).
    Everywhere,
}

/// A workload of an app.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Which of the app's objects it is.
    pub object: usize,
    /// Its kind.
    pub kind: WorkloadKind,
    /// `apps/Deployment/checkout`, with the namespace before the name where it is not the app's.
    pub key: SmolStr,
    /// How it takes part in division.
    pub share: Share,
    /// Replicas to place: of the manifest, or `total`. For a Job min(parallelism, completions).
    pub replicas: u32,
    /// A Job's completions, divided by the same shares.
    pub completions: Option<u32>,
    /// How its replicas are divided.
    pub policy: Replicas,
}
