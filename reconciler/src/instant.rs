//! Instants as the record writes them: RFC 3339 in UTC, whole seconds (`2026-11-30T10:00:00Z`).

use fleetwright_compiler::base::SmolStr;
use fleetwright_compiler::tide::Timestamp;

/// The text of an instant, in seconds since 1970. One before the year -9999 or after 9999 is written as the nearest.
#[must_use]
pub fn text(secs: i64) -> SmolStr {
    let nearest = if secs < 0 { Timestamp::MIN } else { Timestamp::MAX };
    let whole = |at: Timestamp| Timestamp::from_second(at.as_second()).unwrap_or(at);
    Timestamp::from_second(secs).unwrap_or_else(|_| whole(nearest)).to_string().into()
}

/// The seconds since 1970 of a text that [`text`] writes, or of one with an offset or a fraction of a second, which is cut
/// off. `None` for anything else.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    text.parse::<Timestamp>().ok().map(Timestamp::as_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_there_and_back() {
        for (secs, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_796_036_400, "2026-11-30T11:00:00Z"),
        ] {
            assert_eq!(text(secs), expected);
            assert_eq!(parse(expected), Some(secs), "{expected}");
        }
        for secs in [i64::MIN, i64::MAX] {
            assert!(parse(&text(secs)).is_some(), "{}", text(secs));
        }
    }

    #[test]
    fn other_spellings() {
        for (text, expected) in [
            ("2026-11-30T12:00:00+01:00", Some(1_796_036_400)),
            ("2026-11-30T05:30:00.123-05:30", Some(1_796_036_400)),
            ("2026-02-29T00:00:00Z", None),
            ("2026-11-30T11:00:00", None),
            ("2026-11-30", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
