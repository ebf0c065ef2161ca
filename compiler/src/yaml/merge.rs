//! The entries of a mapping: duplicate keys, and `<<`.
//!
//! Kubernetes' reader sets keys in the order of the text, and a merge sets all its keys where `<<` stands. So a written
//! key wins over a merge above it, and loses to a merge below it (where YAML's own rule lets it win): that gets a warning.

use std::collections::BTreeMap;

use super::error::{YamlError, YamlErrorKind};
use super::node::{Key, Node};
use super::warning::{WarningKind, YamlWarning};
use crate::base::Span;

/// Keys and values in their order.
pub(super) type Entries<'s> = Vec<(Key<'s>, Node<'s>)>;

/// A part of a mapping in the order of the text.
pub(super) enum Piece<'s> {
    /// A key and its value.
    Entry(Key<'s>, Node<'s>),
    /// The place of `<<` and the mappings it merges, the strongest last.
    Merge(Span, Vec<Entries<'s>>),
}

/// Mappings up to this size are searched from the start for each key.
const FEW: usize = 12;

/// The entries, with remarks and mistakes about them.
pub(super) fn entries<'s>(pieces: Vec<Piece<'s>>, merges: bool) -> (Entries<'s>, Vec<YamlWarning>, Vec<YamlError>) {
    let mut written = Vec::with_capacity(pieces.len());
    if !merges {
        written.extend(pieces.into_iter().filter_map(|piece| match piece {
            Piece::Entry(key, value) => Some((key, value)),
            Piece::Merge(..) => None,
        }));
        let errors = duplicates(written.iter().map(|(key, _)| key));
        return (written, Vec::new(), errors);
    }
    let errors = duplicates(pieces.iter().filter_map(|piece| match piece {
        Piece::Entry(key, _) => Some(key),
        Piece::Merge(..) => None,
    }));
    let (merged, warnings) = apply(pieces);
    (merged, warnings, errors)
}

/// Every key that is there before; the places of both.
fn duplicates<'k, 's: 'k>(keys: impl Iterator<Item = &'k Key<'s>> + Clone) -> Vec<YamlError> {
    let duplicate = |key: &Key<'_>, first: &Key<'_>| {
        YamlError::new(key.span, YamlErrorKind::DuplicateKey { key: key.text.to_string(), first: first.span })
    };
    let mut errors = Vec::new();
    if keys.clone().take(FEW + 1).count() <= FEW {
        for (at, key) in keys.clone().enumerate() {
            if let Some(first) = keys.clone().take(at).find(|first| first.text == key.text) {
                errors.push(duplicate(key, first));
            }
        }
        return errors;
    }
    let mut sorted: Vec<&Key<'_>> = keys.collect();
    sorted.sort_by(|a, b| a.text.cmp(&b.text).then(a.span.cmp(&b.span)));
    let mut first: Option<&Key<'_>> = None;
    for key in sorted {
        match first {
            Some(first) if first.text == key.text => errors.push(duplicate(key, first)),
            _ => first = Some(key),
        }
    }
    errors
}

fn apply<'s>(pieces: Vec<Piece<'s>>) -> (Entries<'s>, Vec<YamlWarning>) {
    let mut entries: Vec<(Key<'s>, Node<'s>, bool)> = Vec::new();
    let mut positions: BTreeMap<String, usize> = BTreeMap::new();
    let mut warnings = Vec::new();
    let mut set = |key: Key<'s>, value: Node<'s>, merge: Option<Span>| {
        let position = *positions.entry(key.text.to_string()).or_insert(entries.len());
        let Some(entry) = entries.get_mut(position) else {
            entries.push((key, value, merge.is_none()));
            return;
        };
        if let (Some(span), true) = (merge, entry.2)
            && entry.1.to_json() != value.to_json()
        {
            let kind = WarningKind::MergeOverrides { key: key.text.to_string(), written: entry.0.span };
            warnings.push(YamlWarning { span, kind });
        }
        *entry = (key, value, merge.is_none());
    };
    for piece in pieces {
        match piece {
            Piece::Entry(key, value) => set(key, value, None),
            Piece::Merge(span, maps) => maps.into_iter().flatten().for_each(|(key, value)| set(key, value, Some(span))),
        }
    }
    (entries.into_iter().map(|(key, value, _)| (key, value)).collect(), warnings)
}
