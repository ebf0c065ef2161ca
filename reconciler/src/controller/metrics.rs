//! What monitoring asks for, as OpenMetrics text. Gauges are taken from the status when they are asked for; counters and
//! histograms grow with every tick and turn.

use std::sync::{Mutex, PoisonError};

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::status::Status;
use crate::commit::Cause;

/// Seconds until a live commit is applied everywhere: from one look to the longest rollout that anybody watches.
const APPLIED_BUCKETS: [f64; 12] = [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0];
/// Seconds of a tick.
const TICK_BUCKETS: [f64; 10] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfCluster {
    cluster: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfHealth {
    cluster: String,
    health: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfCause {
    cause: CauseLabel,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
struct CauseLabel(Cause);

impl EncodeLabelValue for CauseLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&self.0.as_str(), encoder)
    }
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfResult {
    result: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfUrgency {
    urgency: String,
}

/// The metrics of a process.
#[derive(Debug)]
pub struct Metrics {
    registry: Mutex<Registry>,
    ticks: Family<OfResult, Counter>,
    tick_secs: Histogram,
    commits: Family<OfCause, Counter>,
    writes: Family<OfCluster, Counter>,
    deletions: Family<OfCluster, Counter>,
    applied_secs: Histogram,
    up: Family<OfCluster, Gauge>,
    apps: Family<OfHealth, Gauge>,
    held: Family<OfCluster, Gauge>,
    reports: Family<OfUrgency, Gauge>,
    fetched: Gauge,
    leading: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("fleetwright");
        let metrics = Self {
            registry: Mutex::new(Registry::default()),
            ticks: Family::default(),
            tick_secs: Histogram::new(TICK_BUCKETS),
            commits: Family::default(),
            writes: Family::default(),
            deletions: Family::default(),
            applied_secs: Histogram::new(APPLIED_BUCKETS),
            up: Family::default(),
            apps: Family::default(),
            held: Family::default(),
            reports: Family::default(),
            fetched: Gauge::default(),
            leading: Gauge::default(),
        };
        registry.register("ticks", "Ticks, by how they ended", metrics.ticks.clone());
        registry.register("tick_seconds", "How long ticks take", metrics.tick_secs.clone());
        registry.register("live_commits", "Commits pushed to the live branch, by cause", metrics.commits.clone());
        registry.register("writes", "Objects applied", metrics.writes.clone());
        registry.register("deletions", "Objects deleted", metrics.deletions.clone());
        registry.register(
            "live_to_applied_seconds",
            "From when a live commit was seen until every cluster that answers applied it",
            metrics.applied_secs.clone(),
        );
        registry.register("cluster_up", "1 where the API server answers", metrics.up.clone());
        registry.register("apps", "Apps in a cluster, by health", metrics.apps.clone());
        registry.register("held_objects", "Objects that are not written or deleted for now", metrics.held.clone());
        registry.register("reports", "What people should know, by urgency", metrics.reports.clone());
        registry.register("fetched_timestamp_seconds", "When the repository was fetched last", metrics.fetched.clone());
        registry.register("leading", "1 while this process holds the Lease, or needs none", metrics.leading.clone());
        Self { registry: Mutex::new(registry), ..metrics }
    }
}

impl Metrics {
    /// A tick ended.
    pub fn ticked(&self, result: &'static str, secs: f64) {
        self.ticks.get_or_create(&OfResult { result }).inc();
        self.tick_secs.observe(secs);
    }

    /// A commit was pushed.
    pub fn committed(&self, cause: Cause) {
        self.commits.get_or_create(&OfCause { cause: CauseLabel(cause) }).inc();
    }

    /// A turn of a cluster ended.
    pub fn turned(&self, cluster: &str, applied: u64, deleted: u64) {
        let of = OfCluster { cluster: cluster.to_owned() };
        self.writes.get_or_create(&of).inc_by(applied);
        self.deletions.get_or_create(&of).inc_by(deleted);
    }

    /// A live commit is applied in every cluster that answers.
    pub fn applied_everywhere(&self, secs: f64) {
        self.applied_secs.observe(secs);
    }

    /// The repository was fetched.
    pub fn fetched(&self, now_secs: i64) {
        self.fetched.set(now_secs);
    }

    /// Whether this process is the one that works.
    pub fn leads(&self, leads: bool) {
        self.leading.set(i64::from(leads));
    }

    /// As text.
    #[must_use]
    pub fn text(&self, status: &Status) -> String {
        self.up.clear();
        self.apps.clear();
        self.held.clear();
        self.reports.clear();
        for cluster in &status.clusters {
            let of = OfCluster { cluster: cluster.name.to_string() };
            self.up.get_or_create(&of).set(i64::from(cluster.answers == "Yes"));
            self.held.get_or_create(&of).set(i64::try_from(cluster.held).unwrap_or(i64::MAX));
        }
        for placement in status.apps.iter().flat_map(|app| &app.clusters) {
            let of = OfHealth { cluster: placement.cluster.to_string(), health: placement.health.to_string() };
            self.apps.get_or_create(&of).inc();
        }
        for report in &status.reports {
            self.reports.get_or_create(&OfUrgency { urgency: report.urgency.to_string() }).inc();
        }
        let mut text = String::new();
        let registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        // Writing into a String does not fail.
        let _ = encode(&mut text, &registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::status::ClusterStatus;

    #[test]
    fn counters_stay_and_gauges_follow_the_status() {
        let metrics = Metrics::default();
        metrics.ticked("ok", 0.2);
        metrics.committed(Cause::Failover);
        metrics.turned("eu-1", 3, 1);
        metrics.turned("eu-1", 2, 0);
        let cluster = ClusterStatus {
            name: "eu-1".into(),
            state: "Ready".into(),
            answers: "Yes".into(),
            since: None,
            error: None,
            applied: None,
            apps: 1,
            current: 1,
            held: 4,
        };
        let text = metrics.text(&Status { clusters: vec![cluster], ..Status::default() });
        for line in [
            "fleetwright_ticks_total{result=\"ok\"} 1",
            "fleetwright_tick_seconds_bucket{le=\"0.3\"} 1",
            "fleetwright_live_commits_total{cause=\"Failover\"} 1",
            "fleetwright_writes_total{cluster=\"eu-1\"} 5",
            "fleetwright_deletions_total{cluster=\"eu-1\"} 1",
            "fleetwright_cluster_up{cluster=\"eu-1\"} 1",
            "fleetwright_held_objects{cluster=\"eu-1\"} 4",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        // a cluster that left the fleet leaves the gauges
        let text = metrics.text(&Status::default());
        assert!(!text.contains("cluster_up{") && text.contains("writes_total{cluster=\"eu-1\"} 5"), "{text}");
    }
}
