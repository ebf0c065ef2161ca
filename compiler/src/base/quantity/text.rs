//! The text of a quantity: `ParseQuantity` and `CanonicalizeBytes` of Kubernetes, without their `int64` fast paths but
//! with what those let through and give back.

use std::str::FromStr;

use smol_str::SmolStr;

use super::{Family, NANO, Quantity, QuantityError};

/// Significant decimal digits that surely fit an `i128`.
const MAX_DIGITS: usize = 38;
/// Kubernetes caps quantities with a binary suffix here.
const BINARY_MAX: u128 = i64::MAX as u128;

const DECIMAL_SUFFIXES: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
const BINARY_SUFFIXES: [(&str, i32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];

/// The parts of a text: `-1.50Ki` is a minus, `1`, `50`, and (binary, 10).
struct Written<'a> {
    negative: bool,
    /// Digits before the point without leading zeros, as Kubernetes counts them: a zero is `0`.
    whole: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    has_digits: bool,
    family: Family,
    /// Power of 10, or of 2 for binary suffixes.
    exponent: i32,
}

impl<'a> Written<'a> {
    fn split(text: &'a str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::NotANumber);
        }
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (digits, rest) = split_digits(unsigned);
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => split_digits(rest),
            None => ("", rest),
        };
        let has_digits = !digits.is_empty() || !fraction.is_empty();
        let (family, exponent) = read_suffix(suffix, has_digits)?;
        let whole = match digits.trim_start_matches('0') {
            "" => "0",
            stripped => stripped,
        };
        Ok(Self { negative, whole, fraction, has_digits, family, exponent })
    }

    /// The power of ten of the last digit, for decimal suffixes.
    fn last_exponent(&self) -> i64 {
        i64::from(self.exponent).saturating_sub(i64::try_from(self.fraction.len()).unwrap_or(i64::MAX))
    }

    fn digit_count(&self) -> usize {
        self.whole.len() + self.fraction.len()
    }

    /// The power of ten of the `int64` that Kubernetes holds it as; `None` where it takes a decimal of any length.
    fn short_exponent(&self) -> Option<i32> {
        match self.family {
            Family::DecimalSi | Family::DecimalExponent => {
                let exponent = i32::try_from(self.last_exponent()).ok()?;
                (self.digit_count() <= 18 && exponent >= NANO).then_some(exponent)
            }
            // It estimates 3 decimal digits for each 2^10.
            Family::BinarySi => {
                let room = usize::try_from(14 - self.exponent * 3 / 10).ok()?;
                (self.fraction.is_empty() && self.whole.len() <= room).then_some(0)
            }
        }
    }

    /// Whether Kubernetes takes a short text for canonical and will write it back unchanged: `01k`, `1.T` and `+3` too.
    fn is_kept(&self) -> bool {
        match self.family {
            Family::BinarySi => self.whole.parse::<u64>().is_ok_and(|n| n % 8 != 0),
            Family::DecimalSi | Family::DecimalExponent => {
                let ends_in_thousands =
                    self.whole.bytes().chain(self.fraction.bytes()).rev().take_while(|&b| b == b'0').count() >= 3;
                self.last_exponent() % 3 == 0 && !ends_in_thousands && !self.whole.starts_with('0')
            }
        }
    }

    fn quantity(&self) -> Result<Quantity, QuantityError> {
        let (magnitude, exponent, capped) = match self.family {
            Family::DecimalSi | Family::DecimalExponent => {
                let (magnitude, exponent) = round_to_nano(&[self.whole, self.fraction].concat(), self.last_exponent())?;
                (magnitude, exponent, false)
            }
            Family::BinarySi => match self.binary_magnitude()? {
                Some((magnitude, exponent)) => (magnitude, exponent, false),
                None => (i128::from(i64::MAX), 0, true),
            },
        };
        let mantissa = if self.negative { -magnitude } else { magnitude };
        Ok(Quantity { capped, ..Quantity::new(mantissa, exponent, self.family) })
    }

    /// Multiplies by the power of two digit by digit: exact for any number of decimals. `None` is more than Kubernetes reads.
    fn binary_magnitude(&self) -> Result<Option<(i128, i32)>, QuantityError> {
        // 2^63 has 19 digits.
        let Some(mut whole) = (self.whole.len() <= 19).then(|| self.whole.parse::<u128>().ok()).flatten() else {
            return Ok(None);
        };
        let mut fraction: Vec<u8> = self.fraction.bytes().map(|b| b - b'0').collect();
        for _ in 0..self.exponent {
            let mut carry = 0;
            for digit in fraction.iter_mut().rev() {
                let doubled = *digit * 2 + carry;
                *digit = doubled % 10;
                carry = doubled / 10;
            }
            whole = whole * 2 + u128::from(carry);
        }
        if whole > BINARY_MAX || (whole == BINARY_MAX && fraction.iter().any(|digit| *digit != 0)) {
            return Ok(None);
        }
        let mut digits = whole.to_string();
        digits.extend(fraction.iter().map(|digit| char::from(b'0' + digit)));
        round_to_nano(&digits, -i64::try_from(fraction.len()).unwrap_or(i64::MAX)).map(Some)
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn read_suffix(suffix: &str, has_digits: bool) -> Result<(Family, i32), QuantityError> {
    let listed = |list: &[(&str, i32)]| list.iter().find(|(name, _)| *name == suffix).map(|(_, exponent)| *exponent);
    if let Some(exponent) = listed(&DECIMAL_SUFFIXES) {
        return Ok((Family::DecimalSi, exponent));
    }
    if let Some(exponent) = listed(&BINARY_SUFFIXES) {
        return Ok((Family::BinarySi, exponent));
    }
    if let Some(Ok(exponent)) = suffix.strip_prefix(['e', 'E']).map(str::parse::<i64>) {
        // Kubernetes takes the exponent modulo 2^32.
        let exponent = i32::try_from(exponent).map_err(|_| QuantityError::OutOfRange)?;
        return Ok((Family::DecimalExponent, exponent));
    }
    if has_digits && suffix.starts_with(|c: char| c.is_alphabetic()) {
        Err(QuantityError::UnknownSuffix)
    } else {
        Err(QuantityError::NotANumber)
    }
}

/// `digits x 10^exponent` with fractions finer than nano rounded up: who asks for some shall get some.
fn round_to_nano(digits: &str, exponent: i64) -> Result<(i128, i32), QuantityError> {
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Ok((0, 0));
    }
    let exponent = exponent.saturating_add(i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX));
    let too_fine = usize::try_from(i64::from(NANO).saturating_sub(exponent)).unwrap_or(0);
    let kept = &significant[..significant.len().saturating_sub(too_fine)];
    if kept.len() > MAX_DIGITS {
        return Err(QuantityError::TooManyDigits);
    }
    let kept: i128 = if kept.is_empty() { 0 } else { kept.parse().map_err(|_| QuantityError::TooManyDigits)? };
    if too_fine > 0 {
        // The last significant digit is not 0, so that something was cut off.
        return Ok((kept + 1, NANO));
    }
    Ok((kept, i32::try_from(exponent).map_err(|_| QuantityError::OutOfRange)?))
}

/// Reads what Kubernetes' `ParseQuantity` reads, with two exceptions: more than 38 significant digits, and exponents
/// beyond 32 bits. No white space; a missing number is 0 (`M`), as there.
impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let written = Written::split(text)?;
        let short_exponent = written.short_exponent();
        if short_exponent.is_none() && !written.has_digits {
            return Err(QuantityError::NotANumber);
        }
        let mut quantity = written.quantity()?;
        quantity.short_exponent = short_exponent;
        if quantity.family == Family::BinarySi && quantity.mantissa > 0 && quantity < Self::new(1, 0, Family::BinarySi)
        {
            quantity.family = Family::DecimalSi;
        }
        if short_exponent.is_some() && written.is_kept() && quantity.computed() != text {
            quantity.kept = Some(SmolStr::new(text));
        }
        Ok(quantity)
    }
}

impl Quantity {
    /// The text that Kubernetes 1.36 writes: no fraction, the largest suffix of the same family; binary suffixes only
    /// for whole numbers of 1024 and more. A short text that looks canonical is given back as it was written (`1.T`).
    ///
    /// Beyond 10^20 decimal suffixes end and Kubernetes 1.36 writes a wrong text (`1` for `1000E`), and so does this:
    /// what is read from files is [`in_range`](Quantity::in_range), far below.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.kept.as_ref().map_or_else(|| self.computed(), ToString::to_string)
    }

    fn computed(&self) -> String {
        if self.is_zero() {
            return "0".to_owned();
        }
        if self.family == Family::BinarySi && self.is_whole() && self.value().unsigned_abs() >= 1024 {
            return self.with_binary_suffix();
        }
        // Exponents go in steps of three; what is missing becomes zeros of the number.
        let zeros = self.exponent.rem_euclid(3);
        let exponent = self.exponent - zeros;
        let mut text = self.mantissa.to_string();
        text.extend((0..zeros).map(|_| '0'));
        match self.family {
            Family::DecimalExponent if exponent == 0 => {}
            Family::DecimalExponent => text.push_str(&format!("e{exponent}")),
            Family::DecimalSi | Family::BinarySi => {
                text.push_str(DECIMAL_SUFFIXES.iter().find(|(_, e)| *e == exponent).map_or("", |(suffix, _)| suffix));
            }
        }
        text
    }

    fn with_binary_suffix(&self) -> String {
        let mut number = self.value();
        let mut suffix = "";
        for (next, _) in BINARY_SUFFIXES {
            if number % 1024 != 0 {
                break;
            }
            number /= 1024;
            suffix = next;
        }
        format!("{number}{suffix}")
    }
}
