//! A patch of a native kind: maps merge, lists merge by their Kubernetes merge keys.
//!
//! The rules are those of a strategic merge patch with the list types of server-side apply: a list with map keys merges
//! item by item (new items go to the end; keys are all of `x-kubernetes-list-map-keys`, `protocol` defaults to `TCP`), a
//! set with `patchStrategy: merge` grows, any other list is replaced. `null` deletes. Directives: `$patch: delete`,
//! `$patch: replace` and `$patch: merge` in maps and items, `$retainKeys`, `$deleteFromPrimitiveList/<field>`.

use serde_json::{Map, Value};

use super::error::{OpError, OpWarning};
use super::merge_patch;
use super::pointer::DEPTH_LIMIT;
use crate::base::{Path, Seg, SmolStr};
use crate::kinds::native::{JsonType, Shape, Strategy, TypeId, type_def};

/// Merges a patch into an object of the type `ty`.
pub(super) fn merge(object: &mut Value, patch: &Value, ty: TypeId) -> Result<Vec<OpWarning>, OpError> {
    let mut merge = Merge { at: Vec::new(), warnings: Vec::new() };
    let patch = patch.as_object().ok_or(OpError::PatchIsNoMap)?;
    let found = JsonType::of(object);
    let Value::Object(target) = object else {
        return Err(OpError::NotA { path: Path::root(), found, needed: "a map" });
    };
    match merge.map(target, patch, Members::Typed(ty))? {
        Fate::Keep => Ok(merge.warnings),
        Fate::Delete => Err(OpError::DeletesObject),
    }
}

/// Whether a map is still there after a patch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Keep,
    Delete,
}

/// What the members of a map are.
#[derive(Clone, Copy)]
pub(super) enum Members {
    Typed(TypeId),
    Uniform(&'static Shape),
    Any,
}

pub(super) struct Merge {
    pub(super) at: Vec<Seg>,
    pub(super) warnings: Vec<OpWarning>,
}

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

impl Merge {
    pub(super) fn path(&self) -> Path {
        Path(self.at.clone())
    }

    pub(super) fn within<T>(
        &mut self,
        seg: Seg,
        inner: impl FnOnce(&mut Self) -> Result<T, OpError>,
    ) -> Result<T, OpError> {
        if self.at.len() >= DEPTH_LIMIT {
            return Err(OpError::TooDeep { path: self.path() });
        }
        self.at.push(seg);
        let result = inner(self);
        self.at.pop();
        result
    }

    pub(super) fn map(
        &mut self,
        target: &mut Map<String, Value>,
        patch: &Map<String, Value>,
        members: Members,
    ) -> Result<Fate, OpError> {
        let field_of = |key: &str| match members {
            Members::Typed(ty) => type_def(ty).fields.get(key).map(|field| (&field.shape, field.strategy)),
            Members::Uniform(shape) => Some((shape, Strategy::ByShape)),
            Members::Any => None,
        };
        if matches!(members, Members::Any) {
            merge_patch::members(target, patch, &mut self.at, &mut self.warnings);
            return Ok(Fate::Keep);
        }
        match directive(patch) {
            Directive::None | Directive::Merge => {}
            Directive::Replace => target.clear(),
            Directive::Delete => return Ok(Fate::Delete),
            Directive::Other => return Err(self.bad_directive(PATCH, "delete, replace or merge")),
        }
        if let Some(keep) = patch.get(RETAIN_KEYS) {
            self.retain_keys(target, patch, keep)?;
        }
        for (key, value) in patch {
            if key == PATCH || key == RETAIN_KEYS {
                continue;
            }
            if let Some(field) = key.strip_prefix(DELETE_FROM) {
                self.delete_from_list(target, field, key, value)?;
                continue;
            }
            let field = field_of(key);
            if field.is_none() && key.starts_with('$') {
                return Err(OpError::UnknownDirective { path: self.path(), directive: key.as_str().into() });
            }
            let (shape, strategy) = field.unwrap_or((&Shape::Any, Strategy::ByShape));
            self.within(Seg::Key(key.as_str().into()), |merge| merge.member(target, key, value, shape, strategy))?;
        }
        Ok(Fate::Keep)
    }

    fn member(
        &mut self,
        target: &mut Map<String, Value>,
        key: &str,
        patch: &Value,
        shape: &'static Shape,
        strategy: Strategy,
    ) -> Result<(), OpError> {
        if patch.is_null() {
            target.shift_remove(key);
            return Ok(());
        }
        if !shape.accepts(patch) {
            return Err(OpError::WrongType { path: self.path(), expected: shape, found: JsonType::of(patch) });
        }
        match (target.get_mut(key), strategy) {
            (Some(old), Strategy::ByShape | Strategy::RetainKeys) => {
                let exclusive = strategy == Strategy::RetainKeys;
                let before = if exclusive { old.as_object().cloned() } else { None };
                if self.value(old, patch, shape, exclusive)? == Fate::Delete {
                    target.shift_remove(key);
                } else if let (Some(before), Some(after), Value::Object(patch)) = (before, old.as_object(), patch) {
                    self.warn_of_kept_members(&before, after, patch, &[]);
                }
            }
            (_, Strategy::Replace) | (None, _) => match self.fresh(patch, shape)? {
                Some(value) => {
                    target.insert(key.to_owned(), value);
                }
                None => {
                    target.shift_remove(key);
                }
            },
        }
        Ok(())
    }

    /// Merges into a value that is there. `exclusive`: members of it, or of its items, exclude each other.
    fn value(
        &mut self,
        old: &mut Value,
        patch: &Value,
        shape: &'static Shape,
        exclusive: bool,
    ) -> Result<Fate, OpError> {
        match (&mut *old, patch, shape) {
            (Value::Object(target), Value::Object(patch), shape) => self.map(target, patch, members_of(shape)),
            (Value::Array(target), Value::Array(patch), Shape::List(items, kind)) => {
                self.list(target, patch, items, kind, exclusive)?;
                Ok(Fate::Keep)
            }
            (_, patch, shape) => match self.fresh(patch, shape)? {
                Some(value) => {
                    *old = value;
                    Ok(Fate::Keep)
                }
                None => Ok(Fate::Delete),
            },
        }
    }

    /// A value that is new: what merging it into nothing gives. `None` when it says that it is deleted.
    pub(super) fn fresh(&mut self, patch: &Value, shape: &'static Shape) -> Result<Option<Value>, OpError> {
        match (patch, shape) {
            (Value::Object(patch), shape) => self.fresh_map(patch, shape),
            (Value::Array(patch), Shape::List(items, kind)) => {
                let mut list = Vec::new();
                self.list(&mut list, patch, items, kind, false)?;
                Ok(Some(Value::Array(list)))
            }
            (other, _) => Ok(Some(merge_patch::without_nulls(other))),
        }
    }

    pub(super) fn fresh_map(
        &mut self,
        patch: &Map<String, Value>,
        shape: &'static Shape,
    ) -> Result<Option<Value>, OpError> {
        let mut map = Map::new();
        let fate = self.map(&mut map, patch, members_of(shape))?;
        Ok((fate == Fate::Keep).then_some(Value::Object(map)))
    }

    fn retain_keys(
        &mut self,
        target: &mut Map<String, Value>,
        patch: &Map<String, Value>,
        keep: &Value,
    ) -> Result<(), OpError> {
        let expected = "a list with every key that the map may have afterwards, those of the patch among them";
        let keep: Option<Vec<&str>> = keep.as_array().and_then(|keys| keys.iter().map(Value::as_str).collect());
        let Some(keep) = keep else { return Err(self.bad_directive(RETAIN_KEYS, expected)) };
        let named = patch.iter().filter(|(key, value)| !key.starts_with('$') && !value.is_null());
        if named.into_iter().any(|(key, _)| !keep.contains(&key.as_str())) {
            return Err(self.bad_directive(RETAIN_KEYS, expected));
        }
        target.retain(|key, _| keep.contains(&key.as_str()));
        Ok(())
    }

    fn delete_from_list(
        &mut self,
        target: &mut Map<String, Value>,
        field: &str,
        directive: &str,
        gone: &Value,
    ) -> Result<(), OpError> {
        let Some(gone) = gone.as_array() else {
            return Err(self.bad_directive(directive, "a list of items to delete"));
        };
        if let Some(Value::Array(items)) = target.get_mut(field) {
            items.retain(|item| !gone.contains(item));
        }
        Ok(())
    }

    fn bad_directive(&self, directive: &str, expected: &'static str) -> OpError {
        OpError::BadDirective { path: self.path(), directive: directive.into(), expected }
    }

    /// Members of such a map exclude each other (a volume has one source). A strategic merge keeps the old beside the
    /// new; the API server then refuses the object. `type` says which member it is, and stays.
    pub(super) fn warn_of_kept_members(
        &mut self,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        patch: &Map<String, Value>,
        keys: &[SmolStr],
    ) {
        let scalar = |value: &Value| !value.is_object() && !value.is_array();
        let switched = patch.iter().any(|(key, value)| {
            !value.is_null()
                && !key.starts_with('$')
                && match before.get(key) {
                    None => after.contains_key(key),
                    Some(old) => scalar(value) && old != value,
                }
        });
        let stays =
            |key: &str| key == "type" || patch.contains_key(key) || keys.iter().any(|merge_key| merge_key == key);
        let kept: Vec<SmolStr> = after.keys().filter(|key| !stays(key)).map(|key| key.as_str().into()).collect();
        if switched && !kept.is_empty() {
            self.warnings.push(OpWarning::KeptMembers { path: self.path(), kept });
        }
    }
}

/// What `$patch` in a map says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    None,
    Merge,
    Replace,
    Delete,
    Other,
}

pub(super) fn directive(patch: &Map<String, Value>) -> Directive {
    match patch.get(PATCH).map(Value::as_str) {
        None => Directive::None,
        Some(Some("merge")) => Directive::Merge,
        Some(Some("replace")) => Directive::Replace,
        Some(Some("delete")) => Directive::Delete,
        Some(_) => Directive::Other,
    }
}

fn members_of(shape: &'static Shape) -> Members {
    match shape {
        Shape::Struct(ty) => Members::Typed(*ty),
        Shape::Map(values) => Members::Uniform(values),
        _ => Members::Any,
    }
}
