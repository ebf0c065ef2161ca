//! The decider against real bare repositories.

mod pushes;
mod ticks;
mod world;
