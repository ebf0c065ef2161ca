//! Which kinds run pods, where their counts stand, and how a share of them is written.
//!
//! The next workload kind is a variant of [`WorkloadKind`] and a row in each `match` here.

use serde_json::Value;

use crate::base::Path;

/// A kind that runs pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkloadKind {
    /// `batch/v1 CronJob`
    CronJob,
    /// `apps/v1 DaemonSet`
    DaemonSet,
    /// `apps/v1 Deployment`
    Deployment,
    /// `batch/v1 Job`
    Job,
    /// `v1 Pod`
    Pod,
    /// `apps/v1 ReplicaSet`
    ReplicaSet,
    /// `v1 ReplicationController`
    ReplicationController,
    /// `apps/v1 StatefulSet`
    StatefulSet,
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
        Some(match (group, kind) {
            ("batch", "CronJob") => Self::CronJob,
            ("apps" | "extensions", "DaemonSet") => Self::DaemonSet,
            ("apps" | "extensions", "Deployment") => Self::Deployment,
            ("batch", "Job") => Self::Job,
            ("", "Pod") => Self::Pod,
            ("apps" | "extensions", "ReplicaSet") => Self::ReplicaSet,
            ("", "ReplicationController") => Self::ReplicationController,
            ("apps", "StatefulSet") => Self::StatefulSet,
            _ => return None,
        })
    }

    /// Keys from the object to its pod spec.
    #[must_use]
    pub fn pod_spec_keys(self) -> &'static [&'static str] {
        match self {
            Self::Pod => &["spec"],
            Self::CronJob => &["spec", "jobTemplate", "spec", "template", "spec"],
            Self::DaemonSet
            | Self::Deployment
            | Self::Job
            | Self::ReplicaSet
            | Self::ReplicationController
            | Self::StatefulSet => &["spec", "template", "spec"],
        }
    }

    /// The field of `spec` that holds the count that is divided; `None` where the kind has none.
    #[must_use]
    pub fn replicas_field(self) -> Option<&'static str> {
        match self {
            Self::Deployment | Self::ReplicaSet | Self::ReplicationController | Self::StatefulSet => Some("replicas"),
            Self::Job => Some("parallelism"),
            Self::CronJob | Self::DaemonSet | Self::Pod => None,
        }
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
        if self == Self::Job {
            counts.completions = read("completions")?;
            counts.indexed = spec.and_then(|s| s.get("completionMode")).and_then(Value::as_str) == Some("Indexed");
        }
        Ok(counts)
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
