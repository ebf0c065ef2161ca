//! Arguments. The doc comments are the help texts.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::SystemTime;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand, ValueEnum};

use fleetwright_compiler::tide::Timestamp;

use crate::context::Context;
use crate::exit::{self, Failure, Outcome};
use crate::{
    advance, approve, check, controller, cordon, demo, diff, drain, explain, failback, failover, get, gitops, history,
    import, init, plan, preempt, promote_decider, rebalance, reconcile, render, resume, schema, status, streams,
    suspend, tide, tree, uncordon, undo, what_if, why,
};

/// A fleet of Kubernetes clusters in one Git repository: compile, review, deploy.
///
/// A fleet repository says what should run (`fleet.yaml`, `clusters/`, `policies/`, `teams/`). fleetwright reads it
/// together with the record of what runs (`placements/`, `state/`) and computes, with no cluster and no network, which
/// manifests each cluster gets.
#[derive(Debug, Parser)]
#[command(name = "fleetwright", version, styles = STYLES, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    there are differences (only with --exit-code)
  2    called wrongly
  3    the repository is wrong: the diagnostics say where
  4    a guard, a budget or an approval stands in the way
  5    the environment failed: disk, Git, network, cluster
  101  a bug in fleetwright";

/// Options of every command.
#[derive(Debug, clap::Args)]
pub struct Global {
    /// The fleet repository: a folder of it, or a bare Git repository with --rev
    ///
    /// Default: the folder with `fleet.yaml` at or above the current one. Other paths on the command line stay relative
    /// to the current folder.
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,

    /// Read the intents from this Git revision instead of the folder
    #[arg(long, value_name = "REV", global = true)]
    pub rev: Option<String>,

    /// Where the record of what runs (`placements/`, `state/`) comes from
    ///
    /// Default: the live branch of the Git repository (here, else of `origin`); without one, or without Git, beside the
    /// intents. A revision that holds `placements/` or `state/`, and a checkout of the live branch's commit, bring their
    /// own. `none`: nothing runs.
    #[arg(long, value_name = "REV|DIR|none", global = true)]
    pub record: Option<String>,

    /// The form of the output
    #[arg(short, long, value_name = "FORMAT", global = true)]
    pub output: Option<Format>,

    /// Colors and drawn diagnostics
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: ColorChoice,

    /// Threads to use; default: one for each processor
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Forms of output. Each command has some of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For people, with more columns
    Wide,
    /// Names only, one a line
    Name,
    /// JSON
    Json,
    /// YAML
    Yaml,
    /// Markdown, for a comment on a pull request
    Markdown,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

/// When to use colors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never; diagnostics are one line each
    Never,
}

/// An instant that is supposed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// What the clock says.
    Now,
    /// This one.
    Instant(Timestamp),
}

impl At {
    /// The instant. Nothing else of a command that shows something reads the clock.
    ///
    /// # Errors
    /// When the clock is outside the years that can be counted in.
    pub fn instant(&self) -> Result<Timestamp, Failure> {
        match self {
            Self::Instant(instant) => Ok(*instant),
            Self::Now => Timestamp::try_from(SystemTime::now())
                .and_then(|now| Timestamp::from_second(now.as_second()))
                .map_err(|e| Failure::Environment(format!("the clock cannot be used: {e}"))),
        }
    }
}

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "now" {
            return Ok(Self::Now);
        }
        let instant = text.parse().map(Self::Instant);
        instant.map_err(|_| {
            "expected an instant such as 2026-11-30T15:00:00Z or 2026-11-30T23:00:00+08:00, or now".to_owned()
        })
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Init(init::Args),
    Import(import::Args),
    Check(check::Args),
    Plan(plan::Args),
    Render(render::Args),
    Diff(diff::Args),
    Why(why::Args),
    Tide(tide::Args),
    WhatIf(what_if::Args),
    Schema(schema::Args),
    Explain(explain::Args),
    Advance(advance::Args),
    Failover(failover::Args),
    Failback(failback::Args),
    Drain(drain::Args),
    Rebalance(rebalance::Args),
    Preempt(preempt::Args),
    Cordon(cordon::Args),
    Uncordon(uncordon::Args),
    Suspend(suspend::Args),
    Resume(resume::Args),
    Undo(undo::Args),
    Approve(approve::Args),
    PromoteDecider(promote_decider::Args),
    History(history::Args),
    Demo(demo::Args),
    Controller(controller::Args),
    Gitops(gitops::Args),
    Status(status::Args),
    Get(get::Args),
    Tree(tree::Args),
    Reconcile(reconcile::Args),
}

impl Format {
    /// As typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Wide => "wide",
            Self::Name => "name",
            Self::Json => "json",
            Self::Yaml => "yaml",
            Self::Markdown => "markdown",
            Self::Sarif => "sarif",
            Self::Github => "github",
        }
    }
}

/// What a command is called, and what it understands.
struct Abilities {
    name: &'static str,
    formats: &'static [Format],
    /// Whether it reads a fleet, so that `--rev` and `--record` mean something.
    reads_fleet: bool,
}

impl Command {
    fn abilities(&self) -> Abilities {
        let (name, formats, reads_fleet) = match self {
            Self::Init(_) => ("init", init::FORMATS, false),
            Self::Import(_) => ("import", import::FORMATS, false),
            Self::Check(_) => ("check", check::FORMATS, true),
            Self::Plan(_) => ("plan", plan::FORMATS, true),
            Self::Render(_) => ("render", render::FORMATS, true),
            Self::Diff(_) => ("diff", diff::FORMATS, true),
            Self::Why(_) => ("why", why::FORMATS, true),
            Self::Tide(_) => ("tide", tide::FORMATS, true),
            Self::WhatIf(_) => ("what-if", what_if::FORMATS, true),
            Self::Schema(_) => ("schema", schema::FORMATS, false),
            Self::Explain(_) => ("explain", explain::FORMATS, false),
            Self::Advance(_) => ("advance", advance::FORMATS, false),
            Self::Failover(_) => ("failover", failover::FORMATS, false),
            Self::Failback(_) => ("failback", failback::FORMATS, false),
            Self::Drain(_) => ("drain", drain::FORMATS, false),
            Self::Rebalance(_) => ("rebalance", rebalance::FORMATS, false),
            Self::Preempt(_) => ("preempt", preempt::FORMATS, false),
            Self::Cordon(_) => ("cordon", cordon::FORMATS, false),
            Self::Uncordon(_) => ("uncordon", uncordon::FORMATS, false),
            Self::Suspend(_) => ("suspend", suspend::FORMATS, false),
            Self::Resume(_) => ("resume", resume::FORMATS, false),
            Self::Undo(_) => ("undo", undo::FORMATS, false),
            Self::Approve(_) => ("approve", approve::FORMATS, false),
            Self::PromoteDecider(_) => ("promote-decider", promote_decider::FORMATS, false),
            Self::History(_) => ("history", history::FORMATS, false),
            Self::Demo(_) => ("demo", demo::FORMATS, false),
            Self::Status(_) => ("status", status::FORMATS, false),
            Self::Get(_) => ("get", get::FORMATS, false),
            Self::Tree(_) => ("tree", tree::FORMATS, false),
            Self::Reconcile(_) => ("reconcile", reconcile::FORMATS, false),
            Self::Gitops(_) => ("gitops", gitops::FORMATS, true),
            Self::Controller(_) => ("controller", controller::FORMATS, false),
        };
        Abilities { name, formats, reads_fleet }
    }
}

impl Abilities {
    fn check(&self, global: &Global) -> Result<(), Failure> {
        let name = self.name;
        match global.output {
            Some(format) if !self.formats.contains(&format) => {
                let known: Vec<&str> = self.formats.iter().map(|f| f.name()).collect();
                return Err(Failure::Usage(format!(
                    "`{name}` has no output `{}`; it has {}",
                    format.name(),
                    known.join(", ")
                )));
            }
            Some(_) | None => {}
        }
        for (option, given) in [("--rev", global.rev.is_some()), ("--record", global.record.is_some())] {
            if given && !self.reads_fleet {
                return Err(Failure::Usage(format!("`{name}` reads no fleet, so `{option}` means nothing to it")));
            }
        }
        Ok(())
    }
}

impl Cli {
    /// Runs the command.
    pub fn run(self) -> ExitCode {
        let result = self.dispatch();
        if let Err(failure) = &result {
            streams::talk(&failure.text());
        }
        exit::code(&result)
    }

    fn dispatch(self) -> Result<Outcome, Failure> {
        self.command.abilities().check(&self.global)?;
        let context = Context::new(self.global)?;
        match self.command {
            Command::Init(args) => init::run(&context, &args),
            Command::Import(args) => import::run(&context, &args),
            Command::Check(args) => check::run(&context, &args),
            Command::Plan(args) => plan::run(&context, &args),
            Command::Render(args) => render::run(&context, &args),
            Command::Diff(args) => diff::run(&context, &args),
            Command::Why(args) => why::run(&context, &args),
            Command::Tide(args) => tide::run(&context, &args),
            Command::WhatIf(args) => what_if::run(&context, &args),
            Command::Schema(args) => schema::run(&context, &args),
            Command::Explain(args) => explain::run(&context, &args),
            Command::Advance(args) => advance::run(&context, &args),
            Command::Failover(args) => failover::run(&context, &args),
            Command::Failback(args) => failback::run(&context, &args),
            Command::Drain(args) => drain::run(&context, &args),
            Command::Rebalance(args) => rebalance::run(&context, &args),
            Command::Preempt(args) => preempt::run(&context, &args),
            Command::Cordon(args) => cordon::run(&context, &args),
            Command::Uncordon(args) => uncordon::run(&context, &args),
            Command::Suspend(args) => suspend::run(&context, &args),
            Command::Resume(args) => resume::run(&context, &args),
            Command::Undo(args) => undo::run(&context, &args),
            Command::Approve(args) => approve::run(&context, &args),
            Command::PromoteDecider(args) => promote_decider::run(&context, &args),
            Command::History(args) => history::run(&context, &args),
            Command::Demo(args) => demo::run(&context, &args),
            Command::Status(args) => status::run(&context, &args),
            Command::Get(args) => get::run(&context, &args),
            Command::Tree(args) => tree::run(&context, &args),
            Command::Reconcile(args) => reconcile::run(&context, &args),
            Command::Gitops(args) => gitops::run(&context, &args),
            Command::Controller(args) => controller::run(&context, &args),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(line: &str) -> Cli {
        Cli::try_parse_from(std::iter::once("fleetwright").chain(line.split(' '))).unwrap()
    }

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
        for format in Format::value_variants() {
            assert_eq!(Format::from_str(format.name(), false), Ok(*format));
        }
    }

    #[test]
    fn every_command_is_explained() {
        for command in Cli::command().get_subcommands() {
            assert!(command.get_about().is_some(), "{} has no help", command.get_name());
            for argument in command.get_arguments().filter(|a| !matches!(a.get_id().as_str(), "help" | "version")) {
                assert!(argument.get_help().is_some(), "{} {} has no help", command.get_name(), argument.get_id());
            }
        }
    }

    #[test]
    fn options_that_a_command_does_not_have() {
        for (line, expected) in [
            ("check -o sarif", None),
            ("check -o markdown", Some("`check` has no output `markdown`; it has text, json, yaml, sarif, github")),
            ("diff -o markdown", None),
            ("explain FW1042 --rev x", Some("`explain` reads no fleet, so `--rev` means nothing to it")),
            ("schema --record none", Some("`schema` reads no fleet, so `--record` means nothing to it")),
            ("-o json plan", None),
        ] {
            let cli = parse(line);
            let got = cli.command.abilities().check(&cli.global);
            assert_eq!(got, expected.map_or(Ok(()), |text| Err(Failure::Usage(text.into()))), "{line}");
        }
    }
}
