//! `kind: Tide`: weights of replicas that follow the clock.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::{AppSelector, IntOrPercent, MoveSpec, Weights};
use crate::base::{SmolStr, Spanned};

/// Moves replicas between clusters by the time of day. A phase is a state of the clock, not an event: it begins on each of
/// its days at the first instant whose wall time is at or after `from`, and lasts until the next one begins, so that a
/// missed tick costs nothing. When clocks go forward over `from` it begins when they have; when they go back, at the first
/// of the two times; of two that begin at one instant the later `from` counts.
///
/// For the apps it selects, the weights of the phase replace those of every workload that is divided by StaticWeight.
/// Which phase counts is in the record (`state/tides.yaml`); before one is recorded, the App's own weights do.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TideSpec {
    /// Whose wall clock counts: a name of the IANA time zone database (`Asia/Shanghai`), or `UTC`. Fixed offsets are
    /// refused. The database is part of fleetwright, so that every machine gives the same answer.
    pub time_zone: Spanned<SmolStr>,
    /// Which apps. `{}` is all that the tide reaches. An App takes itself out with `tide: Ignore`.
    pub apps: Spanned<AppSelector>,
    /// Of two tides for one app the higher counts; the same twice is an error. Default 0.
    #[serde(default)]
    pub precedence: i32,
    /// Days of the week on which phases begin. Default: all. On other days the last phase goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<Spanned<Vec<Spanned<TideDay>>>>,
    /// A Calendar: on its holidays no phase begins, on its working days they do whatever day of the week it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<Spanned<SmolStr>>,
    /// The phases. Each has a name and a `from` of its own.
    pub phases: Spanned<Vec<Spanned<PhaseSpec>>>,
    /// How replicas move when the phase changes; absent: as the App's placement says. Of its `minAvailable` and the App's
    /// the larger holds, whatever moves.
    #[serde(default, rename = "move", skip_serializing_if = "Option::is_none")]
    pub move_: Option<Spanned<MoveSpec>>,
}

/// A phase of a tide: weights, a number of replicas, or both.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct PhaseSpec {
    /// Its name, as it stands in the record.
    pub name: Spanned<SmolStr>,
    /// When it begins, by the wall clock: `"07:00"`, quoted, from 00:00 to 23:59.
    pub from: Spanned<TimeOfDay>,
    /// Weights while it lasts, in place of the App's own. Absent: the App's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<Spanned<Weights>>,
    /// Replicas while it lasts: a share of the App's total (`40%`, rounded up) or a count, for every workload that is
    /// divided. Absent: the App's total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Spanned<IntOrPercent>>,
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum TideDay {
    /// Monday.
    Mon,
    /// Tuesday.
    Tue,
    /// Wednesday.
    Wed,
    /// Thursday.
    Thu,
    /// Friday.
    Fri,
    /// Saturday.
    Sat,
    /// Sunday.
    Sun,
}

/// What an App says about tides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum AppTide {
    /// No tide moves it.
    Ignore,
}

/// A time of day as a wall clock shows it, to the minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay {
    /// Minutes after midnight, 0 to 1439.
    pub minute: u16,
}

impl TimeOfDay {
    /// Reads `07:00`; `None` where it is not of that form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let two = |part: &str| -> Option<u16> {
            let digits = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            part.parse().ok().filter(|_| digits)
        };
        let (hour, minute) = text.split_once(':')?;
        let (hour, minute) = (two(hour)?, two(minute)?);
        (hour < 24 && minute < 60).then_some(Self { minute: hour * 60 + minute })
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.minute / 60, self.minute % 60)
    }
}

impl<'de> Deserialize<'de> for TimeOfDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("expected a time of day such as \"07:00\", up to \"23:59\""))
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for TimeOfDay {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TimeOfDay".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A time of day: \"07:00\", to the minute.",
            "type": "string",
            "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"
        })
    }
}
