//! The decider against real bare repositories.

mod capacity;
mod orders;
mod outages;
mod problem_cases;
mod pushes;
mod renames;
mod rendered;
mod ticks;
mod tides;
mod undo;
mod world;
