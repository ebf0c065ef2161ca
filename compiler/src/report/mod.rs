//! Results in words and as data: diagnostics with their lines, plans, `why`, diffs as text and as a comment.
//!
//! Invariants: text only, no colours and no terminal; the same result gives the same text; no value of a Secret is in any
//! of it. Whatever is printed as JSON is the data the text is made from.
//! The next view of a result is a file here; what it needs to know is put into its data first.

mod booked;
mod capacity;
mod clusters;
mod deficits;
mod diff_markdown;
mod diff_text;
mod full;
mod located;
mod names;
mod plan;
mod plan_text;
mod references;
mod remedy;
mod rows;
mod rule;
mod steps;
mod table;
mod tides;
mod values;
mod verdicts;
mod waits;
mod what_if;
mod what_if_text;
mod why;
mod why_cluster;
mod why_text;

pub use booked::BookedReport;
pub use capacity::capacity;
pub use clusters::{ClusterReport, ResourceReport};
pub use deficits::{deficits, lapses, pools};
pub use diff_markdown::diff_markdown;
pub use diff_text::{diff_text, diff_text_whole};
pub use located::{Located, Position, ReadFile, Related, located};
pub use plan::{AppReport, MoveReport, PlanReport, SeatReport, TransferReport, WorkloadReport, plan};
pub use references::references;
pub use steps::{MovingReport, MovingRow, on_the_way};
pub use tides::{
    PhaseReport, SimulationReport, TideEvent, TidePhaseReport, TideReport, TideSimulation, TidesReport, simulate_tides,
    tides,
};
pub use verdicts::verdicts_line;
pub use waits::waits;
pub use what_if::{FloorReport, HeadroomReport, LeftReport, ScenarioReport, WhatIfReport, scenario};
pub use what_if_text::{what_if_markdown, what_if_text};
pub use why::{FieldReport, NeedReport, Treatment, VerdictReport, WhyReport, WhySeat, WhyWorkload, WrittenAt, why};
pub use why_cluster::{
    AmountReport, ArithmeticReport, ChangeReport, ClusterWhy, PoolReport, QuotaReport, RoomReport, ShareReport,
};

#[cfg(test)]
mod tests;
