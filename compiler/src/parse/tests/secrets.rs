use crate::diag::codes;
use crate::parse::{FileForm, parse};
use crate::source::FileClass;
use crate::yaml::Limits;

#[test]
fn ambiguous_scalars_of_secrets_are_not_shown() {
    let form = FileForm::of(FileClass::TeamFolder, "teams/t/a/x.yaml");
    let object = |kind: &str, rest: &str| format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: a}}\n{rest}");
    for (text, shown) in [
        (object("ConfigMap", "x: 0123\n"), true),
        (object("Secret", "x: 0123\n"), false),
        (object("ConfigMap", "x: 0123\nsops: {}\n"), false),
        ("kind: List\nitems: [{kind: ConfigMap, x: 0123}]\n".to_owned(), true),
        ("kind: List\nitems: [{kind: ConfigMap}, {kind: Secret, x: 0123}]\n".to_owned(), false),
        // broken further on: what it is cannot be known
        (object("ConfigMap", "x: 0123\nx: 1\n"), false),
    ] {
        let ir = parse(text.as_bytes(), form, &Limits::default());
        let found = ir.findings.iter().find(|f| f.code == codes::reading::AMBIGUOUS_SCALAR).unwrap();
        let said = format!("{} {}", found.message, found.help.clone().unwrap());
        assert_eq!((said.contains("`0123`"), said.contains("83")), (shown, shown), "{text}{said}");
    }
}
