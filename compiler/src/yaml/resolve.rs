//! What a plain scalar means.
//!
//! [`kubernetes`] is the rule of the YAML 1.1 decoder below sigs.k8s.io/yaml (go.yaml.in/yaml v2, `resolve`), including
//! its use of Go's `strconv`: `y` and `off` are booleans, `0644` and `0o644` are 420, `08` is 8, `1_000` is 1000, `0b-1` is
//! -1, `1e400` is text, and sexagesimals and timestamps are text. [`core`] is the core schema of YAML 1.2.2 (chapter 10.3),
//! by which most other tools read; where the two differ, a reader of the file deserves a warning.

use std::borrow::Cow;

/// What a scalar resolves to, before it becomes a value or a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// Fits 64 signed bits.
    Int(i64),
    /// Above `i64::MAX`, fits 64 bits.
    UInt(u64),
    /// A number with a fraction or an exponent, or beyond 64 bits; also infinity and not-a-number.
    Float(f64),
    /// The text itself.
    Text,
}

/// The meaning of a plain scalar for Kubernetes.
pub(super) fn kubernetes(text: &str) -> Scalar {
    match text.as_bytes().first() {
        None => Scalar::Null,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => word(text),
        Some(b'.') => match non_finite(text) {
            Some(value) => Scalar::Float(value),
            None if go_float_with_leading_dot(text) => float(&without_underscores(text)),
            None => Scalar::Text,
        },
        Some(b'+' | b'-' | b'0'..=b'9') => match non_finite(text) {
            Some(value) => Scalar::Float(value),
            None => number(&without_underscores(text)),
        },
        Some(_) => Scalar::Text,
    }
}

fn word(text: &str) -> Scalar {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => Scalar::Text,
    }
}

fn non_finite(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

fn without_underscores(text: &str) -> Cow<'_, str> {
    if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) }
}

/// Go's `ParseFloat` on a text with a leading dot takes an underscore only between two digits.
fn go_float_with_leading_dot(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'_').all(|(at, _)| {
        let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
        digit(at.checked_sub(1)) && digit(at.checked_add(1))
    })
}

fn number(plain: &str) -> Scalar {
    if let Some(value) = go_int(plain) {
        return value;
    }
    let scalar = float(plain);
    if scalar != Scalar::Text {
        return scalar;
    }
    // A second sign after the prefix of a binary number is a quirk of the decoder's second attempt.
    match plain.strip_prefix("0b") {
        Some(digits) if digits.starts_with(['+', '-']) => {
            i64::from_str_radix(digits, 2).map_or(Scalar::Text, Scalar::Int)
        }
        _ => Scalar::Text,
    }
}

/// Go's `ParseInt` with base 0, then `ParseUint`, which takes no sign.
fn go_int(text: &str) -> Option<Scalar> {
    let (negative, signed, digits) = match text.as_bytes().first()? {
        b'-' => (true, true, text.get(1..)?),
        b'+' => (false, true, text.get(1..)?),
        _ => (false, false, text),
    };
    let bytes = digits.as_bytes();
    let (base, digits) = match (bytes.first()?, bytes.get(1)) {
        (b'0', Some(b'x' | b'X')) if bytes.len() > 2 => (16, digits.get(2..)?),
        (b'0', Some(b'o' | b'O')) if bytes.len() > 2 => (8, digits.get(2..)?),
        (b'0', Some(b'b' | b'B')) if bytes.len() > 2 => (2, digits.get(2..)?),
        (b'0', Some(_)) => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    // `from_str_radix` would take one more sign.
    if !digits.as_bytes().first()?.is_ascii_alphanumeric() {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, base).ok()?;
    match (i64::try_from(magnitude), negative) {
        (Ok(value), false) => Some(Scalar::Int(value)),
        (Err(_), false) if !signed => Some(Scalar::UInt(magnitude)),
        (Err(_), false) => None,
        (_, true) => 0i64.checked_sub_unsigned(magnitude).map(Scalar::Int),
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, the same in the decoder and in the core schema; text if it overflows.
fn float(text: &str) -> Scalar {
    if !is_float(text) {
        return Scalar::Text;
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Scalar::Float(value),
        _ => Scalar::Text,
    }
}

fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at), unsigned.get(at + 1..)),
        None => (Some(unsigned), None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_fits = mantissa.is_some_and(|mantissa| match mantissa.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()),
        None => !mantissa.is_empty() && digits(mantissa),
    });
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    mantissa_fits && exponent_fits
}

/// The meaning of a plain scalar by the core schema of YAML 1.2.
pub(super) fn core(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        _ => {}
    }
    if let Some(value) = non_finite(text) {
        return Scalar::Float(value);
    }
    let radix = match text.as_bytes() {
        [b'0', b'o', ..] => Some(8),
        [b'0', b'x', ..] => Some(16),
        _ => None,
    };
    if let Some(radix) = radix {
        let digits = text.get(2..).unwrap_or("");
        let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
        return match u64::from_str_radix(digits, radix) {
            Ok(value) if plain => i64::try_from(value).map_or(Scalar::UInt(value), Scalar::Int),
            _ => Scalar::Text,
        };
    }
    match (decimal(text), text.parse()) {
        (Some(value), _) => value,
        // Beyond its range a number is infinite here, and text for Kubernetes.
        (None, Ok(value)) if is_float(text) => Scalar::Float(value),
        (None, _) => Scalar::Text,
    }
}

fn decimal(text: &str) -> Option<Scalar> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().map(Scalar::Int).or_else(|_| text.parse().map(Scalar::UInt)).ok()
}

impl Scalar {
    /// The integer that JSON text of this number holds: Kubernetes converts YAML to JSON text and reads that again, so
    /// `1.0` and `1e3` become the integers 1 and 1000, and a large float its shortest digits and zeros.
    pub(super) fn through_json(self) -> Self {
        match self {
            // Go writes numbers below 1e21 without an exponent. The text of -0 is no integer's.
            Self::Float(value)
                if value.abs() < 1e21 && !(value == 0.0 && value.is_sign_negative()) && value.fract() == 0.0 =>
            {
                decimal(&value.to_string()).unwrap_or(self)
            }
            other => other,
        }
    }

    /// Whether two readings give the same value.
    pub(super) fn same(self, other: Self) -> bool {
        let (a, b) = (self.through_json(), other.through_json());
        a == b || matches!((a, b), (Self::Float(a), Self::Float(b)) if a.is_nan() && b.is_nan())
    }
}

/// A float as the text of a key, as Go's `FormatFloat(v, 'g', -1, 32)` writes it: rounded to 32 bits, an exponent below
/// 1e-4 and from 1e6 on, infinity and not-a-number as YAML has them.
pub(super) fn float_key(value: f64) -> String {
    #[allow(clippy::cast_possible_truncation)] // the rule of the reader we follow
    let value = value as f32;
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
    } else {
        value.to_string()
    }
}
