//! Two apps that produce one object in one cluster would overwrite each other for ever.
//!
//! Checked on the clusters an app may ever be placed on, not on today's placement: a failover must not be what finds out.

use std::collections::BTreeMap;

use crate::base::AppId;
use crate::diag::{Diagnostic, Diagnostics, Place, codes};
use crate::model::{ClusterSet, Fleet, Object};

/// Reports every object that an earlier app already produces in one of the same clusters.
pub(super) fn check(fleet: &Fleet, diagnostics: &mut Diagnostics) {
    type Identity<'a> = (&'a str, &'a str, &'a str, &'a str);
    let mut seen: BTreeMap<Identity<'_>, Vec<(AppId, &Object, ClusterSet)>> = BTreeMap::new();
    for id in fleet.app_ids() {
        let app = fleet.app(id);
        for object in &app.objects {
            let clusters = match &object.only {
                Some(only) => app.placement.candidates.and(only),
                None => app.placement.candidates.clone(),
            };
            let others = seen.entry(object.key.identity()).or_default();
            for (other, first, theirs) in others.iter() {
                let both = clusters.and(theirs);
                let Some(cluster) = both.iter().next() else { continue };
                let more = both.len() - 1;
                let clusters = match more {
                    0 => format!("cluster `{}`", fleet.cluster(cluster).name),
                    _ => format!("cluster `{}` and {more} more", fleet.cluster(cluster).name),
                };
                diagnostics.push(
                    Diagnostic::new(
                        codes::manifests::CONTESTED_OBJECT,
                        Place::Span(object.file, object.facts.name_span),
                        format!(
                            "{} is produced by App `{}` and by App `{}`, in {clusters}",
                            object.key,
                            fleet.app_name(*other),
                            fleet.app_name(id)
                        ),
                    )
                    .related(Place::Span(first.file, first.facts.name_span), "the other one")
                    .help("give each app its own name or namespace for it, or clusters that do not overlap"),
                );
                break;
            }
            others.push((id, object, clusters));
        }
    }
}
