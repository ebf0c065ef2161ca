//! The objects of an app: the namespace of each, by what is known of its kind.
//!
//! A kind is namespaced or not by Kubernetes' own table, or by its CustomResourceDefinition among the manifests of any app.
//! Of another kind a manifest that states `metadata.namespace` says it itself; of what says nothing either, a team may
//! have only what its `kinds.allow` covers, because an object of the whole cluster would be no team's business.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Lowering;
use crate::base::{FileId, Path, Seg, SmolStr, Spanned};
use crate::diag::{Diagnostic, Origin, Place, and_more, codes};
use crate::kinds::custom::{self, CustomKind};
use crate::kinds::native;
use crate::kinds::replicas::{CustomForm, WorkloadKind};
use crate::model::{Object, Team};
use crate::parse::{DocBody, Facts, Manifest, ObjKey};

/// Custom kinds, by (group, kind): whether they are namespaced, and their plural.
pub(super) type Scopes = BTreeMap<(SmolStr, SmolStr), (bool, SmolStr)>;

/// The scopes that the CustomResourceDefinitions of all apps state. One in a file that no App takes counts for nothing:
/// nobody's rights were checked for it. Of two that differ the one for the whole cluster counts, which needs more rights.
pub(super) fn custom_scopes(cx: &Lowering<'_>, files_of: &[Vec<FileId>]) -> Scopes {
    let mut scopes = Scopes::new();
    for file in files_of.iter().flatten() {
        for doc in &cx.files[file.index()].ir.docs {
            let DocBody::Manifest(manifest) = &doc.body else { continue };
            if let Some(defined) = &manifest.facts.defines {
                let key = (defined.group.clone(), defined.kind.clone());
                let first = || (defined.namespaced, defined.plural.clone());
                scopes.entry(key).and_modify(|known| known.0 &= defined.namespaced).or_insert_with(first);
            }
        }
    }
    scopes
}

/// The objects of an app's files, namespaces resolved, ascending by key; doubles are reported.
pub(super) fn objects(
    cx: &mut Lowering<'_>,
    scopes: &Scopes,
    app: (FileId, &Spanned<SmolStr>),
    team: &Team,
    files: &[FileId],
    namespace: Option<&Spanned<SmolStr>>,
) -> Vec<Object> {
    let mut objects: Vec<Object> = Vec::new();
    let mut gathering = Gathering { cx, scopes, team, namespace, seen: Seen::default() };
    for file in files {
        let ir = Arc::clone(&gathering.cx.files[file.index()].ir);
        for doc in &ir.docs {
            let DocBody::Manifest(manifest) = &doc.body else { continue };
            let (key, namespaced) = gathering.resolve(*file, manifest);
            let custom = custom::find(&gathering.cx.kinds, &key.group, &key.kind).map(Arc::clone);
            let origin = Origin { file: *file, doc: doc.doc, path: item_path(doc.item) };
            let facts = match &custom {
                Some(custom) => gathering.taught(custom, manifest, origin),
                None => manifest.facts.clone(),
            };
            objects.push(Object {
                resource: resource(scopes, &key),
                key,
                namespaced,
                file: *file,
                doc: doc.doc,
                item: doc.item,
                facts,
                custom,
                template: Arc::clone(&manifest.template),
                only: None,
            });
        }
    }
    let seen = gathering.seen;
    seen.report(cx, app, team, namespace);
    objects.sort_by(|a, b| (&a.key, a.file, a.doc, a.item).cmp(&(&b.key, b.file, b.doc, b.item)));
    let mut kept: Vec<Object> = Vec::with_capacity(objects.len());
    for object in objects {
        // the version is the last part of the order, so what is one object lies together
        match kept.last().filter(|kept| kept.key.same_object(&object.key)) {
            Some(first) => {
                let diagnostic = Diagnostic::new(
                    codes::manifests::DUPLICATE_OBJECT,
                    Place::Span(object.file, object.facts.name_span),
                    // without the App: several may share the files, and it is one mistake
                    format!("{} `{}` is defined twice in one App", object.key.kind, object.key.name),
                )
                .related(Place::Span(first.file, first.facts.name_span), "first defined here")
                .help("remove or rename one of the two");
                cx.report(diagnostic);
            }
            None => kept.push(object),
        }
    }
    kept
}

/// What a quota counts an object as.
fn resource(scopes: &Scopes, key: &ObjKey) -> SmolStr {
    let native = native::lookup(&key.group, &key.version, &key.kind).map(|kind| kind.plural.clone());
    let custom = || scopes.get(&(key.group.clone(), key.kind.clone())).map(|(_, plural)| plural.clone());
    let plural = native.or_else(custom).unwrap_or_else(|| native::guessed_plural(&key.kind));
    if key.group.is_empty() { plural } else { format!("{plural}.{}", key.group).into() }
}

/// What objects say about their namespace that the App does not.
#[derive(Default)]
struct Seen {
    /// Places by another namespace than the App's.
    other: BTreeMap<SmolStr, Vec<Place>>,
    /// Objects without one, where the App states none either.
    none: Vec<(String, Place)>,
    /// Objects of kinds whose scope nobody states, by (group, kind): the first one's name and place, and how many.
    unknown: BTreeMap<(SmolStr, SmolStr), (SmolStr, Place, usize)>,
}

struct Gathering<'c, 'a, 's> {
    cx: &'c mut Lowering<'a>,
    scopes: &'s Scopes,
    team: &'s Team,
    namespace: Option<&'s Spanned<SmolStr>>,
    seen: Seen,
}

/// Where an object lies in its document.
fn item_path(item: Option<u32>) -> Path {
    item.map_or_else(Path::root, |item| Path(vec![Seg::Key("items".into()), Seg::Index(item as usize)]))
}

impl Gathering<'_, '_, '_> {
    /// The facts of an object of a custom kind, with what its WorkloadKind says of pods and counts.
    fn taught(&mut self, custom: &CustomKind, manifest: &Manifest, origin: Origin) -> Facts {
        let mut facts = manifest.facts.clone();
        let Some(form) = custom.form() else { return facts };
        let value = manifest.template.value();
        // an object without any part is no set; what it runs nobody knows
        let empty = form == CustomForm::Part && custom.components(&value).is_empty();
        facts.workload = Some(WorkloadKind::Custom(if empty { CustomForm::Single } else { form }));
        match custom.counts(&value) {
            Ok(counts) => facts.counts = counts,
            Err(bad) => {
                let message = format!("`{}` must be a whole number from 0 to 2147483647", bad.path.dotted());
                let path = Path(origin.path.0.into_iter().chain(bad.path.0).collect());
                let place = Place::Object(Origin { path, ..origin });
                self.cx.error(codes::manifests::INVALID_REPLICAS, place, message);
            }
        }
        facts
    }

    /// The key with its namespace, and whether the kind has one.
    fn resolve(&mut self, file: FileId, manifest: &Manifest) -> (ObjKey, bool) {
        let mut key = manifest.key.clone();
        let place = Place::Span(file, manifest.facts.namespace_span.unwrap_or(manifest.facts.name_span));
        let stated = match native::scope(&key.group, &key.version, &key.kind) {
            Some(scope) => Some(scope == native::Scope::Namespaced),
            None => self.scopes.get(&(key.group.clone(), key.kind.clone())).map(|(namespaced, _)| *namespaced),
        };
        if stated.is_none() && key.namespace.is_none() && !self.team.allows(&key) {
            let place = Place::Span(file, manifest.facts.kind_span);
            let first = || (key.name.clone(), place, 0);
            self.seen.unknown.entry((key.group.clone(), key.kind.clone())).or_insert_with(first).2 += 1;
            return (key, true);
        }
        // what the team may have either way is taken for namespaced, as nearly all kinds are
        let namespaced = stated.unwrap_or(true);
        match (namespaced, &key.namespace, self.namespace) {
            (false, Some(written), _) => {
                let message = format!("{} is cluster-scoped; its namespace `{written}` is dropped", key.kind);
                self.cx.error(codes::manifests::NAMESPACE_ON_CLUSTER_SCOPED, place, message);
                key.namespace = None;
            }
            (false, None, _) => {}
            (true, Some(own), Some(app)) if *own != app.value => {
                self.seen.other.entry(own.clone()).or_default().push(place);
            }
            (true, Some(_), _) => {}
            (true, None, Some(app)) => key.namespace = Some(app.value.clone()),
            (true, None, None) => self.seen.none.push((key.to_string(), place)),
        }
        (key, namespaced)
    }
}

impl Seen {
    /// Objects of other namespaces, once for the App; those of none; and kinds of unknown scope, once each.
    fn report(
        self,
        cx: &mut Lowering<'_>,
        (app_file, app): (FileId, &Spanned<SmolStr>),
        team: &Team,
        namespace: Option<&Spanned<SmolStr>>,
    ) {
        let count: usize = self.other.values().map(Vec::len).sum();
        if let (Some(namespace), Some(first)) = (namespace, self.other.values().flatten().min()) {
            let names: Vec<String> = self
                .other
                .iter()
                .map(|(name, places)| match places.len() {
                    1 => format!("`{name}`"),
                    n => format!("`{name}` ({n})"),
                })
                .collect();
            let message = format!(
                "{count} of the App's objects name another namespace than `{}`, and theirs counts: {}",
                namespace.value,
                names.join(", ")
            );
            cx.report(
                Diagnostic::new(codes::manifests::OTHER_NAMESPACE, Place::Span(app_file, namespace.span), message)
                    .related(first.clone(), "the first of them"),
            );
        }
        if let Some((first, place)) = self.none.first() {
            let message = format!(
                "App `{}` states no namespace, and neither does {first}{}",
                app.value,
                and_more(self.none.len())
            );
            cx.report(
                Diagnostic::new(codes::manifests::NO_NAMESPACE, Place::Span(app_file, app.span), message)
                    .related(place.clone(), "this object")
                    .help("state `spec.namespace` in the App, or `metadata.namespace` in the manifest"),
            );
        }
        // a file that could not be read may define them
        if cx.unread.objects() {
            return;
        }
        for ((group, kind), (name, place, count)) in self.unknown {
            let message = format!(
                "nothing says whether kind {kind} lies in namespaces, and team `{}` may have only what does (`{name}`{})",
                team.name,
                and_more(count)
            );
            cx.report(Diagnostic::new(codes::rights::UNKNOWN_SCOPE, place, message).help(format!(
                "state `metadata.namespace` in the manifest; or add its CustomResourceDefinition to an App; or let the \
                 platform allow it with `kinds.allow: [{{group: \"{group}\", kind: {kind}}}]`"
            )));
        }
    }
}
