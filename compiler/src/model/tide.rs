//! Tides, resolved.

use crate::api::IntOrPercent;
use crate::base::{AppId, Digest, FileId, SmolStr, Span};
use crate::tide::Timetable;

use super::WeightRule;

/// A tide.
#[derive(Clone, Debug)]
pub struct Tide {
    /// Its name: the key in `state/tides.yaml`.
    pub name: SmolStr,
    /// Its file.
    pub file: FileId,
    /// Where its name is written.
    pub name_span: Span,
    /// When its phases begin.
    pub timetable: Timetable,
    /// Its phases, as the starts of the timetable.
    pub phases: Vec<Phase>,
    /// The apps it moves, ascending: those it selects that do not ignore it, and that no tide of higher precedence selects.
    pub apps: Vec<AppId>,
}

/// A phase of a tide.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Its name.
    pub name: SmolStr,
    /// Weights while it lasts, and the digest of a division by them; `None`: the App's own.
    pub weights: Option<(Vec<WeightRule>, Digest)>,
    /// Replicas while it lasts: a share of what the App states, or a count; `None`: what the App states.
    pub replicas: Option<IntOrPercent>,
}

impl Phase {
    /// The replicas of a workload that states so many. A share is rounded up: a phase of 1 % runs something.
    #[must_use]
    pub fn replicas_of(&self, stated: u32) -> u32 {
        match self.replicas {
            None => stated,
            Some(IntOrPercent::Int(count)) => count,
            Some(IntOrPercent::Percent(share)) => {
                let scaled = (u64::from(stated) * u64::from(share)).div_ceil(100);
                u32::try_from(scaled).unwrap_or(stated)
            }
        }
    }
}
