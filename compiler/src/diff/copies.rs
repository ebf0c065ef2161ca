//! What is copied to every selected cluster and does not fit: which clusters lack how much of what.
//!
//! Figures of whole clusters, from the same ledgers as everything else; where the sum would do and the pieces do not, that is
//! said instead.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::Compiled;
use crate::base::quantity::amount_at_least;
use crate::base::{AppId, ClusterId, SmolStr};
use crate::model::{Fleet, Share};
use crate::placements::Record;
use crate::schedule::{Headroom, Target, Verdict, headroom};
use crate::variants::Variants;

/// Clusters that are named one by one.
pub(super) const NAMED: usize = 3;

/// A target and what it was made from: what shortfalls are told from.
#[derive(Debug)]
pub struct Ground<'a> {
    fleet: &'a Fleet,
    variants: &'a Variants,
    record: &'a Record,
    target: &'a Target,
    /// What clusters have left, once something asks.
    left: OnceCell<Vec<Option<Vec<Headroom>>>>,
}

/// A cluster with fewer copies than it shall have.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShortCopy {
    /// Its name.
    pub cluster: SmolStr,
    /// Replicas it has.
    pub replicas: u32,
    /// What it lacks for the rest, by resource, rounded up; empty where its capacity is not known, or there is enough in all
    /// and in no piece that is large enough.
    pub lacks: BTreeMap<SmolStr, String>,
}

impl<'a> Ground<'a> {
    /// A target, and the fleet, objects and record it was made from.
    #[must_use]
    pub fn new(fleet: &'a Fleet, variants: &'a Variants, record: &'a Record, target: &'a Target) -> Self {
        Self { fleet, variants, record, target, left: OnceCell::new() }
    }

    /// That of a compile.
    #[must_use]
    pub fn of(compiled: &'a Compiled) -> Self {
        Self::new(&compiled.fleet, &compiled.variants, &compiled.record, &compiled.target)
    }

    /// The fleet.
    #[must_use]
    pub fn fleet(&self) -> &'a Fleet {
        self.fleet
    }

    fn left(&self, cluster: ClusterId) -> Option<&[Headroom]> {
        let left = self.left.get_or_init(|| headroom(self.fleet, self.variants, self.record, self.target));
        left.get(cluster.index())?.as_deref()
    }

    /// The clusters that lack copies of a workload, by name; none of what is not copied.
    #[must_use]
    pub fn short_copies(&self, id: AppId, number: u16) -> Vec<ShortCopy> {
        let workload = self.fleet.app(id).workloads.get(usize::from(number));
        let (Some(workload), Some(target)) = (workload, self.target.apps.get(id.index())) else { return Vec::new() };
        if workload.share != Share::Everywhere {
            return Vec::new();
        }
        let mut has: BTreeMap<ClusterId, u32> = BTreeMap::new();
        for seat in target.seats.iter().filter(|seat| seat.workload == number) {
            let sum = has.entry(seat.cluster).or_default();
            *sum = sum.saturating_add(seat.replicas);
        }
        for (verdict, clusters) in &target.verdicts {
            if matches!(verdict, Verdict::NoRoom { .. } | Verdict::NoRoomForSet { .. }) {
                clusters.iter().for_each(|cluster| {
                    has.entry(cluster).or_default();
                });
            }
        }
        has.retain(|_, replicas| *replicas < workload.replicas);
        let short = |(cluster, replicas): (ClusterId, u32)| ShortCopy {
            cluster: self.fleet.cluster(cluster).name.clone(),
            replicas,
            lacks: self.lacks(id, number, cluster, workload.replicas.saturating_sub(replicas)),
        };
        has.into_iter().map(short).collect()
    }

    /// What a cluster lacks for so many more replicas.
    fn lacks(&self, id: AppId, number: u16, cluster: ClusterId, more: u32) -> BTreeMap<SmolStr, String> {
        let variant = self.variants.apps.get(id.index()).map(|variants| variants.of(cluster));
        let pod = variant.and_then(|variant| variant.workloads.get(usize::from(number))?.pod.as_ref());
        let (Some(pod), Some(left)) = (pod, self.left(cluster)) else { return BTreeMap::new() };
        let pods = SmolStr::new_static("pods");
        let asked = pod.requests.iter().filter(|(name, _)| **name != pods).chain([(&pods, 1)]);
        let lack = |(resource, each): (&SmolStr, i128)| {
            let free = left.iter().find(|left| left.resource == *resource).map_or(0, |left| left.free);
            let lack = each.saturating_mul(i128::from(more)).saturating_sub(free);
            (each > 0 && lack > 0).then(|| (resource.clone(), amount_at_least(resource, lack)))
        };
        asked.filter_map(lack).collect()
    }
}

/// Clusters that lack the same are told together.
pub(super) fn copies_text(f: &mut fmt::Formatter<'_>, copies: &[ShortCopy]) -> fmt::Result {
    let mut groups: Vec<(&ShortCopy, Vec<&str>)> = Vec::new();
    for copy in copies {
        let same = |(of, _): &&mut (&ShortCopy, Vec<&str>)| (of.replicas, &of.lacks) == (copy.replicas, &copy.lacks);
        match groups.iter_mut().find(same) {
            Some((_, names)) => names.push(&copy.cluster),
            None => groups.push((copy, vec![&copy.cluster])),
        }
    }
    for (at, (of, names)) in groups.iter().take(NAMED).enumerate() {
        f.write_str(if at == 0 { ": " } else { "; " })?;
        let (shown, rest) = names.split_at(names.len().min(NAMED));
        f.write_str(&shown.join(", "))?;
        if !rest.is_empty() {
            write!(f, " and {} more", rest.len())?;
        }
        let (have, lack) = if names.len() == 1 { ("has", "lacks") } else { ("have", "lack") };
        let each = if names.len() == 1 { "" } else { " each" };
        match of.replicas {
            0 => write!(f, " {have} none")?,
            n => write!(f, " {have} {n}{each}")?,
        }
        let amounts: Vec<String> = of.lacks.iter().map(|(resource, amount)| format!("{amount} {resource}")).collect();
        match amounts.as_slice() {
            [] => f.write_str(", and no free piece is large enough")?,
            amounts => write!(f, " and {lack} {}{each}", amounts.join(", "))?,
        }
    }
    let rest: usize = groups.iter().skip(NAMED).map(|(_, names)| names.len()).sum();
    if rest > 0 { write!(f, "; and {rest} more clusters") } else { Ok(()) }
}
