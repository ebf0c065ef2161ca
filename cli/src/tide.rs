//! `fleetwright tide`: which phase each tide is in, and when it changes.

use fleetwright_compiler::base::name::nearest;
use fleetwright_compiler::tide::Timestamp;
use fleetwright_compiler::{Compiled, Session, report};

use crate::args::{At, Format};
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::{fleet, output, streams};

/// Show which phase each tide is in, by its own clock, and when it changes
///
/// The time zone database is part of fleetwright, so that every machine gives the same answer. Which phase counts for
/// what runs is in the record; `fleetwright plan` says it.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,

    #[command(flatten)]
    show: Show,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Show(Show),
    Simulate(Simulate),
}

/// Show the phase of each tide
#[derive(Debug, clap::Args)]
struct Show {
    /// Only this tide
    tide: Option<String>,

    /// At this instant: `2026-11-30T15:00:00Z`, with an offset in place of `Z`, or `now`
    #[arg(long, value_name = "INSTANT", default_value = "now")]
    at: At,
}

/// Show every change of phase in an interval, and what the clocks do then
#[derive(Debug, clap::Args)]
struct Simulate {
    /// Only this tide
    tide: Option<String>,

    /// From this instant: `2026-11-30T15:00:00Z`, with an offset in place of `Z`, or `now`
    #[arg(long, value_name = "INSTANT", default_value = "now")]
    from: At,

    /// Until before this instant
    #[arg(long, value_name = "INSTANT")]
    to: At,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Wide, Format::Json, Format::Yaml];

/// The longest interval, in days: ten years and their leap days.
const MOST_DAYS: i64 = 3653;

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    match args.what.as_ref() {
        None => show(context, &args.show),
        Some(What::Show(args)) => show(context, args),
        Some(What::Simulate(args)) => simulate(context, args),
    }
}

fn show(context: &Context, args: &Show) -> Result<Outcome, Failure> {
    let at = args.at.instant()?;
    let compiled = compiled(context, args.tide.as_deref())?;
    let report = report::tides(&compiled, args.tide.as_deref(), at);
    let wide = context.format() == Format::Wide;
    streams::data(&output::data(context.format(), &report, || report.to_text(wide))?)?;
    if compiled.fleet.tides.is_empty() {
        streams::talk("the fleet has no Tide: one is a file in policies/, `fleetwright explain tide` says of what");
    }
    Ok(Outcome::Done)
}

fn simulate(context: &Context, args: &Simulate) -> Result<Outcome, Failure> {
    let (from, to) = (args.from.instant()?, args.to.instant()?);
    let days = days_between(from, to)?;
    let compiled = compiled(context, args.tide.as_deref())?;
    let report = report::simulate_tides(&compiled, args.tide.as_deref(), from, to, days);
    streams::data(&output::data(context.format(), &report, || report.to_text())?)?;
    Ok(Outcome::Done)
}

/// So many dates may lie in the interval, in any time zone.
fn days_between(from: Timestamp, to: Timestamp) -> Result<usize, Failure> {
    let secs = to.as_second().saturating_sub(from.as_second());
    if secs <= 0 {
        return Err(Failure::Usage(format!("`--to {to}` is not after `--from {from}`")));
    }
    let days = secs / 86_400;
    if days > MOST_DAYS {
        return Err(Failure::Usage(format!("the interval has {days} days; at most {MOST_DAYS} are simulated")));
    }
    Ok(usize::try_from(days).unwrap_or(0) + 3)
}

/// The fleet; a tide that is named is one of its own.
fn compiled(context: &Context, tide: Option<&str>) -> Result<Compiled, Failure> {
    let opened = fleet::open(context)?;
    let compiled = fleet::compile(context, &Session::new(), &opened)?;
    if let Some(name) = tide.filter(|name| !compiled.fleet.tides.iter().any(|tide| tide.name == *name)) {
        let near = nearest(name, compiled.fleet.tides.iter().map(|tide| tide.name.as_str()));
        let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(Failure::Usage(format!("there is no tide `{name}`{hint}")));
    }
    Ok(compiled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_an_end_after_their_beginning() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let days = |from: &str, to: &str| days_between(at(from), at(to));
        assert_eq!(days("2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z"), Ok(4));
        let wrong = |text: &str| Err(Failure::Usage(text.to_owned()));
        assert_eq!(
            days("2026-11-30T00:00:00Z", "2026-11-30T00:00:00Z"),
            wrong("`--to 2026-11-30T00:00:00Z` is not after `--from 2026-11-30T00:00:00Z`")
        );
        assert_eq!(
            days("2026-11-30T00:00:00Z", "2036-12-01T00:00:00Z"),
            wrong("the interval has 3654 days; at most 3653 are simulated")
        );
    }

    #[test]
    fn instants_are_read_with_an_offset() {
        let rows = [
            ("now", Some(At::Now)),
            ("2026-11-30T23:00:00+08:00", Some(At::Instant("2026-11-30T15:00:00Z".parse().unwrap()))),
            ("2026-11-30T15:00:00", None),
            ("tomorrow", None),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse::<At>().ok(), expected, "{text}");
        }
    }
}
