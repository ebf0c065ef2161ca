//! `kind: Calendar`: holidays and swapped working days, for tides.

use std::fmt;

use jiff::civil::Date;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::base::{SmolStr, Spanned};

/// Dates that count otherwise than their day of the week. Dates are those of the tide's time zone. Lies in `policies/`.
#[derive(Clone, Debug, PartialEq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CalendarSpec {
    /// Dates on which no phase of a tide begins: the last one goes on. They do not overlap.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holidays: Vec<Spanned<HolidaySpec>>,
    /// Dates on which phases begin whatever day of the week they are; none of them is a holiday.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub working_days: Vec<Spanned<WorkingDaySpec>>,
}

/// One holiday, of one date or several.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HolidaySpec {
    /// What it is called, for reports.
    pub name: Spanned<SmolStr>,
    /// The date, or the first of them.
    pub date: Spanned<CalendarDate>,
    /// The last date, where there are several. At most 366 dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Spanned<CalendarDate>>,
}

/// One day that is worked although it would not be.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WorkingDaySpec {
    /// The date.
    pub date: Spanned<CalendarDate>,
}

/// A date: `2026-10-01`, in the years 0001 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CalendarDate(pub Date);

impl CalendarDate {
    /// Reads `2026-10-01`; `None` where it is not of that form or no date.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let form = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let date: Date = text.parse().ok().filter(|_| form)?;
        (date.year() >= 1).then_some(Self(date))
    }
}

impl fmt::Display for CalendarDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for CalendarDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("expected a date such as 2026-10-01"))
    }
}

impl Serialize for CalendarDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for CalendarDate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CalendarDate".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A date: 2026-10-01.",
            "type": "string",
            "format": "date",
            "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
        })
    }
}
