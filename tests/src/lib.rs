//! What the tests and benchmarks share: small fleets from a few calls ([`fleet`]), large ones from a seed ([`generate`]),
//! and answers worked out the slow way ([`oracle`]). With feature `e2e`: real Kubernetes clusters (`kube`), and the product as
//! people run it on them (`product`).

pub mod fleet;
pub mod generate;
#[cfg(feature = "e2e")]
pub mod kube;
pub mod oracle;
pub mod packing;
#[cfg(feature = "e2e")]
pub mod product;
