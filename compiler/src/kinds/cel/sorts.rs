//! What an expression gives, as far as its text alone tells: one that can only give a number says neither yes nor no, and one
//! that asks something of a value that has it not only fails.

use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue};

use super::places::Places;
use super::{BadExpression, calls};

/// What a wrong operand is told, after who takes it.
pub(super) const TAKES: &str = " takes what is true or false";

/// What an expression gives, as far as its text alone tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Bool,
    /// A number of one of the next three.
    Number,
    Int,
    Uint,
    Double,
    Text,
    Bytes,
    List,
    Map,
    Null,
}

impl Sort {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Number | Self::Int | Self::Uint | Self::Double => "a number",
            Self::Text => "a text",
            Self::Bytes => "bytes",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Null => "null",
        }
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Number | Self::Int | Self::Uint | Self::Double)
    }

    /// Whether one of them can be less than another.
    pub(super) fn is_ordered(self) -> bool {
        self.is_number() || matches!(self, Self::Bool | Self::Text | Self::Bytes)
    }

    /// Whether it can be the key of a map.
    pub(super) fn is_key(self) -> bool {
        matches!(self, Self::Bool | Self::Number | Self::Int | Self::Uint | Self::Text)
    }
}

/// Variables of comprehensions, the innermost last, and where calls stand.
pub(super) struct Scope<'t> {
    pub bound: Vec<(String, Option<Sort>)>,
    pub places: Places<'t>,
}

/// What an expression gives; `None` where the object decides. All of it is looked at, whether it is evaluated or not.
/// Nothing is said of what is compared for being equal: CEL compares values of all sorts.
pub(super) fn sort_of(expression: &IdedExpr, scope: &mut Scope<'_>) -> Result<Option<Sort>, BadExpression> {
    let bad = |message: String| Err(BadExpression { message, at: None });
    Ok(match &expression.expr {
        Expr::Literal(literal) => Some(match literal {
            LiteralValue::Boolean(_) => Sort::Bool,
            LiteralValue::Int(_) => Sort::Int,
            LiteralValue::UInt(_) => Sort::Uint,
            LiteralValue::Double(_) => Sort::Double,
            LiteralValue::String(_) => Sort::Text,
            LiteralValue::Bytes(_) => Sort::Bytes,
            LiteralValue::Null => Sort::Null,
        }),
        Expr::Ident(name) => match scope.bound.iter().rev().find(|(known, _)| known == name) {
            Some((_, sort)) => *sort,
            None => match name.as_str() {
                "apiVersion" | "kind" => Some(Sort::Text),
                "metadata" | "spec" | "status" => Some(Sort::Map),
                _ => None,
            },
        },
        Expr::Select(select) => {
            match sort_of(&select.operand, scope)? {
                None | Some(Sort::Map) => {}
                Some(other) => {
                    return bad(format!("{} has no fields, and `.{}` asks for one", other.words(), select.field));
                }
            }
            match &select.operand.expr {
                _ if select.test => Some(Sort::Bool),
                Expr::Ident(name) if name == "metadata" && !scope.bound.iter().any(|(known, _)| known == name) => {
                    of_metadata(&select.field)
                }
                _ => None,
            }
        }
        Expr::List(list) => {
            list.elements.iter().try_for_each(|element| sort_of(element, scope).map(|_| ()))?;
            Some(Sort::List)
        }
        Expr::Map(map) => {
            for entry in &map.entries {
                let EntryExpr::MapEntry(entry) = &entry.expr else { continue };
                if let Some(key) = sort_of(&entry.key, scope)?.filter(|key| !key.is_key()) {
                    return bad(format!("{} is no key of a map", key.words()));
                }
                sort_of(&entry.value, scope)?;
            }
            Some(Sort::Map)
        }
        Expr::Call(call) => {
            let target = call.target.iter().map(|target| sort_of(target, scope)).collect::<Result<Vec<_>, _>>()?;
            // in the order of the text: what it is called of, its name, its arguments
            let at = scope.places.next_call(&call.func_name);
            let arguments = call.args.iter().map(|argument| sort_of(argument, scope)).collect::<Result<Vec<_>, _>>()?;
            let operands: Vec<Option<Sort>> = target.into_iter().chain(arguments).collect();
            calls::gives(call, &operands).map_err(|message| BadExpression { message, at })?
        }
        Expr::Comprehension(comprehension) => {
            match sort_of(&comprehension.iter_range, scope)? {
                None | Some(Sort::List | Sort::Map) => {}
                Some(other) => {
                    return bad(format!(
                        "all, exists, filter and map go through a list or a map, and not through {}",
                        other.words()
                    ));
                }
            }
            let gathers = sort_of(&comprehension.accu_init, scope)?;
            let outer = scope.bound.len();
            scope.bound.push((comprehension.iter_var.clone(), None));
            scope.bound.extend(comprehension.iter_var2.clone().map(|name| (name, None)));
            scope.bound.push((comprehension.accu_var.clone(), gathers));
            let step = sort_of(&comprehension.loop_step, scope).map_err(|wrong| asked_of_each(&wrong));
            let gives = step.and_then(|_| sort_of(&comprehension.result, scope));
            scope.bound.truncate(outer);
            gives?
        }
        Expr::Struct(_) | Expr::Unspecified => None,
    })
}

/// What every object has in its metadata, if anything.
fn of_metadata(field: &str) -> Option<Sort> {
    match field {
        "name" | "generateName" | "namespace" | "uid" | "resourceVersion" | "creationTimestamp"
        | "deletionTimestamp" => Some(Sort::Text),
        "generation" | "deletionGracePeriodSeconds" => Some(Sort::Int),
        "labels" | "annotations" => Some(Sort::Map),
        "finalizers" | "ownerReferences" | "managedFields" => Some(Sort::List),
        _ => None,
    }
}

/// `all` and the others are written out with operators that nobody wrote.
fn asked_of_each(wrong: &BadExpression) -> BadExpression {
    let message = match wrong.message.split_once(TAKES) {
        Some((_, not)) => format!("what is asked of each item must be true or false{not}"),
        None => wrong.message.clone(),
    };
    BadExpression { message, at: wrong.at }
}
