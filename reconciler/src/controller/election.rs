//! Which of several processes decides and applies: the holder of a Lease (`coordination.k8s.io/v1`) in one cluster.
//!
//! As Kubernetes' own components do it: whoever holds the Lease renews it; another takes it when it has seen no renewal for
//! the whole duration, by its own clock, so that clocks need not agree. Every write is conditioned on what was read, so two
//! cannot take it at once. It only keeps processes of one cluster apart: what guards the clusters is the decider's term.

use std::sync::Arc;

use fleetwright_compiler::base::SmolStr;
use serde_json::{Value, json};

use crate::cluster::{ClusterApi, ClusterError, Key, Write, WriteError};
use crate::instant;

/// A Lease that was not renewed for so long is free.
pub const DURATION_SECS: i64 = 30;
/// It is renewed so often.
pub const RENEW_SECS: u64 = 5;

/// One process' part in an election.
#[derive(Debug)]
pub struct Election {
    namespace: SmolStr,
    name: SmolStr,
    holder: SmolStr,
    /// The resourceVersion that was seen last, and when it was first seen.
    seen: Option<(SmolStr, i64)>,
    held_until_secs: i64,
}

/// What to do about a Lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Create,
    Renew,
    Take,
    Wait,
}

impl Election {
    /// Of a Lease, for this process.
    #[must_use]
    pub fn new(namespace: SmolStr, name: SmolStr, holder: SmolStr) -> Self {
        Self { namespace, name, holder, seen: None, held_until_secs: i64::MIN }
    }

    /// Whether this process holds the Lease at a time.
    #[must_use]
    pub fn holds(&self, now_secs: i64) -> bool {
        now_secs < self.held_until_secs
    }

    /// Until when this process holds the Lease, unless it is renewed.
    #[must_use]
    pub fn held_until_secs(&self) -> i64 {
        self.held_until_secs
    }

    /// Renews or takes the Lease, if that can be. Returns whether this process holds it.
    ///
    /// # Errors
    /// When the cluster does not answer, or does not let us. What was held is held until it ends.
    pub fn campaign(&mut self, api: &mut dyn ClusterApi, now_secs: i64) -> Result<bool, ClusterError> {
        let key = Key::new("coordination.k8s.io", "Lease", &self.namespace, &self.name);
        let found = api.get(&[key]).pop();
        let found = found.unwrap_or_else(|| Err(ClusterError::Transient("no answer".to_owned())))?;
        let write = match self.step(found.as_deref(), now_secs) {
            Step::Wait => {
                self.held_until_secs = i64::MIN;
                return Ok(false);
            }
            Step::Create => Write::Create { object: Arc::new(self.lease(None, now_secs)) },
            Step::Renew | Step::Take => Write::Replace { object: Arc::new(self.lease(found.as_deref(), now_secs)) },
        };
        match api.write(&[write]).pop() {
            Some(Ok(written)) => {
                self.seen = written.as_deref().and_then(version).map(|version| (version, now_secs));
                self.held_until_secs = now_secs.saturating_add(DURATION_SECS);
                Ok(true)
            }
            // Somebody else was faster.
            Some(Err(WriteError::Stale(_) | WriteError::Exists | WriteError::NotFound)) => {
                self.held_until_secs = i64::MIN;
                Ok(false)
            }
            Some(Err(error @ (WriteError::Denied(_) | WriteError::Invalid { .. } | WriteError::NotServed(_)))) => {
                Err(ClusterError::Denied(error.to_string()))
            }
            Some(Err(error @ (WriteError::Conflict(_) | WriteError::Transient { .. }))) => {
                Err(ClusterError::Transient(error.to_string()))
            }
            None => Err(ClusterError::Transient("no answer".to_owned())),
        }
    }

    /// Lets the Lease go, so that the next one need not wait. Nothing is lost when that fails.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub fn resign(&mut self, api: &mut dyn ClusterApi, now_secs: i64) -> Result<(), ClusterError> {
        if !self.holds(now_secs) {
            return Ok(());
        }
        self.held_until_secs = i64::MIN;
        let key = Key::new("coordination.k8s.io", "Lease", &self.namespace, &self.name);
        if let Some(Ok(Some(found))) = api.get(&[key]).pop()
            && holder(&found) == Some(self.holder.as_str())
        {
            let mut free = (*found).clone();
            free["spec"]["holderIdentity"] = Value::from("");
            // Whoever changed it meanwhile has it.
            let _ = api.write(&[Write::Replace { object: Arc::new(free) }]);
        }
        Ok(())
    }

    fn step(&mut self, lease: Option<&Value>, now_secs: i64) -> Step {
        let Some(lease) = lease else { return Step::Create };
        let version = version(lease).unwrap_or_default();
        let since_secs = match &self.seen {
            Some((known, since_secs)) if *known == version => *since_secs,
            Some(_) | None => now_secs,
        };
        self.seen = Some((version, since_secs));
        match holder(lease) {
            None | Some("") => Step::Take,
            Some(holder) if holder == self.holder => Step::Renew,
            Some(_) if now_secs.saturating_sub(since_secs) > DURATION_SECS => Step::Take,
            Some(_) => Step::Wait,
        }
    }

    fn lease(&self, found: Option<&Value>, now_secs: i64) -> Value {
        let now = micro_time(now_secs);
        let mut lease = found.cloned().unwrap_or_else(|| {
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                "metadata": {"namespace": self.namespace.as_str(), "name": self.name.as_str()},
            })
        });
        let before = lease.get("spec").cloned().unwrap_or(Value::Null);
        let is_ours = before["holderIdentity"] == self.holder.as_str();
        let changes = before["leaseTransitions"].as_u64().unwrap_or(0);
        lease["spec"] = json!({
            "holderIdentity": self.holder.as_str(),
            "leaseDurationSeconds": DURATION_SECS,
            "acquireTime": if is_ours { before["acquireTime"].clone() } else { Value::from(now.as_str()) },
            "renewTime": now.as_str(),
            "leaseTransitions": if is_ours || found.is_none() { changes } else { changes.saturating_add(1) },
        });
        lease
    }
}

fn holder(lease: &Value) -> Option<&str> {
    lease.pointer("/spec/holderIdentity").and_then(Value::as_str)
}

fn version(object: &Value) -> Option<SmolStr> {
    object.pointer("/metadata/resourceVersion").and_then(Value::as_str).map(SmolStr::from)
}

/// `MicroTime` of the Kubernetes API: six digits of a second.
fn micro_time(secs: i64) -> String {
    instant::text(secs).replace('Z', ".000000Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::SimulatedCluster;

    #[test]
    fn one_holds_it_and_another_takes_it_when_it_is_not_renewed() {
        let cluster = SimulatedCluster::new("hub");
        let mut api = cluster.api();
        let new = |holder: &str| Election::new("kube-system".into(), "controller".into(), holder.into());
        let (mut a, mut b) = (new("a"), new("b"));
        assert_eq!(a.campaign(&mut api, 0), Ok(true));
        assert_eq!(b.campaign(&mut api, 1), Ok(false));
        assert_eq!(a.campaign(&mut api, 20), Ok(true));
        // the renewal is seen at 31: the 30 s begin there
        for (now, expected) in [(31, false), (61, false), (62, true), (63, true)] {
            assert_eq!(b.campaign(&mut api, now), Ok(expected), "{now}");
        }
        assert!(!a.holds(62) && b.holds(63));
        assert_eq!(a.campaign(&mut api, 64), Ok(false));
        let lease = cluster.get(&Key::new("coordination.k8s.io", "Lease", "kube-system", "controller")).unwrap();
        assert_eq!(lease["spec"]["leaseTransitions"], 1);
        assert_eq!(lease["spec"]["renewTime"], "1970-01-01T00:01:03.000000Z");
        // who lets it go, lets the next one in at once
        assert_eq!(b.resign(&mut api, 65), Ok(()));
        assert_eq!(a.campaign(&mut api, 66), Ok(true));
    }

    #[test]
    fn what_was_held_ends_when_the_cluster_does_not_answer() {
        let cluster = SimulatedCluster::new("hub");
        let mut api = cluster.api();
        let mut a = Election::new("default".into(), "controller".into(), "a".into());
        assert_eq!(a.campaign(&mut api, 0), Ok(true));
        cluster.store().faults.down = true;
        assert!(a.campaign(&mut api, 10).is_err());
        assert!(a.holds(29) && !a.holds(30));
    }
}
