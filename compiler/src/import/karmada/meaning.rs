//! What the Lua of a customization says, where it only looks at fields: pointers to counts, pods and references, and health
//! as an expression in CEL.
//!
//! A script guards what it reads (`if obj.spec ~= nil then`) and falls back to constants; both say nothing here, since a
//! pointer to what an object does not have finds nothing. Anything else is [`Unread`].

use std::collections::BTreeMap;

use super::lua::{Action, Expr, Function, Statement, Unread};
use crate::base::SmolStr;

/// What a variable holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Meaning {
    /// `nil`, a number, a text, `true`.
    Constant(Option<SmolStr>),
    /// A field of the object; a step `*` is every item of a list.
    Path(Vec<SmolStr>),
    /// `kube.accuratePodRequirements` of a pod template.
    Pods(Vec<SmolStr>),
    /// `kube.getPodDependencies` of a pod template.
    References(Vec<SmolStr>),
    /// The position in a list of the object.
    Position(Vec<SmolStr>),
    /// A table: its fields, and what was appended to it.
    Table(BTreeMap<SmolStr, Meaning>, Vec<Meaning>),
}

/// Variables.
type Scope = BTreeMap<SmolStr, Meaning>;

/// What a function returns, its parameter being the object.
///
/// # Errors
/// What is more than looking at fields.
pub(super) fn returned(function: &Function) -> Result<Vec<Meaning>, Unread> {
    let mut scope = Scope::new();
    if let Some(object) = function.parameters.first() {
        scope.insert(object.clone(), Meaning::Path(Vec::new()));
    }
    let found = run(&function.body, &mut scope)?;
    found.ok_or_else(|| Unread { line: 1, what: "it returns nothing that is a field".to_owned() })
}

fn unread<T>(line: u32, what: &str) -> Result<T, Unread> {
    Err(Unread { line, what: what.to_owned() })
}

/// What the statements return. The depth of statements is bounded by the reader.
fn run(statements: &[Statement], scope: &mut Scope) -> Result<Option<Vec<Meaning>>, Unread> {
    for Statement { line, what } in statements {
        let found = match what {
            Action::Assign(to, value) => {
                let value = meaning(value, scope, *line)?;
                assign(to, value, scope, *line)?;
                None
            }
            Action::Return(values) => {
                let values: Vec<Meaning> =
                    values.iter().map(|value| meaning(value, scope, *line)).collect::<Result<_, _>>()?;
                let says = values.iter().any(|value| !matches!(value, Meaning::Constant(_)) && !is_empty(value));
                says.then_some(values)
            }
            Action::If(arms, otherwise) => {
                let mut found = None;
                for (condition, body) in arms {
                    guard(condition, scope, *line)?;
                    found = found.or(run(body, scope)?);
                }
                found.or(run(otherwise, scope)?)
            }
            Action::Each(names, over, body) => {
                let Meaning::Path(list) = meaning(over, scope, *line)? else {
                    return unread(*line, "a loop over no field");
                };
                if let [position, item] = names.as_slice() {
                    scope.insert(position.clone(), Meaning::Position(list.clone()));
                    scope.insert(item.clone(), Meaning::Path([list, vec!["*".into()]].concat()));
                } else {
                    return unread(*line, "a loop without position and item");
                }
                run(body, scope)?
            }
            Action::Count(position, over, body) => {
                let Expr::Length(list) = over else { return unread(*line, "a loop over no list") };
                let Meaning::Path(list) = meaning(list, scope, *line)? else {
                    return unread(*line, "a loop over no field");
                };
                scope.insert(position.clone(), Meaning::Position(list));
                run(body, scope)?
            }
            Action::Call(Expr::Call(function, arguments)) => {
                match (dotted(function).as_deref(), arguments.as_slice()) {
                    (Some("table.insert"), [Expr::Name(list), item]) => {
                        let item = meaning(item, scope, *line)?;
                        append(scope, list, item, *line)?;
                    }
                    _ => return unread(*line, "a call that changes something"),
                }
                None
            }
            Action::Call(_) => return unread(*line, "an expression that does nothing"),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn is_empty(value: &Meaning) -> bool {
    matches!(value, Meaning::Table(fields, items) if fields.is_empty() && items.is_empty())
}

fn append(scope: &mut Scope, list: &SmolStr, item: Meaning, line: u32) -> Result<(), Unread> {
    match scope.get_mut(list) {
        Some(Meaning::Table(_, items)) => {
            items.push(item);
            Ok(())
        }
        Some(_) | None => unread(line, "something is appended to no table"),
    }
}

fn assign(to: &Expr, value: Meaning, scope: &mut Scope, line: u32) -> Result<(), Unread> {
    match to {
        Expr::Name(name) => {
            // a default for a field that may be absent
            let is_default = matches!(value, Meaning::Constant(_))
                && matches!(scope.get(name), Some(Meaning::Path(_) | Meaning::Pods(_)));
            let is_other = matches!((scope.get(name), &value), (Some(Meaning::Path(a)), Meaning::Path(b)) if a != b);
            if is_other {
                return unread(line, "a variable that is one field or another");
            }
            if !is_default {
                scope.insert(name.clone(), value);
            }
            Ok(())
        }
        Expr::Index(table, key) => match (&**table, &**key) {
            (Expr::Name(table), Expr::Text(field)) => match scope.get_mut(table) {
                Some(Meaning::Table(fields, _)) => {
                    fields.insert(field.clone(), value);
                    Ok(())
                }
                Some(_) | None => unread(line, "a field of no table is changed"),
            },
            (Expr::Name(table), _) => append(scope, table, value, line),
            _ => unread(line, "a field of a field is changed"),
        },
        _ => unread(line, "an assignment to no variable"),
    }
}

fn meaning(expr: &Expr, scope: &Scope, line: u32) -> Result<Meaning, Unread> {
    Ok(match expr {
        Expr::Nil => Meaning::Constant(None),
        Expr::Bool(is) => Meaning::Constant(Some(if *is { "true" } else { "false" }.into())),
        Expr::Number(text) | Expr::Text(text) => Meaning::Constant(Some(text.clone())),
        Expr::Name(name) => match scope.get(name) {
            Some(known) => known.clone(),
            None => return unread(line, &format!("`{name}` is no variable of it")),
        },
        Expr::Index(of, key) => match (meaning(of, scope, line)?, &**key) {
            (Meaning::Path(path), Expr::Text(field)) => Meaning::Path([path, vec![field.clone()]].concat()),
            (Meaning::Path(path), Expr::Name(position)) => match scope.get(position) {
                Some(Meaning::Position(list)) if *list == path => Meaning::Path([path, vec!["*".into()]].concat()),
                Some(_) | None => return unread(line, "an item of a list by a number"),
            },
            _ => return unread(line, "a part of no field"),
        },
        Expr::Call(function, arguments) => match (dotted(function).as_deref(), arguments.as_slice()) {
            (Some("kube.accuratePodRequirements"), [template]) => match meaning(template, scope, line)? {
                Meaning::Path(path) => Meaning::Pods(path),
                _ => return unread(line, "pods of no field"),
            },
            (Some("kube.getPodDependencies"), [template, ..]) => match meaning(template, scope, line)? {
                Meaning::Path(path) => Meaning::References(path),
                _ => return unread(line, "references of no field"),
            },
            (Some("pairs" | "ipairs" | "tonumber" | "math.floor"), [of]) => meaning(of, scope, line)?,
            (Some(name), _) => return unread(line, &format!("a call of `{name}`")),
            (None, _) => return unread(line, "a call"),
        },
        Expr::Binary("or", left, right) => match (meaning(left, scope, line)?, meaning(right, scope, line)?) {
            (field, Meaning::Constant(_)) => field,
            _ => return unread(line, "one field or another"),
        },
        // `index + 1`: a position in a table that is made
        Expr::Binary("+", left, right) => match (meaning(left, scope, line)?, &**right) {
            (Meaning::Constant(Some(_)), Expr::Number(_)) => Meaning::Constant(Some("0".into())),
            _ => return unread(line, "a sum"),
        },
        Expr::Length(of) if matches!(meaning(of, scope, line)?, Meaning::Table(..)) => {
            Meaning::Constant(Some("0".into()))
        }
        Expr::Table(fields) => {
            let fields = fields.iter().map(|(name, value)| Ok((name.clone(), meaning(value, scope, line)?)));
            Meaning::Table(fields.collect::<Result<_, Unread>>()?, Vec::new())
        }
        Expr::Binary(operator, ..) => return unread(line, &format!("`{operator}` in a value")),
        Expr::Not(_) | Expr::Length(_) => return unread(line, "a computed value"),
    })
}

/// `kube.accuratePodRequirements`
fn dotted(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.to_string()),
        Expr::Index(of, key) => match &**key {
            Expr::Text(field) => Some(format!("{}.{field}", dotted(of)?)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a condition only asks whether fields are there.
fn guard(condition: &Expr, scope: &Scope, line: u32) -> Result<(), Unread> {
    match condition {
        Expr::Binary("and" | "or", left, right) => {
            guard(left, scope, line)?;
            guard(right, scope, line)
        }
        Expr::Not(inner) => guard(inner, scope, line),
        Expr::Binary("==" | "~=" | ">", left, right) => match &**right {
            Expr::Nil => meaning(left, scope, line).map(drop),
            Expr::Text(text) if text.is_empty() => meaning(left, scope, line).map(drop),
            Expr::Number(zero) if zero == "0" => match &**left {
                Expr::Length(of) => meaning(of, scope, line).map(drop),
                _ => unread(line, "it depends on a value"),
            },
            _ => unread(line, "it depends on a value"),
        },
        Expr::Name(_) | Expr::Index(..) => meaning(condition, scope, line).map(drop),
        _ => unread(line, "it depends on a value"),
    }
}

/// `/spec/a/*`
pub(super) fn pointer(path: &[SmolStr]) -> SmolStr {
    path.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect::<String>().into()
}
