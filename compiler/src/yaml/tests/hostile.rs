//! Text made to hurt: time and memory stay small, and nothing overflows a stack.

use super::mistakes;
use crate::yaml::{Limits, YamlErrorKind as Kind, compose};

#[test]
fn nesting_is_bounded() {
    let limit = Kind::Depth { limit: 64 };
    for text in ["[".repeat(200_000), "- ".repeat(100_000), "{a: ".repeat(100_000), "? ".repeat(100_000)] {
        let found = mistakes(&text);
        assert_eq!(found.iter().map(|(_, kind)| kind).collect::<Vec<_>>(), [&limit], "{}", &text[..4]);
    }
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(mistakes(&nested(64)), []);
    assert_eq!(mistakes(&nested(65))[0].1, limit);
    // Depth counts what aliases expand to.
    let deep = format!("a: &a {}\nb: {}*a{}\n", nested(40), "[".repeat(30), "]".repeat(30));
    assert_eq!(mistakes(&deep), [("*a", limit.clone())]);
    let bounded = Limits { depth: u32::MAX, ..Limits::default() };
    let deeper = nested(1000);
    let (_, errors) = compose(&deeper, &bounded);
    assert_eq!(errors[0].kind, Kind::Depth { limit: 128 });
}

#[test]
fn aliases_are_bounded_for_the_file() {
    let list = |name: usize| vec![format!("*x{name}"); 10].join(", ");
    let mut bomb = "x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n".to_owned();
    for level in 1..9 {
        bomb += &format!("x{level}: &x{level} [{}]\n", list(level - 1));
    }
    assert_eq!(mistakes(&bomb).iter().map(|(_, kind)| kind).collect::<Vec<_>>(), [&Kind::AliasBudget]);
    // Many documents cannot do together what one may not.
    let part = format!("a: &a [{}]\nb: [{}]\n---\n", vec!["1"; 100].join(", "), vec!["*a"; 90].join(", ")).repeat(40);
    let (documents, errors) = compose(&part, &Limits::default());
    assert!(documents[0].root.is_some() && documents[5].root.is_some());
    assert!(errors.len() > 20 && errors.iter().all(|error| error.kind == Kind::AliasBudget));
    // Anchors inside anchors are not kept without end.
    let anchors: String =
        (0..60).map(|level| format!("{}&a{level}\n{}k:\n", " ".repeat(level), " ".repeat(level))).collect();
    let wide =
        format!("r: {anchors}{}- {}\n", " ".repeat(60), vec!["1"; 20_000].join(&format!("\n{}- ", " ".repeat(60))));
    let (_, errors) = compose(&wide, &Limits::default());
    assert!(errors.len() <= 1);
}

#[test]
fn size_and_mistakes_are_bounded() {
    let limits = Limits { bytes: 10, ..Limits::default() };
    let (documents, errors) = compose("a: 123456789", &limits);
    assert!(documents.is_empty());
    assert_eq!(errors[0].kind, Kind::TooLarge { limit: 10 });
    let found = mistakes(&"a: 1\n".repeat(5000)).len();
    assert_eq!(found, 101);
    assert_eq!(mistakes(&"\u{1}".repeat(5000)).len(), 100);
    let many = "@\n---\n".repeat(5000);
    let (documents, errors) = compose(&many, &Limits::default());
    assert_eq!((documents.len(), errors.len()), (5000, 1001));
    assert!(documents.iter().all(|document| document.root.is_none()));
}

#[test]
fn a_large_mapping_takes_no_square_time() {
    let keys: String = (0..100_000).map(|n| format!("k{n}: {n}\n")).collect();
    assert_eq!(mistakes(&keys), []);
    let merged =
        format!("a: &a\n  x: 1\n{}", (0..50_000).map(|n| format!("k{n}: {n}\n")).collect::<String>() + "<<: *a\n");
    assert_eq!(mistakes(&merged), []);
}

/// Any text gives an answer; mutations of valid text reach further into the code than noise does.
#[test]
fn no_text_is_too_odd() {
    let seeds = [
        "a: &x {b: [1, 'c', \"d\\u00e9\"]}\ne: *x\nf: |+\n  g\n\n---\n<<: {h: !!binary aGk=}\ni: >-\n  j\n   k\n",
        "{\"a\": [true, null, 1e3, \"\\ud83d\\ude00\"]}",
        "? [a]\n: b\n- c\n\td: e\n... \n%YAML\n\u{feff}",
    ];
    let pieces = [
        "\n", "\t", ": ", "- ", "[", "]", "{", "}", "'", "\"", "\\", "&a", "*a", "!!int ", "|", ">", "#", "\r",
        "---\n", "...", "\u{feff}", "é", "\u{2028}", "0", "<<: ",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for _ in 0..4000 {
        let mut text: Vec<char> = seeds[random(seeds.len())].chars().collect();
        for _ in 0..=random(6) {
            let at = random(text.len() + 1);
            match random(3) {
                0 if at < text.len() => drop(text.remove(at)),
                1 => text.truncate(at),
                _ => drop(text.splice(at..at, pieces[random(pieces.len())].chars())),
            }
        }
        let text: String = text.into_iter().collect();
        let (documents, errors) = compose(&text, &Limits::default());
        for error in &errors {
            assert!(text.get(error.span.range()).is_some(), "{text:?} {error:?}");
            assert!(!error.to_string().is_empty() && !error.hint().is_empty());
        }
        for document in documents {
            assert!(document.root.is_some() || !errors.is_empty(), "{text:?}");
            document.warnings.iter().for_each(|warning| assert!(text.get(warning.span.range()).is_some(), "{text:?}"));
        }
    }
}
