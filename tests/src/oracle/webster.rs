//! Webster's method with floors and caps, by enumeration.
//!
//! A division is right when no seat should have gone to another party: every seat that was given beyond a floor is worth
//! at least as much as every seat that could have been given instead. A seat is worth `weight / (2 * seats before + 1)`;
//! of equal ones the party with fewer seats, then with more room, then the earlier one comes first. Exactly one division
//! of all is right.

/// One party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Its claim. 0 gets nothing beyond its floor.
    pub weight: u64,
    /// Seats it has before.
    pub floor: u32,
    /// Most seats it may have.
    pub cap: u32,
    /// For ties; unknown comes last.
    pub room: Option<u64>,
}

/// A seat, ordered by who is served first: the greatest.
fn worth(party: Party, position: usize, before: u32) -> impl Fn(&(Party, usize, u32)) -> std::cmp::Ordering {
    move |(other, other_position, other_before)| {
        let own = u128::from(party.weight) * (2 * u128::from(*other_before) + 1);
        let others = u128::from(other.weight) * (2 * u128::from(before) + 1);
        own.cmp(&others)
            .then(other_before.cmp(&before))
            .then(party.room.cmp(&other.room))
            .then(other_position.cmp(&position))
    }
}

/// All divisions of as many of `seats` more seats as the caps allow, of which the right one is returned.
#[must_use]
pub fn divide(seats: u32, parties: &[Party]) -> Option<Vec<u32>> {
    let most = |party: &Party| if party.weight == 0 { party.floor } else { party.cap.max(party.floor) };
    let open: u32 = parties.iter().map(|party| most(party) - party.floor).fold(0, u32::saturating_add);
    let mut found = Vec::new();
    let floors: Vec<u32> = parties.iter().map(|party| party.floor).collect();
    enumerate(parties, &most, seats.min(open), 0, floors, &mut found);
    let right: Vec<Vec<u32>> = found.into_iter().filter(|division| is_right(parties, &most, division)).collect();
    match right.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
}

fn enumerate(
    parties: &[Party],
    most: &impl Fn(&Party) -> u32,
    left: u32,
    at: usize,
    division: Vec<u32>,
    found: &mut Vec<Vec<u32>>,
) {
    let Some(party) = parties.get(at) else {
        if left == 0 {
            found.push(division);
        }
        return;
    };
    for more in 0..=left.min(most(party) - party.floor) {
        let mut division = division.clone();
        if let Some(own) = division.get_mut(at) {
            *own += more;
        }
        enumerate(parties, most, left - more, at + 1, division, found);
    }
}

fn is_right(parties: &[Party], most: &impl Fn(&Party) -> u32, division: &[u32]) -> bool {
    let rows: Vec<(Party, u32)> = parties.iter().copied().zip(division.iter().copied()).collect();
    rows.iter().enumerate().all(|(i, (given, own))| {
        *own == given.floor
            || rows.iter().enumerate().all(|(j, (other, others))| {
                *others >= most(other) || i == j || worth(*given, i, own - 1)(&(*other, j, *others)).is_ge()
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(seats: u32, weights: &[u64]) -> Option<Vec<u32>> {
        let party = |weight: &u64| Party { weight: *weight, floor: 0, cap: u32::MAX, room: None };
        divide(seats, &weights.iter().map(party).collect::<Vec<_>>())
    }

    #[test]
    fn knows_the_tables_of_webster() {
        assert_eq!(weights(13, &[3, 2, 1]), Some(vec![7, 4, 2]));
        assert_eq!(weights(5, &[170, 110, 60]), Some(vec![2, 2, 1]));
        assert_eq!(weights(8, &[2, 1, 1, 1]), Some(vec![3, 2, 2, 1]));
        assert_eq!(weights(1, &[1, 1]), Some(vec![1, 0]));
        assert_eq!(weights(3, &[0, 1]), Some(vec![0, 3]));
    }

    #[test]
    fn floors_stay_and_caps_hold() {
        let party = |weight, floor, cap| Party { weight, floor, cap, room: None };
        assert_eq!(divide(8, &[party(9, 1, 9), party(1, 1, 9)]), Some(vec![9, 1]));
        assert_eq!(divide(8, &[party(9, 0, 3), party(1, 0, 3)]), Some(vec![3, 3]));
    }
}
