//! Waiting for a state: asked again and again until a deadline, never slept for.

use std::convert::Infallible;
use std::fmt;
use std::time::{Duration, Instant};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// What did not come in time.
#[derive(Debug)]
pub struct Late {
    what: String,
    within: Duration,
    seen: String,
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "waited {} s for {}; seen last: {}", self.within.as_secs(), self.what, self.seen)
    }
}

impl std::error::Error for Late {}

/// Looks until `look` finds what it looks for, and returns it. A look that does not find it says what it saw instead.
///
/// # Errors
/// [`Late`] with what was seen last, after `within`.
pub fn until<T>(what: &str, within: Duration, look: impl FnMut() -> Result<T, String>) -> Result<T, Late> {
    match until_or(what, within, || Ok::<(), Infallible>(()), look) {
        Ok(found) => Ok(found),
        Err(Ended::Late(late)) => Err(late),
        Err(Ended::Gone(never)) => match never {},
    }
}

/// How waiting ended without success.
pub(super) enum Ended<E> {
    /// The deadline passed.
    Late(Late),
    /// It cannot come any more.
    Gone(E),
}

/// As [`until`], but ends at once when `alive` says that waiting is in vain.
pub(super) fn until_or<T, E>(
    what: &str,
    within: Duration,
    mut alive: impl FnMut() -> Result<(), E>,
    mut look: impl FnMut() -> Result<T, String>,
) -> Result<T, Ended<E>> {
    let started = Instant::now();
    loop {
        alive().map_err(Ended::Gone)?;
        let seen = match look() {
            Ok(found) => return Ok(found),
            Err(seen) => seen,
        };
        if started.elapsed() >= within {
            return Err(Ended::Late(Late { what: what.to_owned(), within, seen }));
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_returned_and_what_does_not_come_says_what_was_seen() {
        let mut looks = 0;
        let third = until("the third look", Duration::from_secs(60), || {
            looks += 1;
            if looks == 3 { Ok(looks) } else { Err(format!("look {looks}")) }
        });
        assert_eq!(third.unwrap(), 3);
        let late = until("a pod", Duration::ZERO, || Err::<(), _>("no pod".to_owned())).unwrap_err();
        assert_eq!(late.to_string(), "waited 0 s for a pod; seen last: no pod");
    }

    #[test]
    fn waiting_in_vain_ends_before_the_deadline() {
        let ended = until_or("x", Duration::from_secs(3600), || Err("etcd died"), || Err::<(), _>(String::new()));
        assert!(matches!(ended, Err(Ended::Gone("etcd died"))));
    }
}
