//! Instants as the record writes them: RFC 3339 in UTC, whole seconds (`2026-11-30T10:00:00Z`).

use fleetwright_compiler::base::SmolStr;

const DAY_SECS: i64 = 86_400;

/// The text of an instant. Years before 0 and after 9999 are written as the nearest of these.
#[must_use]
pub fn text(secs: i64) -> SmolStr {
    // 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z
    let secs = secs.clamp(-62_167_219_200, 253_402_300_799);
    let (days, of_day) = (secs.div_euclid(DAY_SECS), secs.rem_euclid(DAY_SECS));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z").into()
}

/// The seconds since 1970 of a text that [`text`] writes, or of one with an offset or a fraction of a second, which is cut
/// off. `None` for anything else.
#[must_use]
pub fn parse(text: &str) -> Option<i64> {
    let number = |from: usize, to: usize| {
        let part = text.get(from..to)?;
        part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse::<i64>().ok())?
    };
    let mark = |at: usize, marks: &str| text.get(at..=at).is_some_and(|c| marks.contains(c));
    if !(mark(4, "-") && mark(7, "-") && mark(10, "Tt ") && mark(13, ":") && mark(16, ":")) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let days = days(year, month, day);
    if civil(days) != (year, month, day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut rest = text.get(19..)?;
    if let Some(fraction) = rest.strip_prefix('.') {
        let after = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        if after.len() == fraction.len() {
            return None;
        }
        rest = after;
    }
    let at = days * DAY_SECS + hour * 3600 + minute * 60 + second.min(59);
    Some(at - offset_secs(rest)?)
}

fn offset_secs(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let sign = match text.get(0..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let two =
        |part: &str| (part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit())).then(|| part.parse::<i64>().ok())?;
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Year, month and day of a count of days since 1970-01-01, in the proleptic Gregorian calendar
/// (<https://howardhinnant.github.io/date_algorithms.html>).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    era * 146_097 + of_era - 719_468
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
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(text(secs), expected);
            assert_eq!(parse(expected), Some(secs), "{expected}");
        }
        assert_eq!(text(i64::MAX), "9999-12-31T23:59:59Z");
        for days in (-800_000..3_000_000).step_by(37) {
            if let Some(secs) = parse(&text(days * DAY_SECS)) {
                assert_eq!(secs.div_euclid(DAY_SECS), days.clamp(-719_528, 2_932_896));
            }
        }
    }

    #[test]
    fn other_spellings() {
        for (text, expected) in [
            ("2026-11-30T12:00:00+01:00", Some(1_796_036_400)),
            ("2026-11-30T05:30:00.123-05:30", Some(1_796_036_400)),
            ("2026-11-30 11:00:00z", Some(1_796_036_400)),
            ("2026-02-29T00:00:00Z", None),
            ("2026-13-01T00:00:00Z", None),
            ("2026-11-30T24:00:00Z", None),
            ("2026-11-30T11:00:00", None),
            ("2026-11-30T11:00:00.Z", None),
            ("2026-11-30", None),
            ("+026-11-30T11:00:00Z", None),
            ("", None),
            ("ü026-11-30T11:00:00Z", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
