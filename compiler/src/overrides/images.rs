//! `images`: other names, tags, digests or another registry for images.
//!
//! The rules are Kustomize's `images`: a rule is found by the image's name without tag and digest, as written. `newTag`
//! and `digest` replace both the tag and the digest that the image has, so a new tag on an image with a digest drops the
//! digest. Rules follow each other: a later one finds the name that an earlier one gave. `newRegistry` then replaces the
//! registry host of every image, or is put in front of one that has none; an image that is under it already stays.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Subject;
use super::containers::{LISTS, lookup, pod_specs};
use super::error::OpError;
use super::image::{ImageRef, is_host, is_path_component, split, split_host};
use super::pointer::find_mut;
use super::substitute::{self, Variables};
use crate::base::{Path, Seg, SmolStr};

/// One rule, in Kustomize's shape.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageRule {
    /// The name that an image has now: registry and repository as the manifest writes them.
    pub name: SmolStr,
    /// Another name.
    pub new_name: Option<String>,
    /// Another tag.
    pub new_tag: Option<String>,
    /// A digest, such as `sha256:…`.
    pub digest: Option<String>,
}

impl ImageRule {
    /// The texts that may hold variables.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        [&self.new_name, &self.new_tag, &self.digest].into_iter().filter_map(|text| text.as_deref())
    }
}

/// Rewrites the images of all containers and image volumes. Returns the names of the rules that no image has.
pub(super) fn rewrite(
    object: &mut Value,
    subject: &Subject,
    rules: &[ImageRule],
    new_registry: Option<&str>,
    vars: &Variables,
) -> Result<Vec<SmolStr>, OpError> {
    let numbered = rules.iter().enumerate();
    let rules = numbered.map(|(index, rule)| substituted(index, rule, vars)).collect::<Result<Vec<_>, _>>()?;
    let registry = new_registry.map(|text| substitute::in_text(text, vars)).transpose();
    let registry = registry.map_err(|error| OpError::Template { at: Path::of_keys(["newRegistry"]), error })?;
    if registry.as_deref().is_some_and(|registry| !is_registry(registry)) {
        return Err(OpError::BadRegistry);
    }
    let mut matched = BTreeSet::new();
    for path in image_paths(object, subject) {
        let Value::String(image) = find_mut(object, &path.0, &path)? else { continue };
        if image.is_empty() {
            continue;
        }
        let mut text = image.clone();
        for rule in &rules {
            if rule.name == split(&text).name {
                matched.insert(rule.name.clone());
                text = ruled(&text, rule);
            }
        }
        if text == *image && registry.is_none() {
            continue;
        }
        let mut reference = ImageRef::parse(&text).map_err(|_| OpError::BadImage { path: path.clone() })?;
        if let Some(registry) = &registry {
            reference = moved(reference, registry);
        }
        *image = reference.to_string();
    }
    let unmatched = rules.into_iter().map(|rule| rule.name).filter(|name| !matched.contains(name));
    Ok(unmatched.collect())
}

fn substituted(index: usize, rule: &ImageRule, vars: &Variables) -> Result<ImageRule, OpError> {
    let at = || Path(vec![Seg::Index(index)]);
    let each = |text: &Option<String>| {
        let text = text.as_deref().map(|text| substitute::in_text(text, vars)).transpose();
        text.map_err(|error| OpError::Template { at: at(), error })
    };
    Ok(ImageRule {
        name: rule.name.clone(),
        new_name: each(&rule.new_name)?,
        new_tag: each(&rule.new_tag)?,
        digest: each(&rule.digest)?,
    })
}

fn ruled(image: &str, rule: &ImageRule) -> String {
    let parts = split(image);
    let name = rule.new_name.as_deref().unwrap_or(parts.name);
    let (tag, digest) = match (&rule.new_tag, &rule.digest) {
        (None, None) => (parts.tag, parts.digest),
        (tag, digest) => (tag.as_deref(), digest.as_deref()),
    };
    let tag = tag.map(|tag| format!(":{tag}")).unwrap_or_default();
    let digest = digest.map(|digest| format!("@{digest}")).unwrap_or_default();
    format!("{name}{tag}{digest}")
}

/// The registry may have a path, under which all repositories are mirrored.
fn moved(image: ImageRef, registry: &str) -> ImageRef {
    let (host, prefix) = registry.split_once('/').unwrap_or((registry, ""));
    let inside = |repository: &str| {
        prefix.is_empty() || repository.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
    };
    if image.host.as_deref() == Some(host) && inside(&image.repository) {
        return image;
    }
    let repository =
        if prefix.is_empty() { image.repository } else { smol_str::format_smolstr!("{prefix}/{}", image.repository) };
    ImageRef { host: Some(host.into()), repository, ..image }
}

fn is_registry(text: &str) -> bool {
    // With something behind it, so that a host without a path is told from a repository.
    let with_name = format!("{text}/x");
    let (host, path) = split_host(&with_name);
    !host.is_empty() && is_host(host) && path.split('/').all(is_path_component)
}

/// Where images are named: `image` of every container, `image.reference` of every volume.
fn image_paths(object: &Value, subject: &Subject) -> Vec<Path> {
    let mut paths = Vec::new();
    for spec in pod_specs(object, subject) {
        let mut list = |field: &'static str, inner: &[&'static str]| {
            let at = spec.join(field.into());
            let len = lookup(object, &at).and_then(Value::as_array).map_or(0, Vec::len);
            for index in 0..len {
                let path = inner.iter().fold(at.join(index.into()), |path, key| path.join((*key).into()));
                if lookup(object, &path).is_some_and(Value::is_string) {
                    paths.push(path);
                }
            }
        };
        for field in LISTS {
            list(field, &["image"]);
        }
        list("volumes", &["image", "reference"]);
    }
    paths
}
