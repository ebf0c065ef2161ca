//! `schemas/` holds what the types say: `SNAPSHOTS=overwrite` writes it.

use std::collections::BTreeSet;
use std::path::Path;

use fleetwright_compiler::api::{KINDS, schema};

#[test]
fn the_files_are_what_the_types_say() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas"));
    for kind in KINDS {
        let file = snapbox::Data::read_from(&folder.join(schema::file_name(kind)), None).raw();
        snapbox::Assert::new().action_env("SNAPSHOTS").eq(schema::file_text(kind).unwrap(), file);
    }
    let expected: BTreeSet<String> = KINDS.iter().map(|kind| schema::file_name(kind)).collect();
    let there: BTreeSet<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(there, expected);
}
