//! The name rules of Kubernetes, and the nearest of several names.
//!
//! Invariant: a rule accepts exactly what `k8s.io/apimachinery` (`pkg/util/validation`, 1.36) accepts; lengths count
//! bytes, as there. The next rule is a variant of [`NameRule`] with an arm in [`check`] and rows in the tests.

/// Which names are allowed somewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NameRule {
    /// `IsDNS1123Label`: namespaces, containers, port and volume names, most things that become one part of a host name.
    Dns1123Label,
    /// `IsDNS1123Subdomain`: the name of most objects.
    Dns1123Subdomain,
    /// `IsDNS1035Label`: Services before Kubernetes 1.34 among others; as a DNS-1123 label, but begins with a letter.
    Dns1035Label,
    /// `IsQualifiedName`: label, annotation, taint and resource names; `[DNS subdomain /] name`.
    QualifiedName,
    /// `IsValidLabelValue`: may be empty.
    LabelValue,
    /// `IsConfigMapKey`: a key of a ConfigMap or a Secret.
    ConfigMapKey,
    /// `IsEnvVarName`: an environment variable before Kubernetes 1.34 relaxed the rule.
    EnvVarName,
    /// `IsRelaxedEnvVarName`: an environment variable since Kubernetes 1.34.
    RelaxedEnvVarName,
    /// `IsValidPathSegmentName`: RBAC roles and bindings, and custom resources with free names.
    PathSegment,
    /// `IsValidPortName`: a named container or Service port.
    PortName,
    /// `IsWildcardDNS1123Subdomain`: `*.` and a subdomain, as an Ingress host.
    WildcardDns1123Subdomain,
    /// `IsCIdentifier`: a programming language's identifier.
    CIdentifier,
}

const LABEL_MAX_BYTES: usize = 63;
const SUBDOMAIN_MAX_BYTES: usize = 253;
const PORT_NAME_MAX_BYTES: usize = 15;

/// Checks a text against a rule.
///
/// # Errors
/// What is expected instead, as a clause that follows "expected": `at most 63 characters`, `lower case ...`.
pub fn check(rule: NameRule, text: &str) -> Result<(), String> {
    match rule {
        NameRule::Dns1123Label => {
            at_most(text, LABEL_MAX_BYTES)?;
            if is_dns_label(text) {
                Ok(())
            } else if text.split('.').all(is_dns_label) {
                Err("a name without dots (like 'my-name')".to_owned())
            } else {
                Err("lower case letters, digits and '-', beginning and ending with a letter or digit (like 'my-name')"
                    .to_owned())
            }
        }
        NameRule::Dns1123Subdomain => check_subdomain(text),
        NameRule::Dns1035Label => {
            at_most(text, LABEL_MAX_BYTES)?;
            expect(
                is_dns_label(text) && text.starts_with(|c: char| c.is_ascii_lowercase()),
                "lower case letters, digits and '-', beginning with a letter and ending with a letter or digit (like 'my-name')",
            )
        }
        NameRule::QualifiedName => check_qualified(text),
        NameRule::LabelValue => {
            at_most(text, LABEL_MAX_BYTES)?;
            expect(
                text.is_empty() || is_word(text),
                "nothing, or letters, digits, '-', '_' and '.', beginning and ending with a letter or digit (like 'my_value')",
            )
        }
        NameRule::ConfigMapKey => {
            at_most(text, SUBDOMAIN_MAX_BYTES)?;
            expect(
                !text.is_empty() && text.bytes().all(is_word_byte),
                "letters, digits, '-', '_' and '.' (like 'key.name')",
            )?;
            check_no_parent_folder(text)
        }
        NameRule::EnvVarName => {
            expect(
                text.bytes().all(is_word_byte) && text.starts_with(|c: char| !c.is_ascii_digit()),
                "letters, digits, '-', '_' and '.', not beginning with a digit (like 'MY_ENV')",
            )?;
            check_no_parent_folder(text)
        }
        NameRule::RelaxedEnvVarName => expect(
            !text.is_empty() && text.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'='),
            "printable ASCII characters other than '=' (like 'MY_ENV')",
        ),
        NameRule::PathSegment => expect(
            text != "." && text != ".." && !text.contains(['/', '%']),
            "a name without '/' and '%', not '.' or '..'",
        ),
        NameRule::PortName => {
            at_most(text, PORT_NAME_MAX_BYTES)?;
            expect(
                text.bytes().all(is_dns_byte)
                    && text.bytes().any(|b| b.is_ascii_lowercase())
                    && !text.contains("--")
                    && !text.starts_with('-')
                    && !text.ends_with('-'),
                "lower case letters, digits and single '-' between them, with at least one letter (like 'http')",
            )
        }
        NameRule::WildcardDns1123Subdomain => {
            at_most(text, SUBDOMAIN_MAX_BYTES)?;
            expect(
                text.strip_prefix("*.").is_some_and(|rest| rest.split('.').all(is_dns_label)),
                "'*.' and a lower case domain (like '*.example.com')",
            )
        }
        NameRule::CIdentifier => expect(
            text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && text.starts_with(|c: char| !c.is_ascii_digit()),
            "letters, digits and '_', not beginning with a digit (like 'my_name')",
        ),
    }
}

fn expect(holds: bool, expected: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(expected.to_owned()) }
}

fn at_most(text: &str, max_bytes: usize) -> Result<(), String> {
    if text.len() <= max_bytes { Ok(()) } else { Err(format!("at most {max_bytes} characters, not {}", text.len())) }
}

fn check_subdomain(text: &str) -> Result<(), String> {
    at_most(text, SUBDOMAIN_MAX_BYTES)?;
    expect(
        text.split('.').all(is_dns_label),
        "lower case letters, digits, '-' and '.', each part beginning and ending with a letter or digit (like 'example.com')",
    )
}

fn check_qualified(text: &str) -> Result<(), String> {
    let name = match text.split_once('/') {
        None => text,
        Some((_, name)) if name.contains('/') => {
            return Err("one '/' at most, between a domain and a name (like 'example.com/my-name')".to_owned());
        }
        Some((prefix, name)) => {
            check_subdomain(prefix).map_err(|expected| format!("as the part before '/': {expected}"))?;
            name
        }
    };
    at_most(name, LABEL_MAX_BYTES)?;
    expect(
        is_word(name),
        "letters, digits, '-', '_' and '.', beginning and ending with a letter or digit, after an optional domain and '/' \
         (like 'my.name' or 'example.com/my-name')",
    )
}

/// A key is mounted as a file: `..` would leave the folder, and the kubelet keeps names that begin so for itself.
fn check_no_parent_folder(text: &str) -> Result<(), String> {
    expect(text != "." && !text.starts_with(".."), "a name that is not '.' and does not begin with '..'")
}

fn is_dns_byte(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'
}

/// `[a-z0-9]([-a-z0-9]*[a-z0-9])?`, of any length.
fn is_dns_label(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_dns_byte) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')
}

/// `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`, of any length.
fn is_word(text: &str) -> bool {
    let ends_well = |c: char| c.is_ascii_alphanumeric();
    text.bytes().all(is_word_byte) && text.starts_with(ends_well) && text.ends_with(ends_well)
}

/// The candidate most like what was written, for hints: the fewest edits (insert, delete, replace, swap of neighbours),
/// letter case aside, and at most a third of the longer length; of equally near ones the first by name. `None` when no
/// candidate is that near.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Longer texts are no typos of field names, and the distance costs the product of the lengths.
    const MAX_CHARS: usize = 128;
    let wanted_chars: Vec<char> = wanted.chars().collect();
    if wanted_chars.len() > MAX_CHARS {
        return None;
    }
    let lower = |chars: &[char]| -> Vec<char> { chars.iter().map(char::to_ascii_lowercase).collect() };
    let wanted_lower = lower(&wanted_chars);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let chars: Vec<char> = candidate.chars().take(MAX_CHARS + 1).collect();
            let longer = chars.len().max(wanted_chars.len());
            if longer > MAX_CHARS {
                return None;
            }
            let edits = distance(&wanted_lower, &lower(&chars));
            // One edit is allowed in short names too, but not a name made wholly of edits.
            (edits <= (longer / 3).max(1) && edits < longer).then_some((edits, candidate))
        })
        .min()
        .map(|(_, candidate)| candidate)
}

/// Optimal string alignment: edits are insert, delete, replace and swap of two neighbours.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, &y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label_of(len: usize) -> String {
        "a".repeat(len)
    }

    #[test]
    fn each_rule_accepts_and_refuses_what_kubernetes_does() {
        use NameRule::*;
        let long_domain = vec![label_of(63); 4].join(".");
        let (l63, l64, l253, l254) = (label_of(63), label_of(64), label_of(253), label_of(254));
        let in_domain = format!("kubernetes.io/{l63}");
        let rows: &[(NameRule, &[&str], &[&str])] = &[
            (
                Dns1123Label,
                &["a", "1", "1a", "a-b", "a--b", "xn--a", &l63],
                &["", "A", "-", "-a", "a-", "a.b", "a_b", "a b", "a\n", "é", "0.0.0.0", &l64],
            ),
            (
                Dns1123Subdomain,
                &["a", "1", "a.b", "0.0.0.0", "v1.2", "a-b.c-d", &l253],
                &["", ".", "a.", ".a", "a..b", "a.-b", "A", "a_b", "x/y", "a.b\n", &l254],
            ),
            (Dns1035Label, &["a", "a1", "a-1", &l63], &["", "1a", "-a", "a-", "a.b", "A", "é", &l64]),
            (
                QualifiedName,
                &["a", "A", "1", "a_b", "a.b", "a..b", "a.B", "x/y", "example.com/X", &l63, &in_domain],
                &["", "/", "x/", "/x", "a/b/c", "-", "_", "-a", "a-", "a b", "X/y", "é", &l64, "x/y\n"],
            ),
            (LabelValue, &["", "1", "true", "a_B.c-d", &l63], &["-", ".", "a-", "a b", "a/b", "é", "a\n", &l64]),
            (ConfigMapKey, &["a", ".a", "A_b-c.d", "-", &l253], &["", ".", "..", "..a", "a/b", "a b", &l254]),
            (EnvVarName, &["A", "_a", "a.b-c", "-a"], &["", "1a", ".", "..", "..a", "a b", "a=b"]),
            (RelaxedEnvVarName, &["A", "1a", "a b", "..", "~"], &["", "a=b", "a\tb", "é", "\u{7f}"]),
            (PathSegment, &["", "a", "A:b", "system:node", "..."], &[".", "..", "a/b", "a%b"]),
            (
                PortName,
                &["http", "a", "h2-c", "23456789012345a"],
                &["", "1", "-a", "a-", "a--b", "A", "1234567890123456"],
            ),
            (WildcardDns1123Subdomain, &["*.a", "*.a.b"], &["*", "*.", "a.b", "*.*.a", "a.*.b"]),
            (CIdentifier, &["a", "_", "A1_b"], &["", "1", "a-b", "a.b"]),
        ];
        for (rule, good, bad) in rows {
            for text in *good {
                assert_eq!(check(*rule, text), Ok(()), "{rule:?} {text:?}");
            }
            for text in *bad {
                assert!(check(*rule, text).is_err(), "{rule:?} {text:?}");
            }
        }
        assert!(check(QualifiedName, &format!("{long_domain}/x")).is_err(), "the domain is longer than 253");
    }

    #[test]
    fn the_error_says_what_is_expected() {
        let expected = |rule, text: &str| check(rule, text).unwrap_err();
        assert_eq!(expected(NameRule::Dns1123Label, "a.b"), "a name without dots (like 'my-name')");
        assert_eq!(expected(NameRule::Dns1123Label, &label_of(64)), "at most 63 characters, not 64");
        assert_eq!(
            expected(NameRule::QualifiedName, "a/b/c"),
            "one '/' at most, between a domain and a name (like 'example.com/my-name')"
        );
        assert!(expected(NameRule::QualifiedName, "X/y").starts_with("as the part before '/': lower case"));
    }

    #[test]
    fn nearest_finds_typos_only() {
        let fields = ["clusters", "replicas", "spread", "tolerations", "tiers"];
        let rows = [
            ("cluster", Some("clusters")),
            ("Replicas", Some("replicas")),
            ("replcias", Some("replicas")),
            ("sperad", Some("spread")),
            ("toleration", Some("tolerations")),
            ("tier", Some("tiers")),
            ("banana", None),
            ("", None),
            ("x", None),
        ];
        for (wanted, found) in rows {
            assert_eq!(nearest(wanted, fields), found, "{wanted}");
        }
        assert_eq!(nearest("eu-c", ["eu-b", "eu-a"]), Some("eu-a"), "of equally near names the first by name");
        assert_eq!(nearest("a", []), None);
        assert_eq!(nearest(&"x".repeat(100_000), ["x"]), None);
    }
}
