//! A cluster that goes dark while it is worked on: once nothing was heard of it for as long as one answer may take, nothing
//! more is asked of it until the next probe, so that what was begun ends at once and not after a time-out for each batch.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cluster::ClusterError;

/// What was heard of one cluster.
#[derive(Debug)]
pub(super) struct Silence(Mutex<Heard>);

#[derive(Debug)]
struct Heard {
    /// When the last answer came, or the probe began.
    last: Instant,
    /// Why nothing more is asked.
    dark: Option<String>,
}

impl Silence {
    pub fn new() -> Self {
        Self(Mutex::new(Heard { last: Instant::now(), dark: None }))
    }

    /// A probe begins: whatever was before, it is asked again.
    pub fn begin(&self) {
        *self.heard() = Heard { last: Instant::now(), dark: None };
    }

    /// Takes in what came of a call, and passes it on.
    pub fn heard_of<T>(&self, answer: Result<T, String>, patience: Duration) -> Result<T, String> {
        let mut heard = self.heard();
        match &answer {
            Ok(_) => heard.last = Instant::now(),
            Err(why) if heard.last.elapsed() >= patience => heard.dark = Some(why.clone()),
            Err(_) => {}
        }
        answer
    }

    /// The same of a list, which is not begun where nothing more is asked.
    pub async fn listing<T>(
        &self,
        list: impl Future<Output = Result<T, ClusterError>>,
        patience: Duration,
    ) -> Result<T, ClusterError> {
        if let Some(why) = self.dark() {
            return Err(ClusterError::Transient(why));
        }
        let listed = list.await;
        let heard = match &listed {
            Err(ClusterError::Transient(why)) => Err(why.clone()),
            Ok(_) | Err(_) => Ok(()),
        };
        // What it says was heard; the list says the same.
        let _ = self.heard_of(heard, patience);
        listed
    }

    /// Why nothing more is asked; `None` while it is heard of.
    pub fn dark(&self) -> Option<String> {
        self.heard().dark.clone()
    }

    fn heard(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_dark_once_nothing_was_heard_for_as_long_as_an_answer_may_take() {
        let silence = Silence::new();
        let failed = || Err::<(), _>("no answer within 30 s".to_owned());
        assert_eq!(silence.heard_of(failed(), Duration::from_secs(3600)), failed());
        assert_eq!(silence.dark(), None, "one call of several");
        assert_eq!(silence.heard_of(failed(), Duration::ZERO), failed());
        assert_eq!(silence.dark().as_deref(), Some("no answer within 30 s"));
        assert_eq!(silence.heard_of(Ok::<_, String>(1), Duration::ZERO), Ok(1));
        silence.begin();
        assert_eq!(silence.dark(), None);
    }
}
