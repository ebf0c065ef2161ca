//! Whether a cluster answers: it flips only after 30 s in which every probe agreed.

use crate::observation::Answers;

/// So long must probes agree.
pub const AGREEMENT_SECS: i64 = 30;

/// The probes of one cluster so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answering {
    /// What counts.
    now: Answers,
    /// Since when every probe said the same, and what: whether it answered, else why not.
    agreeing: Option<(i64, Result<(), String>)>,
}

impl Default for Answering {
    fn default() -> Self {
        Self { now: Answers::NotYetKnown, agreeing: None }
    }
}

impl Answering {
    /// Takes in a probe.
    pub fn probed(&mut self, answer: Result<(), String>, now_secs: i64) {
        let since_secs = match &self.agreeing {
            // A clock that went back starts the count anew.
            Some((since, before)) if before.is_ok() == answer.is_ok() && *since <= now_secs => *since,
            Some(_) | None => now_secs,
        };
        let agreed = now_secs.saturating_sub(since_secs) >= AGREEMENT_SECS;
        match (&mut self.now, &answer) {
            (Answers::No { error, .. }, Err(last)) => error.clone_from(last),
            (Answers::Yes { .. }, Ok(())) => {}
            (_, Ok(())) if agreed => self.now = Answers::Yes { since_secs },
            (_, Err(error)) if agreed => self.now = Answers::No { since_secs, error: error.clone() },
            (_, Ok(()) | Err(_)) => {}
        }
        self.agreeing = Some((since_secs, answer));
    }

    /// What counts now.
    #[must_use]
    pub fn answers(&self) -> &Answers {
        &self.now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_flips_after_thirty_seconds_of_agreement() {
        let mut answering = Answering::default();
        let no = || Err("refused".to_owned());
        let yes_since = |since_secs| Answers::Yes { since_secs };
        let no_since = |since_secs| Answers::No { since_secs, error: "refused".to_owned() };
        for (at, probe, expected) in [
            (0, Ok(()), Answers::NotYetKnown),
            (20, Ok(()), Answers::NotYetKnown),
            (30, Ok(()), yes_since(0)),
            (40, no(), yes_since(0)),
            (60, no(), yes_since(0)),
            // one answer starts the count anew
            (65, Ok(()), yes_since(0)),
            (70, no(), yes_since(0)),
            (99, no(), yes_since(0)),
            (100, no(), no_since(70)),
            (110, Ok(()), no_since(70)),
            (139, Ok(()), no_since(70)),
            (140, Ok(()), yes_since(110)),
            // the clock goes back
            (50, no(), yes_since(110)),
            (79, no(), yes_since(110)),
            (80, no(), no_since(50)),
        ] {
            answering.probed(probe, at);
            assert_eq!(answering.answers(), &expected, "at {at}");
        }
    }
}
