//! Exit codes, and what is said with them.

use std::process::ExitCode;

use fleetwright_compiler::source::FilesError;
use fleetwright_files::WriteError;

/// A command that did what it was asked to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Exit code 0.
    Done,
    /// There are differences, and `--exit-code` asked to be told: exit code 1.
    Differences,
}

/// A command that did not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// It was called wrongly: exit code 2.
    Usage(String),
    /// The repository is wrong: exit code 3. The text says what follows from it; the diagnostics were shown.
    Refused(String),
    /// A guard, a budget or an approval stands in the way: exit code 4.
    Guard(String),
    /// The disk, Git or another part of the environment failed: exit code 5.
    Environment(String),
    /// We made a mistake: exit code 101.
    Bug(String),
}

impl Outcome {
    /// Its exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Differences => 1,
        }
    }

    /// Whether there are differences that the caller asked to be told of.
    pub fn of_differences(found: bool, exit_code_asked: bool) -> Self {
        if found && exit_code_asked { Self::Differences } else { Self::Done }
    }
}

impl Failure {
    /// Its exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Refused(_) => 3,
            Self::Guard(_) => 4,
            Self::Environment(_) => 5,
            Self::Bug(_) => BUG,
        }
    }

    /// What stderr says last.
    pub fn text(&self) -> String {
        match self {
            Self::Refused(text) => text.clone(),
            Self::Usage(text) | Self::Guard(text) | Self::Environment(text) => format!("error: {text}"),
            Self::Bug(text) => format!("{PLEASE_REPORT}\n{text}"),
        }
    }
}

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Self {
        Self::Environment(error.to_string())
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Refused { .. } => Self::Guard(error.to_string()),
            WriteError::Io { .. } => Self::Environment(error.to_string()),
        }
    }
}

/// The code of our own bugs; the one that Rust gives a panic, too.
const BUG: u8 = 101;

/// Said before the details of a bug.
const PLEASE_REPORT: &str = "error: this is a bug in fleetwright, not in your repository: nothing was written. \
    Please report it with what follows, and with the repository or the part of it that shows it.";

/// Makes a panic say that it is our bug.
pub fn explain_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        default(info);
        crate::streams::talk(&format!(
            "error: this is a bug in fleetwright {}. Please report it with the text above, and with the repository or \
             the part of it that shows it.",
            env!("CARGO_PKG_VERSION")
        ));
    }));
}

/// The code as the process returns it.
pub fn code(result: &Result<Outcome, Failure>) -> ExitCode {
    ExitCode::from(match result {
        Ok(outcome) => outcome.code(),
        Err(failure) => failure.code(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_documentation() {
        let text = || "x".to_owned();
        for (failure, code) in [
            (Failure::Usage(text()), 2),
            (Failure::Refused(text()), 3),
            (Failure::Guard(text()), 4),
            (Failure::Environment(text()), 5),
            (Failure::Bug(text()), 101),
        ] {
            assert_eq!(failure.code(), code, "{failure:?}");
        }
        for (found, asked, code) in [(true, true, 1), (true, false, 0), (false, true, 0), (false, false, 0)] {
            assert_eq!(Outcome::of_differences(found, asked).code(), code, "{found} {asked}");
        }
    }

    #[test]
    fn who_is_at_fault_for_a_tree_that_cannot_be_written() {
        let path = std::path::PathBuf::from("out");
        let refused = WriteError::Refused { path: path.clone(), reason: "it holds files".into() };
        assert_eq!(Failure::from(refused).code(), 4);
        let full = WriteError::Io { path, source: std::io::Error::other("disk full") };
        assert_eq!(Failure::from(full), Failure::Environment("cannot write out: disk full".into()));
    }
}
