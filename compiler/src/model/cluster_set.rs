//! Sets of clusters.

use crate::base::ClusterId;

/// A set of clusters of one fleet, as bits.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct ClusterSet(Vec<u64>);

impl ClusterSet {
    /// The empty set.
    #[must_use]
    pub fn empty() -> Self {
        Self(Vec::new())
    }

    /// All of `count` clusters.
    #[must_use]
    pub fn all(count: usize) -> Self {
        (0..u16::try_from(count).unwrap_or(u16::MAX)).map(ClusterId).collect()
    }

    /// Adds a cluster.
    pub fn insert(&mut self, id: ClusterId) {
        let word = id.index() / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (id.index() % 64);
    }

    /// Removes a cluster.
    pub fn remove(&mut self, id: ClusterId) {
        if let Some(word) = self.0.get_mut(id.index() / 64) {
            *word &= !(1 << (id.index() % 64));
        }
        self.trim();
    }

    /// Whether a cluster is in it.
    #[must_use]
    pub fn contains(&self, id: ClusterId) -> bool {
        self.0.get(id.index() / 64).is_some_and(|word| word & (1 << (id.index() % 64)) != 0)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Those in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut set = Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect());
        set.trim();
        set
    }

    /// Those in either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() >= other.0.len() { (self, other) } else { (other, self) };
        let mut words = long.0.clone();
        words.iter_mut().zip(&short.0).for_each(|(a, b)| *a |= b);
        Self(words)
    }

    /// Those of this set that are not in the other.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let mut set = Self(self.0.iter().enumerate().map(|(i, a)| a & !other.0.get(i).copied().unwrap_or(0)).collect());
        set.trim();
        set
    }

    /// Ascending by id, which is ascending by name.
    pub fn iter(&self) -> impl Iterator<Item = ClusterId> + '_ {
        self.0.iter().enumerate().flat_map(|(i, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    // ids are u16, so the index fits
                    ClusterId((i * 64 + bit) as u16)
                })
            })
        })
    }

    /// Equal sets have equal words: no zero word at the end.
    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

impl FromIterator<ClusterId> for ClusterSet {
    fn from_iter<I: IntoIterator<Item = ClusterId>>(ids: I) -> Self {
        let mut set = Self::empty();
        ids.into_iter().for_each(|id| set.insert(id));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[u16]) -> ClusterSet {
        ids.iter().copied().map(ClusterId).collect()
    }

    #[test]
    fn sets_behave_as_sets() {
        let a = set(&[0, 63, 64, 200]);
        let b = set(&[63, 200, 5]);
        assert_eq!(a.and(&b), set(&[63, 200]));
        assert_eq!(a.or(&b), set(&[0, 5, 63, 64, 200]));
        assert_eq!(a.without(&b), set(&[0, 64]));
        assert_eq!(a.len(), 4);
        assert_eq!(a.iter().map(|c| c.0).collect::<Vec<_>>(), [0, 63, 64, 200]);
        let mut c = a.clone();
        c.remove(ClusterId(200));
        assert_eq!(c, set(&[0, 63, 64]));
        assert!(!c.contains(ClusterId(200)) && c.contains(ClusterId(64)) && !c.contains(ClusterId(9999)));
        assert!(set(&[]).is_empty() && ClusterSet::all(3) == set(&[0, 1, 2]));
    }
}
