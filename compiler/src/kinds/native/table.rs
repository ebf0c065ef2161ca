//! `native.json` in memory: every kind and every type, typed once, for the life of the process.
//!
//! A type is a map of field name to shape; a shape is one short text:
//!
//! | text | meaning |
//! |---|---|
//! | `string` `bytes` `integer` `boolean` `number` `quantity` `time` `int-or-string` `object` `any` | scalars; `bytes` is base64, `object` any map |
//! | `core.v1.Container` | the type of that name |
//! | `{}T` | a map with values of `T` |
//! | `[]T` | a list that is replaced as a whole (`listType: atomic`) |
//! | `[a+b]T` | a list whose items are told apart by the fields `a` and `b` (`listType: map`) |
//! | `[*]T` `[+]T` | a list without equal items (`listType: set`); a patch adds to the second (`patchStrategy: merge`) |
//! | `!T` | of its members a patch keeps those it says it keeps (`patchStrategy: retainKeys`) |
//! | `=T` | a patch replaces it (`patchStrategy: replace`) |

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::{NativeKind, Scope};
use crate::base::SmolStr;

/// Which type: an index into the table, ascending by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TypeId(u16);

/// The fields of one type of the API.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeDef {
    /// Its name in the OpenAPI document, without `io.k8s.api.`.
    pub name: SmolStr,
    /// Its fields by name.
    pub fields: BTreeMap<SmolStr, Field>,
    /// The fields that OpenAPI marks as required.
    pub required: Vec<SmolStr>,
}

/// One field of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// What it holds.
    pub shape: Shape,
    /// What a patch does to it, where that does not follow from the shape.
    pub strategy: Strategy,
}

/// `x-kubernetes-patch-strategy`, as far as the shape does not say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Merged as its shape says.
    ByShape,
    /// Of its members a patch may say which it keeps (`$retainKeys`): they exclude each other.
    RetainKeys,
    /// Replaced as a whole.
    Replace,
}

/// What a field, an item or a value holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A string.
    String,
    /// A string with bytes as base64.
    Bytes,
    /// An integer.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A quantity: a string or a number.
    Quantity,
    /// A time as a string.
    Time,
    /// An integer, or a string such as a port name or a percentage.
    IntOrString,
    /// Any map.
    Object,
    /// Anything.
    Any,
    /// A map with the fields of a type.
    Struct(TypeId),
    /// A list.
    List(Box<Shape>, ListKind),
    /// A map with values of one shape.
    Map(Box<Shape>),
}

/// `x-kubernetes-list-type`: how two lists become one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ListKind {
    /// The new list replaces the old.
    Atomic,
    /// No item twice.
    Set {
        /// Whether a strategic merge adds to the list (`patchStrategy: merge`) instead of replacing it.
        merged: bool,
    },
    /// Items are maps, told apart by these fields.
    Map(Vec<SmolStr>),
}

/// Everything in `native.json`.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) source: String,
    /// Ascending by group, kind, version.
    pub(super) kinds: Vec<NativeKind>,
    types: Vec<TypeDef>,
}

pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| {
    // The text is part of the program; `tests::the_table_loads` is what proves it good.
    #[allow(clippy::expect_used)]
    read(include_str!("../native.json")).expect("native.json is compiled in and tested")
});

impl Table {
    pub(super) fn type_def(&self, id: TypeId) -> &TypeDef {
        // An id is only made from an index of this vector.
        #[allow(clippy::indexing_slicing)]
        &self.types[usize::from(id.0)]
    }
}

#[derive(Deserialize)]
struct Raw {
    source: String,
    kinds: Vec<(SmolStr, SmolStr, SmolStr, SmolStr, Scope, SmolStr)>,
    types: BTreeMap<SmolStr, RawType>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawType {
    fields: BTreeMap<SmolStr, SmolStr>,
    #[serde(default)]
    required: Vec<SmolStr>,
}

fn read(text: &str) -> Result<Table, String> {
    let raw: Raw = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut ids = BTreeMap::new();
    for (index, name) in raw.types.keys().enumerate() {
        ids.insert(name.clone(), TypeId(u16::try_from(index).map_err(|error| error.to_string())?));
    }
    let mut types = Vec::with_capacity(raw.types.len());
    for (name, RawType { fields: raw_fields, required }) in raw.types {
        let mut fields = BTreeMap::new();
        for (field_name, text) in raw_fields {
            let field = read_field(&text, &ids).ok_or_else(|| format!("{name}.{field_name}: no shape: {text}"))?;
            fields.insert(field_name, field);
        }
        types.push(TypeDef { name, fields, required });
    }
    let mut kinds = Vec::with_capacity(raw.kinds.len());
    for (group, version, kind, plural, scope, type_name) in raw.kinds {
        let ty = *ids.get(&type_name).ok_or_else(|| format!("{kind}: no type {type_name}"))?;
        kinds.push(NativeKind { group, version, kind, plural, scope, ty });
    }
    kinds.sort_by(|a, b| (&a.group, &a.kind, &a.version).cmp(&(&b.group, &b.kind, &b.version)));
    Ok(Table { source: raw.source, kinds, types })
}

fn read_field(text: &str, ids: &BTreeMap<SmolStr, TypeId>) -> Option<Field> {
    let (strategy, text) = match text.as_bytes().first()? {
        b'!' => (Strategy::RetainKeys, text.get(1..)?),
        b'=' => (Strategy::Replace, text.get(1..)?),
        _ => (Strategy::ByShape, text),
    };
    Some(Field { shape: read_shape(text, ids)?, strategy })
}

fn read_shape(text: &str, ids: &BTreeMap<SmolStr, TypeId>) -> Option<Shape> {
    if let Some(values) = text.strip_prefix("{}") {
        return Some(Shape::Map(Box::new(read_shape(values, ids)?)));
    }
    if let Some(list) = text.strip_prefix('[') {
        let (keys, items) = list.split_once(']')?;
        let kind = match keys {
            "" => ListKind::Atomic,
            "*" => ListKind::Set { merged: false },
            "+" => ListKind::Set { merged: true },
            keys => ListKind::Map(keys.split('+').map(SmolStr::from).collect()),
        };
        return Some(Shape::List(Box::new(read_shape(items, ids)?), kind));
    }
    Some(match text {
        "string" => Shape::String,
        "bytes" => Shape::Bytes,
        "integer" => Shape::Integer,
        "boolean" => Shape::Boolean,
        "number" => Shape::Number,
        "quantity" => Shape::Quantity,
        "time" => Shape::Time,
        "int-or-string" => Shape::IntOrString,
        "object" => Shape::Object,
        "any" => Shape::Any,
        name => Shape::Struct(*ids.get(name)?),
    })
}
