//! What functions and operators take: a call that can only fail is refused when it is written.
//!
//! Source: the overloads of the CEL specification, as far as they are evaluated here. A test tries every function and
//! the operators between two values on every sort, so that what is refused fails and what fails is refused; of `[ ]`, `? :`, `&&`
//! and `||` it tries none against the evaluator.

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue, operators};

use super::sorts::{Sort, TAKES};

/// A function.
struct Function {
    name: &'static str,
    /// How it is written, and of what.
    usage: &'static str,
    /// Whether it is called with all its operands in brackets.
    global: bool,
    /// Whether it is called of its first operand.
    member: bool,
    operands: usize,
    takes: fn(Sort) -> bool,
    gives: Sort,
}

const FUNCTIONS: [Function; 8] = [
    Function {
        name: "contains",
        usage: "`TEXT.contains(TEXT)`; of a list, `VALUE in LIST` asks that",
        global: false,
        member: true,
        operands: 2,
        takes: is_text,
        gives: Sort::Bool,
    },
    number("double", "`double(VALUE)`, of a number or a text", Sort::Double),
    of_text("endsWith", "`TEXT.endsWith(TEXT)`"),
    number("int", "`int(VALUE)`, of a number or a text", Sort::Int),
    Function {
        name: "size",
        usage: "`size(VALUE)` or `VALUE.size()`, of a text, a list or a map",
        global: true,
        member: true,
        operands: 1,
        takes: |sort| matches!(sort, Sort::Text | Sort::Bytes | Sort::List | Sort::Map),
        gives: Sort::Int,
    },
    of_text("startsWith", "`TEXT.startsWith(TEXT)`"),
    Function {
        name: "string",
        usage: "`string(VALUE)`, of a number or a text",
        global: true,
        member: false,
        operands: 1,
        takes: |sort| sort.is_number() || matches!(sort, Sort::Text | Sort::Bytes),
        gives: Sort::Text,
    },
    number("uint", "`uint(VALUE)`, of a number or a text", Sort::Uint),
];

const fn of_text(name: &'static str, usage: &'static str) -> Function {
    Function { name, usage, global: false, member: true, operands: 2, takes: is_text, gives: Sort::Bool }
}

const fn number(name: &'static str, usage: &'static str, gives: Sort) -> Function {
    let takes = |sort: Sort| sort.is_number() || sort == Sort::Text;
    Function { name, usage, global: true, member: false, operands: 1, takes, gives }
}

fn is_text(sort: Sort) -> bool {
    sort == Sort::Text
}

/// The names of all functions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name)
}

/// What is written like a function and is none, because it names what it asks of.
const MACROS: [(&str, &str); 6] = [
    ("all", "`LIST.all(NAME, CONDITION)`"),
    ("exists", "`LIST.exists(NAME, CONDITION)`"),
    ("exists_one", "`LIST.exists_one(NAME, CONDITION)`"),
    ("filter", "`LIST.filter(NAME, CONDITION)`"),
    ("has", "`has(VALUE.FIELD)`"),
    ("map", "`LIST.map(NAME, VALUE)`"),
];

/// What is said of a call of no function.
pub(super) fn unknown(name: &str) -> String {
    if let Some((_, usage)) = MACROS.iter().find(|(of, _)| *of == name) {
        return format!("`{name}` is written {usage}");
    }
    let macros: Vec<&str> = MACROS.iter().map(|(name, _)| *name).collect();
    let known: Vec<&str> = names().collect();
    format!("there is no function `{name}`; expected one of {}, or {}", known.join(", "), macros.join(", "))
}

/// What a call gives, as far as its text tells. `operands` are what it is called of, if anything, and its arguments. The error
/// says what is wrong.
pub(super) fn gives(call: &CallExpr, operands: &[Option<Sort>]) -> Result<Option<Sort>, String> {
    match FUNCTIONS.iter().find(|function| function.name == call.func_name) {
        Some(function) => function.gives(call, operands).map(Some),
        None => operator(call, operands),
    }
}

impl Function {
    fn gives(&self, call: &CallExpr, operands: &[Option<Sort>]) -> Result<Sort, String> {
        let Self { name, usage, .. } = self;
        let as_written = if call.target.is_some() { self.member } else { self.global };
        if !as_written || operands.len() != self.operands {
            let arguments = match call.args.len() {
                0 => "no argument".to_owned(),
                1 => "one argument".to_owned(),
                more => format!("{more} arguments"),
            };
            let of = if call.target.is_some() { "called of a value, with" } else { "called with" };
            return Err(format!("`{name}` is written {usage}; here it is {of} {arguments}"));
        }
        if let Some(wrong) = operands.iter().flatten().find(|sort| !(self.takes)(**sort)) {
            return Err(format!("`{name}` is written {usage}, and not of {}", wrong.words()));
        }
        if let [IdedExpr { expr: Expr::Literal(LiteralValue::String(text)), .. }] = call.args.as_slice()
            && !self.reads(text.inner())
        {
            return Err(format!("`{name}` reads a number, and this text is none"));
        }
        Ok(self.gives)
    }

    /// Whether a text that is converted is a number of that sort.
    fn reads(&self, text: &str) -> bool {
        match self.gives {
            Sort::Int if self.name == "int" => text.parse::<i64>().is_ok(),
            Sort::Uint => text.parse::<u64>().is_ok(),
            Sort::Double => text.parse::<f64>().is_ok(),
            _ => true,
        }
    }
}

fn operator(call: &CallExpr, operands: &[Option<Sort>]) -> Result<Option<Sort>, String> {
    let shown = call.func_name.trim_matches(['_', '@']);
    let wrong = |takes: &str, sort: Sort| Err(format!("`{shown}` takes {takes}, and not {}", sort.words()));
    let first_that = |is_wrong: fn(Sort) -> bool| operands.iter().flatten().copied().find(|sort| is_wrong(*sort));
    let says_yes_or_no = |what: &str, of: Option<Sort>| match of {
        None | Some(Sort::Bool) => Ok(()),
        Some(other) => Err(format!("{what}{TAKES}, and not {}", other.words())),
    };
    Ok(match call.func_name.as_str() {
        operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT => {
            operands.iter().try_for_each(|operand| says_yes_or_no(&format!("`{shown}`"), *operand))?;
            Some(Sort::Bool)
        }
        operators::EQUALS | operators::NOT_EQUALS | operators::NOT_STRICTLY_FALSE => Some(Sort::Bool),
        operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS => {
            if let Some(sort) = first_that(|sort| !sort.is_ordered()) {
                return wrong("two numbers or two texts", sort);
            }
            if let [Some(a), Some(b)] = operands
                && !(a == b || (a.is_number() && b.is_number()))
            {
                return Err(format!("`{shown}` compares {} with {}: convert one of them", a.words(), b.words()));
            }
            Some(Sort::Bool)
        }
        operators::IN => {
            match operands {
                [_, Some(sort)] if !matches!(sort, Sort::List | Sort::Map) => {
                    return Err(format!("`in` looks into a list or a map, and not into {}", sort.words()));
                }
                [Some(key), Some(Sort::Map)] if !key.is_key() => {
                    return Err(format!("{} is no key of a map", key.words()));
                }
                _ => {}
            }
            Some(Sort::Bool)
        }
        operators::ADD => {
            if let Some(sort) = first_that(|sort| matches!(sort, Sort::Bool | Sort::Map | Sort::Null)) {
                return wrong("numbers, texts or lists", sort);
            }
            alike(shown, operands)?
        }
        operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE => {
            if let Some(sort) = first_that(|sort| !sort.is_number()) {
                return wrong("numbers", sort);
            }
            if call.func_name == operators::DIVIDE && is_zero(call.args.get(1)) {
                return Err("it divides by zero".to_owned());
            }
            alike(shown, operands)?.or(Some(Sort::Number))
        }
        operators::MODULO => {
            if let Some(sort) = first_that(|sort| !sort.is_number() || sort == Sort::Double) {
                return wrong("whole numbers", sort);
            }
            if is_zero(call.args.get(1)) {
                return Err("it divides by zero".to_owned());
            }
            alike(shown, operands)?.or(Some(Sort::Number))
        }
        operators::NEGATE => match operands.first().copied().flatten() {
            Some(sort) if !sort.is_number() || sort == Sort::Uint => return wrong("a number with a sign", sort),
            sort => sort.or(Some(Sort::Number)),
        },
        operators::INDEX => {
            index(call, operands)?;
            None
        }
        operators::CONDITIONAL => {
            says_yes_or_no("the condition of `? :`", operands.first().copied().flatten())?;
            // where the branches differ, what comes out is not known
            match operands.get(1..) {
                Some([a, b]) if a == b => *a,
                Some([Some(a), Some(b)]) if a.is_number() && b.is_number() => Some(Sort::Number),
                Some(_) | None => None,
            }
        }
        _ => None,
    })
}

/// The sort that both operands must have, where one of them is known.
fn alike(shown: &str, operands: &[Option<Sort>]) -> Result<Option<Sort>, String> {
    let known: Vec<Sort> = operands.iter().flatten().copied().collect();
    match known.as_slice() {
        [a, b] if a.is_number() && b.is_number() => match (a, b) {
            (Sort::Number, exact) | (exact, Sort::Number) => Ok(Some(*exact)),
            (a, b) if a == b => Ok(Some(*a)),
            _ => Err(format!(
                "`{shown}` takes two numbers of one kind: `1` is an int, `1u` an uint and `1.0` a double, and int(), uint() and \
                 double() convert"
            )),
        },
        [a, b] if a != b => Err(format!("`{shown}` takes two of one kind, and not {} and {}", a.words(), b.words())),
        known => Ok(known.first().copied()),
    }
}

fn index(call: &CallExpr, operands: &[Option<Sort>]) -> Result<(), String> {
    match operands {
        [Some(of), _] if !matches!(of, Sort::List | Sort::Map) => {
            Err(format!("`[ ]` takes an item of a list or a map, and not of {}", of.words()))
        }
        [Some(Sort::List), Some(at)] if !at.is_number() || *at == Sort::Double => {
            Err(format!("an item of a list has a whole number, and not {}", at.words()))
        }
        [Some(Sort::Map), Some(key)] if !key.is_key() => Err(format!("{} is no key of a map", key.words())),
        [None, Some(at)] if !at.is_key() => Err(format!("{} is neither a key nor the number of an item", at.words())),
        _ => match call.args.get(1).map(|at| &at.expr) {
            Some(Expr::Literal(LiteralValue::Int(at)))
                if *at.inner() < 0 && operands.first() != Some(&Some(Sort::Map)) =>
            {
                Err("items of a list are counted from 0, and not from its end".to_owned())
            }
            _ => Ok(()),
        },
    }
}

/// Whether it is a whole 0; a fraction may be divided by 0.0.
fn is_zero(operand: Option<&IdedExpr>) -> bool {
    match operand.map(|operand| &operand.expr) {
        Some(Expr::Literal(LiteralValue::Int(number))) => *number.inner() == 0,
        Some(Expr::Literal(LiteralValue::UInt(number))) => *number.inner() == 0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use cel::{Context, Program};

    use super::super::Expression;
    use super::*;

    /// A value of each sort.
    const VALUES: [&str; 10] = ["true", "7", "7u", "1.5", "'a'", "'7'", "b'a'", "[7]", "{'a': 7}", "null"];

    /// What is refused although it is evaluated to something: CEL has no such overload, and neither has Kubernetes.
    const STRICTER: [&str; 2] = ["-(true)", "([7]) + ({'a': 7})"];

    /// Whether what is refused is what fails.
    fn agrees(expression: &str) -> bool {
        let text = format!("({expression}) == 0");
        let Ok(program) = Program::compile(&text) else { return true };
        let fails = program.execute(&Context::default()).is_err();
        Expression::compile(&text).is_err() == (fails || STRICTER.contains(&expression))
    }

    #[test]
    fn what_only_fails_is_refused_and_nothing_else() {
        let mut wrong: Vec<String> = Vec::new();
        let mut agrees = |expression: &str| {
            if !agrees(expression) {
                wrong.push(expression.to_owned());
            }
        };
        for name in names() {
            agrees(&format!("{name}()"));
            for a in VALUES {
                agrees(&format!("{name}({a})"));
                agrees(&format!("({a}).{name}()"));
                for b in VALUES {
                    agrees(&format!("{name}({a}, {b})"));
                    agrees(&format!("({a}).{name}({b})"));
                }
            }
        }
        for a in VALUES {
            for unary in ["-", "!"] {
                agrees(&format!("{unary}({a})"));
            }
            agrees(&format!("({a}).all(x, x == x)"));
            agrees(&format!("{{{a}: 1}}"));
            for b in VALUES {
                // what `&&` and `||` do not need they do not look at: they are asked elsewhere
                for operator in ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "in", "==", "!="] {
                    agrees(&format!("({a}) {operator} ({b})"));
                }
            }
        }
        for of in VALUES.into_iter().filter(|of| !of.starts_with('{')) {
            agrees(&format!("({of}).field"));
        }
        for zero in ["7 / 0", "7u / 0u", "7 % 0", "1.5 / 0.0", "int('x')", "uint('-1')", "double('x')", "int('-1')"] {
            agrees(zero);
        }
        assert_eq!(wrong, [""; 0]);
    }
}
