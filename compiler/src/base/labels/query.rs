//! The text of a label query: what `kubectl -l` takes (`labels.Parse`).
//!
//! `a=1,b!=2,c in (x,y),d notin (z),e,!f,g>3,h<4`; white space is free between tokens, and `in` and `notin` are also
//! names where no operator can stand.

use std::fmt;
use std::str::FromStr;

use smol_str::SmolStr;
use thiserror::Error;

use super::{Labels, Operator, Requirement};

/// Conditions on labels, all of which must hold; none is everything.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LabelQuery(Vec<Requirement>);

/// Why a text is no label query.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("invalid label query {query:?}: {message}")]
pub struct LabelQueryError {
    query: String,
    message: String,
}

impl LabelQuery {
    /// Reads a query.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub fn parse(text: &str) -> Result<Self, LabelQueryError> {
        Parser { tokens: tokens(text), position: 0 }
            .query()
            .map(Self)
            .map_err(|message| LabelQueryError { query: text.to_owned(), message })
    }

    /// Whether the labels satisfy every condition.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|requirement| requirement.matches(labels))
    }

    /// The conditions, in the order of their keys.
    #[must_use]
    pub fn requirements(&self) -> &[Requirement] {
        &self.0
    }
}

impl FromStr for LabelQuery {
    type Err = LabelQueryError;
    fn from_str(text: &str) -> Result<Self, LabelQueryError> {
        Self::parse(text)
    }
}

impl fmt::Display for LabelQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, requirement) in self.0.iter().enumerate() {
            write!(f, "{}{requirement}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Token<'a> {
    /// A key, a value, `in` or `notin`.
    Word(&'a str),
    /// One of `( ) , ! = == != > <`.
    Symbol(&'a str),
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Symbol(text) => write!(f, "{text:?}"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Cuts the text into tokens; of the symbols the longest wins. Any text can be cut: what no name may hold is in words.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_space = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
    let is_symbol = |c: char| matches!(c, '=' | '!' | '(' | ')' | ',' | '>' | '<');
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while !rest.is_empty() {
        let length = if rest.starts_with("==") || rest.starts_with("!=") {
            2
        } else if rest.starts_with(is_symbol) {
            1
        } else {
            rest.find(|c| is_space(c) || is_symbol(c)).unwrap_or(rest.len())
        };
        let (token, after) = rest.split_at(length);
        tokens.push(if token.starts_with(is_symbol) { Token::Symbol(token) } else { Token::Word(token) });
        rest = after.trim_start_matches(is_space);
    }
    tokens
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens.get(self.position).copied().unwrap_or(Token::End)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn query(&mut self) -> Result<Vec<Requirement>, String> {
        let mut requirements = Vec::new();
        if self.peek() == Token::End {
            return Ok(requirements);
        }
        loop {
            requirements.push(self.requirement()?);
            match self.next() {
                Token::End => break,
                Token::Symbol(",") => {}
                found => return Err(format!("found {found}, expected ',' or the end")),
            }
        }
        requirements.sort_by(|a, b| a.key().cmp(b.key()));
        Ok(requirements)
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let absent = self.peek() == Token::Symbol("!");
        if absent {
            self.next();
        }
        let key = match self.next() {
            Token::Word(key) => key,
            found if absent => return Err(format!("found {found}, expected a label key after '!'")),
            found => return Err(format!("found {found}, expected a label key or '!'")),
        };
        if absent {
            return requirement(key, Operator::DoesNotExist, &[]);
        }
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return requirement(key, Operator::Exists, &[]);
        }
        let operator = match self.next() {
            Token::Word("in") => Operator::In,
            Token::Word("notin") => Operator::NotIn,
            Token::Symbol("=" | "==") => return requirement(key, Operator::In, &[self.value()?]),
            Token::Symbol("!=") => return requirement(key, Operator::NotIn, &[self.value()?]),
            Token::Symbol(">") => return requirement(key, Operator::Gt, &[self.value()?]),
            Token::Symbol("<") => return requirement(key, Operator::Lt, &[self.value()?]),
            found => return Err(format!("found {found}, expected one of in notin = == != > < after {key:?}")),
        };
        requirement(key, operator, &self.values()?)
    }

    /// What stands after `=`: nothing is the empty value.
    fn value(&mut self) -> Result<SmolStr, String> {
        match self.peek() {
            Token::End | Token::Symbol(",") => Ok(SmolStr::default()),
            Token::Word(value) => {
                self.next();
                Ok(SmolStr::new(value))
            }
            found @ Token::Symbol(_) => Err(format!("found {found}, expected a value")),
        }
    }

    /// `(a, b)`; where a value is missing, as in `()` and `(a,)`, the empty value is meant.
    fn values(&mut self) -> Result<Vec<SmolStr>, String> {
        if self.peek() != Token::Symbol("(") {
            return Err(format!("found {}, expected '('", self.peek()));
        }
        self.next();
        let mut values = Vec::new();
        loop {
            values.push(match self.peek() {
                Token::Word(value) => {
                    self.next();
                    SmolStr::new(value)
                }
                _ => SmolStr::default(),
            });
            match self.next() {
                Token::Symbol(")") => return Ok(values),
                Token::Symbol(",") => {}
                found => return Err(format!("found {found}, expected ',' or ')'")),
            }
        }
    }
}

fn requirement(key: &str, operator: Operator, values: &[SmolStr]) -> Result<Requirement, String> {
    Requirement::new(key, operator, values).map_err(|error| error.message)
}
