//! The decider against real bare repositories.

mod capacity;
mod led_elsewhere;
mod observed;
mod orders;
mod orders_of_clusters;
mod outages;
mod problem_cases;
mod pushes;
mod renames;
mod rendered;
mod simulator;
mod steps;
mod ticks;
mod tides;
mod undo;
mod unrecorded;
mod world;
