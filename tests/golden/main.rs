//! What the compiler makes of whole repositories, against answers that others gave, and what it says about them: every
//! diagnostic at its exact place, and what it makes of hostile input. A new diagnostic gets a file in
//! `fixtures/diagnostics/`; its form is in [`fixture`].

// Functions that tests share are tests too.
#![cfg(test)]

mod counts;
mod deployed;
mod diagnostics;
mod emission;
mod examples;
mod fifteen;
mod fixture;
mod hostile;
mod manifests;
mod ordinals;
mod problems;
mod quotas;
mod real;
mod scenarios;
mod schemas;
mod text;
