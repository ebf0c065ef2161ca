//! Anchors and what their aliases cost.
//!
//! An alias is expanded by copying. Three bounds keep that small: [`Limits::alias_nodes`] for a file, the share of a
//! document that may come from aliases (the reader's own rule, "excessive aliasing"), and the depth with aliases expanded.

use super::compose::Limits;
use super::error::YamlErrorKind;
use super::node::{Node, Yaml};
use super::scalar::KeyText;

/// What the aliases of a file have cost so far, in values.
#[derive(Default)]
pub(super) struct Expansion {
    /// Copied into trees.
    expanded: u64,
    /// Kept for aliases that may come.
    kept: u64,
}

/// The anchors of one document, by the parser's number.
pub(super) struct Anchors<'s, 'l> {
    limits: &'l Limits,
    expansion: &'l mut Expansion,
    slots: Vec<Slot<'s>>,
    /// The reader's counts for its rule of excessive aliasing: values decoded, and those of them from aliases.
    decoded: u64,
    aliased: u64,
}

enum Slot<'s> {
    Absent,
    /// Its value has begun and not ended.
    Open,
    Done(Box<Anchored<'s>>),
    /// Its expansion would break the budget.
    TooLarge,
}

struct Anchored<'s> {
    node: Node<'s>,
    key: Option<KeyText<'s>>,
    /// Levels of nested collections.
    height: u32,
    /// Values the reader decodes for it.
    cost: u64,
}

impl<'s, 'l> Anchors<'s, 'l> {
    pub(super) fn new(limits: &'l Limits, expansion: &'l mut Expansion) -> Self {
        // The reader counts the document itself.
        Self { limits, expansion, slots: Vec::new(), decoded: 1, aliased: 0 }
    }

    /// A scalar was read.
    pub(super) fn count_scalar(&mut self) {
        self.decoded += 1;
    }

    /// Keeps an anchored scalar.
    pub(super) fn scalar(&mut self, id: usize, node: &Node<'s>, key: Option<KeyText<'s>>) {
        if id != 0 {
            self.keep(id, node, key, 1);
        }
    }

    /// A collection begins; the answer is for [`Self::close`].
    pub(super) fn open(&mut self, id: usize) -> u64 {
        let before = self.decoded;
        self.decoded += 1;
        if id != 0 {
            self.set(id, Slot::Open);
        }
        before
    }

    /// The collection ends.
    pub(super) fn close(&mut self, id: usize, node: &Node<'s>, opened: u64) {
        if id != 0 {
            self.keep(id, node, None, self.decoded.saturating_sub(opened));
        }
    }

    fn keep(&mut self, id: usize, node: &Node<'s>, key: Option<KeyText<'s>>, cost: u64) {
        let kept = self.expansion.kept.saturating_add(cost);
        // What is too large for one alias is not worth keeping. Anchors inside anchors are kept several times.
        if self.expansion.expanded.saturating_add(cost) > self.limits.alias_nodes
            || kept > self.limits.alias_nodes.saturating_mul(4)
        {
            return self.set(id, Slot::TooLarge);
        }
        self.expansion.kept = kept;
        self.set(id, Slot::Done(Box::new(Anchored { node: node.clone(), key, height: height(node), cost })));
    }

    fn set(&mut self, id: usize, slot: Slot<'s>) {
        if self.slots.len() <= id {
            self.slots.resize_with(id.saturating_add(1), || Slot::Absent);
        }
        if let Some(place) = self.slots.get_mut(id) {
            *place = slot;
        }
    }

    /// A copy of what an alias at this depth stands for, and its text as a key if it is a scalar.
    pub(super) fn expand(&mut self, id: usize, depth: u32) -> Result<(Node<'s>, Option<KeyText<'s>>), YamlErrorKind> {
        let anchored = match self.slots.get(id) {
            Some(Slot::Done(anchored)) => anchored,
            Some(Slot::Open) => return Err(YamlErrorKind::RecursiveAnchor),
            Some(Slot::TooLarge) => return Err(YamlErrorKind::AliasBudget),
            Some(Slot::Absent) | None => return Err(YamlErrorKind::UnknownAnchor),
        };
        self.expansion.expanded = self.expansion.expanded.saturating_add(anchored.cost);
        self.decoded = self.decoded.saturating_add(anchored.cost).saturating_add(1);
        self.aliased = self.aliased.saturating_add(anchored.cost);
        if self.expansion.expanded > self.limits.alias_nodes || excessive(self.decoded, self.aliased) {
            return Err(YamlErrorKind::AliasBudget);
        }
        // `depth` is that of the node here: 1 for the root.
        if depth.saturating_add(anchored.height).saturating_sub(1) > self.limits.depth {
            return Err(YamlErrorKind::Depth { limit: self.limits.depth as usize });
        }
        Ok((anchored.node.clone(), anchored.key.clone()))
    }
}

/// The reader's rule: up to 400 000 values 99% of them may come from aliases, from 4 000 000 on 10%, a line between.
fn excessive(decoded: u64, aliased: u64) -> bool {
    const LOW: u64 = 400_000;
    const HIGH: u64 = 4_000_000;
    if aliased <= 100 || decoded <= 1000 {
        return false;
    }
    let range = u128::from(HIGH - LOW);
    let above = u128::from(decoded.clamp(LOW, HIGH) - LOW);
    let allowed = 99 * range - 89 * above;
    u128::from(aliased) * 100 * range > u128::from(decoded) * allowed
}

fn height(node: &Node<'_>) -> u32 {
    match &node.value {
        Yaml::Seq(items) => 1 + items.iter().map(height).max().unwrap_or(0),
        Yaml::Map(entries) => 1 + entries.iter().map(|(_, value)| height(value)).max().unwrap_or(0),
        _ => 0,
    }
}
