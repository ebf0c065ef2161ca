//! Stdout for data, stderr for talk, and how each of them may look.

use std::io::{self, IsTerminal as _, Write as _};

use crate::args::ColorChoice;
use crate::exit::Failure;

/// How text for people may look on a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// One greppable line for each thing: for files, pipes and logs.
    Plain,
    /// Drawn, with the lines of the source.
    Graphical {
        /// With colors.
        color: bool,
    },
}

/// What decides the look of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terminal {
    /// The stream is a terminal.
    pub is_terminal: bool,
    /// `NO_COLOR` is set and not empty (no-color.org).
    pub no_color: bool,
    /// `TERM=dumb`: it cannot be drawn on.
    pub is_dumb: bool,
}

impl Terminal {
    fn of(is_terminal: bool) -> Self {
        Self {
            is_terminal,
            no_color: std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
            is_dumb: std::env::var_os("TERM").is_some_and(|term| term == "dumb"),
        }
    }

    /// The look that a choice gives. A choice that was typed outranks the environment.
    pub fn look(self, choice: ColorChoice) -> Look {
        match choice {
            ColorChoice::Never => Look::Plain,
            ColorChoice::Always => Look::Graphical { color: true },
            ColorChoice::Auto if self.is_terminal && !self.is_dumb => Look::Graphical { color: !self.no_color },
            ColorChoice::Auto => Look::Plain,
        }
    }
}

/// The look of stdout.
pub fn stdout_look(choice: ColorChoice) -> Look {
    Terminal::of(io::stdout().is_terminal()).look(choice)
}

/// The look of stderr.
pub fn stderr_look(choice: ColorChoice) -> Look {
    Terminal::of(io::stderr().is_terminal()).look(choice)
}

/// Writes data to stdout. When nobody reads it any more (`fleetwright plan | head`), the rest is dropped and the command
/// goes on to its exit code.
///
/// # Errors
/// When stdout cannot be written for another reason, such as a full disk.
pub fn data(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Failure::Environment(format!("cannot write to stdout: {e}"))),
    }
}

/// Says something on stderr, with a line break after it. There is nobody to tell when that fails.
pub fn talk(text: &str) {
    let text = text.trim_end_matches('\n');
    let _ = writeln!(io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks() {
        let terminal = Terminal { is_terminal: true, no_color: false, is_dumb: false };
        let file = Terminal { is_terminal: false, ..terminal };
        let drawn = |color| Look::Graphical { color };
        for (stream, choice, expected) in [
            (terminal, ColorChoice::Auto, drawn(true)),
            (Terminal { no_color: true, ..terminal }, ColorChoice::Auto, drawn(false)),
            (Terminal { no_color: true, ..terminal }, ColorChoice::Always, drawn(true)),
            (Terminal { is_dumb: true, ..terminal }, ColorChoice::Auto, Look::Plain),
            (terminal, ColorChoice::Never, Look::Plain),
            (file, ColorChoice::Auto, Look::Plain),
            (file, ColorChoice::Always, drawn(true)),
            (file, ColorChoice::Never, Look::Plain),
        ] {
            assert_eq!(stream.look(choice), expected, "{stream:?} {choice:?}");
        }
    }
}
