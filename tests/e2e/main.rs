//! Scenarios on real Kubernetes API servers: `fleetwright-e2e`.
//!
//! Each scenario gets clusters of its own, so none sees what another left. Exit code 0 when all passed, 1 when one failed, 2
//! for a wrong argument, 77 when the clusters' programs are not on this machine, so that nothing was tested (1 with
//! `--require`).

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod scenarios;

use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fleetwright_tests::kube::{NodeSpec, Programs, Rig};
use scenarios::{ALL, Scenario};

const USAGE: &str = "\
Runs scenarios on real Kubernetes API servers.

Usage: fleetwright-e2e [--list] [--only NAME]... [--require] [--hold N]

  --list       print the scenarios and what they show
  --only NAME  run this one; may be given more than once
  --hold N     start N clusters, print their kubeconfig, and stop them when standard input ends
  --require    fail when the programs of the clusters are not there, instead of exiting with 77";

/// The exit code that test runners read as `skipped`.
const SKIPPED: u8 = 77;

struct Arguments {
    list: bool,
    require: bool,
    hold: Option<usize>,
    chosen: Vec<&'static Scenario>,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut arguments = Arguments { list: false, require: false, hold: None, chosen: Vec::new() };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--list" => arguments.list = true,
                "--require" => arguments.require = true,
                "--hold" => {
                    let count =
                        words.next().and_then(|count| count.parse().ok()).filter(|count| (1..=9).contains(count));
                    arguments.hold = Some(count.ok_or("--hold needs a number of clusters, 1 to 9")?);
                }
                "--only" => {
                    let name = words.next().ok_or("--only needs the name of a scenario")?;
                    let found = ALL.iter().find(|scenario| scenario.name == name);
                    arguments.chosen.push(found.ok_or_else(|| format!("no scenario `{name}`; --list prints them"))?);
                }
                other => return Err(format!("unknown argument `{other}`\n\n{USAGE}")),
            }
        }
        if arguments.chosen.is_empty() {
            arguments.chosen = ALL.iter().collect();
        }
        Ok(arguments)
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let arguments = match Arguments::read(words.into_iter()) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    if arguments.list {
        for scenario in ALL {
            println!("{:<24} {} clusters: {}", scenario.name, scenario.clusters, scenario.shows);
        }
        return ExitCode::SUCCESS;
    }
    let programs = match Programs::find() {
        Ok(programs) => programs,
        Err(not_there) => {
            eprintln!("{not_there}");
            return if arguments.require { ExitCode::FAILURE } else { ExitCode::from(SKIPPED) };
        }
    };
    println!("clusters from {}", programs.folder().display());
    if let Some(count) = arguments.hold {
        return hold(&programs, count);
    }
    let outcomes: Vec<Outcome> = arguments.chosen.iter().map(|scenario| run(&programs, scenario)).collect();
    print_table(&outcomes);
    if outcomes.iter().all(|outcome| outcome.failure.is_none()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Clusters to try something on by hand.
fn hold(programs: &Programs, count: usize) -> ExitCode {
    match Rig::start_from(programs, count, &NodeSpec::fleet(4)) {
        Ok(rig) => {
            println!("export KUBECONFIG={}", rig.kubeconfig().display());
            // Whatever is typed: the end of the input is the end of the clusters.
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("the clusters did not start: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Outcome {
    scenario: &'static Scenario,
    /// Until the clusters were ready, and from then on.
    started: Duration,
    ran: Duration,
    failure: Option<String>,
}

fn run(programs: &Programs, scenario: &'static Scenario) -> Outcome {
    println!("\n== {}: {}", scenario.name, scenario.shows);
    let begin = Instant::now();
    let rig = match Rig::start_from(programs, scenario.clusters, &NodeSpec::fleet(scenario.nodes)) {
        Ok(rig) => rig,
        Err(error) => {
            let failure = format!("the clusters did not start: {error}");
            println!("{failure}");
            return Outcome { scenario, started: begin.elapsed(), ran: Duration::ZERO, failure: Some(failure) };
        }
    };
    let started = begin.elapsed();
    let begin = Instant::now();
    // a failed assertion ends its scenario, not the others
    let failure = match catch_unwind(AssertUnwindSafe(|| (scenario.run)(&rig))) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(panic) => Some(text_of(&*panic)),
    };
    let ran = begin.elapsed();
    match &failure {
        None => println!("passed"),
        Some(failure) => println!("FAILED: {failure}"),
    }
    Outcome { scenario, started, ran, failure }
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it panicked").to_owned()
}

fn print_table(outcomes: &[Outcome]) {
    println!("\n{:<24} {:>8} {:>9} {:>9}  result", "scenario", "clusters", "start s", "run s");
    for Outcome { scenario, started, ran, failure } in outcomes {
        let result = match failure {
            None => "passed",
            Some(failure) => failure.lines().next().unwrap_or_default(),
        };
        println!(
            "{:<24} {:>8} {:>9.1} {:>9.1}  {}{result}",
            scenario.name,
            scenario.clusters,
            started.as_secs_f64(),
            ran.as_secs_f64(),
            if failure.is_some() { "FAILED: " } else { "" },
        );
    }
    let failed = outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
    println!("{} scenarios, {failed} failed", outcomes.len());
}

/// What a scenario returns; `?` works on any error, and a failed `assert!` is a failure as well.
type Ending = Result<(), Box<dyn Error>>;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Vec<&'static str>, String> {
        Arguments::read(words.iter().map(|word| (*word).to_owned()))
            .map(|arguments| arguments.chosen.iter().map(|scenario| scenario.name).collect())
    }

    #[test]
    fn arguments_choose_scenarios() {
        let all: Vec<&str> = ALL.iter().map(|scenario| scenario.name).collect();
        assert_eq!(read(&["--require"]), Ok(all));
        assert_eq!(read(&["--only", "partition", "--only", "crash"]), Ok(vec!["partition", "crash"]));
        assert!(read(&["--only", "nonsense"]).unwrap_err().contains("no scenario `nonsense`"));
        assert!(read(&["--only"]).is_err());
        assert!(read(&["partition"]).unwrap_err().contains("unknown argument `partition`"));
    }
}
