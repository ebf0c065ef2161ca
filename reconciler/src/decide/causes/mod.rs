//! Causes of decisions. Each looks at the situation and proposes; none looks at what another proposes.

pub mod capacity;
pub mod failover;
pub mod moves;
pub mod observed;
pub mod pin;
pub mod returning;
pub mod settle;
pub mod tide;
