//! What the tests and benchmarks share: small fleets from a few calls ([`fleet`]), large ones from a seed ([`generate`]),
//! and answers worked out the slow way ([`oracle`]).

pub mod fleet;
pub mod generate;
pub mod oracle;
