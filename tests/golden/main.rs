//! What the compiler says about whole repositories: every diagnostic at its exact place, and what it makes of hostile
//! input. A new diagnostic gets a file in `fixtures/diagnostics/`; its form is in [`fixture`].

mod diagnostics;
mod fifteen;
mod fixture;
mod hostile;
mod schemas;
mod text;
