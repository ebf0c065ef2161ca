//! Dates on which phases begin, and dates on which none does.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::{Date, Weekday};

use crate::base::SmolStr;

/// Days of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weekdays(u8);

impl Weekdays {
    /// All seven.
    pub const ALL: Self = Self(0b0111_1111);

    /// Whether a day is one of them.
    #[must_use]
    pub fn has(self, day: Weekday) -> bool {
        self.0 & bit(day) != 0
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl FromIterator<Weekday> for Weekdays {
    fn from_iter<I: IntoIterator<Item = Weekday>>(days: I) -> Self {
        Self(days.into_iter().fold(0, |set, day| set | bit(day)))
    }
}

fn bit(day: Weekday) -> u8 {
    1 << day.to_monday_zero_offset().clamp(0, 6)
}

/// Dates that count otherwise than their day of the week.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendar {
    /// No phase begins on these. First and last date of each, with what it is called; they do not overlap.
    pub holidays: BTreeMap<Date, (Date, SmolStr)>,
    /// Phases begin on these whatever day of the week they are.
    pub working_days: BTreeSet<Date>,
}

impl Calendar {
    /// The holiday a date belongs to.
    #[must_use]
    pub fn holiday(&self, date: Date) -> Option<&SmolStr> {
        let (_, (last, name)) = self.holidays.range(..=date).next_back()?;
        (date <= *last).then_some(name)
    }

    /// How many dates are holidays.
    pub(super) fn holiday_count(&self) -> usize {
        let count = |(first, (last, _)): (&Date, &(Date, SmolStr))| (*last - *first).get_days().max(0);
        let days: i64 = self.holidays.iter().map(count).map(|days| i64::from(days).saturating_add(1)).sum();
        usize::try_from(days).unwrap_or(0)
    }
}
