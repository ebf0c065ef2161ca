//! Further numbers of a workload that follow its division: completions of a Job, bounds of an autoscaler.

use super::webster::{Party, webster};

/// Divides `total` over clusters in proportion to the seats they got, never giving one less than its seats while
/// `total` allows it. A cluster without a seat gets nothing; where no cluster has a seat, all get equal parts.
///
/// The parts add up to `total`, unless `seats` is empty.
#[must_use]
pub fn divide_by_seats(total: u32, seats: &[u32]) -> Vec<u32> {
    let seated: u64 = seats.iter().map(|&n| u64::from(n)).sum();
    let start_at_seats = seated <= u64::from(total);
    let mut parties: Vec<Party> = seats
        .iter()
        .map(|&n| Party {
            weight: if seated == 0 { 1 } else { u64::from(n) },
            seats: if start_at_seats { n } else { 0 },
            cap: u32::MAX,
            room: None,
        })
        .collect();
    let given: u32 = parties.iter().map(|party| party.seats).sum();
    webster(total.saturating_sub(given), &mut parties);
    parties.into_iter().map(|party| party.seats).collect()
}

/// Divides the other bound of an autoscaler over clusters that hold `seats` of the one that was placed, in equal parts that
/// never cross it: at least the seats for the most replicas, at most the seats and at least 1 for the fewest. A cluster
/// without seats gets nothing.
#[must_use]
pub fn divide_bound(total: u32, seats: &[u32], seats_are_most: bool) -> Vec<u32> {
    let party = |&seats: &u32| match (seats, seats_are_most) {
        (0, _) => Party { weight: 0, seats: 0, cap: 0, room: None },
        (seats, true) => Party { weight: 1, seats: 1, cap: seats, room: None },
        (seats, false) => Party { weight: 1, seats, cap: u32::MAX, room: None },
    };
    let mut parties: Vec<Party> = seats.iter().map(party).collect();
    let given = parties.iter().fold(0_u32, |sum, party| sum.saturating_add(party.seats));
    webster(total.saturating_sub(given), &mut parties);
    parties.into_iter().map(|party| party.seats).collect()
}

/// How many seats a Job has to divide: the pods that can run at once. Absent `parallelism` means 1; absent `completions`
/// (a work queue) puts no bound on it.
#[must_use]
pub fn job_seats(parallelism: Option<u32>, completions: Option<u32>) -> u32 {
    let parallelism = parallelism.unwrap_or(1);
    completions.map_or(parallelism, |completions| parallelism.min(completions))
}

/// A cluster's part of a Job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobShare {
    /// `spec.parallelism` there.
    pub parallelism: u32,
    /// `spec.completions` there; absent where the Job has none, never invented.
    pub completions: Option<u32>,
}

/// Divides a Job by the seats its clusters got of [`job_seats`].
///
/// All completions are divided even where not every seat was placed: fewer pods finish later, fewer completions never.
/// Parallelism that found no place is not handed to the others, since they have no room for it.
#[must_use]
pub fn divide_job(parallelism: Option<u32>, completions: Option<u32>, seats: &[u32]) -> Vec<JobShare> {
    let wanted = job_seats(parallelism, completions);
    let completed = completions.map(|completions| divide_by_seats(completions, seats));
    // More parallelism than completions is allowed and idle; where it is the smaller number, it is the seats themselves.
    let parallel = match parallelism {
        Some(parallelism) if parallelism > wanted => divide_by_seats(parallelism, seats),
        _ => seats.to_vec(),
    };
    let share = |(position, parallelism): (usize, u32)| JobShare {
        parallelism,
        completions: completed.as_ref().and_then(|parts| parts.get(position).copied()),
    };
    parallel.into_iter().enumerate().map(share).collect()
}

/// A cluster's part of an autoscaler's bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoscalerShare {
    /// `spec.minReplicas` there.
    pub min: u32,
    /// `spec.maxReplicas` there, at least 1 and at least `min`.
    pub max: u32,
}

/// The most clusters an autoscaled workload may use, so that each gets a minimum of at least 1.
#[must_use]
pub fn autoscaler_clusters(min: u32) -> u32 {
    min.max(1)
}

/// Divides the bounds of an autoscaler in equal parts over `clusters` clusters; the first get what does not divide.
///
/// Of more clusters than [`autoscaler_clusters`] allows, or than `max` has replicas for, the first are used. `max` below `min`
/// (the API server refuses it) counts as `min`.
#[must_use]
pub fn divide_autoscaler(min: u32, max: u32, clusters: usize) -> Vec<AutoscalerShare> {
    let max = max.max(min).max(1);
    let used = clusters.min(usize::try_from(autoscaler_clusters(min)).unwrap_or(usize::MAX));
    let equal = vec![0; used];
    let (mins, maxes) = (divide_by_seats(min, &equal), divide_by_seats(max, &equal));
    mins.into_iter().zip(maxes).map(|(min, max)| AutoscalerShare { min, max }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn job(parallelism: u32, completions: Option<u32>, seats: &[u32]) -> (Vec<u32>, Vec<Option<u32>>) {
        let shares = divide_job(Some(parallelism), completions, seats);
        shares.iter().map(|share| (share.parallelism, share.completions)).unzip()
    }

    #[test]
    fn completions_follow_parallelism() {
        assert_eq!(job_seats(Some(12), Some(60)), 12);
        assert_eq!(job(12, Some(60), &[6, 4, 2]), (vec![6, 4, 2], vec![Some(30), Some(20), Some(10)]));
        assert_eq!(job(12, Some(13), &[6, 4, 2]), (vec![6, 4, 2], vec![Some(7), Some(4), Some(2)]));
        assert_eq!(job(12, Some(12), &[12, 0]), (vec![12, 0], vec![Some(12), Some(0)]));
    }

    #[test]
    fn spare_parallelism_is_divided_too() {
        assert_eq!(job_seats(Some(12), Some(4)), 4);
        assert_eq!(job(12, Some(4), &[3, 1]), (vec![9, 3], vec![Some(3), Some(1)]));
    }

    #[test]
    fn a_work_queue_gets_no_completions() {
        assert_eq!(job_seats(Some(4), None), 4);
        assert_eq!(job_seats(None, None), 1);
        assert_eq!(job(4, None, &[2, 2]), (vec![2, 2], vec![None, None]));
    }

    #[test]
    fn unplaced_pods_do_not_lose_completions() {
        assert_eq!(job(12, Some(60), &[6, 2]), (vec![6, 2], vec![Some(45), Some(15)]));
        assert_eq!(job(0, Some(5), &[0, 0]), (vec![0, 0], vec![Some(3), Some(2)]));
        assert_eq!(job(3, Some(5), &[]), (vec![], vec![]));
    }

    #[test]
    fn autoscaler_bounds_are_equal_parts_of_at_least_one() {
        let shares = |min, max, clusters| -> Vec<(u32, u32)> {
            divide_autoscaler(min, max, clusters).iter().map(|share| (share.min, share.max)).collect()
        };
        assert_eq!(shares(2, 10, 2), [(1, 5), (1, 5)]);
        assert_eq!(shares(5, 11, 3), [(2, 4), (2, 4), (1, 3)]);
        assert_eq!(shares(2, 10, 4), [(1, 5), (1, 5)]);
        assert_eq!(shares(0, 10, 3), [(0, 10)]);
        assert_eq!(shares(3, 2, 3), [(1, 1), (1, 1), (1, 1)]);
        assert_eq!(shares(1, 4, 0), []);
    }

    #[test]
    fn the_other_bound_follows_in_equal_parts() {
        for (total, seats, most, expected) in [
            (10, vec![1, 1], false, vec![5, 5]),
            (10, vec![4, 1], false, vec![5, 5]),
            (10, vec![7, 1, 0], false, vec![7, 3, 0]),
            (3, vec![2, 2], false, vec![2, 2]),
            (3, vec![5, 5], true, vec![2, 1]),
            (9, vec![5, 2], true, vec![5, 2]),
            (1, vec![5, 5], true, vec![1, 1]),
            (4, vec![], true, vec![]),
        ] {
            assert_eq!(divide_bound(total, &seats, most), expected, "{total} over {seats:?}");
        }
    }

    proptest! {
        #[test]
        fn parts_add_up(total in 0_u32..500, seats in proptest::collection::vec(0_u32..40, 1..6)) {
            let parts = divide_by_seats(total, &seats);
            prop_assert_eq!(parts.iter().sum::<u32>(), total);
            if seats.iter().sum::<u32>() <= total {
                prop_assert!(parts.iter().zip(&seats).all(|(part, seat)| part >= seat));
            }
        }

        #[test]
        fn autoscaler_parts_add_up(min in 0_u32..30, extra in 0_u32..60, clusters in 1_usize..9) {
            let shares = divide_autoscaler(min, min + extra, clusters);
            prop_assert_eq!(shares.iter().map(|share| share.min).sum::<u32>(), min);
            prop_assert_eq!(shares.iter().map(|share| share.max).sum::<u32>(), (min + extra).max(1));
            prop_assert!(shares.iter().all(|share| share.max >= share.min && share.max >= 1));
        }
    }
}
