//! The product as people run it: a fleet repository with its bare remote ([`Fleet`]), changed with `git`, and `fleetwright` as
//! a process ([`Controller`], [`Fleet::run`]). Nothing in here knows how the product works inside, but for the form of its
//! status.
//!
//! Invariants: the user's own Git settings do not count; only a person may push to `main`, as with a protected branch;
//! whatever the product is refused is written down ([`Fleet::refused`]).

mod controller;
mod fleet;

use std::path::PathBuf;

pub use controller::{Controller, Cpu, in_short, is_current, program};
pub use fleet::{Commit, Fleet, Ran};

/// Why something around the product did not work. What the product does wrong is for assertions.
#[derive(Debug, thiserror::Error)]
pub enum ProductError {
    /// A file, or a program that cannot be started.
    #[error("{doing}: {source}")]
    Io {
        /// What was being done.
        doing: String,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// A program failed that must not.
    #[error("`{command}` failed: {said}")]
    Failed {
        /// With its arguments.
        command: String,
        /// Both of its outputs.
        said: String,
    },
    /// The product is not there.
    #[error("{} is not there: build it beside this program, `cargo build --workspace --features fleetwright-tests/e2e --bins`", .0.display())]
    NotBuilt(PathBuf),
    /// A process could not be started.
    #[error(transparent)]
    Rig(#[from] crate::kube::RigError),
    /// It did not become what it must.
    #[error("{late}; the end of its log:\n{log}")]
    Late {
        /// What was waited for.
        late: crate::kube::Late,
        /// The last lines of the log.
        log: String,
    },
}

impl ProductError {
    fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> ProductError {
        let doing = doing.into();
        move |source| ProductError::Io { doing, source }
    }
}
