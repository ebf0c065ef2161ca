//! What a parser says of a text that is no CEL, in words of ours: its own name its rules and tokens.

/// Whether it says what is wrong, and not what followed from that inside of the parser.
pub(super) fn is_of_the_text(message: &str) -> bool {
    !["Incomplete", "No `", "UNKNOWN"].iter().any(|internal| message.starts_with(internal))
}

/// What is wrong, for people. What the parser says otherwise than here is said as "it cannot be read here".
pub(super) fn words(message: &str) -> String {
    let message = message.trim_start_matches("Syntax error: ");
    let quoted = |from: &str| {
        let rest = message.split_once(from)?.1.split_once('\'')?.1;
        // what follows is told apart by its words: the text may hold quotes of its own
        let end = rest.find("' expecting").or_else(|| rest.find("' at '")).or_else(|| rest.rfind('\''))?;
        rest.get(..end)
    };
    let starts = |words: &str| message.starts_with(words);
    if starts("missing ") {
        return match (quoted("missing "), quoted(" at ")) {
            (Some(what), Some("<EOF>")) => format!("`{what}` is missing at its end"),
            (Some(what), Some(before)) => format!("`{what}` is missing before `{before}`"),
            _ => UNREADABLE.to_owned(),
        };
    }
    for unexpected in ["mismatched input", "extraneous input"] {
        match quoted(unexpected) {
            Some("<EOF>") => return "it ends where something must follow".to_owned(),
            Some(token) => return format!("`{token}` does not belong here"),
            None => {}
        }
    }
    if let Some(token) = quoted("token recognition error at:") {
        return match token.trim().chars().next() {
            Some('=') => "`=` is no operator: `==` compares".to_owned(),
            Some('&') => "`&` is no operator: write `&&`".to_owned(),
            Some('|') => "`|` is no operator: write `||`".to_owned(),
            Some('\'' | '"') if token.contains('\\') => ESCAPE.to_owned(),
            Some('\'' | '"') => "a text that begins here does not end".to_owned(),
            _ => format!("`{}` is no part of an expression", token.trim()),
        };
    }
    if let Some(name) = message.strip_prefix("reserved identifier: ") {
        return format!("`{name}` is a word that CEL keeps for itself");
    }
    if let Some(syntax) = quoted("unsupported syntax") {
        return format!("`{syntax}` is not supported");
    }
    let known = [
        ("no viable alternative at input", "something else must follow here"),
        ("invalid int literal", "this number is too large"),
        ("invalid uint literal", "this number is too large"),
        ("invalid double literal", "this is no number"),
        ("invalid string literal", ESCAPE),
        ("invalid bytes literal", ESCAPE),
        ("invalid argument to has()", "`has` asks for a field, such as `has(status.phase)`"),
        ("argument must be a simple name", "what all, exists, filter and map call each item is a plain name"),
    ];
    known.iter().find(|(begins, _)| starts(begins)).map_or(UNREADABLE, |(_, words)| words).to_owned()
}

const ESCAPE: &str = "this text has an escape that CEL does not know; `\\\\` is a backslash";
const UNREADABLE: &str = "it cannot be read here";

#[cfg(test)]
mod tests {
    use super::super::Expression;

    /// Each by what a parser makes of it, so that another version of it cannot change what people read.
    #[test]
    fn no_word_of_the_parser_is_shown() {
        for (text, at, expected) in [
            ("status.phase ==", Some(15), "it ends where something must follow"),
            ("status.a == 'é' ++ 1", Some(18), "`+` does not belong here"),
            ("status.a = 'x'", Some(9), "`=` is no operator: `==` compares"),
            ("status.a & true", Some(9), "`&` is no operator: write `&&`"),
            ("status.a | true", Some(9), "`|` is no operator: write `||`"),
            ("status.a == 'x", Some(12), "a text that begins here does not end"),
            ("status.a == #", Some(12), "`#` is no part of an expression"),
            ("(status.a == 1", Some(14), "`)` is missing at its end"),
            ("status.a.exists(c, c == 1", None, "`)` is missing at its end"),
            ("status.a == 99999999999999999999", Some(12), "this number is too large"),
            ("has(status)", Some(4), "`has` asks for a field"),
            ("status.a.all(c.x, true)", Some(14), "is a plain name"),
            ("status.a == while", Some(12), "`while` is a word that CEL keeps for itself"),
            ("status.?a == 1", None, "is not supported"),
            (")", Some(0), "`)` does not belong here"),
            ("status.a ? 1", Some(12), "it ends where something must follow"),
            ("status.a ? : 1", Some(11), "`:` does not belong here"),
            ("status.a[]", Some(9), "`]` does not belong here"),
            ("status.", Some(7), "something else must follow here"),
            ("{'a' 1} == status.a", Some(5), "`:` is missing before `1`"),
            ("status.a AND status.b", Some(9), "`AND` does not belong here"),
            ("", Some(0), "it ends where something must follow"),
            ("status.a == 'a\\q'", None, "an escape that CEL does not know"),
        ] {
            let error = Expression::compile(text).unwrap_err();
            assert!(error.message.contains(expected), "{text}: {error}");
            if at.is_some() {
                assert_eq!(error.at, at, "{text}: {error}");
            }
            for internal in ["EOF", "input", "token", "mismatched", "viable", "Context", "literal:"] {
                assert!(!error.message.contains(internal), "{text}: {error}");
            }
        }
    }
}
