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
    /// What could not be read, in words, in the order of the file.
    odd: Vec<String>,
    /// Lines of which nobody can say what they begin, and what follows them is of: by line, from 1.
    wrong: Vec<(u32, String)>,
    /// Whether a header that could not be read names the group of nodes.
    means_nodes: bool,
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
/// Digits that zeros in front may fill a number up to.
const MAX_WIDTH: usize = 20;

impl Inventory {
    /// Reads `[group]`, `[group:children]`, `[group:vars]` and lines `host key=value …`. A header is one as Ansible takes it:
    /// nothing but a remark follows the bracket.
    pub(super) fn of_ini(text: &str) -> Self {
        let mut inventory = Self::default();
        let (mut group, mut part) = (SmolStr::new("ungrouped"), "");
        for (number, line) in (1_u32..).zip(text.lines().map(str::trim)) {
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(rest) = line.strip_prefix('[') {
                match header(rest) {
                    Ok((name, of)) => {
                        (group, part) = (name.into(), of);
                        inventory.groups.entry(group.clone()).or_default();
                    }
                    Err(wrong) => {
                        inventory.wrong.push((number, wrong));
                        inventory.means_nodes |= NODES.iter().any(|nodes| rest.trim_start().starts_with(nodes));
                    }
                }
                continue;
            }
            match part {
                "children" => {
                    let first = words(line).into_iter().next().unwrap_or_default();
                    inventory.groups.entry(group.clone()).or_default().children.insert(first.into());
                }
                "vars" => match variable(line) {
                    Some((key, value)) => {
                        inventory.groups.entry(group.clone()).or_default().variables.insert(key, value);
                    }
                    None => inventory
                        .odd
                        .push(format!("a line of [{}:vars] is no `name=value`: left out", group.escape_debug())),
                },
                _ => inventory.host_line(&group, line),
            }
        }
        inventory
    }

    /// `host key=value …`; hosts may be several, with commas between.
    fn host_line(&mut self, group: &SmolStr, line: &str) {
        let mut words = words(line).into_iter();
        let mut pattern = words.next().unwrap_or_default();
        let mut variables = Variables::new();
        for word in words {
            match variable(&word) {
                Some((key, value)) => {
                    variables.insert(key, value);
                }
                None if pattern.ends_with(',') || word.starts_with(',') => pattern.push_str(&word),
                None => {
                    let text = format!("a word beside host {} is no `name=value`: left out", pattern.escape_debug());
                    self.odd.push(text);
                }
            }
        }
        match hosts(&pattern) {
            Ok(hosts) => {
                for host in hosts {
                    self.groups.entry(group.clone()).or_default().hosts.insert(host.clone());
                    self.hosts.entry(host).or_default().extend(variables.clone());
                }
            }
            Err(wrong) => self.odd.push(wrong),
        }
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
            self.odd.push(format!("group {} lies more than {MAX_DEPTH} groups deep: left out", name.escape_debug()));
            return;
        }
        let mut group = Group::default();
        for (pattern, variables) in self.entries(name, "hosts", value) {
            let hosts = match hosts(&pattern) {
                Ok(hosts) => hosts,
                Err(wrong) => {
                    self.odd.push(wrong);
                    continue;
                }
            };
            for host in hosts {
                let variables = variables.as_object().into_iter().flatten();
                let variables: Variables = variables.map(|(key, value)| (key.into(), value.clone())).collect();
                self.hosts.entry(host.clone()).or_default().extend(variables);
                group.hosts.insert(host);
            }
        }
        group.variables =
            self.entries(name, "vars", value).into_iter().map(|(key, value)| (key.into(), value)).collect();
        for (child, value) in self.entries(name, "children", value) {
            group.children.insert(child.as_str().into());
            self.group(&child, &value, depth + 1);
        }
        let known = self.groups.entry(name.into()).or_default();
        known.hosts.extend(group.hosts);
        known.children.extend(group.children);
        known.variables.extend(group.variables);
    }

    /// A map of a group; a list of names, or one name, is one without values, as people write it who know the INI form.
    fn entries(&mut self, group: &str, key: &str, value: &Value) -> Vec<(String, Value)> {
        let names = |items: &[Value]| -> Option<Vec<(String, Value)>> {
            items.iter().map(|item| Some((item.as_str()?.to_owned(), Value::Null))).collect()
        };
        let entries = match value.get(key) {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Object(map)) => Some(map.iter().map(|(key, value)| (key.clone(), value.clone())).collect()),
            Some(Value::Array(items)) if key != "vars" => names(items),
            Some(one @ Value::String(_)) if key != "vars" => names(std::slice::from_ref(one)),
            Some(_) => None,
        };
        entries.unwrap_or_else(|| {
            self.odd.push(format!("`{key}` of group {} is no map of names: left out", group.escape_debug()));
            Vec::new()
        })
    }

    /// What could not be read, in words.
    pub(super) fn odd(&self) -> &[String] {
        &self.odd
    }

    /// Lines that make all that follows them doubtful.
    pub(super) fn wrong(&self) -> &[(u32, String)] {
        &self.wrong
    }

    /// Whether it has a group of nodes, with hosts or without.
    pub(super) fn has_nodes(&self) -> bool {
        self.means_nodes || NODES.iter().any(|group| self.groups.contains_key(*group))
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

    /// Every group with its hosts, the widest first: what a narrower one says counts.
    pub(super) fn memberships(&self) -> Vec<(SmolStr, BTreeSet<SmolStr>)> {
        let all = SmolStr::new_static("all");
        let mut found: Vec<(usize, SmolStr, BTreeSet<SmolStr>)> = Vec::new();
        for name in self.groups.keys().filter(|name| **name != all).chain([&all]) {
            let mut members = BTreeSet::new();
            self.members(name, 0, &mut members);
            let size = if *name == all { usize::MAX } else { members.len() };
            found.push((size, name.clone(), members));
        }
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        found.into_iter().map(|(_, name, members)| (name, members)).collect()
    }

    pub(super) fn group_variables(&self, group: &str) -> Variables {
        self.groups.get(group).map(|group| group.variables.clone()).unwrap_or_default()
    }

    pub(super) fn host_variables(&self, host: &str) -> Variables {
        self.hosts.get(host).cloned().unwrap_or_default()
    }
}

/// What stands after the bracket that begins a header: the group, and which part of it follows.
///
/// # Errors
/// In words: what is no header.
fn header(rest: &str) -> Result<(&str, &str), String> {
    let shown = rest.split(['#', ';']).next().unwrap_or_default().trim_end().escape_debug();
    let Some((section, after)) = rest.split_once(']') else {
        return Err(format!("`[{shown}` has no `]`: expected a header such as [kube_node]"));
    };
    if !after.trim_start().is_empty() && !after.trim_start().starts_with(['#', ';']) {
        return Err(format!("`[{shown}`: something follows the header; expected it on a line of its own"));
    }
    let (group, part) = section.split_once(':').unwrap_or((section, ""));
    if group.is_empty() || group.contains(|c: char| c.is_whitespace() || c == '[') {
        return Err(format!("`[{shown}` names no group: expected a header such as [kube_node]"));
    }
    match part {
        "hosts" | "children" | "vars" => Ok((group, part)),
        "" if !section.contains(':') => Ok((group, part)),
        _ => Err(format!("`[{shown}` is neither a group, nor its hosts, children or vars")),
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

/// The hosts of a pattern: `node[01:03]` is node01, node02, node03; `rack[a:c]` and a step, `[0:10:5]`, as Ansible reads
/// them. Several ranges multiply; commas stand between several patterns.
///
/// # Errors
/// In words: a range that is none, or that stands for too many hosts.
fn hosts(patterns: &str) -> Result<Vec<SmolStr>, String> {
    let each = patterns.split(',').map(str::trim).filter(|pattern| !pattern.is_empty());
    Ok(each.map(hosts_of).collect::<Result<Vec<_>, _>>()?.concat())
}

fn hosts_of(pattern: &str) -> Result<Vec<SmolStr>, String> {
    let shown = pattern.escape_debug();
    let mut found = vec![String::new()];
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('[') {
        let (inside, after) =
            after.split_once(']').ok_or_else(|| format!("{shown} has a range without `]`: left out"))?;
        let values = range(inside)
            .ok_or_else(|| format!("{shown}: [{}] is no range such as [01:20]: left out", inside.escape_debug()))?;
        let many = values.len().saturating_mul(found.len());
        if values.len() > MAX_RANGE || many > MAX_RANGE {
            return Err(format!("{shown} stands for more than {MAX_RANGE} hosts: left out. Write smaller ranges"));
        }
        found =
            found.iter().flat_map(|stem| values.iter().map(move |value| format!("{stem}{before}{value}"))).collect();
        rest = after;
    }
    Ok(found.into_iter().map(|stem| SmolStr::from(format!("{stem}{rest}"))).collect())
}

/// `01:03`, `a:c`, `0:10:5`, both ends included. One value more than allowed where there would be more.
fn range(inside: &str) -> Option<Vec<String>> {
    let mut parts = inside.split(':');
    let (from, to, step, None) = (parts.next()?, parts.next()?, parts.next(), parts.next()) else { return None };
    let step = step.map_or(Some(1), |step| step.parse::<usize>().ok()).filter(|step| *step > 0)?;
    let letter = |text: &str| match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(*letter),
        _ => None,
    };
    if let (Some(first), Some(last)) = (letter(from), letter(to)) {
        let letters: Vec<String> = (first..=last).step_by(step).map(|letter| char::from(letter).to_string()).collect();
        return (!letters.is_empty()).then_some(letters);
    }
    // Ansible takes an absent first number for 0
    let first = if from.is_empty() { 0 } else { from.parse::<usize>().ok()? };
    let last = to.parse::<usize>().ok().filter(|last| *last >= first)?;
    let width = if from.starts_with('0') { from.len() } else { 0 };
    if width > MAX_WIDTH {
        return None;
    }
    Some((first..=last).step_by(step).take(MAX_RANGE + 1).map(|number| format!("{number:0width$}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_hosts() {
        for (pattern, expected) in [
            ("node1", vec!["node1"]),
            ("node[01:03]", vec!["node01", "node02", "node03"]),
            ("node[8:11].lab", vec!["node8.lab", "node9.lab", "node10.lab", "node11.lab"]),
            ("n[0:10:5]", vec!["n0", "n5", "n10"]),
            ("n[:1]", vec!["n0", "n1"]),
            ("r[a:b]n[1:2]", vec!["ran1", "ran2", "rbn1", "rbn2"]),
            ("a,b[1:2], c,", vec!["a", "b1", "b2", "c"]),
        ] {
            assert_eq!(hosts(pattern).unwrap(), expected, "{pattern}");
        }
        assert_eq!(hosts("node[1:10000]").unwrap().len(), 10_000);
        let zeros = "0".repeat(70_000);
        assert!(hosts(&format!("n[{zeros}:1]")).unwrap_err().ends_with("is no range such as [01:20]: left out"));
        for (pattern, wrong) in [
            ("host[001:999999]", "host[001:999999] stands for more than 10000 hosts: left out. Write smaller ranges"),
            ("h[1:200][1:200]", "h[1:200][1:200] stands for more than 10000 hosts: left out. Write smaller ranges"),
            ("h[3:1]", "h[3:1]: [3:1] is no range such as [01:20]: left out"),
            ("h[1:5:0]", "h[1:5:0]: [1:5:0] is no range such as [01:20]: left out"),
            ("h[x]", "h[x]: [x] is no range such as [01:20]: left out"),
            ("h[1:2", "h[1:2 has a range without `]`: left out"),
        ] {
            assert_eq!(hosts(pattern).unwrap_err(), wrong);
        }
    }

    #[test]
    fn lines_of_an_ini_file() {
        let text = "[kube_node] # who runs pods\na, b ,c ip=1\nd stray\n[kube_node:vars]\nx = 1\nnothing\n";
        let inventory = Inventory::of_ini(text);
        assert_eq!(inventory.nodes().into_iter().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
        assert_eq!(inventory.host_variables("b")["ip"], "1");
        assert_eq!(
            inventory.odd(),
            [
                "a word beside host d is no `name=value`: left out",
                "a line of [kube_node:vars] is no `name=value`: left out",
            ]
        );
        assert_eq!(inventory.wrong(), []);
    }

    #[test]
    fn headers_that_are_none() {
        for (line, expected) in [
            ("[kube_node", "`[kube_node` has no `]`: expected a header such as [kube_node]"),
            ("[kube_node # nodes", "`[kube_node` has no `]`: expected a header such as [kube_node]"),
            ("[kube_node] a", "`[kube_node] a`: something follows the header; expected it on a line of its own"),
            ("[kube_node]]", "`[kube_node]]`: something follows the header; expected it on a line of its own"),
            ("[kube node]", "`[kube node]` names no group: expected a header such as [kube_node]"),
            ("[]", "`[]` names no group: expected a header such as [kube_node]"),
            ("[[kube_node]", "`[[kube_node]` names no group: expected a header such as [kube_node]"),
            ("[kube_node:childern]", "`[kube_node:childern]` is neither a group, nor its hosts, children or vars"),
            ("[kube_node:]", "`[kube_node:]` is neither a group, nor its hosts, children or vars"),
        ] {
            let inventory = Inventory::of_ini(&format!("# first\n{line}\na\n"));
            assert_eq!(inventory.wrong(), [(2, expected.to_owned())], "{line}");
            assert_eq!(inventory.has_nodes(), line.starts_with("[kube_node"), "{line}");
        }
    }
}
