//! How an op is answered, compared, and where its answers differ on purpose.

use serde_json::Value;

/// What a case asks, what is right, and what the library said: what a deviation is judged by.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The case's input.
    pub input: &'a Value,
    /// The right answer, in the form that is compared.
    pub expected: &'a Value,
    /// The library's answer, in the form that is compared.
    pub answer: &'a Value,
}

/// Answers that differ on purpose.
#[derive(Debug)]
pub struct Deviation {
    /// Why, in one line.
    pub why: &'static str,
    /// Whether this is such a case. As narrow as the reason.
    pub holds: fn(&Asked<'_>) -> bool,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Unanswered {
    /// The case is about something the library does not do (yet).
    Unmapped(String),
    /// The library refuses the input, which is an answer.
    Refused,
    /// The case is not understood: a failure.
    Malformed(String),
}

/// One row of a family.
#[derive(Debug)]
pub struct Op {
    /// As in `input.op`.
    pub name: &'static str,
    /// Asks the library and puts its answer into the form of `expected`.
    pub answer: fn(&Value) -> Result<Value, Unanswered>,
    /// Brings `expected`, and an answer, to the form that is compared.
    pub normal: fn(&Value, Value) -> Value,
    /// Answers that differ on purpose.
    pub deviations: &'static [Deviation],
}

/// The row of an op.
pub fn lookup(op: &str) -> Option<&'static Op> {
    let families: [&'static [Op]; 12] = [
        crate::components::OPS,
        crate::yaml::OPS,
        crate::kubernetes::OPS,
        crate::selector::OPS,
        crate::division::OPS,
        crate::overrides::OPS,
        crate::policy_order::OPS,
        crate::quota::OPS,
        crate::estimate::OPS,
        crate::interpreter::OPS,
        crate::spread::OPS,
        crate::tide::OPS,
    ];
    families.into_iter().flatten().find(|row| row.name == op)
}

/// For [`Op::normal`]: compared as it is.
pub fn as_written(_: &Value, value: Value) -> Value {
    value
}

/// The answer of a library that refuses.
pub fn refused() -> Value {
    serde_json::json!({ "error": true })
}
