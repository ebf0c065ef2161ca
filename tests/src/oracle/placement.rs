//! Where the replicas of one workload may go, by trying every division over every set of clusters.

use super::spread::Constraint;

/// A cluster as one workload sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Most replicas that it takes.
    pub most: u32,
    /// Fewest, if it takes any; more than there are to place counts as all of them.
    pub least: u32,
    /// Replicas that it has and keeps.
    pub keeps: u32,
    /// By constraint: its group, or `None` if it has none; it can then not be used.
    pub groups: Vec<Option<u32>>,
}

/// Every allowed division of at least one and at most `replicas` replicas, each by cluster. A division is allowed when
/// every cluster it uses takes as many as it gets, and the groups it uses are as many as every constraint wants.
#[must_use]
pub fn divisions(sites: &[Site], constraints: &[Constraint], replicas: u32) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    extend(sites, constraints, (replicas, replicas), Vec::new(), &mut found);
    found
}

/// The most replicas that any allowed division places, and over how few clusters; `None` where none is allowed.
#[must_use]
pub fn best(sites: &[Site], constraints: &[Constraint], replicas: u32) -> Option<(u32, usize)> {
    let placed = |division: &Vec<u32>| division.iter().sum::<u32>();
    let used = |division: &Vec<u32>| division.iter().filter(|n| **n > 0).count();
    let all = divisions(sites, constraints, replicas);
    let most = all.iter().map(placed).max()?;
    all.iter().filter(|division| placed(division) == most).map(used).min().map(|fewest| (most, fewest))
}

/// In how many clusters all replicas can be copied at most; `None` where no set of clusters is allowed.
#[must_use]
pub fn most_copies(sites: &[Site], constraints: &[Constraint], replicas: u32) -> Option<usize> {
    let takes = |site: &&Site| site.most >= replicas;
    let able: Vec<&Site> = sites.iter().filter(takes).collect();
    let sets = 1..1_u32 << able.len().min(16);
    let chosen = sets.map(|set| {
        let members = able.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        members.map(|(_, site)| *site).collect::<Vec<_>>()
    });
    chosen.filter(|set| is_spread(set, constraints)).map(|set| set.len()).max()
}

/// Whether the groups of these clusters are as many as every constraint wants.
#[must_use]
pub fn is_spread(used: &[&Site], constraints: &[Constraint]) -> bool {
    constraints.iter().enumerate().all(|(at, constraint)| {
        let groups: Option<Vec<u32>> = used.iter().map(|site| site.groups.get(at).copied().flatten()).collect();
        let Some(mut groups) = groups else { return false };
        groups.sort_unstable();
        groups.dedup();
        let count = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        count >= constraint.min && constraint.max.is_none_or(|max| count <= max)
    })
}

fn extend(
    sites: &[Site],
    constraints: &[Constraint],
    (replicas, left): (u32, u32),
    so_far: Vec<u32>,
    found: &mut Vec<Vec<u32>>,
) {
    let Some(site) = sites.get(so_far.len()) else {
        let used: Vec<&Site> = sites.iter().zip(&so_far).filter(|(_, n)| **n > 0).map(|(site, _)| site).collect();
        if !used.is_empty() && is_spread(&used, constraints) {
            found.push(so_far);
        }
        return;
    };
    for n in site.keeps..=left.min(site.most.max(site.keeps)) {
        if n == site.keeps || n >= site.least.min(replicas) {
            let next = so_far.iter().copied().chain([n]).collect();
            extend(sites, constraints, (replicas, left - n), next, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(most: u32, least: u32, region: u32) -> Site {
        Site { most, least, keeps: 0, groups: vec![Some(region)] }
    }

    #[test]
    fn knows_what_can_be_counted_by_hand() {
        let sites = [site(3, 0, 0), site(2, 0, 0), site(4, 0, 1)];
        let regions = |min, max| [Constraint { min, max }];
        assert_eq!(best(&sites, &regions(1, None), 8), Some((8, 3)));
        assert_eq!(best(&sites, &regions(1, Some(1)), 8), Some((5, 2)));
        assert_eq!(best(&sites, &regions(1, Some(1)), 4), Some((4, 1)));
        assert_eq!(best(&sites, &regions(2, None), 4), Some((4, 2)));
        assert_eq!(best(&sites, &regions(2, None), 1), None);
        assert_eq!(best(&sites, &regions(3, None), 8), None);
        assert_eq!(most_copies(&sites, &regions(1, None), 3), Some(2));
        assert_eq!(most_copies(&sites, &regions(2, None), 4), None);
    }

    #[test]
    fn floors_and_what_is_kept_are_no_choice() {
        // three at least in each: two clusters share seven, three do not
        let sites = [site(4, 3, 0), site(3, 3, 0), site(3, 3, 1)];
        assert_eq!(best(&sites, &[], 8), Some((7, 2)));
        assert_eq!(best(&sites, &[], 2), Some((2, 1)));
        let kept = [Site { keeps: 2, ..site(1, 0, 0) }, site(9, 0, 1)];
        assert_eq!(best(&kept, &[Constraint { min: 1, max: Some(1) }], 6), Some((2, 1)));
    }
}
