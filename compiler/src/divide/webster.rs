//! Webster's method (Sainte-Laguë) with floors and caps.
//!
//! A party's next seat is worth `weight / (2 * seats + 1)`. These values fall as the party grows, so giving seats one by one to
//! the largest value equals taking the top `n` of all values. Hence: more seats never take one away (house-monotone), capping one
//! party takes from no other, and a long run may start at any threshold below which nothing has been taken yet.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One party of a division, that is, one cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Party {
    /// Relative claim. 0 never gets a seat.
    pub weight: u64,
    /// Seats already held; the division only adds.
    pub seats: u32,
    /// Most seats it may hold. A cap below `seats` adds nothing and takes nothing.
    pub cap: u32,
    /// Room before the division, for ties only: more room first, unknown last.
    pub room: Option<u64>,
}

/// Gives `seats` seats, one by one, to the largest `weight / (2 * seats + 1)`; returns how many nobody could take.
///
/// Ties go to fewer seats, then to more room, then to the earlier position (callers keep name order).
/// The cost is O(parties * log(seats)) however many seats are given.
pub fn webster(seats: u32, parties: &mut [Party]) -> u32 {
    let left = take_all_above_threshold(seats, parties);
    give_one_by_one(left, parties)
}

/// The value of a party's next seat; the greatest claim is served first.
#[derive(Debug, PartialEq, Eq)]
struct Claim {
    weight: u64,
    seats: u32,
    room: Option<u64>,
    position: usize,
}

impl Ord for Claim {
    fn cmp(&self, other: &Self) -> Ordering {
        // weight * divisor < 2^64 * 2^33.
        let own = u128::from(self.weight) * divisor(other.seats);
        let others = u128::from(other.weight) * divisor(self.seats);
        own.cmp(&others)
            .then(other.seats.cmp(&self.seats))
            .then(self.room.cmp(&other.room))
            .then(other.position.cmp(&self.position))
    }
}

impl PartialOrd for Claim {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn divisor(seats: u32) -> u128 {
    2 * u128::from(seats) + 1
}

fn give_one_by_one(mut left: u32, parties: &mut [Party]) -> u32 {
    if left == 0 {
        return 0;
    }
    let mut claims: BinaryHeap<Claim> = parties
        .iter()
        .enumerate()
        .filter(|(_, party)| party.weight > 0 && party.seats < party.cap)
        .map(|(position, party)| Claim { weight: party.weight, seats: party.seats, room: party.room, position })
        .collect();
    while left > 0 {
        let Some(mut claim) = claims.pop() else { break };
        let Some(party) = parties.get_mut(claim.position) else { break };
        party.seats += 1;
        left -= 1;
        if party.seats < party.cap {
            claim.seats = party.seats;
            claims.push(claim);
        }
    }
    left
}

/// Takes every seat worth at least `scale / t`, for the largest `t` for which there are enough seats; returns the seats left.
/// A step of `t` gives each party at most one seat, so fewer seats are left than there are parties.
fn take_all_above_threshold(seats: u32, parties: &mut [Party]) -> u32 {
    let few = u32::try_from(parties.len()).unwrap_or(u32::MAX).saturating_mul(2);
    if seats <= few {
        return seats;
    }
    let scale: u128 = parties.iter().map(|party| u128::from(party.weight)).sum();
    if scale == 0 {
        return seats;
    }
    // Seats worth >= scale/t are those with 2s+1 <= weight*t/scale. A product that saturates is far beyond any cap.
    let seats_at = |t: u128, party: &Party| {
        let earned = ((u128::from(party.weight).saturating_mul(t) / scale).saturating_add(1)) / 2;
        let most = if party.weight == 0 { party.seats } else { party.cap.max(party.seats) };
        u32::try_from(earned).unwrap_or(u32::MAX).clamp(party.seats, most)
    };
    let enough_for = |t: u128| {
        let given: u64 = parties.iter().map(|party| u64::from(seats_at(t, party) - party.seats)).sum();
        given <= u64::from(seats)
    };
    let t = if enough_for(u128::MAX) {
        u128::MAX
    } else {
        // Without floors and caps the answer lies near 2 * seats; gallop from there.
        let (mut low, mut high) = (0, 2 * u128::from(seats));
        while enough_for(high) {
            (low, high) = (high, high.saturating_mul(2));
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if enough_for(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let mut left = seats;
    for position in 0..parties.len() {
        let Some(to) = parties.get(position).map(|party| seats_at(t, party)) else { continue };
        if let Some(party) = parties.get_mut(position) {
            left = left.saturating_sub(to - party.seats);
            party.seats = to;
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parties(weights: &[u64], seats: &[u32]) -> Vec<Party> {
        let party =
            |(i, &weight)| Party { weight, seats: seats.get(i).copied().unwrap_or(0), cap: u32::MAX, room: None };
        weights.iter().enumerate().map(party).collect()
    }

    fn seats(parties: &[Party]) -> Vec<u32> {
        parties.iter().map(|party| party.seats).collect()
    }

    /// The definition, read aloud.
    fn naive(mut left: u32, parties: &mut [Party]) -> u32 {
        while left > 0 {
            let mut best: Option<usize> = None;
            for (i, party) in parties.iter().enumerate() {
                if party.weight == 0 || party.seats >= party.cap {
                    continue;
                }
                let wins = best.is_none_or(|b| {
                    let held = &parties[b];
                    let (mine, theirs) = (
                        u128::from(party.weight) * (2 * u128::from(held.seats) + 1),
                        u128::from(held.weight) * (2 * u128::from(party.seats) + 1),
                    );
                    mine > theirs
                        || (mine == theirs && party.seats < held.seats)
                        || (mine == theirs && party.seats == held.seats && party.room > held.room)
                });
                if wins {
                    best = Some(i);
                }
            }
            let Some(best) = best else { break };
            parties[best].seats += 1;
            left -= 1;
        }
        left
    }

    #[test]
    fn known_divisions() {
        type Fact = (&'static [u64], &'static [u32], u32, &'static [u32]);
        // Weights, seats held, seats to give, seats after.
        #[rustfmt::skip]
        let facts: &[Fact] = &[
            (&[3, 2, 1], &[], 12, &[6, 4, 2]),
            (&[3, 2, 1], &[], 13, &[7, 4, 2]),
            (&[3, 2, 1], &[], 14, &[7, 5, 2]),
            (&[2, 1], &[], 1, &[1, 0]),
            (&[2, 1], &[], 2, &[1, 1]),
            (&[2, 1], &[], 3, &[2, 1]),
            (&[170, 110, 60], &[], 5, &[2, 2, 1]),
            (&[170, 110, 60], &[], 6, &[3, 2, 1]),
            (&[17, 11, 6], &[], 5, &[2, 2, 1]),
            (&[17, 11, 6], &[], 6, &[3, 2, 1]),
            (&[2, 1, 1, 1], &[], 7, &[3, 2, 1, 1]),
            (&[2, 1, 1, 1], &[], 8, &[3, 2, 2, 1]),
            (&[2, 1, 1, 1], &[], 9, &[3, 2, 2, 2]),
            (&[3, 1, 1], &[], 2, &[1, 1, 0]),
            (&[1, 2, 3], &[1, 2, 3], 2, &[1, 3, 4]),
            (&[1, 2, 3], &[1, 2, 3], 3, &[2, 3, 4]),
            (&[1, 2, 3], &[1, 2, 3], 6, &[2, 4, 6]),
            (&[100_000, 80_000, 30_000, 20_000], &[], 5, &[2, 2, 1, 0]),
            (&[100_000, 80_000, 30_000, 20_000], &[], 6, &[2, 2, 1, 1]),
            (&[1, 1], &[0, 1], 2, &[2, 1]),
            (&[100, 0], &[0, 3], 2, &[2, 3]),
            (&[9, 1], &[1, 1], 8, &[9, 1]),
            (&[5], &[], 10, &[10]),
            (&[1, 1], &[], 5, &[3, 2]),
        ];
        for (weights, held, give, expected) in facts {
            let mut parties = parties(weights, held);
            assert_eq!(webster(*give, &mut parties), 0);
            assert_eq!(seats(&parties), *expected, "{weights:?} + {give}");
        }
    }

    #[test]
    fn what_nobody_can_take_is_returned() {
        assert_eq!(webster(10, &mut []), 10);
        assert_eq!(webster(10, &mut parties(&[0, 0], &[])), 10);
        let mut capped = parties(&[1, 10], &[1, 1]);
        (capped[0].cap, capped[1].cap) = (1, 5);
        assert_eq!(webster(6, &mut capped), 2);
        assert_eq!(seats(&capped), [1, 5]);
        let mut above = parties(&[1], &[4]);
        above[0].cap = 2;
        assert_eq!(webster(1_000, &mut above), 1_000);
        assert_eq!(seats(&above), [4]);
    }

    #[test]
    fn ties_go_to_fewer_seats_then_more_room_then_the_earlier_name() {
        let mut by_room = parties(&[1, 1, 1], &[]);
        (by_room[1].room, by_room[2].room) = (Some(4), Some(9));
        webster(2, &mut by_room);
        assert_eq!(seats(&by_room), [0, 1, 1]);
        // 3/(2*1+1) = 1/(2*0+1): the one with fewer seats.
        let mut by_seats = parties(&[3, 1], &[1, 0]);
        webster(1, &mut by_seats);
        assert_eq!(seats(&by_seats), [1, 1]);
    }

    #[test]
    fn a_hundred_one_replica_apps_do_not_all_go_to_the_first_cluster() {
        let mut room = [60_u64, 60];
        let mut got = [0; 2];
        for _ in 0..100 {
            let mut two = parties(&[1, 1], &[]);
            (two[0].room, two[1].room) = (Some(room[0]), Some(room[1]));
            webster(1, &mut two);
            for (i, party) in two.iter().enumerate() {
                got[i] += party.seats;
                room[i] -= u64::from(party.seats);
            }
        }
        assert_eq!(got, [50, 50]);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let mut two = parties(&[u64::MAX, u64::MAX], &[]);
        assert_eq!(webster(u32::MAX, &mut two), 0);
        assert_eq!(seats(&two), [1 << 31, (1 << 31) - 1]);
        let mut uneven = parties(&[u64::MAX, 1], &[0, u32::MAX - 1]);
        assert_eq!(webster(u32::MAX, &mut uneven), 0);
        assert_eq!(seats(&uneven), [u32::MAX, u32::MAX - 1]);
    }

    #[test]
    fn a_million_replicas_over_a_thousand_clusters_take_no_million_steps() {
        let weights: Vec<u64> = (1..=1_000).collect();
        let mut all = parties(&weights, &[]);
        assert_eq!(webster(1_000_000, &mut all), 0);
        assert_eq!(seats(&all).iter().sum::<u32>(), 1_000_000);
        // 1_000_000 * 1000 / 500_500 = 1998.002
        assert_eq!((all[999].seats, all[499].seats), (1998, 999));
    }

    fn some_parties() -> impl Strategy<Value = Vec<Party>> {
        let weight = prop_oneof![0_u64..12, 0_u64..100_000, Just(u64::MAX)];
        let cap = prop_oneof![Just(u32::MAX), 0_u32..200];
        let room = prop_oneof![Just(None), (0_u64..4).prop_map(Some)];
        let party =
            (weight, 0_u32..30, cap, room).prop_map(|(weight, seats, cap, room)| Party { weight, seats, cap, room });
        proptest::collection::vec(party, 0..7)
    }

    proptest! {
        #[test]
        fn equals_the_naive_loop(parties in some_parties(), give in 0_u32..600) {
            let (mut fast, mut slow) = (parties.clone(), parties);
            prop_assert_eq!(webster(give, &mut fast), naive(give, &mut slow));
            prop_assert_eq!(fast, slow);
        }

        #[test]
        fn one_more_seat_takes_none_away(parties in some_parties(), give in 0_u32..300) {
            let (mut fewer, mut more) = (parties.clone(), parties);
            webster(give, &mut fewer);
            webster(give + 1, &mut more);
            prop_assert!(fewer.iter().zip(&more).all(|(f, m)| f.seats <= m.seats));
        }

        #[test]
        fn capping_one_takes_from_no_other(parties in some_parties(), give in 0_u32..300, cap in 0_u32..20, which in 0_usize..7) {
            let (mut free, mut capped) = (parties.clone(), parties);
            if let Some(party) = capped.get_mut(which) {
                party.cap = party.cap.min(cap);
            }
            webster(give, &mut free);
            webster(give, &mut capped);
            for (i, (f, c)) in free.iter().zip(&capped).enumerate() {
                prop_assert!(i == which || f.seats <= c.seats);
            }
        }
    }
}
