//! Fields of `placement` that never take effect.

use std::collections::{BTreeMap, BTreeSet};

use super::Lowering;
use super::placement::LayerSpec;
use crate::base::{FileId, Span};
use crate::diag::{Place, codes, listed};
use crate::model::LayerKind;

/// Which fields of policies and teams ever take effect.
#[derive(Default)]
pub(super) struct Shadows(BTreeMap<(FileId, Span), Shadow>);

struct Shadow {
    field: &'static str,
    owner: String,
    has_effect: bool,
    instead: BTreeSet<String>,
}

impl Shadows {
    /// Notes that a layer states a field for an app; `winner` is the more specific layer that states it as well.
    pub(super) fn note(
        &mut self,
        layer: &LayerSpec<'_>,
        field: &'static str,
        span: Span,
        winner: Option<&LayerSpec<'_>>,
    ) {
        // an App's own always counts; the Fleet's are defaults, which are there to be replaced
        let owner = match layer.kind {
            LayerKind::App | LayerKind::Fleet => return,
            LayerKind::Policy => format!("PlacementPolicy `{}`", layer.name),
            LayerKind::Team => format!("Team `{}`", layer.name),
        };
        let fresh = || Shadow { field, owner, has_effect: false, instead: BTreeSet::new() };
        let entry = self.0.entry((layer.file, span)).or_insert_with(fresh);
        match winner {
            None => entry.has_effect = true,
            Some(winner) => {
                let kind = match winner.kind {
                    LayerKind::App => "App",
                    LayerKind::Policy => "PlacementPolicy",
                    LayerKind::Team => "Team",
                    LayerKind::Fleet => "Fleet",
                };
                entry.instead.insert(format!("{kind} `{}`", winner.name));
            }
        }
    }

    /// Reports fields that a more specific layer replaces for every app.
    pub(super) fn report(self, cx: &mut Lowering<'_>) {
        for ((file, span), shadow) in self.0.into_iter().filter(|(_, shadow)| !shadow.has_effect) {
            let instead: Vec<String> = shadow.instead.into_iter().collect();
            let message = format!(
                "`{}` of {} has no effect: for every app it is for, {} counts instead",
                shadow.field,
                shadow.owner,
                listed(&instead, instead.len())
            );
            cx.error(codes::placement::SHADOWED, Place::Span(file, span), message);
        }
    }
}
