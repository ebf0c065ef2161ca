//! What can be wrong with an operation. Names and places only, never values.

use super::json_patch::StepError;
use super::metadata::LabelProblem;
use super::substitute::TemplateError;
use crate::base::{Path, SmolStr};
use crate::kinds::native::{FieldProblem, JsonType, Shape};

/// Why an operation cannot be run on an object.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpError {
    /// A place that the operation names does not exist.
    #[error("{0}")]
    NoSuchPath(Box<Missing>),
    /// The whole object cannot be set or removed.
    #[error("the pointer is empty; an override changes parts of an object, not the object itself")]
    WholeObject,
    /// The operation would make another object of it.
    #[error("{field} cannot be changed by an override: it would be another object")]
    Identity {
        /// The field, dotted.
        field: &'static str,
    },
    /// A step of a JSON patch does not apply.
    #[error("{0}")]
    JsonPatch(#[from] StepError),
    /// A patch is no map.
    #[error("a patch is a map with the fields to change")]
    PatchIsNoMap,
    /// A patch has a value of another type than the field.
    #[error("{} must be {expected}, got {found}", path.dotted())]
    WrongType {
        /// The field.
        path: Path,
        /// What it holds.
        expected: &'static Shape,
        /// What the patch has.
        found: JsonType,
    },
    /// An item of a list in a patch lacks the fields that tell items apart.
    #[error("{} has no {}, which tells the items of this list apart", path.dotted(), keys.join(" and no "))]
    NoMergeKey {
        /// The item in the patch.
        path: Path,
        /// The fields that the list is merged by.
        keys: Vec<SmolStr>,
    },
    /// An item of a list in a patch fits several items of the object.
    #[error("{} fits several items; give all of {}", path.dotted(), keys.join(", "))]
    AmbiguousItem {
        /// The item in the patch.
        path: Path,
        /// The fields that the list is merged by.
        keys: Vec<SmolStr>,
    },
    /// A `$` key that is no directive here.
    #[error("{}: {directive} is not a directive that an override knows; there are $patch: delete, $patch: replace, $patch: merge, $retainKeys and $deleteFromPrimitiveList/<field>", path.dotted())]
    UnknownDirective {
        /// The map it is in.
        path: Path,
        /// The key.
        directive: SmolStr,
    },
    /// A directive with a value that it cannot have.
    #[error("{}: {directive} must be {expected}", path.dotted())]
    BadDirective {
        /// The map it is in.
        path: Path,
        /// The key.
        directive: SmolStr,
        /// What it takes.
        expected: &'static str,
    },
    /// `$patch: delete` at the top.
    #[error("an override cannot delete the object; an `objects` rule with `clusters` keeps it away from clusters")]
    DeletesObject,
    /// Something with variables in it that is not written right.
    #[error("{}{error}", place(at))]
    Template {
        /// The value inside the operation.
        at: Path,
        /// What is wrong.
        error: TemplateError,
    },
    /// The object makes no pods.
    #[error("the object has no pod template, so it has no containers to change")]
    NoPodTemplate,
    /// No container of that name.
    #[error("there is no container {wanted}{}", did_you_mean_or_list(nearest.as_ref(), known))]
    NoContainer {
        /// The name that the operation gives.
        wanted: SmolStr,
        /// A container with almost that name.
        nearest: Option<SmolStr>,
        /// All containers.
        known: Vec<SmolStr>,
    },
    /// The operation names no container and there are several.
    #[error("there are {} containers; say which one in target.container, or * for all: {}", known.len(), known.join(", "))]
    WhichContainer {
        /// All containers, without init containers.
        known: Vec<SmolStr>,
    },
    /// No environment variable of that name.
    #[error("there is no environment variable {name} to remove{}", did_you_mean(nearest.as_ref()))]
    NoEnv {
        /// The name that the operation gives.
        name: SmolStr,
        /// One with almost that name.
        nearest: Option<SmolStr>,
    },
    /// An image that is, or would become, no image reference.
    #[error("{} would not be an image reference: [registry/]repository[:tag][@digest]", path.dotted())]
    BadImage {
        /// The image.
        path: Path,
    },
    /// A `newRegistry` that is none.
    #[error(
        "newRegistry must be a registry host, with an optional path, as in registry.example:5000/mirror; a host has a `.`, a `:` or is localhost"
    )]
    BadRegistry,
    /// A value of the object is of a type that the operation cannot work with.
    #[error("{} is {found}, not {needed}", path.dotted())]
    NotA {
        /// The value.
        path: Path,
        /// What it is.
        found: JsonType,
        /// What it must be.
        needed: &'static str,
    },
    /// The object has fields now that the API server would refuse.
    #[error("{}", first_and_more(problems))]
    Shape {
        /// All of them.
        problems: Vec<FieldProblem>,
    },
    /// The object has a label or an annotation now that the API server would refuse.
    #[error("{0}")]
    Label(LabelProblem),
    /// Deeper nesting than any manifest has.
    #[error("{}: nested too deep", path.dotted())]
    TooDeep {
        /// Where it was given up.
        path: Path,
    },
}

/// A place that does not exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The place.
    pub pointer: Path,
    /// Its longest beginning that exists.
    pub exists: Path,
    /// The step that cannot be taken from there.
    pub step: SmolStr,
    /// What is there.
    pub at: MissingAt,
}

/// What is at the end of the part of a path that exists.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MissingAt {
    /// A map without that key.
    Map {
        /// A key of the map with almost that name.
        nearest: Option<SmolStr>,
    },
    /// A list without that item.
    List {
        /// How many it has.
        len: usize,
    },
    /// Neither.
    Scalar(JsonType),
}

/// Something that was done, and that may not be what was meant.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpWarning {
    /// A list of a custom resource was replaced, and its items had names.
    #[error("{} is replaced as a whole, since Kubernetes merges no lists of custom resources: {}", path.dotted(), lost(dropped))]
    NamedListReplaced {
        /// The list.
        path: Path,
        /// Names that the new list no longer has.
        dropped: Vec<SmolStr>,
    },
    /// `$patch: delete` for an item that is not there.
    #[error("{} deletes an item that does not exist", path.dotted())]
    DeletesNothing {
        /// The item in the patch.
        path: Path,
    },
    /// Members that exclude each other are now both there.
    #[error("{} keeps {} beside what the patch sets, and they exclude each other; set {} to null in the patch", path.dotted(), kept.join(", "), kept.join(", "))]
    KeptMembers {
        /// The map.
        path: Path,
        /// Members that the patch does not name.
        kept: Vec<SmolStr>,
    },
    /// An item was added although one of its name exists.
    #[error("{}: an item of the name {name} exists with another {}; the patch adds a second one", path.dotted(), keys.join(" or "))]
    SameName {
        /// The list.
        path: Path,
        /// The name of both.
        name: SmolStr,
        /// The fields that the list is merged by.
        keys: Vec<SmolStr>,
    },
}

impl OpError {
    pub(super) fn template_at_root(error: TemplateError) -> Self {
        Self::Template { at: Path::root(), error }
    }
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { pointer, exists, step, at } = self;
        let there = exists.dotted();
        write!(f, "{pointer} does not exist: ")?;
        match at {
            MissingAt::Map { nearest } => write!(f, "{there} has no key {step}{}", did_you_mean(nearest.as_ref())),
            MissingAt::List { len } if step == "-" => {
                write!(f, "{there} is a list of {len}; only `set` appends with -")
            }
            MissingAt::List { len } => write!(f, "{there} is a list of {len}, items are counted from 0"),
            MissingAt::Scalar(found) => write!(f, "{there} is {found} and has nothing inside"),
        }
    }
}

pub(super) fn did_you_mean(nearest: Option<&SmolStr>) -> String {
    nearest.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

fn did_you_mean_or_list(nearest: Option<&SmolStr>, known: &[SmolStr]) -> String {
    if nearest.is_some() || known.is_empty() {
        did_you_mean(nearest)
    } else {
        format!("; there are {}", known.join(", "))
    }
}

fn place(at: &Path) -> String {
    if at.is_root() { String::new() } else { format!("{}: ", at.dotted()) }
}

fn lost(dropped: &[SmolStr]) -> String {
    if dropped.is_empty() {
        "the new items keep the names".to_owned()
    } else {
        format!("{} no longer there", dropped.join(", "))
    }
}

fn first_and_more(problems: &[FieldProblem]) -> String {
    match problems {
        [] => String::new(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}
