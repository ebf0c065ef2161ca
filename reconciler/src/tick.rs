//! The story of one tick: mirror, compile, observe, assess, decide, commit, act. None of the steps is there yet.

use crate::ports::Ports;

/// What a tick did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TickReport {
    /// Writes to Git and to clusters.
    pub writes: u32,
}

/// Runs one tick. It makes no request and no write yet, and says so in its report.
#[must_use]
pub fn tick(_ports: &mut Ports<'_>) -> TickReport {
    TickReport::default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    use fleetwright_compiler::base::SmolStr;
    use fleetwright_compiler::source::FleetFiles;

    use crate::commit::LiveCommit;
    use crate::ports::{Clock, CommitId, FleetRepo, NewCommit, Notifier, PortError, PushError};

    struct Refuses;

    impl FleetRepo for Refuses {
        fn fetch(&mut self, _: &[&str]) -> Result<BTreeMap<SmolStr, CommitId>, PortError> {
            panic!("the empty tick must not touch the repository")
        }
        fn tree(&self, _: &CommitId) -> Result<Box<dyn FleetFiles>, PortError> {
            panic!("the empty tick must not touch the repository")
        }
        fn history(&self, _: &CommitId, _: &CommitId, _: usize) -> Result<Vec<LiveCommit>, PortError> {
            panic!("the empty tick must not touch the repository")
        }
        fn is_ancestor(&self, _: &CommitId, _: &CommitId) -> Result<bool, PortError> {
            panic!("the empty tick must not touch the repository")
        }
        fn push(&mut self, _: &NewCommit) -> Result<CommitId, PushError> {
            panic!("the empty tick must not touch the repository")
        }
    }
    impl Clock for Refuses {
        fn now_secs(&self) -> i64 {
            0
        }
    }
    impl Notifier for Refuses {
        fn notify(&mut self, _: &str) -> Result<(), PortError> {
            panic!("the empty tick has nothing to tell")
        }
    }

    #[test]
    fn the_empty_tick_touches_nothing() {
        let (mut repo, clock, mut notifier) = (Refuses, Refuses, Refuses);
        let mut ports = Ports { repo: &mut repo, clusters: Vec::new(), clock: &clock, notifier: &mut notifier };
        assert_eq!(tick(&mut ports), TickReport { writes: 0 });
    }
}
