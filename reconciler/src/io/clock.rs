//! The machine's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::ports::Clock;

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_secs(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            // A clock before 1970 is wrong, and decisions hold while it precedes the live commit's date.
            Err(_) => 0,
        }
    }
}
