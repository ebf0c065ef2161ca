//! What is wrong with variants, gathered so that one cause is said once: not for each object it hits, nor for each cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{AppId, ClusterId, FileId, SmolStr, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, Place, and_more, codes};
use crate::model::{ClusterSet, Fleet};
use crate::overrides::{OpError, TemplateError};

/// One mistake in one variant of one object.
#[derive(Clone, Debug)]
pub(super) struct Issue {
    pub(super) code: Code,
    pub(super) place: Place,
    /// What is wrong, without the object and the cluster: equal texts are one cause.
    pub(super) text: String,
    pub(super) help: Option<String>,
    /// Which of the app's objects.
    pub(super) object: usize,
}

impl Issue {
    /// What an operation or a substitution could not do; `None` where that follows from what was said elsewhere. For a
    /// Secret no name of a variable is shown: a password may hold `${`.
    pub(super) fn of_error(
        fleet: &Fleet,
        place: Place,
        error: &OpError,
        (object, secret): (usize, bool),
    ) -> Option<Self> {
        let code = match error {
            OpError::NoSuchPath(_) => codes::overrides::NO_SUCH_PATH,
            OpError::Identity { .. } => codes::overrides::IDENTITY_CHANGED,
            OpError::Shape { .. } => codes::overrides::OVERRIDE_TYPE,
            OpError::Label(_) => codes::fields::INVALID_LABEL,
            OpError::Template { .. } => codes::overrides::UNKNOWN_VARIABLE,
            _ => codes::overrides::OVERRIDE_FAILED,
        };
        // which variables there are differs between clusters
        if let OpError::Template { at, error: TemplateError::Unknown { name, nearest, known } } = error {
            if name.starts_with("fleet.") && fleet.settings.file.is_none() {
                return None;
            }
            if secret {
                let place_in = if at.is_root() { String::new() } else { format!(" in `{}`", at.dotted()) };
                let text = format!("unknown variable{place_in}; its name is not shown, since this is for a Secret");
                let help = "compare it with `cluster.*` and `fleet.values.*`; a literal `${` is written `$${`";
                return Some(Self { code, place, text, help: Some(help.to_owned()), object });
            }
            let help = match nearest {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", known.iter().map(SmolStr::as_str).collect::<Vec<_>>().join(", ")),
            };
            return Some(Self { code, place, text: format!("unknown variable `{name}`"), help: Some(help), object });
        }
        Some(Self { code, place, text: error.to_string(), help: None, object })
    }
}

/// An image that a rule names, and whether the objects of an app have it.
#[derive(Clone, Debug)]
pub(super) struct ImageUse {
    pub(super) file: FileId,
    pub(super) span: Span,
    pub(super) name: SmolStr,
    pub(super) matched: bool,
}

/// What was found in one app: each issue with the clusters it is in.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) issues: Vec<(Issue, ClusterSet)>,
    pub(super) images: Vec<ImageUse>,
}

/// All that was found, by cause.
#[derive(Default)]
pub(super) struct Gathered {
    causes: BTreeMap<(Place, Code, String), Cases>,
    images: BTreeMap<(FileId, Span), (SmolStr, bool)>,
}

struct Cases {
    help: Option<String>,
    objects: BTreeSet<(AppId, usize)>,
    clusters: ClusterSet,
    /// Whether some cluster of an app is free of it.
    partial: bool,
}

impl Gathered {
    /// Adds what was found in one app.
    pub(super) fn add(&mut self, fleet: &Fleet, app: AppId, found: Found) {
        let candidates = &fleet.app(app).placement.candidates;
        // all clusters in which an object has the issue, before it is compared with where the app may run
        type Cause = (Place, Code, String, usize);
        let mut by_object: BTreeMap<Cause, (Option<String>, ClusterSet)> = BTreeMap::new();
        for (issue, clusters) in found.issues {
            let key = (issue.place, issue.code, issue.text, issue.object);
            let entry = by_object.entry(key).or_insert_with(|| (issue.help, ClusterSet::empty()));
            entry.1 = entry.1.or(&clusters);
        }
        for ((place, code, text, object), (help, clusters)) in by_object {
            let cases = self.causes.entry((place, code, text)).or_insert_with(|| Cases {
                help,
                objects: BTreeSet::new(),
                clusters: ClusterSet::empty(),
                partial: false,
            });
            cases.partial |= clusters != *candidates;
            cases.clusters = cases.clusters.or(&clusters);
            cases.objects.insert((app, object));
        }
        for image in found.images {
            let entry = self.images.entry((image.file, image.span)).or_insert((image.name, false));
            entry.1 |= image.matched;
        }
    }

    /// Reports every cause once.
    pub(super) fn report(self, fleet: &Fleet, diagnostics: &mut Diagnostics) {
        // an image may be in a manifest that could not be read
        let complete = !diagnostics.has_errors();
        for ((place, code, text), cases) in self.causes {
            let Some((app, object)) = cases.objects.first().copied() else { continue };
            let object = &fleet.app(app).objects[object];
            let more = and_more(cases.objects.len());
            let clusters: Vec<ClusterId> = cases.clusters.iter().collect();
            let clusters = match clusters.first().filter(|_| cases.partial) {
                Some(first) => format!(" (in cluster `{}`{})", fleet.cluster(*first).name, and_more(clusters.len())),
                None => String::new(),
            };
            let mut diagnostic = Diagnostic::new(code, place, format!("{}{more}: {text}{clusters}", object.key));
            diagnostic.help = cases.help;
            let at = Place::Span(object.file, object.facts.name_span);
            let own = matches!(&diagnostic.place, Place::Object(origin) if origin.file == object.file);
            diagnostics.push(if own || diagnostic.place == at {
                diagnostic
            } else {
                diagnostic.related(at, "the object it is for")
            });
        }
        for ((file, span), (name, _)) in self.images.into_iter().filter(|(_, (_, matched))| complete && !matched) {
            diagnostics.push(Diagnostic::new(
                codes::overrides::IMAGE_MATCHES_NOTHING,
                Place::Span(file, span),
                format!("no container that this is for has image `{name}`"),
            ));
        }
    }
}
