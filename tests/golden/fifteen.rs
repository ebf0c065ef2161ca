//! Fifteen mistakes planted in one fleet: all of them in one run, each with its code, place and fix.

use std::collections::BTreeSet;

use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::Overlay;
use fleetwright_compiler::{CompileError, Session, compile};

use crate::fixture::{folder, tree};
use crate::text;

#[test]
fn all_are_found_in_one_run() {
    let folder = folder().join("fifteen");
    let files = tree(&folder.join("fleet"));
    let overlay = Overlay::same(&files);
    let Err(CompileError::Refused(refusal)) = compile(&Session::new(), &overlay, &Scenario::default()) else {
        panic!("the fleet compiles")
    };
    let said = text::all(&overlay, &refusal.files, &refusal.diagnostics);
    let codes: BTreeSet<_> = refusal.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!((codes.len(), refusal.diagnostics.iter().count()), (15, 15), "{said}");
    snapbox::Assert::new()
        .action_env("SNAPSHOTS")
        .eq(said, snapbox::Data::read_from(&folder.join("expected.txt"), None).raw());
}
