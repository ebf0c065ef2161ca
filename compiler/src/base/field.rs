//! What is wrong with a field inside a value.

use std::fmt;

use smol_str::SmolStr;

/// An error at a field: where, as the keys and list indexes that lead to it, and what is wrong and expected.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FieldError {
    /// Map keys and list indexes from the value that was checked down to the field: `["containers", "0", "name"]`.
    pub path: Vec<SmolStr>,
    /// What is wrong and what was expected; one line, no full stop.
    pub message: String,
}

impl FieldError {
    /// An error at the field that the segments lead to.
    pub fn new<S: Into<SmolStr>>(path: impl IntoIterator<Item = S>, message: impl Into<String>) -> Self {
        Self { path: path.into_iter().map(Into::into).collect(), message: message.into() }
    }

    /// The same error seen from further outside.
    #[must_use]
    pub fn under<S: Into<SmolStr>>(mut self, prefix: impl IntoIterator<Item = S>) -> Self {
        self.path.splice(0..0, prefix.into_iter().map(Into::into));
        self
    }

    /// The path as a JSON pointer (RFC 6901): `/containers/0/name`; the empty text is the value itself.
    #[must_use]
    pub fn pointer(&self) -> String {
        self.path.iter().flat_map(|segment| ["/".to_owned(), segment.replace('~', "~0").replace('/', "~1")]).collect()
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.pointer(), self.message)
        }
    }
}

impl std::error::Error for FieldError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_field_by_its_pointer() {
        let error = FieldError::new(["a/b~c"], "expected a number").under(["labels", "0"]);
        assert_eq!(error.to_string(), "/labels/0/a~1b~0c: expected a number");
        assert_eq!(FieldError::new([""; 0], "no").to_string(), "no");
    }
}
