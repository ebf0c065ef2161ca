//! Secrets in the clear.

use crate::api::Plaintext;
use crate::diag::{Diagnostic, Diagnostics, Place, codes};
use crate::model::Fleet;
use std::collections::BTreeSet;

/// Reports every Secret that holds data, unless `secrets.plaintext: Allow`. Never a value.
pub(super) fn check(fleet: &Fleet, diagnostics: &mut Diagnostics) {
    match fleet.settings.plaintext {
        Plaintext::Allow => return,
        Plaintext::Deny => {}
    }
    let objects = fleet.apps.iter().flat_map(|a| &a.objects).filter(|o| o.facts.plaintext_secret);
    // two environments may share the file
    let places: BTreeSet<_> = objects.map(|o| (o.file, o.facts.kind_span, o.key.name.clone())).collect();
    for (file, span, name) in places {
        diagnostics.push(
            Diagnostic::new(
                codes::manifests::PLAINTEXT_SECRET,
                Place::Span(file, span),
                format!("Secret `{name}` lies in the clear in the repository"),
            )
            .help("use an external secret store, or set `secrets.plaintext: Allow` in fleet.yaml"),
        );
    }
}
