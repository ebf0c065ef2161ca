//! Sets of clusters.

use std::fmt;

use crate::base::ClusterId;

/// A set of clusters of one fleet, as bits. One of a small fleet takes no memory of its own.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct ClusterSet(Words);

/// So many words lie in the set itself.
const FEW: usize = 2;

/// Equal sets are equal in this form, too: `Many` has more than [`FEW`] words, and the last is not zero.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Words {
    Few([u64; FEW]),
    Many(Vec<u64>),
}

impl Default for Words {
    fn default() -> Self {
        Self::Few([0; FEW])
    }
}

impl Words {
    /// `count` words, by position.
    fn of(count: usize, word: impl Fn(usize) -> u64) -> Self {
        let count = (FEW..count).rev().find(|at| word(*at) != 0).map_or(FEW, |last| last + 1);
        if count > FEW {
            return Self::Many((0..count).map(word).collect());
        }
        Self::Few(std::array::from_fn(word))
    }

    fn as_slice(&self) -> &[u64] {
        match self {
            Self::Few(words) => words,
            Self::Many(words) => words,
        }
    }

    fn word(&self, at: usize) -> u64 {
        self.as_slice().get(at).copied().unwrap_or(0)
    }
}

impl fmt::Debug for ClusterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|cluster| cluster.0)).finish()
    }
}

impl ClusterSet {
    /// The empty set.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// All of `count` clusters.
    #[must_use]
    pub fn all(count: usize) -> Self {
        (0..u16::try_from(count).unwrap_or(u16::MAX)).map(ClusterId).collect()
    }

    /// Adds a cluster.
    pub fn insert(&mut self, id: ClusterId) {
        let (word, bit) = (id.index() / 64, 1 << (id.index() % 64));
        match &mut self.0 {
            Words::Few(words) if word < FEW => words[word] |= bit,
            Words::Few(words) => {
                let mut words = words.to_vec();
                words.resize(word + 1, 0);
                words[word] |= bit;
                self.0 = Words::Many(words);
            }
            Words::Many(words) => {
                if words.len() <= word {
                    words.resize(word + 1, 0);
                }
                words[word] |= bit;
            }
        }
    }

    /// Removes a cluster.
    pub fn remove(&mut self, id: ClusterId) {
        let (word, bit) = (id.index() / 64, 1 << (id.index() % 64));
        match &mut self.0 {
            Words::Few(words) if word < FEW => words[word] &= !bit,
            Words::Many(words) if word < words.len() => {
                words[word] &= !bit;
                if words.last() == Some(&0) {
                    self.0 = Words::of(words.len(), |at| words[at]);
                }
            }
            Words::Few(_) | Words::Many(_) => {}
        }
    }

    /// Whether a cluster is in it.
    #[must_use]
    pub fn contains(&self, id: ClusterId) -> bool {
        self.0.word(id.index() / 64) & (1 << (id.index() % 64)) != 0
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_slice().iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.as_slice().iter().all(|word| *word == 0)
    }

    /// Whether all of it is in another.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.as_slice().iter().enumerate().all(|(at, word)| word & !other.0.word(at) == 0)
    }

    /// Those in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let (a, b) = (self.0.as_slice(), other.0.as_slice());
        Self(Words::of(a.len().min(b.len()), |at| a[at] & b[at]))
    }

    /// Those in either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let (a, b) = (self.0.as_slice(), other.0.as_slice());
        let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        Self(Words::of(long.len(), |at| long[at] | short.get(at).copied().unwrap_or(0)))
    }

    /// Those of this set that are not in the other.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let (a, b) = (self.0.as_slice(), other.0.as_slice());
        Self(Words::of(a.len(), |at| a[at] & !b.get(at).copied().unwrap_or(0)))
    }

    /// Ascending by id, which is ascending by name.
    pub fn iter(&self) -> impl Iterator<Item = ClusterId> + '_ {
        self.0.as_slice().iter().enumerate().flat_map(|(i, word)| {
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

    /// Whatever became of them, equal sets are equal, and hash alike.
    #[test]
    fn a_set_has_one_form() {
        let hash = |set: &ClusterSet| {
            let mut hasher = std::hash::DefaultHasher::new();
            std::hash::Hash::hash(set, &mut hasher);
            std::hash::Hasher::finish(&hasher)
        };
        let large = set(&[1, 127, 128, 700]);
        let mut shrunk = large.clone();
        shrunk.remove(ClusterId(700));
        shrunk.remove(ClusterId(128));
        let small = set(&[1, 127]);
        for same in [shrunk, large.and(&small), large.without(&set(&[128, 700])), small.or(&set(&[]))] {
            assert_eq!(same, small);
            assert_eq!(hash(&same), hash(&small));
        }
        assert_eq!(small.or(&set(&[128, 700])), large);
        assert_eq!(format!("{large:?}"), "{1, 127, 128, 700}");
        assert!(small.is_within(&large) && !large.is_within(&small) && set(&[]).is_within(&small));
    }
}
