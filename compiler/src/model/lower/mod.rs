//! From the documents of all files to a [`Fleet`] and a [`Record`]: names resolved, layers merged, mistakes reported.
//!
//! Invariants: every struct of the API is destructured without `..`, so that a new field is a compile error until it is
//! used or refused; all mistakes of a run are reported together; a reference into files that could not be read is not
//! reported at all, because the mistake is elsewhere.
//! The next kind is lowered in a file of its own here.

mod app;
mod autoscale;
mod cluster;
mod fleet;
mod groups;
mod manifests;
mod moves;
mod objects;
mod overrides;
mod placement;
mod policy;
mod record;
mod relations;
mod replicas;
mod selector;
mod shadow;
mod team;
mod tide;
mod tiers;
mod unread;
mod workload;
mod workload_kind;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::{Intent, Object, PriorityClass};
use crate::base::name::{NameRule, check};
use crate::base::quantity::{self, Quantity};
use crate::base::{FileId, ResourceNameError, SmolStr, Spanned, check_resource_name};
use crate::diag::{Code, Diagnostic, Diagnostics, Place, codes};
use crate::model::{Cluster, CustomKind, Fleet, Settings, Team};
use crate::parse::{DocBody, FileIr};
use crate::placements::Record;
use crate::source::{FileClass, RepoPath};
use unread::Unread;
pub use workload_kind::shipped_kinds;

/// A file that was read and parsed.
#[derive(Clone, Debug)]
pub struct FileInput {
    /// Its path.
    pub path: RepoPath,
    /// What it is for.
    pub class: FileClass,
    /// What it holds.
    pub ir: Arc<FileIr>,
}

/// Lowers all files. `files` ascend by path; a [`FileId`] is an index into them. The result is whole only where
/// `diagnostics` then holds no error.
#[must_use]
pub fn lower(files: &[FileInput], diagnostics: &mut Diagnostics) -> (Fleet, Record) {
    let unread = Unread::of(files, diagnostics);
    let mut cx = Lowering {
        files,
        diagnostics,
        settings: Settings::default(),
        clusters: Vec::new(),
        teams: Vec::new(),
        classes: BTreeMap::new(),
        default_priority: policy::Priority::default(),
        unread,
        said: Said::default(),
        shadows: shadow::Shadows::default(),
        charts: manifests::charts(files),
        kinds: Vec::new(),
    };
    let docs = Docs::gather(&mut cx);
    cx.settings = fleet::settings(&mut cx, &docs);
    cx.clusters = cluster::clusters(&mut cx, &docs);
    if cx.clusters.len() > usize::from(u16::MAX) {
        cx.error(codes::layout::TOO_MANY_FILES, Place::Call, "more than 65,535 clusters");
        cx.clusters.truncate(usize::from(u16::MAX));
    }
    policy::priority_classes(&mut cx, &docs);
    cx.teams = team::teams(&mut cx, &docs);
    cx.kinds = workload_kind::kinds(&mut cx, &docs);
    let (apps, tides) = app::apps(&mut cx, &docs);
    invalid_names(&mut cx, &apps);
    let record = record::record(&mut cx, &apps);
    let fleet = Fleet { settings: cx.settings, clusters: cx.clusters, teams: cx.teams, apps, tides, kinds: cx.kinds };
    super::check::all(&fleet, diagnostics);
    (fleet, record)
}

/// Clusters and Apps whose names were refused: what the record says of a name that is not there may be meant for them.
/// After everything else, which takes their names as they are.
fn invalid_names(cx: &mut Lowering<'_>, apps: &[Arc<crate::model::App>]) {
    cx.unread.clusters |= cx.clusters.iter().any(|c| check(NameRule::Dns1123Subdomain, &c.name).is_err());
    for app in apps.iter().filter(|app| check(NameRule::Dns1123Label, &app.name).is_err()) {
        let team = Arc::clone(&cx.teams[app.team.index()]);
        cx.unread.folder(&team.name);
    }
}

/// What lowering knows so far.
pub(super) struct Lowering<'a> {
    files: &'a [FileInput],
    diagnostics: &'a mut Diagnostics,
    settings: Settings,
    clusters: Vec<Arc<Cluster>>,
    teams: Vec<Arc<Team>>,
    /// Priority by class name.
    classes: BTreeMap<SmolStr, policy::Priority>,
    default_priority: policy::Priority,
    unread: Unread,
    said: Said,
    shadows: shadow::Shadows,
    /// Folders of Helm charts, which are not read.
    charts: BTreeSet<String>,
    /// What WorkloadKinds teach, ascending by (group, kind).
    kinds: Vec<Arc<CustomKind>>,
}

/// How much was said so far, so that what follows from a mistake is not said as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Said {
    errors: usize,
    warnings: usize,
}

impl Lowering<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        let count = if diagnostic.is_error() { &mut self.said.errors } else { &mut self.said.warnings };
        *count += 1;
        self.diagnostics.push(diagnostic);
    }

    fn error(&mut self, code: Code, place: Place, message: impl Into<String>) {
        self.report(Diagnostic::new(code, place, message));
    }

    fn path(&self, file: FileId) -> &RepoPath {
        &self.files[file.index()].path
    }

    /// Checks a name against a rule, and reports where it breaks it.
    fn check_name(&mut self, file: FileId, name: &Spanned<SmolStr>, rule: NameRule, what: &str) {
        if let Err(expected) = check(rule, &name.value) {
            self.error(
                codes::fields::INVALID_NAME,
                Place::Span(file, name.span),
                format!("`{}` is not a valid {what}: {expected}", name.value),
            );
        }
    }

    /// An amount in the unit of its resource. One that Kubernetes cannot count is reported.
    fn counted(&mut self, file: FileId, resource: &str, quantity: &Spanned<Quantity>) -> i128 {
        if let Err(error) = quantity::counted(resource, &quantity.value) {
            let message = quantity::refusal(&quantity.value.canonical(), error);
            self.error(codes::fields::INVALID_VALUE, Place::Span(file, quantity.span), message);
        }
        quantity::amount(resource, &quantity.value)
    }

    /// Checks the name of a resource, which may be the end of the key it stands in, and reports a misspelt one.
    fn check_resource(&mut self, file: FileId, key: &Spanned<SmolStr>, name: &str) {
        let Err(error) = check_resource_name(name) else { return };
        let message = format!("`{}` names no resource: {error}", key.value);
        let mut diagnostic = Diagnostic::new(codes::fields::INVALID_NAME, Place::Span(file, key.span), message);
        if let ResourceNameError::Unknown { nearest: Some(near) } = error {
            let before = key.value.strip_suffix(name).unwrap_or_default();
            diagnostic = diagnostic.help(format!("did you mean `{before}{near}`?"));
        }
        self.report(diagnostic);
    }
}

/// A document and its file.
pub(super) type Doc<'a, T> = (FileId, &'a T);

/// All intents by kind, in the order of files, and everything else with its file.
#[derive(Default)]
pub(super) struct Docs<'a> {
    fleets: Vec<Doc<'a, Object<crate::api::FleetSpec>>>,
    clusters: Vec<Doc<'a, Object<crate::api::ClusterSpec>>>,
    teams: Vec<Doc<'a, Object<crate::api::TeamSpec>>>,
    apps: Vec<Doc<'a, Object<crate::api::AppSpec>>>,
    placement_policies: Vec<Doc<'a, Object<crate::api::PlacementPolicySpec>>>,
    override_policies: Vec<Doc<'a, Object<crate::api::OverridePolicySpec>>>,
    tides: Vec<Doc<'a, Object<crate::api::TideSpec>>>,
    calendars: Vec<Doc<'a, Object<crate::api::CalendarSpec>>>,
    workload_kinds: Vec<Doc<'a, Object<crate::api::WorkloadKindSpec>>>,
    priority_classes: Vec<Doc<'a, PriorityClass>>,
}

impl<'a> Docs<'a> {
    fn gather(cx: &mut Lowering<'a>) -> Self {
        let mut docs = Self::default();
        let files = cx.files;
        for (index, file) in (0_u32..).zip(files) {
            let id = FileId(index);
            if manifests::is_tool_input(&cx.charts, file) {
                let intents = file.ir.docs.iter().any(|doc| matches!(doc.body, DocBody::Intent(_)));
                cx.unread.skipped(file.path.as_str(), intents || file.ir.lost_intent);
                continue;
            }
            for finding in &file.ir.findings {
                cx.report(finding.place_in(id));
            }
            for doc in &file.ir.docs {
                let DocBody::Intent(intent) = &doc.body else { continue };
                if let Some(expected) = misplaced(intent, file) {
                    cx.unread.misplaced(intent);
                    let name = intent.name();
                    cx.report(
                        Diagnostic::new(
                            codes::layout::MISPLACED_KIND,
                            Place::Span(id, name.span),
                            format!("{} `{}` does not belong into {}", intent.kind(), name.value, file.path.as_str()),
                        )
                        .help(format!("move it to {expected}")),
                    );
                    continue;
                }
                match &**intent {
                    Intent::Fleet(o) => docs.fleets.push((id, o)),
                    Intent::Cluster(o) => docs.clusters.push((id, o)),
                    Intent::Team(o) => docs.teams.push((id, o)),
                    Intent::App(o) => docs.apps.push((id, o)),
                    Intent::PlacementPolicy(o) => docs.placement_policies.push((id, o)),
                    Intent::OverridePolicy(o) => docs.override_policies.push((id, o)),
                    Intent::Tide(o) => docs.tides.push((id, o)),
                    Intent::Calendar(o) => docs.calendars.push((id, o)),
                    Intent::WorkloadKind(o) => docs.workload_kinds.push((id, o)),
                    Intent::PriorityClass(o) => docs.priority_classes.push((id, o)),
                }
            }
        }
        docs
    }
}

/// Where a kind belongs, when it is not there.
fn misplaced(intent: &Intent, file: &FileInput) -> Option<&'static str> {
    let (fits, home) = match intent {
        Intent::Fleet(_) => (file.class == FileClass::FleetFile, "fleet.yaml"),
        Intent::Cluster(_) => (file.class == FileClass::Cluster, "clusters/"),
        Intent::Team(_) => (file.class == FileClass::Team, "teams/<name>.yaml"),
        Intent::App(_) => (file.class == FileClass::TeamFolder, "the team's folder below teams/"),
        Intent::PlacementPolicy(_) | Intent::OverridePolicy(_) | Intent::Tide(_) => {
            (matches!(file.class, FileClass::Policy | FileClass::TeamFolder), "policies/ or a team's folder")
        }
        Intent::Calendar(_) | Intent::WorkloadKind(_) | Intent::PriorityClass(_) => {
            (file.class == FileClass::Policy, "policies/")
        }
    };
    (!fits).then_some(home)
}

/// Keeps the first of each name, in name order, and reports the others.
pub(super) fn unique<'a, T>(
    cx: &mut Lowering<'_>,
    docs: &[Doc<'a, T>],
    what: &str,
    name: impl Fn(&'a T) -> &'a Spanned<SmolStr>,
) -> Vec<Doc<'a, T>> {
    let mut kept: BTreeMap<&SmolStr, Doc<'a, T>> = BTreeMap::new();
    for (file, doc) in docs {
        let this = name(doc);
        match kept.get(&this.value) {
            None => {
                kept.insert(&this.value, (*file, doc));
            }
            Some((first_file, first)) => {
                let first = (Place::Span(*first_file, name(first).span), "first defined here".to_owned());
                cx.report(
                    Diagnostic::new(
                        codes::layout::DUPLICATE_NAME,
                        Place::Span(*file, this.span),
                        format!("{what} `{}` is defined twice", this.value),
                    )
                    .related(first.0, first.1)
                    .help("rename or remove one of the two"),
                );
            }
        }
    }
    kept.into_values().collect()
}
