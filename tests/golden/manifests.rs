//! Manifests of the project's own: each file, and all of them as one App, are deployed as `kubectl` reads them. The next
//! one is a file in `fixtures/manifests` and its answer in `expected/`; see the README there.

use std::path::Path;

use serde_json::Value;

use super::deployed::{assert_deployed, compile_app};

struct Manifest {
    name: String,
    bytes: Vec<u8>,
    objects: Vec<Value>,
}

fn manifests() -> Vec<Manifest> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/manifests");
    let mut manifests = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !matches!(path.extension().and_then(|e| e.to_str()), Some("yaml" | "yml" | "json")) {
            continue;
        }
        let expected = folder.join("expected").join(path.file_stem().unwrap()).with_extension("json");
        let expected = std::fs::read_to_string(&expected).unwrap_or_else(|e| panic!("{}: {e}", expected.display()));
        let objects = serde_json::Deserializer::from_str(&expected).into_iter().collect::<Result<_, _>>().unwrap();
        manifests.push(Manifest { bytes: std::fs::read(&path).unwrap(), name, objects });
    }
    manifests.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(manifests.len() >= 25, "{} manifests", manifests.len());
    manifests
}

#[test]
fn manifests_are_deployed_as_kubectl_reads_them() {
    let manifests = manifests();
    for Manifest { name, bytes, objects } in &manifests {
        let compiled = compile_app([(name.as_str(), bytes.as_slice())]).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert_eq!(assert_deployed(&compiled, objects, name), objects.len(), "{name}");
    }
    let all = manifests.iter().map(|m| (m.name.as_str(), m.bytes.as_slice()));
    let compiled = compile_app(all).unwrap_or_else(|e| panic!("all together: {e:?}"));
    assert_deployed(&compiled, manifests.iter().flat_map(|m| &m.objects), "all together");
}
