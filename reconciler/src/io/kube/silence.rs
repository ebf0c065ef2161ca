//! A cluster that goes dark while it is worked on: once nothing was heard of it for as long as one answer may take, it is
//! probed once more, and where that is not answered either, nothing more is asked of it until the next turn's probe: what was
//! begun ends then and not after a time-out for each batch.
//!
//! Invariants: an HTTP answer of any status is an answer; silence counts from when a call was sent, so neither work of our own
//! nor one call that hangs among others that are answered is silence; whoever never probes (an election) is never told that
//! a cluster went dark, because nothing would end that.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::answer::Answer;
use super::request::Call;
use super::{PROBE_TIMEOUT, TIMEOUT};
use crate::cluster::Dark;

/// The way to one API server, on which calls end early once it went dark.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    pub client: &'a kube::Client,
    /// `None`: nobody counts silence.
    pub silence: Option<&'a Silence>,
}

impl Line<'_> {
    /// Sends a call and reads the whole answer. An error is about the connection.
    pub async fn ask(self, call: Call) -> Result<Answer, String> {
        let sent = call.send(self.client, TIMEOUT);
        let Some(silence) = self.silence else { return sent.await };
        let probe = async { Call::probe().send(self.client, PROBE_TIMEOUT).await.map(|_| ()) };
        silence.ask(sent, probe).await
    }
}

/// What was heard of one cluster.
pub(super) struct Silence {
    heard: Mutex<Heard>,
    /// One more probe at a time: whoever waited for another's knows what came of it.
    probing: tokio::sync::Mutex<()>,
    now: Box<dyn Fn() -> Instant + Send + Sync>,
}

#[derive(Debug)]
struct Heard {
    /// When the last turn's probe began; `None` before the first.
    begun: Option<Instant>,
    /// When the last answer came.
    last: Instant,
    /// When the first call was sent that failed since the last answer, or that answer where it came later.
    silent_since: Option<Instant>,
    dark: Option<Dark>,
}

impl Silence {
    pub fn new() -> Self {
        Self::by(Box::new(Instant::now))
    }

    fn by(now: Box<dyn Fn() -> Instant + Send + Sync>) -> Self {
        let heard = Heard { begun: None, last: now(), silent_since: None, dark: None };
        Self { heard: Mutex::new(heard), probing: tokio::sync::Mutex::new(()), now }
    }

    /// A turn's probe begins: whatever was before, the cluster is asked again.
    pub fn begin(&self) {
        let now = (self.now)();
        *self.heard() = Heard { begun: Some(now), last: now, silent_since: None, dark: None };
    }

    /// Makes a call, unless nothing more is asked. After too long a silence `probe` decides whether that is so.
    async fn ask<T>(
        &self,
        call: impl Future<Output = Result<T, String>>,
        probe: impl Future<Output = Result<(), String>>,
    ) -> Result<T, String> {
        if let Some(dark) = self.dark() {
            return Err(dark.why);
        }
        let sent = (self.now)();
        let answer = call.await;
        match &answer {
            Ok(_) => self.answered(),
            Err(why) if self.is_silent(sent) => {
                let _one_at_a_time = self.probing.lock().await;
                if self.dark().is_none() && self.is_silent(sent) {
                    match probe.await {
                        Ok(()) => self.answered(),
                        Err(probe) => self.goes_dark(format!("{why}; {probe}")),
                    }
                }
            }
            Err(_) => {}
        }
        answer
    }

    fn answered(&self) {
        let now = (self.now)();
        let mut heard = self.heard();
        (heard.last, heard.silent_since) = (now, None);
    }

    /// Takes in a call that failed; whether nothing was heard for as long as an answer may take.
    fn is_silent(&self, sent: Instant) -> bool {
        let now = (self.now)();
        let mut heard = self.heard();
        let unanswered = sent.max(heard.last);
        let since = heard.silent_since.map_or(unanswered, |since| since.min(unanswered));
        heard.silent_since = Some(since);
        heard.begun.is_some() && now.saturating_duration_since(since) >= TIMEOUT
    }

    fn goes_dark(&self, why: String) {
        let mut heard = self.heard();
        let answered = heard.begun.zip(heard.silent_since);
        let answered_for = answered.map(|(begun, since)| since.saturating_duration_since(begun)).unwrap_or_default();
        let after_secs = i64::try_from(answered_for.as_secs()).unwrap_or(i64::MAX);
        heard.dark = Some(Dark { why, after_secs });
    }

    /// Why nothing more is asked; `None` while it is heard of.
    pub fn dark(&self) -> Option<Dark> {
        self.heard().dark.clone()
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Silence").field("heard", &self.heard).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::io::kube::KubeRuntime;

    /// A cluster's side of a turn, on a clock that only its answers move.
    struct Told {
        silence: Silence,
        secs: Arc<AtomicU64>,
        probes: AtomicU64,
        runtime: KubeRuntime,
    }

    /// What becomes of a call: it takes so many seconds, and is answered or fails.
    type Call = (u64, Result<(), &'static str>);
    const HANGS: Call = (30, Err("no answer within 30 s"));
    const REFUSED: Call = (0, Err("connection refused"));
    const ANSWERS: Call = (1, Ok(()));

    impl Told {
        fn new() -> Self {
            let (secs, start) = (Arc::new(AtomicU64::new(0)), Instant::now());
            let clock = Arc::clone(&secs);
            let now = move || start + Duration::from_secs(clock.load(Ordering::Relaxed));
            let (silence, runtime) = (Silence::by(Box::new(now)), KubeRuntime::start().expect("threads"));
            Self { silence, secs, probes: AtomicU64::new(0), runtime }
        }

        /// Work of our own, or time that a call takes.
        fn pass(&self, secs: u64) {
            self.secs.fetch_add(secs, Ordering::Relaxed);
        }

        fn is_dark_after(&self, calls: &[Call], probe: Call) -> bool {
            let take = |(secs, result): Call| async move {
                self.pass(secs);
                result.map_err(str::to_owned)
            };
            for call in calls {
                let probe = async {
                    self.probes.fetch_add(1, Ordering::Relaxed);
                    take(probe).await
                };
                let answer = self.runtime.block_on(self.silence.ask(take(*call), probe));
                assert!(answer.is_err() || call.1.is_ok(), "a call that fails is not answered");
            }
            self.silence.dark().is_some()
        }
    }

    #[test]
    fn one_call_that_hangs_is_no_silence() {
        let no_probe: Call = (5, Err("the probe: no answer within 5 s"));
        for (what, calls, probe, probes, dark) in [
            ("among others that are answered", &[ANSWERS, HANGS, ANSWERS][..], ANSWERS, 1, false),
            ("again and again", &[HANGS, HANGS, HANGS], ANSWERS, 3, false),
            ("and the probe does too", &[ANSWERS, HANGS, ANSWERS], no_probe, 1, true),
            ("a refusal of the moment", &[REFUSED, ANSWERS, REFUSED], no_probe, 0, false),
            ("a long answer before a refusal", &[(90, Ok(())), REFUSED], no_probe, 0, false),
            ("refusals for as long as an answer may take", &[REFUSED, (29, Err("reset")), REFUSED], no_probe, 0, false),
            ("and longer", &[REFUSED, (30, Err("reset"))], no_probe, 1, true),
        ] {
            let told = Told::new();
            told.silence.begin();
            told.pass(7);
            assert_eq!(told.is_dark_after(calls, probe), dark, "{what}");
            assert_eq!(told.probes.load(Ordering::Relaxed), probes, "{what}");
            told.silence.begin();
            assert_eq!(told.silence.dark(), None, "{what}: the next turn asks again");
        }
    }

    /// Time in which nothing is asked says nothing of the cluster.
    #[test]
    fn work_of_our_own_is_no_silence() {
        let told = Told::new();
        told.silence.begin();
        assert!(!told.is_dark_after(&[ANSWERS], REFUSED));
        told.pass(600);
        assert!(!told.is_dark_after(&[REFUSED], REFUSED));
    }

    /// The silence is dated to the first call that was not answered, and nothing is sent after it.
    #[test]
    fn what_went_dark_is_asked_nothing_more() {
        let told = Told::new();
        told.silence.begin();
        assert!(told.is_dark_after(&[(11, Ok(())), HANGS, HANGS, HANGS], REFUSED));
        let dark = Dark { why: "no answer within 30 s; connection refused".to_owned(), after_secs: 11 };
        assert_eq!((told.silence.dark(), told.secs.load(Ordering::Relaxed)), (Some(dark), 41));
    }

    /// A call that was sent before others were answered, and hangs, is one call.
    #[test]
    fn calls_at_the_same_time() {
        use futures_util::future::join;
        let told = Told::new();
        told.silence.begin();
        let hangs = async {
            told.pass(29);
            tokio::task::yield_now().await;
            told.pass(1);
            Err::<(), _>("no answer within 30 s".to_owned())
        };
        let probe = || async { Err("not asked".to_owned()) };
        let answers = async { Ok(()) };
        let both = join(told.silence.ask(hangs, probe()), told.silence.ask(answers, probe()));
        assert!(told.runtime.block_on(both).0.is_err());
        assert_eq!(told.silence.dark(), None);
    }

    #[test]
    fn whoever_never_probes_goes_on_asking() {
        let told = Told::new();
        assert!(!told.is_dark_after(&[HANGS, HANGS], REFUSED));
        assert_eq!(told.probes.load(Ordering::Relaxed), 0);
    }
}
