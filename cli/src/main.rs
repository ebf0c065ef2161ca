//! The command line of fleetwright: arguments in, text out. Nothing is decided here; the compiler decides.
//!
//! Invariants: stdout is data, stderr is talk; the exit code says whose fault it is (see [`exit`]); [`fleet`] alone
//! decides which trees a command reads; a closed pipe is not an error.
//! The next command is a file here with its arguments and its `run`, and a variant of [`args::Command`]; the next output
//! format a file below [`output`] and a variant of [`args::Format`].

mod advance;
mod approve;
mod args;
mod check;
mod connect;
mod context;
mod controller;
mod cordon;
mod demo;
mod diff;
mod drain;
mod exit;
mod explain;
mod failback;
mod failover;
mod fleet;
mod get;
mod gitops;
mod history;
mod import;
mod init;
mod live;
mod order;
mod output;
mod plan;
mod preempt;
mod promote_decider;
mod rebalance;
mod reconcile;
mod render;
mod repository;
mod resume;
mod schema;
mod status;
mod streams;
mod suspend;
mod template;
mod tide;
mod tree;
mod typed;
mod uncordon;
mod undo;
mod what_if;
mod why;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    exit::explain_panics();
    args::Cli::parse().run()
}
