//! CEL over an object as the API server returns it: compiled when the fleet is, evaluated by whoever has the object.
//!
//! Pure: no clock, no functions of our own. Invariants: an expression names only fields of the object and what it binds
//! itself, and calls only functions that exist, so that a typing mistake is found when it is written and not when a cluster
//! burns; it is short and not deep, so that no text exhausts a stack; comprehensions nest at most `MOST_NESTED` deep.
//! The only module, with those below it, that names the CEL crate: `sorts` and `calls` say what can only fail, `syntax` what is no CEL.

mod calls;
mod places;
mod sorts;
mod syntax;

use std::fmt;
use std::sync::Arc;

use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::objects::{Key, Map};
use cel::{Context, ExecutionError, Program, Value as CelValue};
use serde_json::Value;

use places::Places;
use sorts::{Scope, Sort, sort_of};

/// The fields of an object that expressions may name.
pub const FIELDS: [&str; 6] = ["apiVersion", "data", "kind", "metadata", "spec", "status"];

/// The longest expression, in bytes.
pub const MOST_BYTES: usize = 1024;
/// The deepest nesting of brackets. The parser descends through every level of precedence for each, and needs some
/// 90 KiB of stack where it is not optimised, of the 2 MiB that a thread has.
const MOST_DEEP: usize = 6;
/// The most brackets, dots and operators; `&&` and `||` are free. Each can make the tree one deeper.
const MOST_STEPS: usize = 48;
/// Comprehensions inside each other: each multiplies the work by the length of its list.
const MOST_NESTED: usize = 2;

/// A compiled expression that says yes or no.
#[derive(Clone)]
pub struct Expression {
    text: Arc<str>,
    program: Arc<Program>,
}

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadExpression {
    /// What is wrong.
    pub message: String,
    /// The byte of the text where, as far as that is known.
    pub at: Option<usize>,
}

/// Why an expression says neither yes nor no.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecided {
    /// A field or item is not there.
    #[error("`{0}` is not there")]
    Missing(String),
    /// Values of the wrong type, a division by zero, a result that is no truth value.
    #[error("{0}")]
    Failed(String),
}

impl Expression {
    /// Compiles a text.
    ///
    /// # Errors
    /// When it is no CEL, names what an object does not have, calls what is no function or as none is called, can only fail
    /// by what it asks of values, or is too large.
    pub fn compile(text: &str) -> Result<Self, BadExpression> {
        sized(text)?;
        let program = Program::compile(text).map_err(|errors| {
            let of_the_text = errors.errors.iter().find(|error| syntax::is_of_the_text(&error.msg));
            let first = of_the_text.or(errors.errors.first());
            let message = syntax::words(first.map_or("", |error| &error.msg));
            let at = first.and_then(|error| offset(text, error.pos));
            BadExpression { message: format!("this is no CEL expression: {message}"), at }
        })?;
        check(program.expression(), &mut Vec::new(), 0, &mut Places::of(text))?;
        let mut scope = Scope { bound: Vec::new(), places: Places::of(text) };
        match sort_of(program.expression(), &mut scope)? {
            None | Some(Sort::Bool) => {}
            Some(other) => {
                let message = format!("it gives {}, and not true or false: compare it with something", other.words());
                return Err(BadExpression { message, at: None });
            }
        }
        Ok(Self { text: text.into(), program: Arc::new(program) })
    }

    /// As written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it holds for an object.
    ///
    /// # Errors
    /// When it says neither yes nor no.
    pub fn holds(&self, object: &Value) -> Result<bool, Undecided> {
        let mut context = Context::default();
        for field in FIELDS {
            if let Some(value) = object.get(field).filter(|value| !value.is_null()) {
                context.add_variable_from_value(field, convert(value));
            }
        }
        match self.program.execute(&context) {
            Ok(CelValue::Bool(holds)) => Ok(holds),
            Ok(other) => Err(Undecided::Failed(format!("it gives {}, not true or false", sort(&other)))),
            Err(ExecutionError::NoSuchKey(name) | ExecutionError::UndeclaredReference(name)) => {
                Err(Undecided::Missing(name.to_string()))
            }
            Err(ExecutionError::IndexOutOfBounds(_)) => Err(Undecided::Missing("an item of a list".to_owned())),
            // what is wrong, without the values it is about
            Err(ExecutionError::NoSuchOverload) => {
                Err(Undecided::Failed("an operator or function does not take values of these types".to_owned()))
            }
            Err(ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_)) => {
                Err(Undecided::Failed("it divides by zero".to_owned()))
            }
            Err(ExecutionError::Overflow(..)) => Err(Undecided::Failed("a number is too large".to_owned())),
            Err(_) => Err(Undecided::Failed("it cannot be evaluated for values of these types".to_owned())),
        }
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expression({:?})", self.text)
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Refuses what could exhaust a stack, before a parser sees it. Brackets inside of texts count as well.
fn sized(text: &str) -> Result<(), BadExpression> {
    let too = |what: String, at| Err(BadExpression { message: what, at: Some(at) });
    if text.len() > MOST_BYTES {
        return too(format!("an expression has at most {MOST_BYTES} bytes"), 0);
    }
    let (mut deep, mut steps, mut before) = (0_usize, 0_usize, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => deep += 1,
            ')' | ']' | '}' => deep = deep.saturating_sub(1),
            _ => {}
        }
        let compares = "=<>".contains(c) && !"=<>!".contains(before);
        steps += usize::from("([{.+-*/%!?".contains(c) || compares);
        before = c;
        if deep > MOST_DEEP {
            return too(format!("brackets nest more than {MOST_DEEP} deep"), at);
        }
        if steps > MOST_STEPS {
            return too(format!("more than {MOST_STEPS} brackets, dots and operators in one expression"), at);
        }
    }
    Ok(())
}

/// Names and calls that cannot mean anything. `bound` are the variables of comprehensions around.
fn check(
    expression: &IdedExpr,
    bound: &mut Vec<String>,
    nested: usize,
    places: &mut Places<'_>,
) -> Result<(), BadExpression> {
    let bad = |message: String, at: Option<usize>| Err(BadExpression { message, at });
    match &expression.expr {
        Expr::Literal(_) => Ok(()),
        Expr::Ident(name) if FIELDS.contains(&name.as_str()) || bound.iter().any(|known| known == name) => Ok(()),
        Expr::Ident(name) => {
            bad(format!("an object has no `{name}`; expected one of {}", FIELDS.join(", ")), places.name(name))
        }
        Expr::Select(select) => check(&select.operand, bound, nested, places),
        Expr::List(list) => check_all(&list.elements, bound, nested, places),
        Expr::Map(map) => map.entries.iter().try_for_each(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) => check_all([&entry.key, &entry.value], bound, nested, places),
            EntryExpr::StructField(_) => bad("messages are not supported".to_owned(), None),
        }),
        Expr::Call(call) => {
            check_all(call.target.as_deref(), bound, nested, places)?;
            let at = places.next_call(&call.func_name);
            let operator = call.func_name.starts_with(['_', '@', '!', '-']);
            if !operator && !calls::names().any(|known| known == call.func_name) {
                return bad(calls::unknown(&call.func_name), at);
            }
            check_all(&call.args, bound, nested, places)
        }
        Expr::Comprehension(comprehension) => {
            if nested == MOST_NESTED {
                return bad(format!("more than {MOST_NESTED} of all, exists, filter and map inside each other"), None);
            }
            check_all([&comprehension.iter_range, &comprehension.accu_init], bound, nested, places)?;
            let outer = bound.len();
            bound.push(comprehension.iter_var.clone());
            bound.extend(comprehension.iter_var2.clone());
            bound.push(comprehension.accu_var.clone());
            let parts = [&comprehension.loop_cond, &comprehension.loop_step, &comprehension.result];
            let checked = check_all(parts, bound, nested + 1, places);
            bound.truncate(outer);
            checked
        }
        Expr::Struct(_) | Expr::Unspecified => bad("messages are not supported".to_owned(), None),
    }
}

fn check_all<'e>(
    parts: impl IntoIterator<Item = &'e IdedExpr>,
    bound: &mut Vec<String>,
    nested: usize,
    places: &mut Places<'_>,
) -> Result<(), BadExpression> {
    parts.into_iter().try_for_each(|part| check(part, bound, nested, places))
}

/// The byte of a line and column, both counted from 1, columns in characters.
fn offset(text: &str, (line, column): (isize, isize)) -> Option<usize> {
    let (line, column) = (usize::try_from(line).ok()?.checked_sub(1)?, usize::try_from(column).ok()?.checked_sub(1)?);
    let begin: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = text.get(begin..)?;
    let within = rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at);
    Some(begin + within)
}

fn sort(value: &CelValue) -> &'static str {
    match value {
        CelValue::Int(_) | CelValue::UInt(_) | CelValue::Float(_) => "a number",
        CelValue::String(_) => "a text",
        CelValue::List(_) => "a list",
        CelValue::Map(_) => "a map",
        CelValue::Null => "null",
        _ => "something else",
    }
}

/// A JSON value as CEL takes it: whole numbers are `int`, as the Kubernetes API server passes them to CEL.
fn convert(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(value) => CelValue::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => CelValue::Int(whole),
            (None, Some(whole)) => CelValue::UInt(whole),
            (None, None) => number.as_f64().map_or(CelValue::Null, CelValue::Float),
        },
        Value::String(text) => CelValue::String(Arc::new(text.clone())),
        Value::Array(items) => CelValue::List(Arc::new(items.iter().map(convert).collect())),
        Value::Object(fields) => {
            let map = fields.iter().map(|(key, value)| (Key::String(Arc::new(key.clone())), convert(value)));
            CelValue::Map(Map { map: Arc::new(map.collect()) })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn holds(text: &str, object: &Value) -> Result<bool, Undecided> {
        Expression::compile(text).unwrap_or_else(|e| panic!("{text}: {e}")).holds(object)
    }

    #[test]
    fn expressions_over_objects() {
        let object = json!({
            "kind": "Thing", "spec": { "replicas": 3, "mode": "HA" },
            "status": { "ready": 3, "phase": "Running", "load": 0.5, "nothing": null,
                "conditions": [{ "type": "Ready", "status": "True" }, { "type": "Synced", "status": "False" }] }
        });
        let missing = |name: &str| Err(Undecided::Missing(name.to_owned()));
        let rows = [
            ("status.ready == spec.replicas", Ok(true)),
            ("status.ready >= spec.replicas && status.phase == 'Running'", Ok(true)),
            ("status.phase in ['Failed', 'Error']", Ok(false)),
            ("status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", Ok(true)),
            ("status.conditions.all(c, c.status == 'True')", Ok(false)),
            ("size(status.conditions.filter(c, c.status == 'False')) == 1", Ok(true)),
            ("has(status.error)", Ok(false)),
            ("has(status.phase) ? status.phase.startsWith('Run') : false", Ok(true)),
            ("status.load < 0.75", Ok(true)),
            ("spec['mode'] == \"HA\"", Ok(true)),
            ("status.error == 'x'", missing("error")),
            ("data.a == 'x'", missing("data")),
            ("status.conditions[7].status == 'True'", Err(Undecided::Missing("an item of a list".to_owned()))),
            ("status.phase", Err(Undecided::Failed("it gives a text, not true or false".to_owned()))),
            ("[true].exists_one(x, x)", Ok(true)),
            ("[status.ready].map(x, x > 1)[0]", Ok(true)),
            ("(has(status.x) ? status.x : false) || true", Ok(true)),
            ("spec.replicas / (spec.replicas - 3) == 1", Err(Undecided::Failed("it divides by zero".to_owned()))),
            // one side decides, whatever the other would have been
            ("status.error == 'x' || status.phase == 'Running'", Ok(true)),
            ("status.error == 'x' && status.phase == 'Failed'", Ok(false)),
        ];
        for (text, expected) in rows {
            assert_eq!(holds(text, &object), expected, "{text}");
        }
        assert!(matches!(holds("status.phase > 3", &object), Err(Undecided::Failed(_))));
    }

    #[test]
    fn mistakes_are_found_when_written() {
        let rows = [
            ("status.a &&\n  status.b ++", None, "no CEL"),
            ("stauts.phase == 'a'", Some(0), "no `stauts`"),
            ("status.a == 'stauts' && stauts.phase == 'a'", Some(24), "no `stauts`"),
            ("c.status == 'True' && status.c.all(c, c.x)", Some(0), "no `c`"),
            ("status.phase.matches('a')", Some(13), "no function `matches`"),
            ("status.a == 1 || now() == 1", Some(17), "no function `now`"),
            (
                "size(status.a) > 1 && size(status.a, 2) > 1",
                Some(22),
                "`size` is written `size(VALUE)` or `VALUE.size()`",
            ),
            ("status.a.all(c)", Some(9), "`all` is written `LIST.all(NAME, CONDITION)`"),
            ("has(status.a, 1)", Some(0), "`has` is written `has(VALUE.FIELD)`"),
            ("size(1) == 1", Some(0), "of a text, a list or a map, and not of a number"),
            ("status.phase.startsWith('a', 'b')", Some(13), "here it is called of a value, with 2 arguments"),
            (
                "startsWith(status.phase, 'a')",
                Some(0),
                "`startsWith` is written `TEXT.startsWith(TEXT)`; here it is called with 2",
            ),
            ("status.a.exists(c, c.type.contains(1))", Some(26), "and not of a number"),
            ("status.conditions.contains(['a'])", Some(18), "`VALUE in LIST` asks that"),
            (
                "int(status.a, 2) == 1",
                Some(0),
                "`int(VALUE)`, of a number or a text; here it is called with 2 arguments",
            ),
            ("int('seven') == status.a", Some(0), "reads a number, and this text is none"),
            ("string(status) == 'a'", Some(0), "and not of a map"),
            ("metadata.name > 3", None, "`>` compares a text with a number"),
            ("metadata.labels.a.b == 'c' || kind.name == 'a'", None, "a text has no fields, and `.name` asks for one"),
            ("status.a + true == 1", None, "`+` takes numbers, texts or lists, and not true or false"),
            ("1 + 1.5 == status.a", None, "`+` takes two numbers of one kind"),
            ("'a' + 1 == status.a", None, "`+` takes two of one kind, and not a text and a number"),
            ("spec.replicas / 0 == 1", None, "divides by zero"),
            ("'a' in 'abc'", None, "`in` looks into a list or a map, and not into a text"),
            ("kind[0] == 'a'", None, "`[ ]` takes an item of a list or a map, and not of a text"),
            ("status.conditions[-1].status == 'True'", None, "counted from 0"),
            ("metadata.finalizers['a'] == 'b'", None, "an item of a list has a whole number, and not a text"),
            ("kind.all(c, c == 'a')", None, "go through a list or a map, and not through a text"),
            ("[size(1, 2)] == status.a", Some(1), "`size` is written"),
            ("Thing{a: 1} == Thing{a: 1}", None, "messages"),
            ("status.ready + 1", None, "it gives a number, and not true or false"),
            ("size(status.conditions)", None, "it gives a number"),
            ("'Ready'", None, "it gives a text"),
            ("kind", None, "it gives a text"),
            ("status", None, "it gives a map"),
            ("status.conditions.map(c, c.type)", None, "it gives a list"),
            ("status.conditions.filter(c, c.status == 'True')", None, "it gives a list"),
            ("has(status.a) ? 1 : 2", None, "it gives a number"),
            ("string(status.a)", None, "it gives a text"),
            ("status.a && 'x'", None, "`&&` takes what is true or false, and not a text"),
            ("!size(status.a)", None, "`!` takes what is true or false, and not a number"),
            ("status.a.all(c, 1)", None, "what is asked of each item must be true or false, and not a number"),
            ("size(status.a) ? true : false", None, "the condition of `? :` takes what is true or false"),
            ("status.a.all(x, x.all(y, y.all(z, z)))", None, "inside each other"),
        ];
        for (text, at, expected) in rows {
            let error = Expression::compile(text).unwrap_err();
            assert!(error.message.contains(expected), "{text}: {error}");
            if at.is_some() {
                assert_eq!(error.at, at, "{text}");
            }
        }
        let long = format!("status.a == '{}'", "x".repeat(MOST_BYTES));
        assert!(Expression::compile(&long).unwrap_err().message.contains("bytes"));
    }

    /// As small as the stacks of threads that compile.
    fn on_a_small_stack(texts: Vec<String>) {
        let run = move || {
            for text in texts {
                if let Ok(expression) = Expression::compile(&text) {
                    let _ = expression.holds(&json!({ "status": { "a": 1 } }));
                }
            }
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
    }

    #[test]
    fn no_size_that_is_let_through_exhausts_a_stack() {
        let n = MOST_STEPS;
        let open = |text: &str| text.repeat(MOST_DEEP);
        let inside = |inner: &str| format!("{}{inner}{}", open("("), open(")"));
        let rest = n - MOST_DEEP;
        for text in [
            vec!["1"; n].join("+"),
            format!("status{}", ".a".repeat(n)),
            format!("{}true", "!".repeat(n)),
            format!("{}1", "true?1:".repeat(n)),
            format!("status{}", "[0]".repeat(n)),
            format!("status{}", ".contains(1)".repeat(n / 2)),
            inside(&vec!["1"; rest].join("+")),
            inside(&format!("status{}", ".a".repeat(rest))),
            inside(&format!("{}1", "-".repeat(rest))),
            format!("{}1{}", open("["), open("]")),
            format!("{}1{}", open("size("), open(")")),
            format!("{}1{}", open("{1:"), open("}")),
            format!("{}true{}", "[1].all(x,".repeat(MOST_DEEP), ")".repeat(MOST_DEEP)),
            vec!["true"; MOST_BYTES / 6].join("&&"),
            vec!["1"; MOST_BYTES / 3].join("<"),
            "((((((((((((((((((((((((".to_owned(),
        ] {
            on_a_small_stack(vec![text]);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_breaks_the_parser(parts in proptest::collection::vec(0_usize..28, 0..24)) {
            let words = ["status", ".", "a", "(", ")", "[", "]", "{", "}", ",", ":", "?", "!", "-", "+", "==", "<", "&&",
                "||", "in", "'x'", "1", "2u", "all", "has", "null", "é", " "];
            on_a_small_stack(vec![parts.into_iter().map(|part| words[part]).collect()]);
        }
    }
}
