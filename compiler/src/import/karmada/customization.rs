//! ResourceInterpreterCustomizations as WorkloadKinds: the scripts that only look at fields.
//!
//! The scripts are Lua. What counts, pods, parts, references and health say by naming fields is read (`lua`, `meaning`,
//! `health`); every other script is said, with the line that is more than that.

use std::collections::BTreeMap;

use super::lua::{Action, Expr, Unread, parse};
use super::meaning::{Meaning, pointer, returned};
use super::objects::{Customization, CustomizedKind, Script};
use super::{health, lua};
use crate::api::{ComponentSpec, DependencySpec, HealthSpec, WorkloadKindSpec};
use crate::base::{SmolStr, Spanned};
use crate::import::repository::placeless;
use crate::import::{About, Fate};
use crate::kinds::cel;

/// The kind; `None` where nothing of it has a counterpart.
pub(super) fn convert(written: &Customization, about: &mut About<'_>) -> Option<WorkloadKindSpec> {
    let Customization { target: CustomizedKind { api_version, kind }, customizations } = written;
    let mut spec = WorkloadKindSpec {
        group: placeless(api_version.split_once('/').map_or("", |(group, _)| group).into()),
        kind: placeless(kind.clone()),
        replicas: None,
        templates: None,
        components: None,
        components_as: None,
        dividable: None,
        per_node: None,
        health: None,
        dependencies: None,
        state_paths: None,
    };
    let script = |hook: &str| customizations.get(hook).map(|script| script.lua_script.as_str());
    let parts = script("componentResource").map(components);
    let has_parts = parts.as_ref().is_some_and(Result::is_ok);
    let counted = script("replicaResource").map(counts);
    let mut any = false;
    for (hook, Script { lua_script }) in customizations {
        let field = format!("spec.customizations.{hook}");
        let read: Result<(), Unread> = match hook.as_str() {
            "componentResource" => match parts.clone() {
                Some(Ok(parts)) => {
                    spec.components = Some(placeless(parts.into_iter().map(placeless).collect()));
                    Ok(())
                }
                Some(Err(unread)) => Err(unread),
                None => Ok(()),
            },
            "replicaResource" if has_parts => {
                about.say(Fate::Resolved, &field, "its parts count: an object is a set that runs as a whole");
                continue;
            }
            "replicaResource" => match counted.clone() {
                Some(Ok((replicas, template))) => {
                    spec.replicas = Some(placeless(vec![placeless(replicas)]));
                    spec.templates = template.map(|template| placeless(vec![placeless(template)]));
                    spec.dividable = Some(placeless(true));
                    Ok(())
                }
                Some(Err(unread)) => Err(unread),
                None => Ok(()),
            },
            "replicaRevision" => match (revised(lua_script), &counted) {
                // what is counted at a place is written to that place
                (Ok(path), Some(Ok((replicas, _)))) if path == *replicas => {
                    about.say(Fate::Resolved, &field, "counts are written where replicaResource reads them");
                    continue;
                }
                (Ok(path), _) => Err(Unread { line: 1, what: format!("it writes {path}, which nothing counts") }),
                (Err(unread), _) => Err(unread),
            },
            "healthInterpretation" => match healthy(lua_script) {
                Ok(current) => {
                    spec.health =
                        Some(placeless(HealthSpec { current: placeless(current), in_progress: None, failed: None }));
                    Ok(())
                }
                Err(unread) => Err(unread),
            },
            "dependencyInterpretation" => match dependencies(lua_script) {
                Ok(found) => {
                    spec.dependencies = Some(placeless(found.into_iter().map(placeless).collect()));
                    Ok(())
                }
                Err(unread) => Err(unread),
            },
            "retention" => {
                let kept = retained(lua_script).map(|fields| fields.join(", "));
                let text = match kept {
                    Ok(fields) => format!(
                        "{fields}: what a cluster sets is kept where no manifest states it, so leave these fields out of manifests"
                    ),
                    Err(unread) => format!("{unread}; what a cluster sets is kept where no manifest states it"),
                };
                about.say(Fate::NoCounterpart, &field, text);
                continue;
            }
            "statusReflection" | "statusAggregation" => {
                about.say(Fate::NoCounterpart, &field, "status of clusters is not written back into manifests");
                continue;
            }
            _ => Err(Unread { line: 1, what: "a hook that is not known".to_owned() }),
        };
        match read {
            Ok(()) => any = true,
            Err(unread) => {
                let text =
                    format!("a script that does more than look at fields ({unread}): say it in the WorkloadKind");
                about.say(Fate::NoCounterpart, &field, text);
            }
        }
    }
    any.then_some(spec)
}

fn unread<T>(what: &str) -> Result<T, Unread> {
    Err(Unread { line: 1, what: what.to_owned() })
}

/// Pointers to the count and to the pod template.
fn counts(script: &str) -> Result<(SmolStr, Option<SmolStr>), Unread> {
    let values = returned(&parse(script)?)?;
    match values.as_slice() {
        [Meaning::Path(count)] | [Meaning::Path(count), Meaning::Constant(_) | Meaning::Table(..)]
            if !count.is_empty() =>
        {
            Ok((pointer(count), None))
        }
        [Meaning::Path(count), Meaning::Pods(template)] if !count.is_empty() => {
            Ok((pointer(count), Some(pointer(template))))
        }
        _ => unread("it returns no field that holds a count"),
    }
}

/// Where the wanted count is written.
fn revised(script: &str) -> Result<SmolStr, Unread> {
    let function = parse(script)?;
    let ([object, wanted], [assigned, last]) = (function.parameters.as_slice(), function.body.as_slice()) else {
        return unread("it does more than write one field");
    };
    match (&assigned.what, &last.what) {
        (Action::Assign(to, Expr::Name(value)), Action::Return(what))
            if value == wanted && *what == [Expr::Name(object.clone())] =>
        {
            field_of(to, object).map(|path| pointer(&path)).map_or_else(|| unread("it writes no field"), Ok)
        }
        _ => unread("it does more than write one field"),
    }
}

/// The fields that are taken over from what runs.
fn retained(script: &str) -> Result<Vec<String>, Unread> {
    let function = parse(script)?;
    let [desired, observed] = function.parameters.as_slice() else { return unread("it has not two parameters") };
    let mut fields = Vec::new();
    for lua::Statement { line, what } in &function.body {
        match what {
            Action::Assign(to, from)
                if field_of(to, desired).is_some() && field_of(to, desired) == field_of(from, observed) =>
            {
                fields.push(field_of(to, desired).unwrap_or_default().join("."));
            }
            Action::Return(_) => {}
            _ => return Err(Unread { line: *line, what: "it does more than take over fields".to_owned() }),
        }
    }
    Ok(fields)
}

/// `[spec, replicas]` of `obj.spec.replicas`. The depth of an expression is bounded by the reader.
fn field_of(expr: &Expr, object: &SmolStr) -> Option<Vec<SmolStr>> {
    match expr {
        Expr::Name(name) if name == object => Some(Vec::new()),
        Expr::Index(of, key) => match &**key {
            Expr::Text(field) => {
                let mut path = field_of(of, object)?;
                path.push(field.clone());
                Some(path)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The expression, which must be one.
fn healthy(script: &str) -> Result<SmolStr, Unread> {
    let text = health::health(&parse(script)?)?;
    match cel::Expression::compile(&text) {
        Ok(_) => Ok(text),
        Err(bad) => unread(&format!("`{text}` is no expression: {}", bad.message)),
    }
}

/// The tables that a script returns in one.
fn tables(script: &str) -> Result<Vec<BTreeMap<SmolStr, Meaning>>, Unread> {
    let values = returned(&parse(script)?)?;
    let [Meaning::Table(fields, items)] = values.as_slice() else { return unread("it returns no list of tables") };
    let table = |item: &Meaning| match item {
        Meaning::Table(fields, items) if items.is_empty() => Ok(fields.clone()),
        _ => unread("it returns no list of tables"),
    };
    if fields.is_empty() { items.iter().map(table).collect() } else { unread("it returns no list") }
}

/// Where the paths of one table begin: in front of the last item of a list, if they go through one.
fn begin<'p>(paths: impl Iterator<Item = &'p [SmolStr]>) -> usize {
    paths.filter_map(|path| path.iter().rposition(|step| step == "*")).max().map_or(0, |at| at + 1)
}

/// A pointer below that place; `None` where the path does not go through it.
fn below(path: &[SmolStr], at: &[SmolStr]) -> Option<Spanned<SmolStr>> {
    path.strip_prefix(at).map(|rest| placeless(pointer(rest)))
}

fn components(script: &str) -> Result<Vec<ComponentSpec>, Unread> {
    tables(script)?.iter().map(component).collect()
}

fn component(table: &BTreeMap<SmolStr, Meaning>) -> Result<ComponentSpec, Unread> {
    let paths = table.values().filter_map(|value| match value {
        Meaning::Path(path) | Meaning::Pods(path) => Some(path.as_slice()),
        Meaning::Constant(_) | Meaning::References(_) | Meaning::Position(_) | Meaning::Table(..) => None,
    });
    let longest = paths.clone().max_by_key(|path| begin(std::iter::once(*path))).unwrap_or_default();
    let at: Vec<SmolStr> = longest.get(..begin(paths)).unwrap_or_default().to_vec();
    let outside = || Unread { line: 1, what: "a part that stands in two lists".to_owned() };
    let mut spec = ComponentSpec {
        name: placeless("{index}".into()),
        at: (!at.is_empty()).then(|| placeless(pointer(&at))),
        name_from: None,
        replicas: None,
        default_replicas: None,
        template: None,
        requests: None,
    };
    for (field, value) in table {
        match (field.as_str(), value) {
            ("name", Meaning::Constant(Some(name))) => spec.name = placeless(name.clone()),
            ("name", Meaning::Path(path)) => spec.name_from = Some(below(path, &at).ok_or_else(outside)?),
            ("replicas", Meaning::Path(path)) => {
                spec.replicas = Some(placeless(vec![below(path, &at).ok_or_else(outside)?]));
            }
            ("replicas", Meaning::Constant(Some(count))) => match count.parse() {
                Ok(count) => spec.default_replicas = Some(placeless(count)),
                Err(_) => return unread("`replicas` of a part is no number of replicas"),
            },
            ("replicaRequirements", Meaning::Pods(path)) => {
                spec.template = Some(below(path, &at).ok_or_else(outside)?);
            }
            ("replicaRequirements", Meaning::Constant(None)) => {}
            _ => return unread(&format!("`{field}` of a part is no field")),
        }
    }
    Ok(spec)
}

fn dependencies(script: &str) -> Result<Vec<DependencySpec>, Unread> {
    let none = DependencySpec { pod_spec: None, api_version: None, kind: None, at: None, kind_from: None, name: None };
    if let [Meaning::References(template)] = returned(&parse(script)?)?.as_slice() {
        let path = [template.clone(), vec!["spec".into()]].concat();
        return Ok(vec![DependencySpec { pod_spec: Some(placeless(pointer(&path))), ..none }]);
    }
    let of = |table: BTreeMap<SmolStr, Meaning>| {
        let Some(Meaning::Path(name)) = table.get("name") else { return unread("a reference whose name is no field") };
        let at = name.get(..begin(std::iter::once(name.as_slice()))).unwrap_or_default();
        let mut spec = DependencySpec {
            at: (!at.is_empty()).then(|| placeless(pointer(at))),
            name: below(name, at),
            ..none.clone()
        };
        for (field, value) in &table {
            match (field.as_str(), value) {
                ("name" | "namespace", _) => {}
                ("apiVersion", Meaning::Constant(Some(text))) => spec.api_version = Some(placeless(text.clone())),
                ("kind", Meaning::Constant(Some(text))) => spec.kind = Some(placeless(text.clone())),
                ("kind", Meaning::Path(path)) => spec.kind_from = below(path, at),
                _ => return unread(&format!("`{field}` of a reference is no field")),
            }
        }
        if spec.kind.is_none() && spec.kind_from.is_none() {
            return unread("a reference without a kind");
        }
        Ok(spec)
    };
    tables(script)?.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<T: std::fmt::Debug>(read: Result<T, Unread>) -> String {
        read.map_or_else(|unread| unread.to_string(), |read| format!("{read:?}"))
    }

    #[test]
    fn counts_and_pods() {
        for (script, expected) in [
            (
                "local kube = require(\"kube\")\nfunction GetReplicas(obj)\n  replica = obj.spec.replicas -- wanted\n  requirement = \
                 kube.accuratePodRequirements(obj.spec.template)\n  return replica, requirement\nend",
                "(\"/spec/replicas\", Some(\"/spec/template\"))",
            ),
            ("function GetReplicas(o)\n  return o.spec.size\nend", "(\"/spec/size\", None)"),
            ("function GetReplicas(o)\n  local n = o.spec.size or 1\n  return n, nil\nend", "(\"/spec/size\", None)"),
            (
                "function f(o)\n  if o.spec == nil then\n    return 0, nil\n  end\n  local n = o.spec.a['b']\n  if n == nil then n = 0 end\n  \
                 return n, {}\nend",
                "(\"/spec/a/b\", None)",
            ),
            (
                "function f(o)\n  local n = 0\n  if o.spec.size ~= nil then\n    n = o.spec.size\n  end\n  return n\nend",
                "(\"/spec/size\", None)",
            ),
            // more than looking at fields
            (
                "function f(o)\n  if o.spec.mode == 'x' then\n  return o.spec.size\n  end\nend",
                "line 2: it depends on a value",
            ),
            ("function f(o)\n  return o.spec.a + o.spec.b\nend", "line 2: a sum"),
            (
                "function f(o)\n  local n = o.spec.a\n  n = o.spec.b\n  return n\nend",
                "line 3: a variable that is one field or another",
            ),
            ("function f(o)\n  while true do end\nend", "line 2: `while`"),
            ("function f(o) return 1 end", "line 1: it returns nothing that is a field"),
            ("return 1", "line 1: expected `function`"),
            ("", "line 1: expected `function`"),
        ] {
            assert_eq!(text(counts(script)), expected, "{script}");
        }
        let deep = format!("function f(o) return {}o.spec.n{} end", "(".repeat(5000), ")".repeat(5000));
        assert_eq!(text(counts(&deep)), "line 1: expressions nested too deeply");
        let deep = format!("function f(o) {} end", "if o.spec then ".repeat(2000));
        assert_eq!(text(counts(&deep)), "line 1: expressions nested too deeply");
    }

    #[test]
    fn health_as_cel() {
        for (body, expected) in [
            ("return o.status.ready == o.spec.replicas", "status.ready == spec.replicas"),
            (
                "return (o.status.phase == 'Ready' or not o.spec.on) and o.status.n >= 1",
                "((status.phase == 'Ready') || (!(spec.on))) && (status.n >= 1)",
            ),
            ("return o.status.n ~= nil", "has(status.n)"),
            (
                "if o.status == nil or o.status.phase == nil then\n return false\nend\nif o.status.phase == 'Done' then\n return true\nend\nreturn false",
                "(!(!(has(status.phase)))) && (status.phase == 'Done')",
            ),
            (
                "for i = 1, #o.status.conditions do\n if o.status.conditions[i].type == 'Ready' and o.status.conditions[i].status == 'True' \
                 then\n return true\n end\nend\nreturn false",
                "status.conditions.exists(item, (item.type == 'Ready') && (item.status == 'True'))",
            ),
            (
                "local list = o.status.conditions\nfor _, c in ipairs(list) do\n if c.type == 'Failed' then return false end\nend\nreturn \
                 o.status.n > 0",
                "(!(status.conditions.exists(item, item.type == 'Failed'))) && (status.n > 0)",
            ),
            ("return o.status.n + 1 == 2", "line 2: a computed value"),
            ("return other.status.n == 2", "line 2: `other` is no field"),
            ("return o.status.x == 'a\\'b'", "line 2: a text with an escape, or without an end"),
            ("return true", "line 1: it does not look at a field"),
            ("if o.status.n == 1 then return true end", "line 2: it may end without a result"),
        ] {
            let script = format!("function InterpretHealth(o)\n{body}\nend\n");
            let read = healthy(&script).map(|text| text.to_string());
            assert_eq!(read.unwrap_or_else(|unread| unread.to_string()), expected, "{body}");
        }
        let ways = "if o.status.n == 1 then x = 1 end\n".repeat(64);
        let script = format!("function f(o)\n{ways}return o.status.n == 2\nend");
        assert!(text(healthy(&script)).contains("too many ways lead through it"), "{}", text(healthy(&script)));
    }

    #[test]
    fn parts_and_references() {
        let parts = components(
            "function GetComponents(o)\n  local list = {}\n  for i, w in ipairs(o.spec.workers) do\n    table.insert(list, {name = \
             w.name, replicas = w.replicas or 1, replicaRequirements = kube.accuratePodRequirements(w.template)})\n  end\n  local head = \
             {}\n  head.name = 'head'\n  head.replicas = 1\n  list[#list + 1] = head\n  return list\nend",
        )
        .unwrap();
        let worker = &parts[0];
        let plain = |text: &Option<Spanned<SmolStr>>| text.as_ref().map(|text| text.value.to_string());
        assert_eq!(
            (plain(&worker.at), plain(&worker.name_from)),
            (Some("/spec/workers/*".into()), Some("/name".into()))
        );
        assert_eq!(plain(&worker.template).as_deref(), Some("/template"));
        assert_eq!(
            (parts[1].name.value.as_str(), parts[1].default_replicas.as_ref().map(|n| n.value)),
            ("head", Some(1))
        );
        let found = dependencies(
            "function GetDependencies(o)\n  dependObjs = {}\n  if o.spec.secretName ~= nil and o.spec.secretName ~= '' then\n    dependObj = \
             {}\n    dependObj.apiVersion = 'v1'\n    dependObj.kind = 'Secret'\n    dependObj.name = o.spec.secretName\n    \
             dependObj.namespace = o.metadata.namespace\n    dependObjs[1] = dependObj\n  end\n  return dependObjs\nend",
        )
        .unwrap();
        assert_eq!(
            (plain(&found[0].kind), plain(&found[0].name)),
            (Some("Secret".into()), Some("/spec/secretName".into()))
        );
        let pods =
            dependencies("function f(o)\n  return kube.getPodDependencies(o.spec.template, o.metadata.namespace)\nend")
                .unwrap();
        assert_eq!(plain(&pods[0].pod_spec).as_deref(), Some("/spec/template/spec"));
        assert_eq!(text(revised("function f(o, n)\n  o.spec.size = n\n  return o\nend")), "\"/spec/size\"");
        assert_eq!(
            text(retained("function f(a, b)\n  a.spec.paused = b.spec.paused\n  return a\nend")),
            "[\"spec.paused\"]"
        );
    }
}
