//! Explicit tags: `!!str`, `!!int`, `!!binary` and the like.

use std::borrow::Cow;

use super::error::YamlErrorKind;
use super::resolve::{Scalar, kubernetes};

/// The namespace that `!!` stands for.
const PREFIX: &str = "tag:yaml.org,2002:";

/// What a tag makes of a scalar.
pub(super) enum Tagged<'s> {
    /// A value.
    Scalar(Scalar),
    /// Text that is not in the source as it is.
    Text(Cow<'s, str>),
    /// The text, by a tag that Kubernetes' reader does not know: it drops the tag in silence.
    Unknown,
}

/// The tag without its namespace (`str`), if it is one of YAML's own.
pub(super) fn own_tag(tag: &str) -> Option<&str> {
    tag.strip_prefix(PREFIX)
}

/// Applies a full tag to the text of a scalar as the reader's `resolve` does: quotes make no difference, an integer may
/// be a `!!float`, and nothing else may change its type.
pub(super) fn apply<'s>(tag: &str, text: &str) -> Result<Tagged<'s>, YamlErrorKind> {
    let own = own_tag(tag);
    let (fits, written) = match own {
        Some("str") => return Ok(Tagged::Scalar(Scalar::Text)),
        Some("binary") => return decode_base64(text).map(|text| Tagged::Text(Cow::Owned(text))),
        Some("timestamp") if is_timestamp(text) => return Ok(Tagged::Scalar(Scalar::Text)),
        Some("timestamp") => (false, "!!timestamp"),
        Some("null") => (matches!(kubernetes(text), Scalar::Null), "!!null"),
        Some("bool") => (matches!(kubernetes(text), Scalar::Bool(_)), "!!bool"),
        Some("int") => (matches!(kubernetes(text), Scalar::Int(_) | Scalar::UInt(_)), "!!int"),
        Some("float") => (matches!(kubernetes(text), Scalar::Float(_) | Scalar::Int(_)), "!!float"),
        // `!` alone and `!!merge` are not remarkable; both make it text.
        _ if tag == "!" || own == Some("merge") => return Ok(Tagged::Scalar(Scalar::Text)),
        _ => return Ok(Tagged::Unknown),
    };
    match (fits, kubernetes(text)) {
        #[allow(clippy::cast_precision_loss)] // as the reader does
        (true, Scalar::Int(value)) if own == Some("float") => Ok(Tagged::Scalar(Scalar::Float(value as f64))),
        (true, scalar) => Ok(Tagged::Scalar(scalar)),
        _ => Err(YamlErrorKind::TagMismatch { tag: written }),
    }
}

/// Standard base64 with padding; line breaks count as nothing.
fn decode_base64(text: &str) -> Result<String, YamlErrorKind> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count, mut padding) = (0u32, 0u32, 0u32);
    for byte in text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')) {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => 64,
            _ => return Err(YamlErrorKind::InvalidBase64),
        };
        match (digit, padding) {
            (64, _) => padding += 1,
            (_, 0) => {}
            _ => return Err(YamlErrorKind::InvalidBase64),
        }
        bits = bits << 6 | u32::from(digit & 63);
        count += 1;
        if count == 4 {
            if padding > 2 {
                return Err(YamlErrorKind::InvalidBase64);
            }
            let [_, first, second, third] = bits.to_be_bytes();
            bytes.extend([first, second, third].iter().take(3 - padding as usize));
            (bits, count) = (0, 0);
            // Nothing may follow padding; a further group would begin with a digit and be refused above.
        }
    }
    if count != 0 {
        return Err(YamlErrorKind::InvalidBase64);
    }
    String::from_utf8(bytes).map_err(|_| YamlErrorKind::BinaryNotText)
}

/// The timestamps that the reader takes: `2001-12-14`, `2001-12-14 21:59:43.10`, `2001-12-14T21:59:43.10-05:00` (or `t`, `Z`).
fn is_timestamp(text: &str) -> bool {
    timestamp(text).is_some()
}

fn timestamp(text: &str) -> Option<()> {
    let (year, rest) = text.split_once('-')?;
    let (month, rest) = rest.split_once('-')?;
    let day_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (day, rest) = rest.split_at_checked(day_end)?;
    let year = if year.len() == 4 { field(year, 4)? } else { return None };
    let (month, day) = (field(month, 2)?, field(day, 2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if day == 0 || day > days {
        return None;
    }
    if rest.is_empty() {
        return Some(());
    }
    let zoned = !rest.starts_with(' ');
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (hour, rest) = rest.split_once(':')?;
    let (minute, rest) = rest.split_once(':')?;
    let second_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (second, mut rest) = rest.split_at_checked(second_end)?;
    if field(hour, 2)? > 23 || field(minute, 2)? > 59 || field(second, 2)? > 59 {
        return None;
    }
    if let Some(fraction) = rest.strip_prefix(['.', ',']) {
        rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() == fraction.len() {
            return None;
        }
    }
    if !zoned {
        return rest.is_empty().then_some(());
    }
    if rest == "Z" {
        return Some(());
    }
    let (hours, minutes) = rest.strip_prefix(['+', '-'])?.split_once(':')?;
    (hours.len() == 2 && minutes.len() == 2 && field(hours, 2)? <= 24 && field(minutes, 2)? < 60).then_some(())
}

/// One to `width` digits.
fn field(text: &str, width: usize) -> Option<u32> {
    let fits = !text.is_empty() && text.len() <= width && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}
