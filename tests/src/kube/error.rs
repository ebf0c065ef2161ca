//! Why clusters are not running.

use std::io;
use std::process::ExitStatus;

use super::client::RequestError;
use super::programs::NotThere;
use super::wait::Late;

/// Why clusters did not start, or did not do what they were told.
#[derive(Debug, thiserror::Error)]
pub enum RigError {
    /// The programs are not on this machine: nothing was tried.
    #[error(transparent)]
    NotThere(#[from] NotThere),
    /// A file, a pipe or a process could not be had.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// A certificate could not be made.
    #[error("making certificates: {0}")]
    Certificates(#[from] rcgen::Error),
    /// A program ended that must run as long as its cluster.
    #[error("{cluster}: {program} ended by itself ({status}); the end of its log:\n{log}")]
    Died {
        /// The cluster.
        cluster: String,
        /// The program.
        program: &'static str,
        /// How it ended.
        status: ExitStatus,
        /// The last lines of its log.
        log: String,
    },
    /// A state did not come in time.
    #[error("{cluster}: {late}; the end of the logs:\n{logs}")]
    Late {
        /// The cluster.
        cluster: String,
        /// What was waited for, and what was seen instead.
        late: Late,
        /// The last lines of the logs of its programs.
        logs: String,
    },
    /// The API server refused a request of the harness.
    #[error("{cluster}: {source}")]
    Request {
        /// The cluster.
        cluster: String,
        /// What it said.
        source: RequestError,
    },
    /// The program is not running at the moment, because the test crashed it.
    #[error("{cluster}: {program} is not running; start it again first")]
    NotRunning {
        /// The cluster.
        cluster: String,
        /// The program.
        program: &'static str,
    },
    /// The harness itself is wrong.
    #[error("starting a cluster panicked")]
    Panicked,
}

impl RigError {
    /// For `map_err`: an error of the operating system while doing something.
    pub(super) fn io(doing: impl Into<String>) -> impl FnOnce(io::Error) -> RigError {
        let doing = doing.into();
        move |source| RigError::Io { doing, source }
    }

    /// Whether a port that was free a moment ago was taken by somebody else.
    pub(super) fn is_port_taken(&self) -> bool {
        matches!(self, RigError::Died { log, .. } if log.contains("address already in use"))
    }
}
