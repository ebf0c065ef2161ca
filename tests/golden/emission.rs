//! What is written means the same to readers that have nothing in common with ours: `serde_yaml`, and where they are
//! installed PyYAML (YAML 1.1) and `kubectl`. A string stays that string, as a value and as a key.
//!
//! The next trap is a line of [`TRAPS`]; the next reader a function beside [`pyyaml`].

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use fleetwright_compiler::yaml::{self, Limits};
use serde_json::{Value, json};

/// Strings that some reader takes for something else if they are not quoted, or loses a part of if they are written in the
/// wrong style.
#[rustfmt::skip]
const TRAPS: &[&str] = &[
    // words
    "", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "y", "Y", "n", "N", "true",
    "True", "TRUE", "tRue", "false", "False", "FALSE", "null", "Null", "NULL", "nULL", "nil", "none", "~", "nan",
    "NaN", ".nan", ".NaN", ".NAN", "inf", "Inf", ".inf", ".Inf", ".INF", "-.inf", "+.inf", "infinity", "-inf", "yess",
    "not", "one",
    // numbers
    "0", "00", "007", "0644", "08", "0o644", "0O7", "0x1F", "0X1f", "0x", "0b101", "0b", "-0b1", "1_000", "_1", "1_",
    "0_7", "1__0", "+1", "-1", "--1", "1e3", "1E3", "1e+3", "1e-3", "1e", "e3", "1.5", ".5", "5.", "-.5", "+.5", ".",
    "..", "1.", "1.2.3", "1.10", "12e03", "1e400", "0.1e-400", "9223372036854775807", "9223372036854775808",
    "18446744073709551616", "0x_1", "1,000", "1 000", "685_230.15", "6.8523015e+5", "0.", "-0", "-", "+", "1Gi",
    "1Ei", "100m", "0777n",
    // sexagesimals, dates, versions
    "12:30", "1:1", "190:20:30", "12:30:45.5", "0:0", "-1:30", "1:60", "2024-06-01", "2024-6-1",
    "2024-06-01T12:00:00Z", "2024-06-01t12:00:00.5+02:00", "2024-06-01 12:00:00", "2001-12-14 21:59:43.10 -5",
    "02-01-2024", "20240601",
    // indicators
    "=", "<<", "<", "<<x", "-", "- x", "-x", "--", "---", "--- x", "...", "... x", "?", "? x", "?x", ":", ": x", ":x",
    "x:", "x: y", "x:y", "x :y", "a: ", ",", ", x", "[", "[]", "[a]", "]", "{", "{}", "{a: b}", "}", "#", "# x",
    "a #b", "a# b", "a#b", "&", "&a", "&a b", "*", "*a", "**", "!", "!a", "!!str a", "!!", "|", "|-", "| x", ">",
    ">-", "> x", "'", "''", "'a'", "it's", "\"", "\"a\"", "a\"b", "%", "%YAML 1.1", "%a", "@", "@a", "`", "`a`", "\\",
    "\\n", "a\\", "\\x41", "/", "$x", "${x}", "{{ x }}", "{{x}}", "a, b", "a,b", "(a)", "^a$", ".*", "a|b", "a>b",
    "a&b", "a*b", "a!b", "a@b", "a%b",
    // blanks and line breaks
    " ", "  ", "\t", " a", "a ", "\ta", "a\t", "a b", "a  b", "a\tb", "\n", "\n\n", " \n", "\n ", "a\n", "a\n\n",
    "a\n\n\n", "\na", "\n\na", " \na", "a\nb", "a\nb\n", "a\n\nb", "a\n b", "a\n  b\n c\n", " a\nb", "  a\n b",
    "\ta\nb", "a \nb", "a\nb ", "a\t\nb", "a\n\tb", "a\n\t", "a\n ", "a\n \n", "a\n \nb", "a\n\n ", "\r", "\r\n",
    "a\r", "a\rb", "a\r\nb", "a\r\nb\r\n", "a\nb\r", "a\n\rb", "# a\nb", "a\n# b", "- a\n- b", "a: 1\nb: 2\n",
    "---\n", "a\n---\nb\n", "a\n...\n", "|\na", "\"\n\"", "'\n'", "#!/bin/sh\nset -e\n", "{\n  \"a\": 1\n}\n",
    "\u{b}", "\u{c}", "a\u{b}b",
    // other characters
    "é", "Größe", "日本語", "العربية", "😀", "👩\u{200d}🚀", "e\u{301}", "\u{85}", "a\u{85}b", "a\nb\u{85}c", "\u{a0}",
    "a\u{a0}", "\u{2028}", "a\u{2028}b", "a\nb\u{2028}", "\u{2029}", "\u{200b}", "\u{202e}x", "\u{feff}", "\u{feff}a",
    "a\u{feff}b", "a\n\u{feff}", "\0", "a\0b", "\u{1}", "\u{7}", "\u{8}", "\u{1b}[0m", "\u{1f}", "\u{7f}", "\u{80}",
    "\u{9f}", "a\n\u{7f}", "\u{d7ff}", "\u{e000}", "\u{fffd}", "\u{fffe}", "\u{ffff}", "\u{10000}", "\u{1fffe}",
    "\u{10ffff}", "a\n😀\n",
];

/// The traps, long texts, and texts drawn from what is special.
fn texts() -> Vec<String> {
    let mut texts: BTreeSet<String> = TRAPS.iter().map(|t| (*t).to_owned()).collect();
    assert!(texts.len() > 300, "{} traps", texts.len());
    texts.insert("long ".repeat(400));
    texts.insert("x".repeat(5000));
    texts.insert("a: b\n".repeat(200));
    let alphabet: Vec<char> =
        " \t\n\r:#-[]{},&*!|>'\"%@`?=<~.\\/_+0123456789abeExXoynEOFN$()\u{85}\u{a0}\u{2028}\u{feff}\0\u{1b}\u{7f}é😀日"
            .chars()
            .collect();
    let mut state = 20_240_601_u64;
    let mut draw = move |below: usize| {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % below as u64) as usize
    };
    for _ in 0..600 {
        let text = (0..=draw(12)).map(|_| alphabet[draw(alphabet.len())]).collect();
        texts.insert(text);
        // an edit of a trap is often another
        let mut trap: Vec<char> = TRAPS[draw(TRAPS.len())].chars().collect();
        let at = draw(trap.len() + 1);
        trap.insert(at, alphabet[draw(alphabet.len())]);
        texts.insert(trap.into_iter().collect());
    }
    texts.into_iter().collect()
}

/// An object with every text where a text can stand, and the numbers.
fn object() -> Value {
    let texts = texts();
    let nested: Vec<Value> = texts.iter().map(|t| json!([{ t: t, "list": [t, [t]] }])).collect();
    let keys: serde_json::Map<String, Value> =
        texts.iter().enumerate().map(|(i, t)| (t.clone(), Value::from(i))).collect();
    json!({
        "apiVersion": "shop.example/v1",
        "kind": "Gadget",
        "metadata": {"name": "texts"},
        "spec": {
            "values": texts,
            "keys": keys,
            "nested": nested,
            "numbers": [0, 1, -1, i64::MAX, i64::MIN, 0.1, -2.5, 1e-7, 1.5e21, 6.02e23, 5e-324, f64::MAX],
            "others": [null, true, false, [], {}, [[]], [{}], {"a": null}],
        }
    })
}

/// Asserts that a reader found the object in the text.
fn assert_read(reader: &str, found: &Value, expected: &Value, text: &str) {
    fn visit(path: &str, found: &Value, expected: &Value, wrong: &mut String) {
        let same = match (found, expected) {
            (Value::Object(a), Value::Object(b)) if a.len() == b.len() && b.keys().all(|k| a.contains_key(k)) => {
                return b.iter().for_each(|(k, b)| visit(&format!("{path}/{k:?}"), &a[k], b, wrong));
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                return a.iter().zip(b).enumerate().for_each(|(i, (a, b))| visit(&format!("{path}/{i}"), a, b, wrong));
            }
            // which zeros of a float are written is a matter of taste
            (Value::Number(a), Value::Number(b)) if b.is_f64() => a.as_f64() == b.as_f64(),
            (a, b) => a == b,
        };
        if !same {
            let _ = writeln!(wrong, "{path}: wrote {expected}, read {found}");
        }
    }
    let mut wrong = String::new();
    visit("", found, expected, &mut wrong);
    assert!(wrong.is_empty(), "{reader}:\n{wrong}{}", if text.len() < 2000 { text } else { "" });
}

fn emitted() -> (Value, String) {
    let object = object();
    let mut text = String::new();
    yaml::emit(&object, &mut text);
    (object, text)
}

#[test]
fn our_reader_and_serde_yaml_read_what_was_written() {
    let (object, text) = emitted();
    let (documents, errors) = yaml::compose(&text, &Limits::default());
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(documents[0].warnings, [], "what is written is never ambiguous");
    assert_read("fleetwright", &documents[0].root.as_ref().unwrap().to_json(), &object, &text);
    assert_read("serde_yaml", &serde_yaml::from_str(&text).unwrap(), &object, &text);
    // alone, a text is a document of its own
    for value in object["spec"]["values"].as_array().unwrap() {
        let mut text = String::new();
        yaml::emit(value, &mut text);
        assert_read("serde_yaml", &serde_yaml::from_str(&text).unwrap(), value, &text);
    }
}

#[test]
fn pyyaml_reads_what_was_written() {
    let program = "\
import json, sys, yaml
def check(v):
    if isinstance(v, dict):
        for k, w in v.items():
            assert isinstance(k, str), 'key %r' % k
            check(w)
    elif isinstance(v, list):
        for w in v: check(w)
    else: assert v is None or isinstance(v, (str, bool, int, float)), repr(v)
v = yaml.safe_load(open(sys.argv[1], encoding='utf-8', newline=''))
check(v)
json.dump(v, sys.stdout)
";
    let Some(python) = installed("python3", &["-c", "import yaml"], "PyYAML") else { return };
    let (object, text) = emitted();
    let file = saved(&text);
    let found = output(Command::new(python).arg("-c").arg(program).arg(file.path()));
    assert_read("PyYAML", &serde_json::from_slice(&found).unwrap(), &object, &text);
}

#[test]
fn kubectl_reads_what_was_written() {
    let Some(kubectl) = installed("kubectl", &["version", "--client"], "kubectl") else { return };
    let (object, text) = emitted();
    let file = saved(&text);
    let found = output(Command::new(kubectl).args(["label", "--local", "-o", "json", "x=1", "-f"]).arg(file.path()));
    let mut found: Value = serde_json::from_slice(&found).unwrap();
    found["metadata"].as_object_mut().unwrap().remove("labels");
    assert_read("kubectl", &found, &object, &text);
}

/// The program, if it runs; else says what is not tested.
fn installed(program: &'static str, arguments: &[&str], what: &str) -> Option<&'static str> {
    let runs = Command::new(program).args(arguments).output().is_ok_and(|o| o.status.success());
    if !runs {
        eprintln!("NOT TESTED: {what} is not installed, so nothing was compared with it");
    }
    runs.then_some(program)
}

fn saved(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".yaml").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

fn output(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}
