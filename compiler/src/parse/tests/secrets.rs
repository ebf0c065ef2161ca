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
        (object("secret", "x: 0123\n"), false),
        ("apiVersion: v1\nkind: SecretList\nitems: [{metadata: {name: a}, x: 0123}]\n".to_owned(), false),
        // broken further on: what it is cannot be known
        (object("ConfigMap", "x: 0123\nx: 1\n"), false),
    ] {
        let ir = parse(text.as_bytes(), form, &Limits::default());
        let found = ir.findings.iter().find(|f| f.code == codes::reading::AMBIGUOUS_SCALAR).unwrap();
        let said = format!("{} {}", found.message, found.help.clone().unwrap());
        assert_eq!((said.contains("`0123`"), said.contains("83")), (shown, shown), "{text}{said}");
    }
}

#[test]
fn overrides_that_may_be_for_a_secret_show_no_value() {
    let form = FileForm::of(FileClass::TeamFolder, "teams/t/a/app.yaml");
    for (target, shown) in [("kind: ConfigMap", true), ("kind: Secret", false), ("name: a", false)] {
        let text = format!(
            "apiVersion: fleetwright.io/v1alpha1\nkind: App\nmetadata: {{name: a}}\n\
             spec: {{overrides: [{{target: {{{target}}}, patch: {{data: {{x: 0123}}}}}}]}}\n"
        );
        let ir = parse(text.as_bytes(), form, &Limits::default());
        let found = ir.findings.iter().find(|f| f.code == codes::reading::AMBIGUOUS_SCALAR).unwrap();
        assert_eq!(found.message.contains("`0123`"), shown, "{text}{}", found.message);
    }
}

/// A password may begin with a character that means something in YAML.
#[test]
fn no_message_about_yaml_holds_a_value() {
    const VALUE: &str = "S3cr3tPw";
    let form = FileForm::of(FileClass::TeamFolder, "teams/t/a/x.yaml");
    for value in [
        format!("*{VALUE}"),
        format!("&{VALUE} *{VALUE}"),
        format!("&{VALUE} [*{VALUE}]"),
        format!("&{VALUE}.é x"),
        format!("!{VALUE}"),
        format!("!{VALUE} x"),
        format!("!!{VALUE} x"),
        format!("!!int {VALUE}"),
        format!("!!binary {VALUE}"),
        format!("!<{VALUE}> x"),
        format!("%{VALUE}"),
        format!("@{VALUE}"),
        format!("`{VALUE}"),
        format!("\"{VALUE}"),
        format!("'{VALUE}"),
        format!("[{VALUE}"),
        format!("{{{VALUE}: {{}}: x}}"),
        format!("|{VALUE}"),
        format!("\"\\{VALUE}\""),
        format!("{VALUE}: {VALUE}"),
        format!("{{{{ {VALUE} }}}}"),
    ] {
        let text = format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData:\n  password: {value}\n");
        let ir = parse(text.as_bytes(), form, &Limits::default());
        assert!(!ir.findings.is_empty(), "{text}");
        for finding in &ir.findings {
            let said = format!("{} {:?} {:?}", finding.message, finding.help, finding.related);
            assert!(!said.contains(VALUE), "{text}{said}");
        }
    }
}
