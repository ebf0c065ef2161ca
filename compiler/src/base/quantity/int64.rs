//! What Kubernetes' own accessors answer (`ScaledValue`, 1.36): equal to the exact value in all that anyone writes, and
//! wrong outside: they multiply in 64 bits, and read the low 64 bits of long negative numbers.

use super::{Family, Quantity};

/// The decimals of a long number: it is rounded to nano.
const LONG_DECIMALS: i32 = 9;

impl Quantity {
    /// What `Value()` answers: the whole units, if they fit `int64`. For telling what a cluster would see, and for being
    /// compared with it; nothing is booked by it.
    #[must_use]
    pub fn int64_value(&self) -> i64 {
        self.scaled_value(0)
    }

    /// What `MilliValue()` answers: the thousandths, if they fit `int64`. As [`Quantity::int64_value`].
    #[must_use]
    pub fn int64_milli_value(&self) -> i64 {
        self.scaled_value(-3)
    }

    fn scaled_value(&self, exponent: i32) -> i64 {
        match self.short_exponent {
            Some(held) if held > exponent => {
                let exact = i64::try_from(self.in_units_of(exponent));
                match held.saturating_sub(exponent) {
                    // These have a multiplication of their own, whose result is used although it overflowed.
                    1 | 2 | 3 | 6 | 9 => self.low_bits_at(exponent),
                    _ => exact.unwrap_or(0),
                }
            }
            None if self.is_negative() => {
                let is_capped = self.family == Family::BinarySi && self.mantissa == i128::from(-i64::MAX);
                let decimals = if is_capped { 0 } else { LONG_DECIMALS };
                let low = self.low_bits_at(-decimals);
                match u32::try_from(exponent + decimals) {
                    Ok(steps) => {
                        let divisor = 10_i64.wrapping_pow(steps);
                        low / divisor + i64::from(low % divisor != 0)
                    }
                    Err(_) => low.wrapping_mul(10_i64.wrapping_pow(exponent.abs_diff(-decimals))),
                }
            }
            Some(_) | None => self.low_bits_at(exponent),
        }
    }

    /// The low 64 bits of the number of units of `10^exponent`.
    #[expect(clippy::cast_possible_truncation, reason = "the low 64 bits are what is asked for")]
    fn low_bits_at(&self, exponent: i32) -> i64 {
        match u32::try_from(i64::from(self.exponent) - i64::from(exponent)) {
            Ok(shift) => (self.mantissa as i64).wrapping_mul(10_i64.wrapping_pow(shift)),
            Err(_) => self.in_units_of(exponent) as i64,
        }
    }
}
