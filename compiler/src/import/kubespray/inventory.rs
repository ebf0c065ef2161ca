//! An inventory of Ansible: hosts, groups, groups in groups, and variables of both. INI and YAML.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::base::SmolStr;

/// Values by name.
pub(super) type Variables = BTreeMap<SmolStr, Value>;

/// Hosts and groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Inventory {
    hosts: BTreeMap<SmolStr, Variables>,
    groups: BTreeMap<SmolStr, Group>,
}

#[derive(Clone, Debug, Default)]
struct Group {
    hosts: BTreeSet<SmolStr>,
    children: BTreeSet<SmolStr>,
    variables: Variables,
}

/// Groups whose hosts run pods, now and in old inventories.
const NODES: [&str; 2] = ["kube_node", "kube-node"];
/// Groups in groups are followed so far; Ansible refuses circles.
const MAX_DEPTH: usize = 32;
/// Hosts that one range may stand for.
const MAX_RANGE: usize = 10_000;

impl Inventory {
    /// Reads `[group]`, `[group:children]`, `[group:vars]` and lines `host key=value …`.
    pub(super) fn of_ini(text: &str) -> Self {
        let mut inventory = Self::default();
        let (mut group, mut part) = (SmolStr::new("ungrouped"), "");
        for line in text.lines().map(str::trim) {
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(section) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
                let (name, of) = section.split_once(':').unwrap_or((section, ""));
                (group, part) = (name.into(), of);
                inventory.groups.entry(group.clone()).or_default();
                continue;
            }
            let mut words = words(line).into_iter();
            let first = words.next().unwrap_or_default();
            let entry = inventory.groups.entry(group.clone()).or_default();
            match part {
                "children" => {
                    entry.children.insert(first.into());
                }
                "vars" => entry.variables.extend(variable(line)),
                _ => {
                    let variables: Variables = words.filter_map(|word| variable(&word)).collect();
                    for host in range(&first) {
                        entry.hosts.insert(host.clone());
                        inventory.hosts.entry(host).or_default().extend(variables.clone());
                    }
                }
            }
        }
        inventory
    }

    /// Adds what a document says: groups by name, each with `hosts`, `children` and `vars`.
    pub(super) fn with_yaml(mut self, document: &Value) -> Self {
        for (name, group) in document.as_object().into_iter().flatten() {
            self.group(name, group, 0);
        }
        self
    }

    fn group(&mut self, name: &str, value: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let map = |key: &str| value.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
        let mut group = Group::default();
        for (pattern, variables) in map("hosts") {
            for host in range(&pattern) {
                let variables = variables.as_object().into_iter().flatten();
                let variables: Variables = variables.map(|(key, value)| (key.into(), value.clone())).collect();
                self.hosts.entry(host.clone()).or_default().extend(variables);
                group.hosts.insert(host);
            }
        }
        group.variables = map("vars").into_iter().map(|(key, value)| (key.into(), value)).collect();
        for (child, value) in map("children") {
            group.children.insert(child.as_str().into());
            self.group(&child, &value, depth + 1);
        }
        let known = self.groups.entry(name.into()).or_default();
        known.hosts.extend(group.hosts);
        known.children.extend(group.children);
        known.variables.extend(group.variables);
    }

    /// The hosts that run pods, ascending.
    pub(super) fn nodes(&self) -> BTreeSet<SmolStr> {
        let mut found = BTreeSet::new();
        NODES.iter().for_each(|group| self.members(group, 0, &mut found));
        found
    }

    fn members(&self, group: &str, depth: usize, found: &mut BTreeSet<SmolStr>) {
        let Some(group) = self.groups.get(group).filter(|_| depth <= MAX_DEPTH) else { return };
        found.extend(group.hosts.iter().cloned());
        group.children.iter().for_each(|child| self.members(child, depth + 1, found));
    }

    /// The groups that a host is in, the widest first: what a narrower one says counts.
    pub(super) fn groups_of(&self, host: &str) -> Vec<SmolStr> {
        let mut found: Vec<(usize, SmolStr)> = Vec::new();
        for name in self.groups.keys().chain([&SmolStr::new_static("all")]) {
            let mut members = BTreeSet::new();
            self.members(name, 0, &mut members);
            let all = name == "all";
            if all || members.contains(host) {
                found.push((if all { usize::MAX } else { members.len() }, name.clone()));
            }
        }
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        found.dedup();
        found.into_iter().map(|(_, name)| name).collect()
    }

    pub(super) fn group_variables(&self, group: &str) -> Variables {
        self.groups.get(group).map(|group| group.variables.clone()).unwrap_or_default()
    }

    pub(super) fn host_variables(&self, host: &str) -> Variables {
        self.hosts.get(host).cloned().unwrap_or_default()
    }
}

/// Words of a line, with quoted parts whole; what follows ` #` is a remark.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('#', None) if word.is_empty() => break,
            (c, None) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (c, _) => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

fn variable(word: &str) -> Option<(SmolStr, Value)> {
    let (key, value) = word.split_once('=')?;
    Some((key.trim().into(), Value::String(value.trim().to_owned())))
}

/// `node[01:03]` is node01, node02, node03.
fn range(pattern: &str) -> Vec<SmolStr> {
    let parts = pattern.split_once('[').and_then(|(before, rest)| {
        let (inside, after) = rest.split_once(']')?;
        let (from, to) = inside.split_once(':')?;
        Some((before, from, from.parse::<usize>().ok()?, to.parse::<usize>().ok()?, after))
    });
    match parts {
        Some((before, from, first, last, after)) if last >= first && last - first < MAX_RANGE => {
            let width = from.len();
            (first..=last).map(|number| format!("{before}{number:0width$}{after}").into()).collect()
        }
        _ => vec![pattern.into()],
    }
}
