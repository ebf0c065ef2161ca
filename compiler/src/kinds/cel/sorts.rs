//! What an expression gives, as far as its text alone tells: one that can only give a number says neither yes nor no.

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use super::BadExpression;

/// What a wrong operand is told, after who takes it.
const TAKES: &str = " takes what is true or false";

/// What an expression gives, as far as its text alone tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Bool,
    Number,
    Text,
    List,
    Map,
    Null,
}

impl Sort {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Number => "a number",
            Self::Text => "a text",
            Self::List => "a list",
            Self::Map => "a map",
            Self::Null => "null",
        }
    }
}

/// What an expression gives; `None` where the object decides. `bound` are variables of comprehensions, the innermost last.
/// Nothing is said of what is compared: CEL compares values of all sorts.
pub(super) fn sort_of(
    expression: &IdedExpr,
    bound: &mut Vec<(String, Option<Sort>)>,
) -> Result<Option<Sort>, BadExpression> {
    Ok(match &expression.expr {
        Expr::Literal(literal) => match literal {
            LiteralValue::Boolean(_) => Some(Sort::Bool),
            LiteralValue::Int(_) | LiteralValue::UInt(_) | LiteralValue::Double(_) => Some(Sort::Number),
            LiteralValue::String(_) | LiteralValue::Bytes(_) => Some(Sort::Text),
            LiteralValue::Null => Some(Sort::Null),
        },
        Expr::Ident(name) => match bound.iter().rev().find(|(known, _)| known == name) {
            Some((_, sort)) => *sort,
            None => match name.as_str() {
                "apiVersion" | "kind" => Some(Sort::Text),
                "metadata" | "spec" | "status" => Some(Sort::Map),
                _ => None,
            },
        },
        Expr::Select(select) => {
            sort_of(&select.operand, bound)?;
            select.test.then_some(Sort::Bool)
        }
        Expr::List(_) => Some(Sort::List),
        Expr::Map(_) => Some(Sort::Map),
        Expr::Call(call) => call_gives(call, bound)?,
        Expr::Comprehension(comprehension) => {
            let gathers = sort_of(&comprehension.accu_init, bound)?;
            let outer = bound.len();
            bound.push((comprehension.iter_var.clone(), None));
            bound.extend(comprehension.iter_var2.clone().map(|name| (name, None)));
            bound.push((comprehension.accu_var.clone(), gathers));
            let step = sort_of(&comprehension.loop_step, bound).map_err(|wrong| asked_of_each(&wrong));
            let gives = step.and_then(|_| sort_of(&comprehension.result, bound));
            bound.truncate(outer);
            gives?
        }
        Expr::Struct(_) | Expr::Unspecified => None,
    })
}

/// `all` and the others are written out with operators that nobody wrote.
fn asked_of_each(wrong: &BadExpression) -> BadExpression {
    let message = match wrong.message.split_once(TAKES) {
        Some((_, not)) => format!("what is asked of each item must be true or false{not}"),
        None => wrong.message.clone(),
    };
    BadExpression { message, at: wrong.at }
}

fn call_gives(call: &CallExpr, bound: &mut Vec<(String, Option<Sort>)>) -> Result<Option<Sort>, BadExpression> {
    let arguments = call.args.iter().map(|argument| sort_of(argument, bound)).collect::<Result<Vec<_>, _>>()?;
    let says_yes_or_no = |what: &str, of: &Option<Sort>| match of {
        None | Some(Sort::Bool) => Ok(()),
        Some(other) => {
            let message = format!("{what}{TAKES}, and not {}", other.words());
            Err(BadExpression { message, at: None })
        }
    };
    let of_both = || {
        let known: Vec<Sort> = arguments.iter().filter_map(|sort| *sort).collect();
        known.first().copied()
    };
    Ok(match call.func_name.as_str() {
        operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT => {
            let shown = call.func_name.trim_matches('_');
            arguments.iter().try_for_each(|argument| says_yes_or_no(&format!("`{shown}`"), argument))?;
            Some(Sort::Bool)
        }
        operators::EQUALS
        | operators::NOT_EQUALS
        | operators::LESS
        | operators::LESS_EQUALS
        | operators::GREATER
        | operators::GREATER_EQUALS
        | operators::IN
        | operators::NOT_STRICTLY_FALSE
        | "contains"
        | "startsWith"
        | "endsWith" => Some(Sort::Bool),
        "size" | "int" | "uint" | "double" | operators::NEGATE => Some(Sort::Number),
        operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO => Some(Sort::Number),
        "string" => Some(Sort::Text),
        operators::ADD => of_both(),
        operators::CONDITIONAL => {
            says_yes_or_no("the condition of `? :`", arguments.first().unwrap_or(&None))?;
            // where the branches differ, what comes out is not known
            match arguments.get(1..) {
                Some([a, b]) if a == b => *a,
                Some(_) | None => None,
            }
        }
        _ => None,
    })
}
