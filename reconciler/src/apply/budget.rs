//! How much may be deleted at once, and what an approval of more is bound to.
//!
//! An approval names the hash of exactly the set of objects it lets go; another set, or the same names in a rebuilt
//! cluster, needs another one.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::base::{DigestWriter, SmolStr};
use fleetwright_compiler::model::{DeletionLimit, Limits};

use super::inventory::AppName;
use crate::cluster::Key;

/// `limits.deletions`: what is stated holds, all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Nobody stated one: at most 10 objects, or a fifth of all where that is more.
    Default,
    /// As stated.
    Stated {
        /// At most this share of the objects of the inventories, in percent; always at least one object.
        share_percent: Option<u32>,
        /// At most so many objects.
        count: Option<u32>,
    },
}

impl Budget {
    /// How many of so many objects may go.
    #[must_use]
    pub fn allows(self, of: usize) -> usize {
        let deletions = match self {
            Self::Default => None,
            Self::Stated { share_percent, count } => Some(DeletionLimit { share_percent, count }),
        };
        let allowed = Limits { deletions }.allowed_deletions(u64::try_from(of).unwrap_or(u64::MAX));
        usize::try_from(allowed).unwrap_or(usize::MAX)
    }
}

/// The hash of a set of objects of one cluster, or of several: sorted by cluster UID, group, kind, namespace, name.
#[must_use]
pub fn deletion_hash<'k>(objects: impl IntoIterator<Item = (&'k str, &'k Key)>) -> SmolStr {
    let set: BTreeSet<(&str, &Key)> = objects.into_iter().collect();
    let mut writer = DigestWriter::new();
    for (uid, key) in set {
        for part in [uid, &key.kind.group, &key.kind.kind, &key.namespace, &key.name] {
            writer.part(part.as_bytes());
        }
    }
    format!("b3:{}", writer.finish()).into()
}

/// What an approval is bound to that lets one app be lowered in one cluster.
#[must_use]
pub fn lowering_hash(cluster_uid: &str, app: &AppName) -> SmolStr {
    let mut writer = DigestWriter::new();
    for part in ["lower", cluster_uid, &app.0, &app.1] {
        writer.part(part.as_bytes());
    }
    format!("b3:{}", writer.finish()).into()
}

/// Approvals that are there: not used yet, by hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approvals {
    /// When each expires, in seconds since 1970.
    pub expires_secs: BTreeMap<SmolStr, i64>,
}

impl Approvals {
    /// Whether a hash is approved now.
    #[must_use]
    pub fn has(&self, hash: &str, now_secs: i64) -> bool {
        self.expires_secs.get(hash).is_some_and(|expires| now_secs < *expires)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets() {
        let stated = |share_percent, count| Budget::Stated { share_percent, count };
        for (budget, of, allows) in [
            (Budget::Default, 5, 10),
            (Budget::Default, 50, 10),
            (Budget::Default, 120, 24),
            (stated(Some(10), None), 120, 12),
            (stated(Some(10), None), 3, 1),
            (stated(Some(50), Some(5)), 120, 5),
            (stated(None, Some(0)), 120, 0),
            (stated(None, None), 120, usize::MAX),
        ] {
            assert_eq!(budget.allows(of), allows, "{budget:?} of {of}");
        }
    }

    #[test]
    fn the_hash_is_of_the_set_and_the_cluster() {
        let (a, b) = (Key::new("", "ConfigMap", "n", "a"), Key::new("", "ConfigMap", "n", "b"));
        let hash = |set: &[(&'static str, &Key)]| deletion_hash(set.iter().copied());
        assert_eq!(hash(&[("u", &a), ("u", &b)]), hash(&[("u", &b), ("u", &a), ("u", &a)]));
        assert_ne!(hash(&[("u", &a)]), hash(&[("u", &b)]));
        assert_ne!(hash(&[("u", &a)]), hash(&[("v", &a)]));
        assert!(hash(&[]).starts_with("b3:") && hash(&[]).len() == 67);
    }

    #[test]
    fn approvals_expire() {
        let approvals = Approvals { expires_secs: [("b3:1".into(), 100)].into() };
        assert!(approvals.has("b3:1", 99) && !approvals.has("b3:1", 100) && !approvals.has("b3:2", 0));
    }
}
