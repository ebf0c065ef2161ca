//! The states of the knapsack: how many groups of each level are chosen, told apart only as far as it matters.

/// How far one level is counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digit {
    min: usize,
    /// Highest count that is told apart.
    top: usize,
    /// Whether counts above `top` count as `top`, rather than being forbidden.
    saturates: bool,
}

impl Digit {
    pub fn new(min: u32, max: Option<u32>) -> Self {
        let size = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        Self { min: size(min), top: size(max.unwrap_or(min)), saturates: max.is_none() }
    }

    fn radix(self) -> usize {
        self.top.saturating_add(1)
    }

    fn add(self, a: usize, b: usize) -> Option<usize> {
        let sum = a.saturating_add(b);
        if sum <= self.top { Some(sum) } else { self.saturates.then_some(self.top) }
    }
}

/// The state space: a mixed radix number, the outermost level first, the count of clusters last.
#[derive(Debug)]
pub(super) struct States {
    pub digits: Vec<Digit>,
    counts_clusters: bool,
    pub total: usize,
}

impl States {
    pub fn new(digits: Vec<Digit>, counts_clusters: bool) -> Self {
        let total = digits.iter().map(|digit| digit.radix()).fold(1, usize::saturating_mul);
        Self { digits, counts_clusters, total }
    }

    /// The count of clusters; 0 where they are not counted.
    pub fn cluster_count(&self, state: usize) -> usize {
        self.digits.last().filter(|_| self.counts_clusters).map_or(0, |digit| state % digit.radix())
    }

    /// No set has more groups of a level: as many as it allows, or as there may be clusters.
    pub fn most_groups(&self, depth: usize) -> usize {
        let clusters = self.digits.last().filter(|_| self.counts_clusters);
        let bounds = self.digits.get(depth).into_iter().chain(clusters).filter(|digit| !digit.saturates);
        bounds.map(|digit| digit.top).min().unwrap_or(usize::MAX)
    }

    /// The highest count of clusters that is told apart.
    pub fn most_told_apart(&self) -> usize {
        self.digits.last().filter(|_| self.counts_clusters).map_or(0, |digit| digit.top)
    }

    /// The sum of two states, digit by digit, unless it exceeds a `max`.
    pub fn add(&self, mut a: usize, mut b: usize) -> Option<usize> {
        let (mut sum, mut place) = (0, 1);
        for digit in self.digits.iter().rev() {
            let radix = digit.radix();
            sum += digit.add(a % radix, b % radix)? * place;
            (a, b, place) = (a / radix, b / radix, place * radix);
        }
        Some(sum)
    }

    /// The state of one group of the level at `depth`, and nothing else.
    pub fn one_group(&self, depth: usize) -> Option<usize> {
        let inner: usize = self.digits.iter().skip(depth + 1).map(|digit| digit.radix()).product();
        self.digits.get(depth).and_then(|digit| digit.add(0, 1)).map(|count| count * inner)
    }

    /// The state of `count` clusters of one innermost group, the groups around it not yet counted.
    pub fn clusters(&self, count: usize) -> Option<usize> {
        self.digits.last().filter(|_| self.counts_clusters).map_or(Some(0), |digit| digit.add(0, count))
    }

    /// Whether every `min` is reached.
    pub fn is_complete(&self, mut state: usize) -> bool {
        self.digits.iter().rev().all(|digit| {
            let reached = state % digit.radix();
            state /= digit.radix();
            reached >= digit.min
        })
    }
}
