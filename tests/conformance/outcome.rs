//! Judging the answers, counting and telling.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::Value;

use crate::asked::{Asked, Unanswered, lookup, refused};
use crate::cases::{Case, CaseFile};

/// What became of one case.
#[derive(Debug)]
enum Verdict {
    Passed,
    Failed(String),
    Deviates(&'static str),
    Unmapped {
        op: String,
        why: String,
    },
    /// No `op`: a problem in words, which unit tests answer.
    InWords,
}

/// What became of all cases.
#[derive(Debug, Default)]
pub struct Tally {
    passed: Vec<String>,
    failed: Vec<(String, String)>,
    /// Ids by reason.
    deviations: BTreeMap<&'static str, Vec<String>>,
    /// Ids by op and reason.
    unmapped: BTreeMap<(String, String), Vec<String>>,
    /// Numbers of such cases by file.
    in_words: BTreeMap<String, usize>,
    /// Passed and all, by file.
    files: BTreeMap<String, (usize, usize)>,
}

impl Tally {
    /// Asks and judges all cases.
    pub fn of(files: Vec<CaseFile>) -> Self {
        let mut tally = Self::default();
        for file in files {
            for case in file.cases {
                let entry = tally.files.entry(file.name.clone()).or_default();
                entry.1 += 1;
                match judge(&case) {
                    Verdict::Passed => {
                        entry.0 += 1;
                        tally.passed.push(case.id);
                    }
                    Verdict::Failed(why) => tally.failed.push((case.id, why)),
                    Verdict::Deviates(why) => tally.deviations.entry(why).or_default().push(case.id),
                    Verdict::Unmapped { op, why } => tally.unmapped.entry((op, why)).or_default().push(case.id),
                    Verdict::InWords => *tally.in_words.entry(file.name.clone()).or_default() += 1,
                }
            }
        }
        tally
    }

    /// How many answers were wrong.
    pub fn failed(&self) -> usize {
        self.failed.len()
    }

    /// How many answers were right.
    pub fn passed(&self) -> usize {
        self.passed.len()
    }

    /// Tells everything; the counts last, behind `title`.
    pub fn write(&self, title: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        for (file, (passed, all)) in &self.files {
            writeln!(out, "  {file}: {passed} of {all} passed")?;
        }
        for (file, count) in &self.in_words {
            writeln!(out, "  {file}: {count} problems in words, without an op: answered by unit tests")?;
        }
        for ((op, why), ids) in &self.unmapped {
            writeln!(out, "unmapped {op} ({}): {why}", ids.len())?;
            write_ids(ids, out)?;
        }
        for (why, ids) in &self.deviations {
            writeln!(out, "deviation ({}): {why}", ids.len())?;
            write_ids(ids, out)?;
        }
        for (id, why) in &self.failed {
            writeln!(out, "FAILED {id}: {why}")?;
        }
        if std::env::args().any(|argument| argument == "--show-passed") {
            writeln!(out, "passed ({}):", self.passed.len())?;
            write_ids(&self.passed, out)?;
        }
        let (deviations, unmapped) = (count(self.deviations.values()), count(self.unmapped.values()));
        writeln!(
            out,
            "{title}: {} passed, {} failed, {deviations} deviations, {unmapped} unmapped",
            self.passed.len(),
            self.failed.len()
        )
    }
}

fn count<'a>(lists: impl Iterator<Item = &'a Vec<String>>) -> usize {
    lists.map(Vec::len).sum()
}

fn write_ids(ids: &[String], out: &mut dyn Write) -> io::Result<()> {
    for line in ids.chunks(8) {
        writeln!(out, "    {}", line.join(" "))?;
    }
    Ok(())
}

fn judge(case: &Case) -> Verdict {
    let Some(op) = case.input.as_ref().and_then(|input| input.get("op")).and_then(Value::as_str) else {
        return Verdict::InWords;
    };
    let input = case.input.as_ref().unwrap_or(&Value::Null);
    let unmapped = |why: String| Verdict::Unmapped { op: op.to_owned(), why };
    let Some(row) = lookup(op) else { return unmapped("no mapping for this op".to_owned()) };
    let answer = match (row.answer)(input) {
        Ok(answer) => (row.normal)(input, without_quotes(answer)),
        Err(Unanswered::Refused) => refused(),
        Err(Unanswered::Unmapped(why)) => return unmapped(why),
        Err(Unanswered::Malformed(why)) => return Verdict::Failed(format!("{op}: the case is not understood: {why}")),
    };
    let expected = (row.normal)(input, without_quotes(case.expected.clone()));
    if same(&answer, &expected) {
        return Verdict::Passed;
    }
    let asked = Asked { input, expected: &expected, answer: &answer };
    match row.deviations.iter().find(|deviation| (deviation.holds)(&asked)) {
        Some(deviation) => Verdict::Deviates(deviation.why),
        None => Verdict::Failed(format!("{op}: expected {expected}, got {answer}, for {input}")),
    }
}

/// Without the words in which a library refuses.
fn without_quotes(mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.retain(|key, _| key != "library_says" && key != "reader_says");
    }
    value
}

/// Equality of values; numbers by value, since JSON has one kind of number and writes 1000.0 as 1000.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.is_f64() || b.is_f64()) && a.as_f64().is_some() && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}
