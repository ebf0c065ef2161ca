//! A case as a fleet: what the library makes of its files.

use std::sync::Arc;

use fleetwright_compiler::diag::Diagnostics;
use fleetwright_compiler::model::Fleet;
use fleetwright_compiler::model::lower::{FileInput, lower};
use fleetwright_compiler::parse::{FileForm, parse};
use fleetwright_compiler::source::{FileClass, RepoPath};
use fleetwright_compiler::yaml::Limits;
use fleetwright_tests::fleet::FleetBuilder;

use crate::asked::Unanswered;

/// The fleet of these files. Mistakes in it are left out of account: names that Karmada allows and we do not are many in
/// cases, and matter to no answer.
pub fn lowered(fleet: &FleetBuilder) -> Result<Fleet, Unanswered> {
    let mut inputs = Vec::new();
    for (path, text) in fleet.texts() {
        let path = RepoPath::new(path).map_err(|error| Unanswered::Malformed(error.to_string()))?;
        let Some(class) = FileClass::of(&path) else { continue };
        let form = FileForm::of(class, path.as_str());
        let ir = Arc::new(parse(text.as_bytes(), form, &Limits::default()));
        inputs.push(FileInput { path, class, ir });
    }
    Ok(lower(&inputs, &mut Diagnostics::default()).0)
}
