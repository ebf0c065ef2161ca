//! The Lua of Karmada's declarative customizations, as far as it only looks at fields: one function of assignments, `if`,
//! `for` over lists, and `return`.
//!
//! Invariants: nothing is run; nesting is bounded; what is not understood is an error with its line, never left out.
//! Grammar: the Lua 5.1 reference manual, 8, less operators and statements that no such script needs.

mod tokens;

use self::tokens::{KEYWORDS, Token, tokens};
use crate::base::SmolStr;

/// Expressions and blocks in each other.
const MAX_DEPTH: u32 = 32;
/// Karmada's own scripts are a tenth of this.
const MAX_BYTES: usize = 64 << 10;

/// What cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unread {
    /// The line of the script, from 1.
    pub line: u32,
    /// What stands there.
    pub what: String,
}

impl std::fmt::Display for Unread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// The one function of a script.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Function {
    /// Its parameters.
    pub parameters: Vec<SmolStr>,
    /// What it does.
    pub body: Vec<Statement>,
}

/// A statement and its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Statement {
    pub line: u32,
    pub what: Action,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// `a.b = x`
    Assign(Expr, Expr),
    /// `return x, y`
    Return(Vec<Expr>),
    /// `if … then … elseif … else … end`
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    /// `for _, item in pairs(list)`: the names and what is gone through.
    Each(Vec<SmolStr>, Expr, Vec<Statement>),
    /// `for i = 1, #list`
    Count(SmolStr, Expr, Vec<Statement>),
    /// `f(x)`
    Call(Expr),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Nil,
    Bool(bool),
    Number(SmolStr),
    Text(SmolStr),
    Name(SmolStr),
    /// `a.b` and `a[x]`
    Index(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Not(Box<Expr>),
    Length(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `{a = x}`
    Table(Vec<(SmolStr, Expr)>),
}

/// Reads a script of one function.
///
/// # Errors
/// The first thing that is not read.
pub(super) fn parse(script: &str) -> Result<Function, Unread> {
    if script.len() > MAX_BYTES {
        return Err(Unread { line: 1, what: format!("a script of more than {} KiB", MAX_BYTES >> 10) });
    }
    let mut reader = Reader { tokens: tokens(script)?, at: 0 };
    // `local kube = require("kube")` says nothing
    while reader.peek_word("local") && !reader.is_function_next() {
        let statement = reader.statement(0)?;
        let is_import = statement
            .iter()
            .all(|s| matches!(&s.what, Action::Assign(_, Expr::Call(f, _)) if **f == Expr::Name("require".into())));
        if !is_import {
            return reader.unread("a statement outside of the function");
        }
    }
    if reader.peek_word("local") {
        reader.at += 1;
    }
    reader.word("function")?;
    reader.name()?;
    reader.sign("(")?;
    let mut parameters = Vec::new();
    while !reader.take(")") {
        parameters.push(reader.name()?);
        if !reader.take(",") {
            reader.sign(")")?;
            break;
        }
    }
    let body = reader.block(0)?;
    reader.word("end")?;
    match reader.tokens.get(reader.at) {
        None => Ok(Function { parameters, body }),
        Some(_) => reader.unread("more than one function"),
    }
}

struct Reader {
    tokens: Vec<(u32, Token)>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |(line, _)| *line)
    }

    fn unread<T>(&self, what: &str) -> Result<T, Unread> {
        Err(Unread { line: self.line(), what: what.to_owned() })
    }

    fn peek_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(is)) if is == word)
    }

    fn is_function_next(&self) -> bool {
        matches!(self.tokens.get(self.at + 1), Some((_, Token::Word(is))) if is == "function")
    }

    fn take(&mut self, sign: &str) -> bool {
        let is = matches!(self.peek(), Some(Token::Sign(is)) if *is == sign);
        self.at += usize::from(is);
        is
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is = self.peek_word(word);
        self.at += usize::from(is);
        is
    }

    fn sign(&mut self, sign: &str) -> Result<(), Unread> {
        if self.take(sign) { Ok(()) } else { self.unread(&format!("expected `{sign}`")) }
    }

    fn word(&mut self, word: &str) -> Result<(), Unread> {
        if self.take_word(word) { Ok(()) } else { self.unread(&format!("expected `{word}`")) }
    }

    fn name(&mut self) -> Result<SmolStr, Unread> {
        match self.peek().cloned() {
            Some(Token::Word(name)) if !KEYWORDS.contains(&name.as_str()) => {
                self.at += 1;
                Ok(name)
            }
            _ => self.unread("expected a name"),
        }
    }

    fn block(&mut self, depth: u32) -> Result<Vec<Statement>, Unread> {
        if depth > MAX_DEPTH {
            return self.unread("blocks nested too deeply");
        }
        let mut statements = Vec::new();
        loop {
            while self.take(";") {}
            if self.peek().is_none() || ["end", "else", "elseif"].iter().any(|word| self.peek_word(word)) {
                return Ok(statements);
            }
            statements.extend(self.statement(depth)?);
        }
    }

    fn statement(&mut self, depth: u32) -> Result<Vec<Statement>, Unread> {
        let line = self.line();
        let one = |what| Ok(vec![Statement { line, what }]);
        if self.take_word("return") {
            let ends = ["end", "else", "elseif"].iter().any(|word| self.peek_word(word));
            let values = if ends || self.peek().is_none() { Vec::new() } else { self.list(depth)? };
            return one(Action::Return(values));
        }
        if self.take_word("if") {
            let mut arms = Vec::new();
            loop {
                let condition = self.expr(depth)?;
                self.word("then")?;
                arms.push((condition, self.block(depth + 1)?));
                if !self.take_word("elseif") {
                    break;
                }
            }
            let otherwise = if self.take_word("else") { self.block(depth + 1)? } else { Vec::new() };
            self.word("end")?;
            return one(Action::If(arms, otherwise));
        }
        if self.take_word("for") {
            let first = self.name()?;
            if self.take("=") {
                if self.expr(depth)? != Expr::Number("1".into()) {
                    return self.unread("a count that does not begin with 1");
                }
                self.sign(",")?;
                let over = self.expr(depth)?;
                return one(Action::Count(first, over, self.loop_body(depth)?));
            }
            let mut names = vec![first];
            while self.take(",") {
                names.push(self.name()?);
            }
            self.word("in")?;
            let over = self.expr(depth)?;
            return one(Action::Each(names, over, self.loop_body(depth)?));
        }
        if let Some(word) = ["while", "repeat", "do", "break", "function"].iter().find(|word| self.peek_word(word)) {
            return self.unread(&format!("`{word}`"));
        }
        let is_local = self.take_word("local");
        let mut targets = vec![self.suffixed(depth)?];
        while self.take(",") {
            targets.push(self.suffixed(depth)?);
        }
        if self.take("=") {
            let values = self.list(depth)?;
            if values.len() != targets.len() {
                return self.unread("an assignment of several values at once");
            }
            let pairs = targets.into_iter().zip(values);
            return Ok(pairs.map(|(to, value)| Statement { line, what: Action::Assign(to, value) }).collect());
        }
        match targets.as_slice() {
            [Expr::Call(..)] => one(Action::Call(targets.remove(0))),
            _ if is_local => {
                let nil = |to| Statement { line, what: Action::Assign(to, Expr::Nil) };
                Ok(targets.into_iter().map(nil).collect())
            }
            _ => self.unread("an expression that does nothing"),
        }
    }

    fn loop_body(&mut self, depth: u32) -> Result<Vec<Statement>, Unread> {
        self.word("do")?;
        let body = self.block(depth + 1)?;
        self.word("end")?;
        Ok(body)
    }

    fn list(&mut self, depth: u32) -> Result<Vec<Expr>, Unread> {
        let mut list = vec![self.expr(depth)?];
        while self.take(",") {
            list.push(self.expr(depth)?);
        }
        Ok(list)
    }

    fn expr(&mut self, depth: u32) -> Result<Expr, Unread> {
        self.binary(depth + 1, 0)
    }

    /// Operators by how tightly they bind, loosest first: or, and, comparisons, concatenation, sums, products.
    fn binary(&mut self, depth: u32, level: usize) -> Result<Expr, Unread> {
        const LEVELS: [&[&str]; 6] =
            [&["or"], &["and"], &["==", "~=", "<=", ">=", "<", ">"], &[".."], &["+", "-"], &["*", "/"]];
        if depth > MAX_DEPTH {
            return self.unread("expressions nested too deeply");
        }
        let Some(operators) = LEVELS.get(level) else { return self.unary(depth) };
        let mut left = self.binary(depth, level + 1)?;
        loop {
            let found = operators.iter().find(|operator| self.take(operator) || self.take_word(operator));
            let Some(operator) = found else { return Ok(left) };
            let right = self.binary(depth, level + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    fn unary(&mut self, depth: u32) -> Result<Expr, Unread> {
        if depth > MAX_DEPTH {
            return self.unread("expressions nested too deeply");
        }
        if self.take_word("not") {
            return Ok(Expr::Not(Box::new(self.unary(depth + 1)?)));
        }
        if self.take("#") {
            return Ok(Expr::Length(Box::new(self.unary(depth + 1)?)));
        }
        let value = match self.peek().cloned() {
            Some(Token::Number(number)) => Expr::Number(number),
            Some(Token::Text(text)) => Expr::Text(text),
            Some(Token::Word(word)) if word == "nil" => Expr::Nil,
            Some(Token::Word(word)) if word == "true" || word == "false" => Expr::Bool(word == "true"),
            Some(Token::Sign("{")) => return self.table(depth),
            Some(Token::Word(_) | Token::Sign(_)) | None => return self.suffixed(depth),
        };
        self.at += 1;
        Ok(value)
    }

    fn table(&mut self, depth: u32) -> Result<Expr, Unread> {
        self.sign("{")?;
        let mut fields = Vec::new();
        while !self.take("}") {
            let name = self.name()?;
            self.sign("=")?;
            fields.push((name, self.expr(depth)?));
            if !self.take(",") && !self.take(";") {
                self.sign("}")?;
                break;
            }
        }
        Ok(Expr::Table(fields))
    }

    fn suffixed(&mut self, depth: u32) -> Result<Expr, Unread> {
        let mut value = if self.take("(") {
            let inside = self.expr(depth)?;
            self.sign(")")?;
            inside
        } else {
            Expr::Name(self.name()?)
        };
        loop {
            value = if self.take(".") {
                Expr::Index(Box::new(value), Box::new(Expr::Text(self.name()?)))
            } else if self.take("[") {
                let index = self.expr(depth)?;
                self.sign("]")?;
                Expr::Index(Box::new(value), Box::new(index))
            } else if self.take("(") {
                let arguments = if self.take(")") {
                    Vec::new()
                } else {
                    let list = self.list(depth)?;
                    self.sign(")")?;
                    list
                };
                Expr::Call(Box::new(value), arguments)
            } else {
                return Ok(value);
            };
        }
    }
}
