//! Kinds that a cluster does not serve.
//!
//! Kubernetes' own kinds are always served; `Cluster.apis` lists what else is, and everything is where it is absent. A
//! kind whose CustomResourceDefinition some app of the fleet may place on a cluster counts as served there.

use std::collections::BTreeMap;

use super::{Filter, Question, never};
use crate::base::{ClusterId, SmolStr};
use crate::kinds::native;
use crate::model::{App, Cluster, ClusterSet, Fleet};
use crate::parse::ObjKey;
use crate::schedule::Verdict;

pub(super) const FILTER: Filter = Filter { veto, release: never };

/// A kind that some cluster does not serve, and an app needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::schedule) struct Need {
    /// `group/version kind`.
    name: SmolStr,
    /// Where it is served.
    served: ClusterSet,
    /// Where objects of it would go, if not everywhere.
    only: Option<ClusterSet>,
}

/// Where custom kinds are served.
pub(in crate::schedule) struct Served<'f> {
    fleet: &'f Fleet,
    /// No cluster restricts what it serves.
    everything: bool,
    /// By (group, kind): where an app may place its definition.
    defined: BTreeMap<(SmolStr, SmolStr), ClusterSet>,
    /// By (group, version, kind).
    known: BTreeMap<(SmolStr, SmolStr, SmolStr), ClusterSet>,
}

impl<'f> Served<'f> {
    /// Gathers the definitions of the fleet.
    pub fn new(fleet: &'f Fleet) -> Self {
        let everything = fleet.clusters.iter().all(|cluster| cluster.apis.is_none());
        let mut defined: BTreeMap<(SmolStr, SmolStr), ClusterSet> = BTreeMap::new();
        for app in fleet.apps.iter().filter(|_| !everything) {
            for object in &app.objects {
                let Some(kind) = &object.facts.defines else { continue };
                let candidates = &app.placement.candidates;
                let placed = object.only.as_ref().map_or_else(|| candidates.clone(), |only| candidates.and(only));
                let at = defined.entry((kind.group.clone(), kind.kind.clone())).or_default();
                *at = at.or(&placed);
            }
        }
        Self { fleet, everything, defined, known: BTreeMap::new() }
    }

    /// The kinds an app needs that not every cluster serves.
    pub fn needs(&mut self, app: &App) -> Vec<Need> {
        let mut needs: Vec<Need> = Vec::new();
        for object in app.objects.iter().take(if self.everything { 0 } else { usize::MAX }) {
            let key = &object.key;
            if native::lookup(&key.group, &key.version, &key.kind).is_some() {
                continue;
            }
            let name: SmolStr = format!("{} {}", key.api_version(), key.kind).into();
            match needs.iter_mut().find(|need| need.name == name) {
                Some(need) => {
                    need.only = need.only.take().zip(object.only.as_ref()).map(|(a, b)| a.or(b));
                }
                None => {
                    let served = self.served(key);
                    if served.len() < self.fleet.clusters.len() {
                        needs.push(Need { name, served, only: object.only.clone() });
                    }
                }
            }
        }
        needs
    }

    fn served(&mut self, key: &ObjKey) -> ClusterSet {
        let (fleet, defined) = (self.fleet, &self.defined);
        let served = || {
            let placed = defined.get(&(key.group.clone(), key.kind.clone()));
            let at = |id: &ClusterId| placed.is_some_and(|p| p.contains(*id)) || lists(fleet.cluster(*id), key);
            fleet.cluster_ids().filter(at).collect()
        };
        let id = (key.group.clone(), key.version.clone(), key.kind.clone());
        self.known.entry(id).or_insert_with(served).clone()
    }
}

fn lists(cluster: &Cluster, key: &ObjKey) -> bool {
    cluster.apis.as_ref().is_none_or(|apis| {
        apis.iter().any(|api| {
            api.group == key.group
                && api.version == key.version
                && api.kinds.as_ref().is_none_or(|kinds| kinds.contains(&key.kind))
        })
    })
}

fn veto(q: &Question<'_>) -> Option<Verdict> {
    q.needs
        .iter()
        .find(|need| !need.served.contains(q.cluster) && need.only.as_ref().is_none_or(|only| only.contains(q.cluster)))
        .map(|need| Verdict::ApiNotServed(need.name.clone()))
}
