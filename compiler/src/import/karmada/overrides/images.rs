//! `imageOverrider`: registry, repository and tag of images.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Aim, containers, exactly};
use crate::api::{OverrideImage, OverrideSpec};
use crate::base::SmolStr;
use crate::import::documents::Object;
use crate::import::karmada::objects::{ImageComponent, ImageOverrider, Operator};
use crate::import::repository::placeless;
use crate::import::{About, Fate};
use crate::overrides::image::ImageRef;

pub(super) fn entries(
    overriders: &[ImageOverrider],
    aims: &[Aim<'_>],
    field: &str,
    entries: &mut Vec<OverrideSpec>,
    about: &mut About<'_>,
) {
    if overriders.is_empty() {
        return;
    }
    let field = format!("{field}.imageOverrider");
    if let [
        ImageOverrider { predicate: None, component: ImageComponent::Registry, operator: Operator::Replace, value },
    ] = overriders
    {
        for aim in aims {
            everywhere(value, aim, &field, entries, about);
        }
        return;
    }
    for object in aims.iter().flat_map(|aim| &aim.objects) {
        one_by_one(overriders, object, &field, entries, about);
    }
}

/// Another registry for all images: what follows the manifest, whatever its images will be.
fn everywhere(registry: &SmolStr, aim: &Aim<'_>, field: &str, entries: &mut Vec<OverrideSpec>, about: &mut About<'_>) {
    let image = || vec![placeless(OverrideImage { new_registry: Some(registry.clone()), ..OverrideImage::default() })];
    let with: Vec<&&Object> = aim.objects.iter().filter(|object| containers(object).is_some()).collect();
    for object in with.iter().filter(|object| !init_images(object).is_empty()) {
        say_init(object, field, about);
    }
    if with.len() == aim.objects.len() {
        let target = (aim.target != Default::default()).then(|| placeless(aim.target.clone()));
        entries.push(OverrideSpec { target, images: image(), ..OverrideSpec::default() });
    } else {
        for object in with {
            entries.push(OverrideSpec {
                target: Some(placeless(exactly(object))),
                images: image(),
                ..OverrideSpec::default()
            });
        }
    }
}

fn init_images(object: &Object) -> Vec<&str> {
    let pointers = ["/spec/initContainers", "/spec/template/spec/initContainers"];
    let lists = pointers.iter().filter_map(|pointer| object.value.pointer(pointer)?.as_array());
    lists.flatten().filter_map(|container| container.get("image")?.as_str()).collect()
}

fn say_init(object: &Object, field: &str, about: &mut About<'_>) {
    let text = format!("init containers of {} with such an image change, too; Karmada leaves them", object.title());
    about.say(Fate::Differs, field, text);
}

/// An image in its parts, as Karmada has them: a digest counts as a tag.
struct Image {
    name: String,
    host: String,
    repository: String,
    tag: String,
}

impl Image {
    fn parse(text: &str) -> Option<Self> {
        let ImageRef { host, repository, tag, digest } = ImageRef::parse(text).ok()?;
        let host = host.unwrap_or_default().to_string();
        let name = if host.is_empty() { repository.to_string() } else { format!("{host}/{repository}") };
        let tag = digest.or(tag).unwrap_or_default().to_string();
        Some(Self { name, host, repository: repository.to_string(), tag })
    }

    fn edit(&mut self, overrider: &ImageOverrider) {
        let part = match overrider.component {
            ImageComponent::Registry => &mut self.host,
            ImageComponent::Repository => &mut self.repository,
            ImageComponent::Tag => &mut self.tag,
        };
        match overrider.operator {
            Operator::Add => part.push_str(&overrider.value),
            Operator::Replace => *part = overrider.value.to_string(),
            Operator::Remove => part.clear(),
        }
    }

    fn new_name(&self) -> String {
        match self.host.as_str() {
            "" => self.repository.clone(),
            host => format!("{host}/{}", self.repository),
        }
    }

    fn text(&self) -> String {
        let name = self.new_name();
        match self.tag.as_str() {
            "" => name,
            digest if digest.contains(':') => format!("{name}@{digest}"),
            tag => format!("{name}:{tag}"),
        }
    }
}

/// The images of one object: by the name they have, so that a new tag in the manifest is followed; where the tag itself is
/// computed, or the text is not a container's, as a value.
fn one_by_one(
    overriders: &[ImageOverrider],
    object: &Object,
    field: &str,
    entries: &mut Vec<OverrideSpec>,
    about: &mut About<'_>,
) {
    let mut places: BTreeMap<String, Vec<&ImageOverrider>> = BTreeMap::new();
    for overrider in overriders {
        match (&overrider.predicate, containers(object)) {
            (Some(predicate), _) => places.entry(predicate.path.to_string()).or_default().push(overrider),
            (None, Some((pointer, containers))) => {
                for at in 0..containers.len() {
                    places.entry(format!("{pointer}/{at}/image")).or_default().push(overrider);
                }
            }
            (None, None) => {}
        }
    }
    let mut images: BTreeMap<String, OverrideImage> = BTreeMap::new();
    let mut set = BTreeMap::new();
    for (path, overriders) in places {
        let written = object.value.pointer(&path).and_then(Value::as_str);
        let Some(mut image) = written.and_then(Image::parse) else {
            let text = format!("there is no image at {path} of {}: left out", object.title());
            about.say(Fate::NoCounterpart, field, text);
            continue;
        };
        let (name, tag) = (image.name.clone(), image.tag.clone());
        overriders.iter().for_each(|overrider| image.edit(overrider));
        let computed = overriders.iter().any(|o| o.component == ImageComponent::Tag && o.operator != Operator::Replace);
        let in_container = path.contains("ontainers/") && path.ends_with("/image");
        let entry = OverrideImage {
            name: Some(placeless(name.clone().into())),
            new_name: (image.new_name() != name).then(|| image.new_name().into()),
            new_registry: None,
            new_tag: (image.tag != tag && !image.tag.contains(':')).then(|| image.tag.as_str().into()),
            digest: (image.tag != tag && image.tag.contains(':')).then(|| image.tag.as_str().into()),
        };
        if entry.new_name.is_none() && entry.new_tag.is_none() && entry.digest.is_none() {
            continue;
        }
        if computed || !in_container || images.get(&name).is_some_and(|other| *other != entry) {
            let text = format!("the image at {path} of {} is written as it comes out today", object.title());
            about.say(Fate::Resolved, field, text);
            set.insert(placeless(SmolStr::from(path)), placeless(Value::String(image.text())));
            continue;
        }
        if init_images(object).iter().any(|init| Image::parse(init).is_some_and(|init| init.name == name)) {
            say_init(object, field, about);
        }
        images.insert(name, entry);
    }
    if images.is_empty() && set.is_empty() {
        return;
    }
    let images = images.into_values().map(placeless).collect();
    entries.push(OverrideSpec { target: Some(placeless(exactly(object))), images, set, ..OverrideSpec::default() });
}
