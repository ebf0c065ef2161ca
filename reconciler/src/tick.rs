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
    use crate::ports::{Clock, CommitId, FleetRepo, Notifier, PortError};

    struct Refuses;

    impl FleetRepo for Refuses {
        fn fetch(&mut self, _: &str) -> Result<Option<CommitId>, PortError> {
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
