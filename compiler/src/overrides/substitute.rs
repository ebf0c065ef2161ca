//! `${cluster.name}` and its like in the string values of operations.
//!
//! A name is what stands between `${` and the next `}`; `$${` is a literal `${`; any other `$` is itself, so `$(VAR)` of
//! Kubernetes and `$x` of shells need no escape. What a variable holds is not looked at again. A value stays a string,
//! whatever it looks like.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::error::{OpError, did_you_mean};
use crate::base::name::nearest;
use crate::base::{Path, Seg, SmolStr};

/// The variables of one cluster by name, such as `cluster.labels.env`.
pub type Variables = BTreeMap<SmolStr, SmolStr>;

/// A text, parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template(Vec<Piece>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Text(String),
    Variable(SmolStr),
}

/// What is wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TemplateError {
    /// `${` without `}`.
    #[error("`${{` without `}}`; a literal `${{` is written `$${{`")]
    Unterminated,
    /// `${}`, or characters that no name has.
    #[error("what stands between `${{` and `}}` is not the name of a variable; a literal `${{` is written `$${{`")]
    BadName,
    /// No such variable.
    #[error("unknown variable {name}{}; a literal `${{` is written `$${{`", known_names(nearest.as_ref(), known))]
    Unknown {
        /// The name.
        name: SmolStr,
        /// One with almost that name.
        nearest: Option<SmolStr>,
        /// All that there are.
        known: Vec<SmolStr>,
    },
}

fn known_names(nearest: Option<&SmolStr>, known: &[SmolStr]) -> String {
    /// Enough to see the kinds of names there are.
    const SHOWN: usize = 12;
    let mut text = did_you_mean(nearest);
    if known.is_empty() {
        return text + "; there are no variables here";
    }
    text += if nearest.is_some() { " There are " } else { "; there are " };
    text += &known.iter().take(SHOWN).map(SmolStr::as_str).collect::<Vec<_>>().join(", ");
    if known.len() > SHOWN {
        text += &format!(" and {} more", known.len() - SHOWN);
    }
    text
}

impl Template {
    /// Parses a text.
    ///
    /// # Errors
    /// When a `${` has no end or no name.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let (before, from) = rest.split_at(at);
            literal.push_str(before);
            if let Some(after) = from.strip_prefix("$${") {
                literal.push_str("${");
                rest = after;
            } else if let Some(after) = from.strip_prefix("${") {
                let (name, after) = after.split_once('}').ok_or(TemplateError::Unterminated)?;
                if !is_name(name) {
                    return Err(TemplateError::BadName);
                }
                if !literal.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Variable(name.into()));
                rest = after;
            } else {
                literal.push('$');
                rest = from.strip_prefix('$').unwrap_or_default();
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(Self(pieces))
    }

    /// The text with every variable replaced by its value.
    ///
    /// # Errors
    /// When there is no such variable.
    pub fn render(&self, vars: &Variables) -> Result<String, TemplateError> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(literal) => text.push_str(literal),
                Piece::Variable(name) => text.push_str(vars.get(name).ok_or_else(|| unknown(name, vars))?),
            }
        }
        Ok(text)
    }

    /// The names in it, in order, as often as they occur.
    pub fn variables(&self) -> impl Iterator<Item = &SmolStr> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Variable(name) => Some(name),
        })
    }
}

/// Letters, digits, and what label keys have.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/'))
}

fn unknown(name: &SmolStr, vars: &Variables) -> TemplateError {
    let nearest = nearest(name, vars.keys().map(SmolStr::as_str)).map(SmolStr::from);
    TemplateError::Unknown { name: name.clone(), nearest, known: vars.keys().cloned().collect() }
}

/// A text with its variables replaced.
///
/// # Errors
/// When the text is not written right, or there is no such variable.
pub fn in_text(text: &str, vars: &Variables) -> Result<String, TemplateError> {
    if text.contains("${") { Template::parse(text)?.render(vars) } else { Ok(text.to_owned()) }
}

/// A value with the variables in all its strings replaced; keys of maps are left alone.
///
/// # Errors
/// [`OpError::Template`] with the place inside the value.
pub fn in_value(value: &Value, vars: &Variables) -> Result<Value, OpError> {
    let mut value = value.clone();
    walk(&mut value, &mut Vec::new(), &mut |text| {
        if text.contains("${") {
            *text = Template::parse(text)?.render(vars)?;
        }
        Ok(())
    })?;
    Ok(value)
}

/// Collects the variables of all strings of a value.
pub fn variables_in(value: &Value, used: &mut BTreeSet<SmolStr>) -> Result<(), OpError> {
    walk(&mut value.clone(), &mut Vec::new(), &mut |text| {
        used.extend(Template::parse(text)?.variables().cloned());
        Ok(())
    })
}

fn walk(
    value: &mut Value,
    at: &mut Vec<Seg>,
    each: &mut impl FnMut(&mut String) -> Result<(), TemplateError>,
) -> Result<(), OpError> {
    if at.len() > super::pointer::DEPTH_LIMIT {
        return Err(OpError::TooDeep { path: Path(at.clone()) });
    }
    match value {
        Value::String(text) => each(text).map_err(|error| OpError::Template { at: Path(at.clone()), error })?,
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                at.push(Seg::Index(index));
                walk(item, at, each)?;
                at.pop();
            }
        }
        Value::Object(map) => {
            for (key, member) in map.iter_mut() {
                at.push(Seg::Key(key.as_str().into()));
                walk(member, at, each)?;
                at.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars() -> Variables {
        let pairs = [("cluster.name", "eu-a"), ("cluster.labels.topology.kubernetes.io/region", "eu"), ("v", "${x}")];
        pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn texts() {
        let facts = [
            ("", Ok("")),
            ("plain", Ok("plain")),
            ("${cluster.name}", Ok("eu-a")),
            ("a-${cluster.name}-${cluster.name}.b", Ok("a-eu-a-eu-a.b")),
            ("${cluster.labels.topology.kubernetes.io/region}", Ok("eu")),
            ("$${cluster.name}", Ok("${cluster.name}")),
            ("$$${cluster.name}", Ok("$${cluster.name}")),
            ("$$$${cluster.name}", Ok("$$${cluster.name}")),
            ("$(POD_IP) $x $ $$ } {", Ok("$(POD_IP) $x $ $$ } {")),
            ("${v}", Ok("${x}")),
            ("ü${cluster.name}ü$", Ok("üeu-aü$")),
            ("${cluster.name", Err("`${` without `}`; a literal `${` is written `$${`")),
            ("a${", Err("`${` without `}`; a literal `${` is written `$${`")),
            (
                "${}",
                Err("what stands between `${` and `}` is not the name of a variable; a literal `${` is written `$${`"),
            ),
            (
                "${ cluster.name }",
                Err("what stands between `${` and `}` is not the name of a variable; a literal `${` is written `$${`"),
            ),
            (
                "${cluster.nmae}",
                Err(
                    "unknown variable cluster.nmae; did you mean cluster.name? There are cluster.labels.topology.kubernetes.io/region, cluster.name, v; a literal `${` is written `$${`",
                ),
            ),
        ];
        for (text, right) in facts {
            let found = in_text(text, &vars()).map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), right, "{text}");
            if right.is_ok() {
                assert!(Template::parse(text).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn values() {
        let value = serde_json::json!({"${cluster.name}": ["${cluster.name}", 1, null, {"a": "x"}]});
        let right = serde_json::json!({"${cluster.name}": ["eu-a", 1, null, {"a": "x"}]});
        assert_eq!(in_value(&value, &vars()).unwrap(), right);
        let error = in_value(&serde_json::json!({"a": [{"b": "${no}"}]}), &Variables::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a[0].b: unknown variable no; there are no variables here; a literal `${` is written `$${`"
        );
    }
}
