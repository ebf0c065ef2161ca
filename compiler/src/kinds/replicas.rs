//! Which kinds run pods, where their counts stand, and how a share of them is written.
//!
//! The next workload kind of Kubernetes is a row of the table here; ARCHITECTURE.md lists what else must decide about it. What a
//! custom kind means its WorkloadKind says; how its objects run pods is a [`CustomForm`].

use serde_json::Value;

use super::custom::CustomKind;
use crate::base::Path;

/// What is the same for every object of a kind that runs pods.
struct Row {
    /// The kind's name.
    name: &'static str,
    /// The API groups it is, or once was, served in.
    groups: &'static [&'static str],
    /// Keys from the object to its pod spec.
    pod_spec_keys: &'static [&'static str],
    /// The fields of `spec` with its counts.
    counts: CountFields,
}

/// Which fields of `spec` hold counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CountFields {
    /// None: each cluster that has the object runs what it runs.
    None,
    /// `replicas`.
    Replicas,
    /// A Job's `parallelism` and `completions`.
    Completions,
}

const POD: &[&str] = &["spec"];
const TEMPLATE: &[&str] = &["spec", "template", "spec"];
const JOB_TEMPLATE: &[&str] = &["spec", "jobTemplate", "spec", "template", "spec"];

/// Declares the kinds and their table: a kind cannot be in one and not in the other.
macro_rules! workload_kinds {
    ($($(#[doc = $doc:literal])* $kind:ident: $groups:expr, $pod_spec_keys:ident, $counts:ident;)*) => {
        /// A kind that runs pods.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum WorkloadKind {
            $($(#[doc = $doc])* $kind,)*
            /// A custom resource that a WorkloadKind teaches.
            Custom(CustomForm),
        }

        impl WorkloadKind {
            /// Every kind of Kubernetes.
            const ALL: &'static [Self] = &[$(Self::$kind),*];

            const fn row(self) -> Option<Row> {
                match self {
                    $(Self::$kind => Some(Row {
                        name: stringify!($kind),
                        groups: $groups,
                        pod_spec_keys: $pod_spec_keys,
                        counts: CountFields::$counts,
                    }),)*
                    Self::Custom(_) => None,
                }
            }
        }
    };
}

workload_kinds! {
    /// `batch/v1 CronJob`
    CronJob: &["batch"], JOB_TEMPLATE, None;
    /// `apps/v1 DaemonSet`
    DaemonSet: &["apps", "extensions"], TEMPLATE, None;
    /// `apps/v1 Deployment`
    Deployment: &["apps", "extensions"], TEMPLATE, Replicas;
    /// `batch/v1 Job`
    Job: &["batch"], TEMPLATE, Completions;
    /// `v1 Pod`
    Pod: &[""], POD, None;
    /// `apps/v1 ReplicaSet`
    ReplicaSet: &["apps", "extensions"], TEMPLATE, Replicas;
    /// `v1 ReplicationController`
    ReplicationController: &[""], TEMPLATE, Replicas;
    /// `apps/v1 StatefulSet`
    StatefulSet: &["apps"], TEMPLATE, Replicas;
}

/// How the objects of a custom kind run pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CustomForm {
    /// A count of replicas that may be divided over clusters.
    Divisible,
    /// A count of replicas that stays together.
    Undivided,
    /// Pods without a count that is known: one.
    Single,
    /// A pod on each node.
    PerNode,
    /// A part of a set: all parts of an object run in the same cluster, or none does.
    Part,
}

/// The counts a workload states, in its kind's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Counts {
    /// `spec.replicas`, or a Job's `spec.parallelism`; `None` where absent, which means 1.
    pub replicas: Option<u32>,
    /// A Job's `spec.completions`.
    pub completions: Option<u32>,
    /// A Job with `completionMode: Indexed`.
    pub indexed: bool,
}

/// A count that is no whole number from 0 to 2147483647.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadCount {
    /// Where it is.
    pub path: Path,
}

impl WorkloadKind {
    /// The kind of an object, by API group and kind.
    #[must_use]
    pub fn of(group: &str, kind: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|known| known.row().is_some_and(|Row { name, groups, .. }| name == kind && groups.contains(&group)))
    }

    /// Keys from the object to its pod spec; none for a custom kind, whose WorkloadKind says it.
    #[must_use]
    pub fn pod_spec_keys(self) -> &'static [&'static str] {
        self.row().map_or(&[], |row| row.pod_spec_keys)
    }

    /// The field of `spec` that holds the count that is divided; `None` where the kind has none, and for a custom kind.
    #[must_use]
    pub fn replicas_field(self) -> Option<&'static str> {
        match self.row()?.counts {
            CountFields::None => None,
            CountFields::Replicas => Some("replicas"),
            CountFields::Completions => Some("parallelism"),
        }
    }

    /// Whether its objects state a count of replicas.
    #[must_use]
    pub fn is_counted(self) -> bool {
        match self {
            Self::Custom(form) => matches!(form, CustomForm::Divisible | CustomForm::Undivided),
            native => native.replicas_field().is_some(),
        }
    }

    /// Whether it runs one pod on each node, outside of every count.
    #[must_use]
    pub fn is_per_node(self) -> bool {
        matches!(self, Self::DaemonSet | Self::Custom(CustomForm::PerNode))
    }

    /// Reads the counts.
    ///
    /// # Errors
    /// Where a count is no whole number from 0 to 2147483647 (`int32` in the API).
    pub fn counts(self, object: &Value) -> Result<Counts, BadCount> {
        let spec = object.get("spec");
        let read = |field: &str| match spec.and_then(|s| s.get(field)) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().filter(|n| *n <= i32::MAX as u64) {
                Some(n) => Ok(Some(n as u32)),
                None => Err(BadCount { path: Path::of_keys(["spec", field]) }),
            },
        };
        let mut counts = Counts::default();
        if let Some(field) = self.replicas_field() {
            counts.replicas = read(field)?;
        }
        if self.row().is_some_and(|row| row.counts == CountFields::Completions) {
            counts.completions = read("completions")?;
            counts.indexed = spec.and_then(|s| s.get("completionMode")).and_then(Value::as_str) == Some("Indexed");
        }
        Ok(counts)
    }

    /// Removes the replicas of an object: somebody else owns them in the cluster.
    pub fn unset_replicas(self, object: &mut Value) {
        let spec = object.get_mut("spec").and_then(Value::as_object_mut);
        if let (Some(field), Some(spec)) = (self.replicas_field(), spec) {
            spec.remove(field);
        }
    }

    /// Writes a share into an object: the replicas, and a Job's completions; `None` leaves what is there.
    /// A kind without a count stays as it is.
    pub fn set_counts(self, object: &mut Value, replicas: Option<u32>, completions: Option<u32>) {
        let (Some(field), Some(root)) = (self.replicas_field(), object.as_object_mut()) else { return };
        let spec = root.entry("spec").or_insert_with(|| Value::Object(serde_json::Map::new()));
        if let Some(spec) = spec.as_object_mut() {
            if let Some(replicas) = replicas {
                spec.insert(field.to_owned(), replicas.into());
            }
            if let Some(completions) = completions {
                spec.insert("completions".to_owned(), completions.into());
            }
        }
    }
}

/// Who knows where the counts of an object stand.
#[derive(Clone, Copy, Debug)]
pub enum Counter<'k> {
    /// A kind of Kubernetes.
    Native(WorkloadKind),
    /// A custom kind.
    Custom(&'k CustomKind),
}

impl<'k> Counter<'k> {
    /// For an object of that group and kind; `custom` is what a WorkloadKind teaches of it.
    #[must_use]
    pub fn of(group: &str, kind: &str, custom: Option<&'k CustomKind>) -> Option<Self> {
        WorkloadKind::of(group, kind).map(Self::Native).or(custom.map(Self::Custom))
    }

    /// As [`WorkloadKind::is_counted`].
    #[must_use]
    pub fn is_counted(self) -> bool {
        match self {
            Self::Native(kind) => kind.is_counted(),
            Self::Custom(kind) => kind.form().is_some_and(|form| WorkloadKind::Custom(form).is_counted()),
        }
    }

    /// Whether it has completions beside its replicas.
    #[must_use]
    pub fn completes(self) -> bool {
        matches!(self, Self::Native(WorkloadKind::Job))
    }

    /// As [`WorkloadKind::counts`].
    ///
    /// # Errors
    /// Where a count is no whole number from 0 to 2147483647.
    pub fn counts(self, object: &Value) -> Result<Counts, BadCount> {
        match self {
            Self::Native(kind) => kind.counts(object),
            Self::Custom(kind) => kind.counts(object),
        }
    }

    /// As [`WorkloadKind::set_counts`].
    pub fn set_counts(self, object: &mut Value, replicas: Option<u32>, completions: Option<u32>) {
        match (self, replicas) {
            (Self::Native(kind), _) => kind.set_counts(object, replicas, completions),
            (Self::Custom(kind), Some(replicas)) => kind.set_replicas(object, replicas),
            (Self::Custom(_), None) => {}
        }
    }

    /// As [`WorkloadKind::unset_replicas`].
    pub fn unset_replicas(self, object: &mut Value) {
        match self {
            Self::Native(kind) => kind.unset_replicas(object),
            Self::Custom(kind) => kind.unset_replicas(object),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_every_group_they_have() {
        for (group, kind, expected) in [
            ("apps", "Deployment", Some((WorkloadKind::Deployment, Some("replicas"), 3))),
            ("extensions", "DaemonSet", Some((WorkloadKind::DaemonSet, None, 3))),
            ("", "Pod", Some((WorkloadKind::Pod, None, 1))),
            ("", "ReplicationController", Some((WorkloadKind::ReplicationController, Some("replicas"), 3))),
            ("batch", "Job", Some((WorkloadKind::Job, Some("parallelism"), 3))),
            ("batch", "CronJob", Some((WorkloadKind::CronJob, None, 5))),
            ("extensions", "StatefulSet", None),
            ("", "Deployment", None),
            ("apps", "deployment", None),
        ] {
            let found = WorkloadKind::of(group, kind);
            let row = found.map(|kind| (kind, kind.replicas_field(), kind.pod_spec_keys().len()));
            assert_eq!(row, expected, "{group} {kind}");
        }
    }
}
