//! Sets of clusters under spread constraints, by trying every subset.

/// What is known of one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Replicas that fit.
    pub room: u64,
    /// By constraint: its group, or `None` if it has none; it can then not be chosen.
    pub groups: Vec<Option<u32>>,
}

/// Of the groups of one key, so many hold a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// At least.
    pub min: u32,
    /// At most.
    pub max: Option<u32>,
}

/// The most replicas, up to `replicas`, that any allowed set holds; `None` where no set is allowed. A set is allowed when
/// each of its clusters holds a replica and the groups they are in are as many as every constraint wants.
#[must_use]
pub fn most_placed(clusters: &[Cluster], constraints: &[Constraint], replicas: u64) -> Option<u64> {
    let sets = 1_u32 << clusters.len().min(16);
    (1..sets).filter_map(|set| placed(clusters, constraints, replicas, set)).max()
}

fn placed(clusters: &[Cluster], constraints: &[Constraint], replicas: u64, set: u32) -> Option<u64> {
    let chosen: Vec<&Cluster> =
        clusters.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, c)| c).collect();
    let size = u64::try_from(chosen.len()).unwrap_or(u64::MAX);
    if size > replicas || chosen.iter().any(|cluster| cluster.room == 0) {
        return None;
    }
    for (at, constraint) in constraints.iter().enumerate() {
        let mut groups = Vec::new();
        for cluster in &chosen {
            groups.push(cluster.groups.get(at).copied().flatten()?);
        }
        groups.sort_unstable();
        groups.dedup();
        let count = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        if count < constraint.min || constraint.max.is_some_and(|max| count > max) {
            return None;
        }
    }
    let room: u64 = chosen.iter().map(|cluster| cluster.room).fold(0, u64::saturating_add);
    Some(room.min(replicas))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greedy_by_region_would_be_wrong() {
        // Region max 1, cluster max 2: 10 + 1 in one region, 7 + 7 in the other.
        let cluster = |room, region, own| Cluster { room, groups: vec![Some(region), Some(own)] };
        let clusters = [cluster(10, 0, 0), cluster(1, 0, 1), cluster(7, 1, 2), cluster(7, 1, 3)];
        let most = |max| Constraint { min: 1, max: Some(max) };
        assert_eq!(most_placed(&clusters, &[most(1), most(2)], 14), Some(14));
        assert_eq!(most_placed(&clusters, &[most(1), most(1)], 14), Some(10));
        assert_eq!(most_placed(&clusters, &[Constraint { min: 3, max: None }], 14), None);
        assert_eq!(most_placed(&clusters, &[], 3), Some(3));
    }
}
