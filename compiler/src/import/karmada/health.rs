//! A health script as an expression in CEL: comparisons of fields, `if … then return … end`, loops that look for an item.
//!
//! `x ~= nil` becomes `has(x)`. A part that is missing makes a CEL expression not hold, as a script that returns false before
//! it looks any further; a script that calls an object without a status healthy is not read.

use std::collections::BTreeMap;

use super::lua::{Action, Expr, Function, Statement, Unread};
use crate::base::SmolStr;

/// Statements that are looked at, on all ways through a script.
const MAX_STEPS: u32 = 2000;

/// Variables: what stands for them in CEL.
type Scope = BTreeMap<SmolStr, String>;

/// True, false, or an expression.
#[derive(Clone, Debug, PartialEq)]
enum Holds {
    Always,
    Never,
    When(String),
}

/// The expression that holds when the object is healthy.
///
/// # Errors
/// What is no comparison of fields.
pub(super) fn health(function: &Function) -> Result<SmolStr, Unread> {
    let object = function.parameters.first().cloned().unwrap_or_default();
    let scope: Scope = [(object, String::new())].into();
    match block(&function.body, scope, &mut MAX_STEPS.clone())? {
        Some(Holds::When(text)) => Ok(text.into()),
        Some(Holds::Always | Holds::Never) | None => unread(1, "it does not look at a field"),
    }
}

fn unread<T>(line: u32, what: &str) -> Result<T, Unread> {
    Err(Unread { line, what: what.to_owned() })
}

fn both(a: Holds, b: Holds) -> Holds {
    match (a, b) {
        (Holds::Never, _) | (_, Holds::Never) => Holds::Never,
        (Holds::Always, other) | (other, Holds::Always) => other,
        (Holds::When(a), Holds::When(b)) => Holds::When(format!("({a}) && ({b})")),
    }
}

fn either(a: Holds, b: Holds) -> Holds {
    match (a, b) {
        (Holds::Always, _) | (_, Holds::Always) => Holds::Always,
        (Holds::Never, other) | (other, Holds::Never) => other,
        (Holds::When(a), Holds::When(b)) => Holds::When(format!("({a}) || ({b})")),
    }
}

fn not(a: Holds) -> Holds {
    match a {
        Holds::Always => Holds::Never,
        Holds::Never => Holds::Always,
        Holds::When(text) => Holds::When(format!("!({text})")),
    }
}

/// When the statements return true; `None` where they may end without returning. Nesting is bounded by the reader.
fn block(statements: &[Statement], mut scope: Scope, steps: &mut u32) -> Result<Option<Holds>, Unread> {
    let Some((Statement { line, what }, rest)) = statements.split_first() else { return Ok(None) };
    let Some(left) = steps.checked_sub(1) else { return unread(*line, "too many ways lead through it") };
    *steps = left;
    match what {
        Action::Assign(Expr::Name(name), value) => {
            let value = term(value, &scope, *line)?;
            scope.insert(name.clone(), value);
            block(rest, scope, steps)
        }
        Action::Return(values) => match values.as_slice() {
            [value] => condition(value, &scope, *line).map(Some),
            _ => unread(*line, "it returns no single value"),
        },
        Action::If(arms, otherwise) => {
            // what follows is what an arm that does not return goes on with
            let mut then = |body: &[Statement]| block(&[body, rest].concat(), scope.clone(), steps);
            let Some(mut holds) = then(otherwise)? else { return unread(*line, "it may end without a result") };
            for (asked, body) in arms.iter().rev() {
                let asked = condition(asked, &scope, *line)?;
                let Some(here) = then(body)? else { return unread(*line, "it may end without a result") };
                holds = match (&here, &holds) {
                    (Holds::Never, _) => both(not(asked), holds),
                    (Holds::Always, _) => either(asked, holds),
                    (Holds::When(_), Holds::Never) => both(asked, here),
                    (Holds::When(_), Holds::Always) => either(not(asked), here),
                    (Holds::When(_), Holds::When(_)) => either(both(asked.clone(), here), both(not(asked), holds)),
                };
            }
            Ok(Some(holds))
        }
        Action::Each(names, over, body) => {
            let Some(item) = names.get(1) else { return unread(*line, "a loop without position and item") };
            let over = match over {
                Expr::Call(function, arguments) => match (&**function, arguments.as_slice()) {
                    (Expr::Name(name), [list]) if name == "pairs" || name == "ipairs" => list,
                    _ => return unread(*line, "a loop over no list"),
                },
                _ => return unread(*line, "a loop over no list"),
            };
            let list = term(over, &scope, *line)?;
            looks_for((item, "item".to_owned()), (&list, body, rest), (scope, steps), *line)
        }
        Action::Count(position, over, body) => {
            let Expr::Length(list) = over else { return unread(*line, "a loop over no list") };
            let list = term(list, &scope, *line)?;
            looks_for((position, format!("#{list}")), (&list, body, rest), (scope, steps), *line)
        }
        Action::Assign(..) | Action::Call(_) => unread(*line, "it changes something"),
    }
}

/// `for … do if C then return R end end`: an item for which C holds decides.
fn looks_for(
    (name, stands_for): (&SmolStr, String),
    (list, body, rest): (&str, &[Statement], &[Statement]),
    (scope, steps): (Scope, &mut u32),
    line: u32,
) -> Result<Option<Holds>, Unread> {
    let mut inner = scope.clone();
    inner.insert(name.clone(), stands_for);
    let [Statement { line: at, what: Action::If(arms, otherwise) }] = body else {
        return unread(line, "a loop that does more than look for an item");
    };
    let ([(asked, then)], []) = (arms.as_slice(), otherwise.as_slice()) else {
        return unread(*at, "a loop that looks for several items");
    };
    let asked = match condition(asked, &inner, *at)? {
        Holds::When(text) => Holds::When(format!("{list}.exists(item, {text})")),
        Holds::Always | Holds::Never => return unread(*at, "it does not look at the item"),
    };
    let Some(found) = block(then, inner, steps)? else { return unread(*at, "a loop that goes on with what it found") };
    let Some(rest) = block(rest, scope, steps)? else { return unread(line, "it may end without a result") };
    Ok(Some(match found {
        Holds::Always => either(asked, rest),
        Holds::Never => both(not(asked), rest),
        Holds::When(_) => return unread(*at, "a loop whose result depends on more than one condition"),
    }))
}

fn condition(expr: &Expr, scope: &Scope, line: u32) -> Result<Holds, Unread> {
    Ok(match expr {
        Expr::Bool(true) => Holds::Always,
        Expr::Bool(false) | Expr::Nil => Holds::Never,
        Expr::Not(inner) => not(condition(inner, scope, line)?),
        Expr::Binary("and", left, right) => both(condition(left, scope, line)?, condition(right, scope, line)?),
        Expr::Binary("or", left, right) => either(condition(left, scope, line)?, condition(right, scope, line)?),
        Expr::Binary(operator @ ("==" | "~="), left, right) if **right == Expr::Nil => {
            let field = term(left, scope, line)?;
            // an object always has its status where it has been looked at
            let is_there = if field.contains('.') { Holds::When(format!("has({field})")) } else { Holds::Always };
            if *operator == "==" { not(is_there) } else { is_there }
        }
        Expr::Binary(operator @ ("==" | "~=" | "<" | ">" | "<=" | ">="), left, right) => {
            let operator = if *operator == "~=" { "!=" } else { operator };
            Holds::When(format!("{} {operator} {}", term(left, scope, line)?, term(right, scope, line)?))
        }
        Expr::Name(_) | Expr::Index(..) => Holds::When(term(expr, scope, line)?),
        _ => return unread(line, "no comparison of fields"),
    })
}

fn term(expr: &Expr, scope: &Scope, line: u32) -> Result<String, Unread> {
    Ok(match expr {
        Expr::Number(text) => text.to_string(),
        Expr::Text(text) if !text.contains(['\'', '\\']) => format!("'{text}'"),
        Expr::Bool(is) => is.to_string(),
        Expr::Name(name) => match scope.get(name) {
            Some(known) if !known.is_empty() && !known.starts_with('#') => known.clone(),
            Some(_) | None => return unread(line, &format!("`{name}` is no field")),
        },
        Expr::Index(of, key) => match (&**of, &**key) {
            (Expr::Name(object), Expr::Text(field)) if scope.get(object).is_some_and(String::is_empty) => {
                field.to_string()
            }
            (_, Expr::Text(field)) => format!("{}.{field}", term(of, scope, line)?),
            (_, Expr::Name(position)) => {
                let list = term(of, scope, line)?;
                match scope.get(position) {
                    Some(stands_for) if *stands_for == format!("#{list}") => "item".to_owned(),
                    Some(_) | None => return unread(line, "an item of a list by a number"),
                }
            }
            _ => return unread(line, "an item of a list by a number"),
        },
        Expr::Length(of) => format!("size({})", term(of, scope, line)?),
        _ => return unread(line, "a computed value"),
    })
}
