//! Two apps that produce one object in one cluster would overwrite each other for ever.
//!
//! Checked on the clusters an app may ever be placed on, not on today's placement: a failover must not be what finds out.

use std::collections::BTreeMap;

use crate::base::AppId;
use crate::diag::{Diagnostic, Diagnostics, Place, and_more, codes};
use crate::model::{ClusterSet, Fleet, Object};

/// Objects that two apps both produce: the first of each app, how many more, and the clusters.
struct Contest<'f> {
    theirs: &'f Object,
    ours: &'f Object,
    count: usize,
    clusters: ClusterSet,
}

/// Reports apps that produce the same objects in the same clusters: each object of an app against the first app, by name,
/// that also produces it there, and each such pair of apps once. Of a third app that produces it too, the pair with the
/// first is said, not the one with the second: the number of messages grows with the apps, not with their pairs.
pub(super) fn check(fleet: &Fleet, diagnostics: &mut Diagnostics) {
    type Identity<'a> = (&'a str, &'a str, &'a str, &'a str);
    let mut seen: BTreeMap<Identity<'_>, Vec<(AppId, &Object, ClusterSet)>> = BTreeMap::new();
    let mut contests: BTreeMap<(AppId, AppId), Contest<'_>> = BTreeMap::new();
    for id in fleet.app_ids() {
        let app = fleet.app(id);
        for object in &app.objects {
            let clusters = match &object.only {
                Some(only) => app.placement.candidates.and(only),
                None => app.placement.candidates.clone(),
            };
            let others = seen.entry(object.key.identity()).or_default();
            let contested = others.iter().map(|(other, first, theirs)| (other, first, clusters.and(theirs)));
            if let Some((other, first, both)) = contested.into_iter().find(|(_, _, both)| !both.is_empty()) {
                let contest = contests.entry((*other, id)).or_insert_with(|| Contest {
                    theirs: first,
                    ours: object,
                    count: 0,
                    clusters: ClusterSet::empty(),
                });
                contest.count += 1;
                contest.clusters = contest.clusters.or(&both);
            }
            others.push((id, object, clusters));
        }
    }
    diagnostics.extend(contests.into_iter().map(|((first, second), contest)| contest.diagnostic(fleet, first, second)));
}

impl Contest<'_> {
    fn diagnostic(&self, fleet: &Fleet, first: AppId, second: AppId) -> Diagnostic {
        let place = |object: &Object| Place::Span(object.file, object.facts.name_span);
        // two apps that share a file: the file is right, one of the apps is not
        let app = fleet.app(second);
        let shared = place(self.ours) == place(self.theirs);
        let at = if shared { Place::Span(app.file, app.name_span) } else { place(self.ours) };
        let clusters = self.clusters.iter().next().map(|c| fleet.cluster(c).name.as_str()).unwrap_or_default();
        let message = format!(
            "App `{}` produces {}{}, as does App `{}`, in cluster `{clusters}`{}",
            fleet.app_name(second),
            self.ours.key,
            and_more(self.count),
            fleet.app_name(first),
            and_more(self.clusters.len()),
        );
        Diagnostic::new(codes::manifests::CONTESTED_OBJECT, at, message)
            .related(place(self.theirs), if shared { "the object" } else { "the other one" })
            .help("give each app a namespace of its own, or clusters that do not overlap")
    }
}
