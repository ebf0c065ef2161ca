//! Causes of decisions. Each looks at the situation and proposes; none knows of another.

pub mod pin;
pub mod settle;
