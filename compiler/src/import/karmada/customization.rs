//! ResourceInterpreterCustomizations as WorkloadKinds: the scripts that only name fields.
//!
//! The scripts are Lua. Two forms say no more than an expression does, and are read: where replicas and pods stand
//! (assignments of paths, then `return`), and a health rule that returns one comparison of fields. All others are said.

use super::objects::{Customization, CustomizedKind, Script};
use crate::api::{HealthSpec, WorkloadKindSpec};
use crate::base::SmolStr;
use crate::import::repository::placeless;
use crate::import::{About, Fate};

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
    let mut any = false;
    for (hook, Script { lua_script }) in customizations {
        let field = format!("spec.customizations.{hook}");
        match hook.as_str() {
            "replicaResource" => {
                if let Some((replicas, template)) = counts(lua_script) {
                    spec.replicas = Some(placeless(vec![placeless(replicas)]));
                    spec.templates = template.map(|template| placeless(vec![placeless(template)]));
                    spec.dividable = Some(placeless(true));
                    any = true;
                    continue;
                }
            }
            // what is counted at a place is written to that place
            "replicaRevision"
                if customizations.get("replicaResource").is_some_and(|read| counts(&read.lua_script).is_some()) =>
            {
                about.say(Fate::Resolved, &field, "counts are written where replicaResource reads them");
                continue;
            }
            "healthInterpretation" => {
                if let Some(current) = health(lua_script) {
                    spec.health =
                        Some(placeless(HealthSpec { current: placeless(current), in_progress: None, failed: None }));
                    any = true;
                    continue;
                }
            }
            "statusReflection" | "statusAggregation" => {
                about.say(Fate::NoCounterpart, &field, "status of clusters is not written back into manifests");
                continue;
            }
            _ => {}
        }
        about.say(Fate::NoCounterpart, &field, "a script: say it as a field of a WorkloadKind");
    }
    any.then_some(spec)
}

/// The lines of a function that say something, and the name of its first parameter.
fn body(script: &str) -> Option<(&str, Vec<&str>)> {
    let mut lines =
        script.lines().map(|line| line.split("--").next().unwrap_or_default().trim()).filter(|l| !l.is_empty());
    let parameters = lines.next()?.strip_prefix("function ")?.split_once('(')?.1.strip_suffix(')')?;
    let parameter = parameters.split(',').next()?.trim();
    let mut lines: Vec<&str> = lines.collect();
    (lines.pop()? == "end" && is_name(parameter)).then_some((parameter, lines))
}

/// Pointers to the count and to the pod template.
fn counts(script: &str) -> Option<(SmolStr, Option<SmolStr>)> {
    let (object, lines) = body(script)?;
    let (returned, lines) = lines.split_last()?;
    let mut returned = returned.strip_prefix("return ")?.split(',').map(str::trim);
    let (count, requirement) = (returned.next()?, returned.next());
    let (mut replicas, mut template) = (pointer(object, count), None);
    for line in lines {
        let (name, value) = line.trim_start_matches("local ").split_once('=')?;
        let (name, value) = (name.trim(), value.trim().trim_end_matches(';'));
        let of_pods = value.strip_prefix("kube.accuratePodRequirements(").and_then(|rest| rest.strip_suffix(')'));
        match of_pods {
            Some(path) if Some(name) == requirement => template = Some(pointer(object, path.trim())?),
            None if name == count => replicas = Some(pointer(object, value)?),
            Some(_) | None => return None,
        }
    }
    Some((replicas?, template))
}

/// `/spec/replicas` of `obj.spec.replicas`.
fn pointer(object: &str, path: &str) -> Option<SmolStr> {
    let rest = path.strip_prefix(object)?.strip_prefix('.')?;
    rest.split('.').all(is_name).then(|| format!("/{}", rest.replace('.', "/")).into())
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The comparison that is returned, in CEL.
fn health(script: &str) -> Option<SmolStr> {
    let (object, lines) = body(script)?;
    let [line] = lines.as_slice() else { return None };
    let mut words = Vec::new();
    let mut rest = line.strip_prefix("return ")?.trim_end_matches(';').trim();
    while let Some(first) = rest.chars().next() {
        let (word, after) = word(rest, first)?;
        rest = after.trim_start();
        words.push(match word {
            "and" => "&&".to_owned(),
            "or" => "||".to_owned(),
            "not" => "!".to_owned(),
            "~=" => "!=".to_owned(),
            "nil" => return None,
            "true" | "false" | "==" | "<" | ">" | "<=" | ">=" | "(" | ")" => word.to_owned(),
            text if text.starts_with(['"', '\'']) || text.chars().all(|c| c.is_ascii_digit()) => word.to_owned(),
            path => pointer(object, path)?.trim_start_matches('/').replace('/', "."),
        });
    }
    Some(words.join(" ").into())
}

/// The first word and what follows it.
fn word(text: &str, first: char) -> Option<(&str, &str)> {
    let length = match first {
        '"' | '\'' => {
            let inside = text.get(1..)?.find(first)?;
            (!text.get(1..=inside)?.contains('\\')).then_some(inside + 2)?
        }
        '(' | ')' => 1,
        '=' | '~' | '<' | '>' => {
            if text.get(1..)?.starts_with('=') {
                2
            } else {
                1
            }
        }
        c if c.is_ascii_alphanumeric() || c == '_' => {
            text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(text.len())
        }
        _ => return None,
    };
    Some((text.get(..length)?, text.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_only_name_fields_are_read() {
        let two = |a: &str, b: &str| Some((a.into(), Some(b.into())));
        for (script, expected) in [
            (
                "function GetReplicas(obj)\n  replica = obj.spec.replicas -- wanted\n  requirement = \
                 kube.accuratePodRequirements(obj.spec.template)\n  return replica, requirement\nend",
                two("/spec/replicas", "/spec/template"),
            ),
            ("function GetReplicas(o)\n  return o.spec.size\nend", Some(("/spec/size".into(), None))),
            ("function GetReplicas(o)\n  local n = o.spec.size or 1\n  return n\nend", None),
            ("function GetReplicas(o)\n  if o.spec then\n  return o.spec.size\n  end\nend", None),
            ("return 1", None),
            ("", None),
        ] {
            assert_eq!(counts(script), expected, "{script}");
        }
        for (returned, expected) in [
            ("observedObj.status.ready == observedObj.spec.replicas", Some("status.ready == spec.replicas")),
            (
                "(observedObj.status.phase == 'Ready' or not observedObj.spec.on) and observedObj.status.n >= 1",
                Some("( status.phase == 'Ready' || ! spec.on ) && status.n >= 1"),
            ),
            ("observedObj.status.n ~= 2", Some("status.n != 2")),
            ("observedObj.status.n ~= nil", None),
            ("observedObj.status.n + 1 == 2", None),
            ("other.status.n == 2", None),
            ("observedObj.status.x == 'a\\'b'", None),
        ] {
            let script = format!("function InterpretHealth(observedObj)\n  return {returned}\nend\n");
            assert_eq!(health(&script).as_deref(), expected, "{returned}");
        }
    }
}
