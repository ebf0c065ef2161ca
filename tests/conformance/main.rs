//! Conformance: facts about Kubernetes and Karmada, each answered by the library.
//!
//! Reads every `*.json` of the folder named by `FLEETWRIGHT_CASES` (relative to the workspace; default
//! `../shared/cases` beside the checkout): arrays of `{id, source, input: {op, ...}, expected}`. A table maps each `op`
//! to the call that answers it, one file per family; the mapping translates the words of a case into ours and never
//! computes an answer. Cases of our own, in `cases/`, run every time.
//!
//! An answer that differs on purpose is a deviation: a rule about the input with one line of why, beside the mapping of
//! the op. Rules, not ids, so that a folder with other cases needs no change here. An op without a mapping, or a case
//! that uses what the library does not do yet, is unmapped and listed.
//!
//! The next op is a row in the `OPS` of a family; the next family a file and a line in [`asked::lookup`].

mod asked;
mod cases;
mod components;
mod division;
mod estimate;
mod interpreter;
mod kubernetes;
mod lowered;
mod outcome;
mod overrides;
mod policy_order;
mod quota;
mod read;
mod selector;
mod spread;
mod tide;
mod yaml;

use std::io::Write;
use std::process::ExitCode;

use cases::Source;
use outcome::Tally;

fn main() -> ExitCode {
    match run(&mut std::io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "conformance: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all cases; `true` when none failed.
fn run(out: &mut dyn Write) -> Result<bool, String> {
    if std::env::args().any(|argument| argument == "--list") {
        writeln!(out, "conformance: test").map_err(|error| error.to_string())?;
        return Ok(true);
    }
    let own = Tally::of(cases::read_folder(&cases::own_folder())?);
    let given = match cases::given()? {
        Source::Folder(folder) => {
            let tally = Tally::of(cases::read_folder(&folder)?);
            writeln!(out, "cases of {}", folder.display()).map_err(|error| error.to_string())?;
            Some(tally)
        }
        Source::Absent(folder) => {
            let text = format!(
                "NO CASES: {} is not there. Only the project's own cases run. Set FLEETWRIGHT_CASES to a \
                 folder of cases to run them.",
                folder.display()
            );
            writeln!(out, "{text}").map_err(|error| error.to_string())?;
            None
        }
    };
    let (main, failed) = match &given {
        Some(given) => {
            own.write("own cases", out).map_err(|error| error.to_string())?;
            (given, own.failed() + given.failed())
        }
        None => (&own, own.failed()),
    };
    main.write("conformance", out).map_err(|error| error.to_string())?;
    let passed = own.passed() + given.as_ref().map_or(0, Tally::passed);
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    writeln!(out, "\ntest result: {verdict}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out")
        .map_err(|error| error.to_string())?;
    Ok(failed == 0)
}
