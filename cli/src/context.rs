//! What every command gets: the global options, checked and applied.

use std::path::Path;

use crate::args::{Format, Global};
use crate::exit::Failure;
use crate::streams::{self, Look};

/// What every command gets.
#[derive(Debug)]
pub struct Context {
    global: Global,
}

impl Context {
    /// Applies the global options.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn new(global: Global) -> Result<Self, Failure> {
        if let Some(threads) = global.threads {
            rayon::ThreadPoolBuilder::new()
                .num_threads(usize::from(threads))
                .build_global()
                .map_err(|e| Failure::Environment(format!("cannot start {threads} threads: {e}")))?;
        }
        Ok(Self { global })
    }

    /// The same for the fleet in another folder, with the record that belongs to it.
    ///
    /// # Errors
    /// As [`Context::new`].
    pub fn in_folder(&self, directory: &Path) -> Result<Self, Failure> {
        let Global { directory: _, rev: _, record: _, output, color, threads: _ } = &self.global;
        let directory = Some(directory.to_path_buf());
        Self::new(Global { directory, rev: None, record: None, output: *output, color: *color, threads: None })
    }

    /// Where to look for the fleet.
    pub fn directory(&self) -> &Path {
        self.global.directory.as_deref().unwrap_or(Path::new("."))
    }

    /// `--rev`.
    pub fn rev(&self) -> Option<&str> {
        self.global.rev.as_deref()
    }

    /// `--record`.
    pub fn record(&self) -> Option<&str> {
        self.global.record.as_deref()
    }

    /// The form of the output.
    pub fn format(&self) -> Format {
        self.global.output.unwrap_or(Format::Text)
    }

    /// How text may look on stdout.
    pub fn stdout_look(&self) -> Look {
        streams::stdout_look(self.global.color)
    }

    /// How text may look on stderr.
    pub fn stderr_look(&self) -> Look {
        streams::stderr_look(self.global.color)
    }
}
