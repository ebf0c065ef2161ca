//! The objects of a variant after all rules: what they count under quotas, and what is wrong only then.

use std::sync::Arc;

use super::apply::Build;
use super::issues::Issue;
use super::{ordinals, pods};
use crate::base::{Path, Resources, SmolStr};
use crate::diag::{Place, codes};
use crate::kinds::counted;
use crate::model::Object;
use crate::parse::Template;

impl Build<'_> {
    /// What objects count beside themselves, if their team has a quota of it.
    pub(super) fn counted(&self, objects: &[Arc<Template>]) -> Vec<(usize, Resources)> {
        let quotas = &self.fleet.team(self.app.team).quota;
        if !quotas.iter().flat_map(|quota| quota.hard.keys()).any(|name| counted::is_counted(name)) {
            return Vec::new();
        }
        let of = |(index, (object, now)): (usize, (&Object, &Arc<Template>))| {
            let counts = counted::of_object(&object.key.group, &object.key.kind, &now.value());
            (!counts.is_empty()).then_some((index, counts))
        };
        self.app.objects.iter().zip(objects).enumerate().filter_map(of).collect()
    }

    /// Amounts and first numbers of pods that Kubernetes refuses: they would count as nothing.
    pub(super) fn wrong_fields(&self, objects: &[Arc<Template>], issues: &mut Vec<Issue>) {
        for (index, (object, now)) in self.app.objects.iter().zip(objects).enumerate() {
            let (group, kind) = (object.key.group.as_str(), object.key.kind.as_str());
            if !counted::states_amounts(group, kind) {
                continue;
            }
            let now = now.value();
            let starts = ordinals::wrong_start(kind, &now).into_iter();
            let starts = starts.map(|(pointer, wrong)| (Path::parse(&pointer).unwrap_or_default(), wrong));
            for (path, wrong) in counted::wrong_amounts(group, kind, &now).into_iter().chain(starts) {
                issues.push(pods::of_field(codes::manifests::WRONG_NATIVE_TYPE, path, &wrong, (object, index)));
            }
        }
    }

    /// Parts of sets that no manifest has: nothing would count their pods.
    pub(super) fn added_parts(&self, objects: &[Arc<Template>], issues: &mut Vec<Issue>) {
        let sets = self.app.workloads.chunk_by(|a, b| a.object == b.object);
        for (parts, first) in sets.filter_map(|parts| Some((parts, parts.first().filter(|w| w.part.is_some())?))) {
            let (object, now) = (&self.app.objects[first.object], &objects[first.object]);
            let Some(custom) = object.custom.as_ref().filter(|_| *now != self.base[first.object]) else { continue };
            let known = |name: &SmolStr| parts.iter().any(|workload| workload.part.as_ref() == Some(name));
            for part in custom.components(&now.value()).into_iter().filter(|part| !known(&part.name)) {
                issues.push(Issue {
                    code: codes::overrides::PART_ADDED,
                    place: Place::Span(object.file, object.facts.name_span),
                    text: format!("an override adds part `{}`, which the manifest does not have", part.name),
                    help: Some(
                        "write it into the manifest, with no pods where it is not wanted; overrides then state how many"
                            .to_owned(),
                    ),
                    object: first.object,
                });
            }
        }
    }
}
