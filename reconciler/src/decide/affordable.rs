//! What observed capacity may be recorded: an observation alone ends no replica that finds no place elsewhere.
//!
//! Cluster by cluster: one whose shrinking would cost replicas keeps what is recorded of it, and holds back no other. What is
//! refused is tried again beside what was admitted after it, so that what finds room in another cluster finds it whatever their
//! names are. Of several that cost nothing alone and something together, those that come first by name are recorded.

use std::collections::BTreeMap;

use fleetwright_compiler::Compiled;
use fleetwright_compiler::base::SmolStr;

use super::causes::capacity;
use super::planned::{self, Planned, Unrealised, realise};
use super::{Live, Proposal, Report, Situation, Urgency};

/// What was refused when observed capacity was looked at last: that costs compiles, and lasts. It can be lost at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// By cluster.
    pub clusters: BTreeMap<SmolStr, Refusal>,
}

/// That the capacity which is observed in a cluster was not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// When it was looked at, in seconds since 1970.
    pub at_secs: i64,
    /// What people are told.
    pub text: String,
}

impl Refusals {
    /// Takes in what a decision found, if it looked.
    pub(crate) fn learn(&mut self, found: Option<Self>) {
        if let Some(found) = found {
            *self = found;
        }
    }
}

/// What came of a proposal.
#[derive(Default)]
struct Outcome {
    /// Clusters that may be recorded together, ascending, and the commit that does.
    admitted: Vec<SmolStr>,
    planned: Option<Planned>,
    /// What people are told of the others, and beside how many admitted ones each was refused.
    refused: BTreeMap<SmolStr, (String, usize)>,
}

struct Clerk<'a> {
    situation: &'a Situation<'a>,
    live: &'a Live<'a>,
    current: &'a Compiled,
    proposal: &'a Proposal,
}

/// The commit of as many clusters of a proposal as cost no replicas (`None` where there is none), and what is refused. Halves
/// what costs some until it is known whose they are, so that a few of many clusters cost few compiles.
///
/// # Errors
/// As [`realise`].
pub(super) fn affordable(
    situation: &Situation<'_>,
    proposal: &Proposal,
    current: &Compiled,
    reports: &mut Vec<Report>,
) -> Result<(Option<Planned>, Refusals), Unrealised> {
    let mut refusals = situation.refusals.cloned().unwrap_or_default();
    let Some(live) = &situation.live else { return Ok((None, refusals)) };
    let clerk = Clerk { situation, live, current, proposal };
    let mut outcome = Outcome::default();
    let mut untried = capacity::clusters(live, proposal);
    // What is left out of this proposal was refused before, and is not looked at now.
    refusals.clusters.retain(|cluster, _| !untried.contains(cluster));
    while !untried.is_empty() {
        clerk.admit(&untried, &mut outcome)?;
        // What one cluster loses may find room in another that was admitted later.
        let stale = outcome.refused.iter().filter(|(_, (_, beside))| *beside != outcome.admitted.len());
        untried = stale.map(|(cluster, _)| cluster.clone()).collect();
    }
    let Outcome { admitted, planned, refused } = outcome;
    let texts: Vec<String> = refused.values().map(|(text, _)| text.clone()).collect();
    reports.extend(texts.iter().map(|text| Report::new(Urgency::Guarded, text.as_str())));
    let at_secs = situation.now_secs;
    refusals.clusters.extend(refused.into_iter().map(|(cluster, (text, _))| (cluster, Refusal { at_secs, text })));
    if texts.is_empty() || planned.is_none() {
        return Ok((planned, refusals));
    }
    // Who reads what was recorded reads what was not.
    let body = texts.join("\n");
    let proposal = Proposal { body, ..capacity::of_clusters(live, proposal, &admitted) };
    Ok((realise(situation, &proposal, Some(current))?, refusals))
}

impl Clerk<'_> {
    fn admit(&self, more: &[SmolStr], outcome: &mut Outcome) -> Result<(), Unrealised> {
        if more.is_empty() {
            return Ok(());
        }
        let mut clusters: Vec<SmolStr> = outcome.admitted.iter().chain(more).cloned().collect();
        clusters.sort();
        let proposal = capacity::of_clusters(self.live, self.proposal, &clusters);
        let planned = realise(self.situation, &proposal, Some(self.current))?;
        let cost = planned.as_ref().map_or(0, |planned| self.cost(planned));
        match more {
            _ if cost == 0 => {
                outcome.refused.retain(|cluster, _| !more.contains(cluster));
                (outcome.admitted, outcome.planned) = (clusters, planned);
            }
            [cluster] => {
                let text = format!(
                    "the capacity that is observed in {cluster} would leave {cost} more replicas without a place: it is not \
                     recorded, and what runs stays. Add nodes, lower what is wanted, or `fleetwright drain {cluster}`"
                );
                outcome.refused.insert(cluster.clone(), (text, outcome.admitted.len()));
            }
            _ => {
                let (first, second) = more.split_at(more.len() / 2);
                self.admit(first, outcome)?;
                self.admit(second, outcome)?;
            }
        }
        Ok(())
    }

    /// Replicas that find no place any more. What one app gains is nothing to another.
    fn cost(&self, planned: &Planned) -> u64 {
        let before = planned::unplaced(self.current);
        planned.unplaced.iter().zip(before).map(|(after, before)| after.saturating_sub(before)).sum()
    }
}
