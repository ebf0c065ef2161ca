//! What holds for every fleet: proven on random ones, against the slow answers of the oracle where there is one.
//!
//! How many: what a debug run affords in seconds; `PROPTEST_CASES=10000 cargo test --release` is the long run.
//! The next property is a file here.

#![cfg(test)]

mod constraints;
mod crowded_fleet;
mod determinism;
mod division;
mod feasible;
mod fixed_point;
mod isolated;
mod monotone;
mod nested_spread;
mod optimum;
mod reading;
mod rebalance;
mod session;
mod small_fleet;
mod spread;
mod varied;
mod varied_fleet;

use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{MemoryFiles, Overlay};
use fleetwright_compiler::{CompileError, Compiled, Session, compile};
use fleetwright_tests::fleet::FleetBuilder;
use proptest::test_runner::Config;

/// So many cases, unless `PROPTEST_CASES` says otherwise; never more than `most`, for properties of long cases.
fn cases(usual: u32, most: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let cases = asked.unwrap_or(usual).min(most);
    // a property that refuses a case in ten must not end a long run
    let rejects = cases.saturating_mul(4).max(1024);
    Config { cases, max_global_rejects: rejects, failure_persistence: None, ..Config::default() }
}

/// Compiles intents and record of one tree in a fresh session.
fn compile_fresh(files: &MemoryFiles) -> Result<Compiled, CompileError> {
    compile(&Session::new(), &Overlay::same(files), &Scenario::default())
}

fn tree(fleet: &FleetBuilder) -> MemoryFiles {
    fleet.files().expect("the builder writes paths inside a repository")
}
