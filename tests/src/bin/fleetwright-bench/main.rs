//! Benchmarks on generated fleets.
//!
//! * `fleetwright-bench generate APPS CLUSTERS SEED DIR` writes a fleet.
//! * `fleetwright-bench compile APPS CLUSTERS SEED` compiles one from memory: wall and CPU time and peak memory.
//! * `fleetwright-bench schedule APPS CLUSTERS SEED` schedules one: CPU time for each app.
//! * `fleetwright-bench regions APPS CLUSTERS SEED` does the same in 20 and in 200 regions, every app spread over them.
//! * `fleetwright-bench survive APPS CLUSTERS SEED` tries the loss of clusters that apps must survive.
//! * `fleetwright-bench packing [SEQUENCES] [SEED]` holds the estimate of room against pods on simulated nodes.
//!
//! `--runs N` and `--adversarial` where a fleet is compiled. CPU time is user and system, of all threads.

mod compile;
mod schedule;

use std::process::ExitCode;

use fleetwright_tests::generate::{Shape, files};
use fleetwright_tests::packing::{self, Pending};

const USAGE: &str = "usage: fleetwright-bench generate APPS CLUSTERS SEED DIR
       fleetwright-bench compile|schedule|regions|survive APPS CLUSTERS SEED [--adversarial] [--runs N]
       fleetwright-bench packing [SEQUENCES] [SEED]";

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<String, String> {
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<u32>().ok()).ok_or(USAGE);
    let shape = || -> Result<Shape, String> {
        let adversarial = args.iter().any(|a| a == "--adversarial");
        Ok(Shape { adversarial, ..Shape::new(number(1)?, number(2)?, u64::from(number(3)?)) })
    };
    let runs = |usual: u32| args.iter().position(|a| a == "--runs").map_or(Ok(usual), |i| number(i + 1));
    match args.first().map(String::as_str) {
        Some("generate") => generate(shape()?, std::path::Path::new(args.get(4).ok_or(USAGE)?)),
        Some("compile") => compile::compile(shape()?, runs(3)?),
        Some("schedule") => schedule::schedule(shape()?, runs(10)?),
        Some("regions") => schedule::regions(shape()?, runs(10)?),
        Some("survive") => schedule::survive(shape()?, runs(10)?),
        Some("packing") => {
            let or = |i: usize, usual: u32| if args.len() > i { number(i) } else { Ok(usual) };
            Ok(packed(or(1, 10_000)?, u64::from(or(2, 1)?)))
        }
        _ => Err(USAGE.to_owned()),
    }
}

fn generate(shape: Shape, dir: &std::path::Path) -> Result<String, String> {
    let files = files(shape);
    for (path, text) in &files {
        let path = dir.join(path);
        let parent = path.parent().unwrap_or(dir);
        std::fs::create_dir_all(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(format!("wrote {} files", files.len()))
}

/// What the estimate of room promises, against pods on simulated nodes.
fn packed(sequences: u32, seed: u64) -> String {
    let table = |pending| packing::table(&packing::questions(sequences, seed, pending));
    format!(
        "{sequences} sequences, seed {seed}\n\npods that found no node are not in the ledger:\n{}\nthey keep their seats:\n{}",
        table(Pending::Leave),
        table(Pending::Keep)
    )
}
