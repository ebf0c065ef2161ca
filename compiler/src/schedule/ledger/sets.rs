//! Several pods beside each other in one cluster: of a group of apps, and of a set.

use super::{ClassId, Ledger};
use crate::base::ClusterId;
use crate::room::{Excess, SetPart, Shortage};

impl Ledger {
    /// Whether so many replicas of each class fit into a cluster beside each other. Nothing stays booked.
    pub fn fits_together(&mut self, cluster: ClusterId, needs: &[(ClassId, u32)]) -> bool {
        let mut booked = Vec::new();
        let mut all = true;
        for (class, replicas) in needs {
            let seats = self.spread(*class, cluster, *replicas, Excess::Leave);
            all = seats.iter().map(|(_, n)| u64::from(*n)).sum::<u64>() >= u64::from(*replicas);
            for (pool, replicas) in seats {
                self.book(*class, pool, replicas);
                booked.push((*class, pool, replicas));
            }
            if !all {
                break;
            }
        }
        for (class, pool, replicas) in booked {
            self.unbook(class, pool, replicas);
        }
        all
    }

    /// How many whole sets fit into a cluster, at most `most`: a set has so many pods of each class. Nothing stays booked.
    pub fn sets(&mut self, cluster: ClusterId, set: &[(ClassId, u32)], most: u32) -> u32 {
        let parts = self.parts(cluster, set);
        self.rooms.max_sets(&parts, most)
    }

    /// The order in which the parts of a set are booked, as positions.
    pub fn set_order(&mut self, cluster: ClusterId, set: &[(ClassId, u32)]) -> Vec<usize> {
        let parts = self.parts(cluster, set);
        self.rooms.set_order(&parts)
    }

    /// The part of a set that a cluster has no room for: its position, how many of its pods fit beside the others, and what
    /// the next one lacks. `None` where the set fits.
    pub fn short_of_set(
        &mut self,
        cluster: ClusterId,
        set: &[(ClassId, u32)],
    ) -> Option<(usize, u32, Option<Shortage>)> {
        let mut booked = Vec::new();
        let mut short = None;
        for at in self.set_order(cluster, set) {
            let Some((class, pods)) = set.get(at).copied() else { continue };
            let mut fits = 0_u32;
            for (pool, pods) in self.spread(class, cluster, pods, Excess::Leave) {
                self.book(class, pool, pods);
                booked.push((class, pool, pods));
                fits = fits.saturating_add(pods);
            }
            if fits < pods {
                short = Some((at, fits, self.shortage(class, cluster)));
                break;
            }
        }
        for (class, pool, pods) in booked {
            self.unbook(class, pool, pods);
        }
        short
    }

    fn parts(&mut self, cluster: ClusterId, set: &[(ClassId, u32)]) -> Vec<SetPart> {
        let mut parts = Vec::with_capacity(set.len());
        for (class, replicas) in set {
            let pools = self.eligible(*class, cluster).to_vec();
            let Some(class) = self.classes.get(class.0 as usize) else { continue };
            parts.push(SetPart { pools, request: class.request, replicas: *replicas });
        }
        parts
    }
}
