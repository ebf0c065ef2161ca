//! What observed capacity may be recorded: an observation alone ends no replica that finds no place elsewhere.
//!
//! Cluster by cluster: one whose shrinking would cost replicas keeps what is recorded of it, and holds back no other.

use fleetwright_compiler::Compiled;
use fleetwright_compiler::base::SmolStr;

use super::causes::capacity;
use super::planned::{self, Planned, Unrealised, realise};
use super::{Live, Proposal, Report, Situation, Urgency};

/// Clusters that may be recorded together, and the commit that does.
#[derive(Default)]
struct Admitted {
    clusters: Vec<SmolStr>,
    planned: Option<Planned>,
}

struct Clerk<'a> {
    situation: &'a Situation<'a>,
    live: &'a Live<'a>,
    current: &'a Compiled,
    proposal: &'a Proposal,
}

/// The commit of as many clusters of a proposal as cost no replicas; `None` where there is none. Halves what costs some
/// until it is known whose they are, so that a few of many clusters cost few compiles.
///
/// # Errors
/// As [`realise`].
pub(super) fn affordable(
    situation: &Situation<'_>,
    proposal: &Proposal,
    current: &Compiled,
    reports: &mut Vec<Report>,
) -> Result<Option<Planned>, Unrealised> {
    let Some(live) = &situation.live else { return Ok(None) };
    let clerk = Clerk { situation, live, current, proposal };
    let mut admitted = Admitted::default();
    let mut refused = Vec::new();
    clerk.admit(&capacity::clusters(live, proposal), &mut admitted, &mut refused)?;
    reports.extend(refused.iter().map(|text| Report::new(Urgency::Guarded, text)));
    if refused.is_empty() || admitted.planned.is_none() {
        return Ok(admitted.planned);
    }
    // Who reads what was recorded reads what was not.
    let body = refused.join("\n");
    let proposal = Proposal { body, ..capacity::of_clusters(live, proposal, &admitted.clusters) };
    realise(situation, &proposal, Some(current))
}

impl Clerk<'_> {
    fn admit(&self, more: &[SmolStr], admitted: &mut Admitted, refused: &mut Vec<String>) -> Result<(), Unrealised> {
        if more.is_empty() {
            return Ok(());
        }
        let clusters: Vec<SmolStr> = admitted.clusters.iter().chain(more).cloned().collect();
        let proposal = capacity::of_clusters(self.live, self.proposal, &clusters);
        let planned = realise(self.situation, &proposal, Some(self.current))?;
        let cost = planned.as_ref().map_or(0, |planned| self.cost(planned));
        match more {
            _ if cost == 0 => *admitted = Admitted { clusters, planned },
            [cluster] => refused.push(format!(
                "the capacity that is observed in {cluster} would leave {cost} more replicas without a place: it is not \
                 recorded, and what runs stays. Add nodes, lower what is wanted, or `fleetwright drain {cluster}`"
            )),
            _ => {
                let (first, second) = more.split_at(more.len() / 2);
                self.admit(first, admitted, refused)?;
                self.admit(second, admitted, refused)?;
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
