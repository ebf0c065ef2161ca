//! A JSON value together with the way that led to it: readers take wrong types for absent and say where they were.

use serde_json::Value;
use smol_str::SmolStr;

use crate::base::FieldError;

static NULL: Value = Value::Null;

/// A value inside the pod spec. `null` is the same as absent, as for the API server.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    value: &'a Value,
    from: Option<(&'a Field<'a>, Step<'a>)>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> Field<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, from: None }
    }

    /// The field of an object; absent in all else. Use [`Field::expect_object`] where another type is to be reported.
    pub(super) fn get(&'a self, key: &'a str) -> Self {
        Self { value: self.value.get(key).unwrap_or(&NULL), from: Some((self, Step::Key(key))) }
    }

    pub(super) fn is_absent(&self) -> bool {
        self.value.is_null()
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// An error at this field.
    pub(super) fn error(&self, message: impl Into<String>) -> FieldError {
        FieldError { path: self.path(), message: message.into() }
    }

    /// An error at or inside the value of this field.
    pub(super) fn inside(&self, error: FieldError) -> FieldError {
        error.under(self.path())
    }

    fn path(&self) -> Vec<SmolStr> {
        let mut path = Vec::new();
        let mut from = self.from;
        while let Some((parent, step)) = from {
            path.push(match step {
                Step::Key(key) => SmolStr::new(key),
                Step::Index(index) => SmolStr::from(index.to_string()),
            });
            from = parent.from;
        }
        path.reverse();
        path
    }

    /// Itself, unless it is something else than an object: then an error and nothing.
    pub(super) fn expect_object(&'a self, errors: &mut Vec<FieldError>) -> Option<&'a Self> {
        match self.value {
            Value::Object(_) => Some(self),
            Value::Null => None,
            _ => {
                errors.push(self.error("expected an object"));
                None
            }
        }
    }

    /// The fields of an object, by key.
    pub(super) fn entries(
        &'a self,
        errors: &mut Vec<FieldError>,
    ) -> impl Iterator<Item = (&'a str, Field<'a>)> + use<'a> {
        let entries = self.expect_object(errors).and_then(|field| field.value.as_object()).into_iter().flatten();
        entries.map(|(key, value)| (key.as_str(), Self { value, from: Some((self, Step::Key(key))) }))
    }

    /// The items of a list.
    pub(super) fn items(&'a self, errors: &mut Vec<FieldError>) -> impl Iterator<Item = Field<'a>> + use<'a> {
        if !self.value.is_array() && !self.is_absent() {
            errors.push(self.error("expected a list"));
        }
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().enumerate().map(|(index, value)| Self { value, from: Some((self, Step::Index(index))) })
    }

    /// A text; an empty one is the same as absent, as for the API server.
    pub(super) fn text(&self, errors: &mut Vec<FieldError>) -> Option<&'a str> {
        match self.value {
            Value::String(text) if text.is_empty() => None,
            Value::String(text) => Some(text),
            Value::Null => None,
            _ => {
                errors.push(self.error("expected a text; numbers and true or false need quotes here"));
                None
            }
        }
    }

    /// `true` if it says so.
    pub(super) fn is_true(&self, errors: &mut Vec<FieldError>) -> bool {
        match self.value {
            Value::Bool(value) => *value,
            Value::Null => false,
            _ => {
                errors.push(self.error("expected true or false"));
                false
            }
        }
    }
}
