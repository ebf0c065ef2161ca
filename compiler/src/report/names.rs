//! Lists of cluster names, short enough for one line.

use crate::base::ClusterId;
use crate::model::{ClusterSet, Fleet};

/// Names that are listed one by one.
const LISTED: usize = 3;

/// The names of a set: `eu-a`, `us-*` where that prefix means exactly the set, else up to three and how many more.
pub(super) fn cluster_names(fleet: &Fleet, set: &ClusterSet) -> String {
    if let Some(prefix) = exact_prefix(fleet, set) {
        return format!("{prefix}*");
    }
    let names: Vec<&str> = set.iter().map(|id| fleet.cluster(id).name.as_str()).collect();
    short_list(&names)
}

/// Up to three names and how many more.
pub(super) fn short_list<T: AsRef<str>>(names: &[T]) -> String {
    let (listed, rest) = names.split_at(names.len().min(LISTED));
    let text = listed.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
    if rest.is_empty() { text } else { format!("{text} and {} more", rest.len()) }
}

/// The longest prefix ending in `-` that all clusters of the set have and no other cluster has; of three or more.
fn exact_prefix<'f>(fleet: &'f Fleet, set: &ClusterSet) -> Option<&'f str> {
    let ids: Vec<ClusterId> = set.iter().collect();
    let (first, last) = (ids.first()?, ids.last()?);
    if ids.len() < LISTED {
        return None;
    }
    // ids ascend by name: the prefix of the first and the last is that of all between
    let (first, last) = (&fleet.cluster(*first).name, &fleet.cluster(*last).name);
    let common = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
    let end = first.as_bytes().get(..common)?.iter().rposition(|byte| *byte == b'-')? + 1;
    let prefix = first.get(..end)?;
    let all = fleet.clusters.iter().filter(|cluster| cluster.name.starts_with(prefix)).count();
    (all == ids.len()).then_some(prefix)
}
