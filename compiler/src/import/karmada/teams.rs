//! Teams: one for each namespace, and one for what lies in none.

use std::collections::{BTreeMap, BTreeSet};

use super::apps::App;
use super::objects::FederatedQuota;
use super::quota;
use super::sort::Named;
use crate::api::{GroupKind, KindsSpec, NamespaceSpec, TeamSpec};
use crate::base::SmolStr;
use crate::base::labels::Labels;
use crate::import::documents::{Object, title};
use crate::import::repository::{Names, Repository, placeless, placeless_all};
use crate::import::{About, Fate, Note};
use crate::kinds::native;

/// The team of each namespace; that of cluster-scoped objects under the empty name.
pub(super) struct Teams(BTreeMap<SmolStr, SmolStr>);

impl Teams {
    pub(super) fn of<'t>(&'t self, namespace: &'t str) -> &'t str {
        self.0.get(namespace).map(SmolStr::as_str).unwrap_or(namespace)
    }
}

/// Names of all teams.
pub(super) fn names(apps: &[App], quotas: &[Named<FederatedQuota>]) -> Teams {
    let mut namespaces: BTreeSet<&SmolStr> = apps.iter().map(|app| &app.namespace).collect();
    namespaces.extend(quotas.iter().map(|quota| &quota.namespace));
    let mut names = Names::default();
    let named = namespaces.iter().filter(|namespace| !namespace.is_empty());
    let mut teams: BTreeMap<SmolStr, SmolStr> =
        named.map(|namespace| ((**namespace).clone(), names.free(namespace))).collect();
    if namespaces.iter().any(|namespace| namespace.is_empty()) {
        teams.insert(SmolStr::default(), names.free("cluster-scoped"));
    }
    Teams(teams)
}

/// Writes the teams, with the kinds and priority classes they need a right to, and their quotas.
pub(super) fn write(
    teams: &Teams,
    classes: &BTreeMap<SmolStr, BTreeSet<SmolStr>>,
    apps: &[App],
    templates: &[Object],
    namespaces: &BTreeMap<SmolStr, Labels>,
    quotas: &[Named<FederatedQuota>],
    repository: &mut Repository,
    notes: &mut Vec<Note>,
) {
    for (namespace, team) in &teams.0 {
        let of_apps = apps.iter().filter(|app| app.namespace == *namespace).flat_map(|app| &app.objects);
        let needs_right = |object: &&Object| {
            let native = native::lookup_api_version(&object.api_version, &object.kind);
            object.group == "rbac.authorization.k8s.io" || native.is_none_or(|native| !native.is_namespaced())
        };
        let objects = of_apps.filter_map(|at| templates.get(*at)).filter(needs_right);
        let kinds: BTreeSet<(SmolStr, SmolStr)> = objects.map(|o| (o.group.clone(), o.kind.clone())).collect();
        let allow: Vec<GroupKind> = kinds.into_iter().map(|(group, kind)| GroupKind { group, kind }).collect();
        let mut limits = Vec::new();
        let here = || quotas.iter().filter(|quota| quota.namespace == *namespace);
        let several = here().count();
        for named in here() {
            let mut about = About { file: named.file.clone(), object: named.title("FederatedResourceQuota"), notes };
            if several > 1 {
                let text =
                    format!("is one of {several} of its namespace: all of them hold, each as a quota of team {team}");
                about.say(Fate::Resolved, "", text);
            }
            limits.extend(quota::convert(&named.spec, &mut about));
        }
        let rule = NamespaceSpec {
            name: Some(placeless(namespace.clone())),
            prefix: None,
            labels: namespaces.get(namespace).cloned().unwrap_or_default(),
        };
        let spec = TeamSpec {
            namespaces: if namespace.is_empty() { Vec::new() } else { vec![placeless(rule)] },
            quota: limits,
            priority_class_names: classes.get(namespace).map(placeless_all).unwrap_or_default(),
            kinds: (!allow.is_empty()).then(|| placeless(KindsSpec { allow, deny: Vec::new() })),
            ..TeamSpec::default()
        };
        let mut about = About { file: SmolStr::default(), object: title("Namespace", "", namespace), notes };
        repository.put(format!("teams/{team}.yaml"), ("Team", team), &Labels::new(), &spec, &mut about);
    }
}
