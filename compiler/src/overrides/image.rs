//! Image references: `[host/]repository[:tag][@digest]`.
//!
//! The grammar is that of the distribution project (`reference.ReferenceRegexp`). The first part is a registry host only
//! when it has a `.` or a `:`, or is `localhost`; otherwise it belongs to the repository.

use std::fmt;

use crate::base::SmolStr;

/// A reference in its parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImageRef {
    /// The registry host with its port; `None` when the runtime's default is meant.
    pub host: Option<SmolStr>,
    /// The repository, without the host.
    pub repository: SmolStr,
    /// The tag.
    pub tag: Option<SmolStr>,
    /// The digest, such as `sha256:…`.
    pub digest: Option<SmolStr>,
}

/// A text that is no image reference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("not an image reference: [registry/]repository[:tag][@digest]")]
pub struct NotAnImage;

/// A text cut into name, tag and digest, without a look at the characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Parts<'t> {
    pub(super) name: &'t str,
    pub(super) tag: Option<&'t str>,
    pub(super) digest: Option<&'t str>,
}

/// The host and the rest of a name; the host is empty when there is none.
#[must_use]
pub fn split_host(name: &str) -> (&str, &str) {
    match name.split_once('/') {
        Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest),
        _ => ("", name),
    }
}

pub(super) fn split(text: &str) -> Parts<'_> {
    let (rest, digest) = text.split_once('@').map_or((text, None), |(rest, digest)| (rest, Some(digest)));
    let last_part = rest.rfind('/').map_or(0, |slash| slash + 1);
    let colon = rest.get(last_part..).and_then(|part| part.find(':')).map(|colon| last_part + colon);
    match colon.and_then(|colon| Some((rest.get(..colon)?, rest.get(colon + 1..)?))) {
        Some((name, tag)) => Parts { name, tag: Some(tag), digest },
        None => Parts { name: rest, tag: None, digest },
    }
}

impl ImageRef {
    /// Reads a reference.
    ///
    /// # Errors
    /// When the text is none.
    pub fn parse(text: &str) -> Result<Self, NotAnImage> {
        let Parts { name, tag, digest } = split(text);
        let good = is_name(name) && tag.is_none_or(is_tag) && digest.is_none_or(is_digest);
        if !good {
            return Err(NotAnImage);
        }
        let (host, repository) = split_host(name);
        Ok(Self {
            host: (!host.is_empty()).then(|| host.into()),
            repository: repository.into(),
            tag: tag.map(SmolStr::from),
            digest: digest.map(SmolStr::from),
        })
    }
}

impl fmt::Display for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(host) = &self.host {
            write!(f, "{host}/")?;
        }
        f.write_str(&self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

fn is_name(name: &str) -> bool {
    let is_path = |path: &str| path.split('/').all(is_path_component);
    match name.split_once('/') {
        // The first part may be a host even where it looks like a repository.
        Some((first, rest)) => (is_host(first) || is_path_component(first)) && is_path(rest),
        None => is_path_component(name),
    }
}

/// `host[:port]`: labels of letters, digits and inner dashes between dots, or an IPv6 address in brackets.
pub(super) fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let is_v6 = |host: &str| {
        let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        inner.is_some_and(|inner| !inner.is_empty() && inner.bytes().all(|b| b.is_ascii_hexdigit() || b == b':'))
    };
    (is_v6(host) || host.split('.').all(is_label)) && port.is_none_or(is_port)
}

/// Lower-case letters and digits, with single `.`, one or two `_`, or any number of `-` between them.
pub(super) fn is_path_component(text: &str) -> bool {
    let is_alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if !text.starts_with(is_alphanumeric) || !text.ends_with(is_alphanumeric) {
        return false;
    }
    text.split(is_alphanumeric)
        .all(|separator| matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|b| b == b'-'))
}

fn is_tag(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (1..=128).contains(&text.len())
        && text.starts_with(is_word)
        && text.chars().all(|c| is_word(c) || c == '.' || c == '-')
}

/// `algorithm:hex` with at least 32 digits.
fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else { return false };
    let is_component = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic()) && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    algorithm.split(['-', '_', '+', '.']).all(is_component)
        && hex.len() >= 32
        && hex.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHA: &str = "sha256:50d858e0985ecc7f60418aaf0cc5ab587f42c2570a884095a9e8ccacd0f6545c";

    /// Host, repository, tag, digest; empty is none.
    type Parts = (&'static str, &'static str, &'static str, &'static str);

    #[test]
    fn references() {
        let with_digest = format!("host.example:10443/sub/name@{SHA}");
        let with_both = format!("name:v1@{SHA}");
        let facts: &[(&str, Option<Parts>)] = &[
            ("pause", Some(("", "pause", "", ""))),
            ("nginx:1.2", Some(("", "nginx", "1.2", ""))),
            ("sub/name", Some(("", "sub/name", "", ""))),
            ("docker.io/library/nginx", Some(("docker.io", "library/nginx", "", ""))),
            ("localhost/x:v1", Some(("localhost", "x", "v1", ""))),
            ("localhost:5000/x:v1", Some(("localhost:5000", "x", "v1", ""))),
            ("10.10.10.10:10443/sub/name", Some(("10.10.10.10:10443", "sub/name", "", ""))),
            ("[2001:db8::1]:5000/x", Some(("[2001:db8::1]:5000", "x", "", ""))),
            ("registry/x", Some(("", "registry/x", "", ""))),
            ("a--b/c__d/e.f_g:V_1.-", Some(("", "a--b/c__d/e.f_g", "V_1.-", ""))),
            (&with_digest, Some(("host.example:10443", "sub/name", "", SHA))),
            (&with_both, Some(("", "name", "v1", SHA))),
            ("Upper/name", Some(("", "Upper/name", "", ""))),
            ("", None),
            ("Upper", None),
            ("a/Upper", None),
            ("nginx:", None),
            (":v1", None),
            ("a//b", None),
            ("/a", None),
            ("a/", None),
            ("a___b", None),
            ("a..b", None),
            ("-a", None),
            ("nginx@sha256:abc", None),
            ("nginx:v1:v2", None),
            ("na me", None),
            ("https://host.example/x", None),
        ];
        for (text, parts) in facts {
            let found = ImageRef::parse(text).ok();
            let right = parts.map(|(host, repository, tag, digest)| {
                let some = |text: &str| (!text.is_empty()).then(|| SmolStr::from(text));
                ImageRef { host: some(host), repository: repository.into(), tag: some(tag), digest: some(digest) }
            });
            assert_eq!(found, right, "{text}");
            if let Some(found) = found {
                assert_eq!(found.to_string(), *text);
            }
        }
    }

    #[test]
    fn hosts() {
        let facts = [
            ("name", ("", "name")),
            ("sub/name", ("", "sub/name")),
            ("host.example/sub/name", ("host.example", "sub/name")),
            ("host.example:10443/sub/name", ("host.example:10443", "sub/name")),
            ("localhost/name", ("localhost", "name")),
            ("host.example", ("", "host.example")),
        ];
        for (name, right) in facts {
            assert_eq!(split_host(name), right, "{name}");
        }
    }
}
