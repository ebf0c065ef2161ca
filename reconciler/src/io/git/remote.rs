//! Where a remote is, and what of that may be shown.

use std::fmt;
use std::path::{Path, PathBuf};

/// The variable that holds a token for `https` remotes.
pub const TOKEN_VARIABLE: &str = "FLEETWRIGHT_GIT_TOKEN";

/// A remote repository: `https://…`, `ssh://…`, `user@host:path`, `file://…` or a path.
#[derive(Clone, PartialEq, Eq)]
pub struct Remote {
    url: String,
    shown: String,
    /// Scheme and host of an `https` URL without credentials of its own: a token is given to it alone.
    token_for: Option<String>,
    /// A file of Git settings that count besides the user's.
    settings: Option<PathBuf>,
}

/// Why a text names no remote.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    /// It is empty or begins with `-`.
    #[error("`{0}` names no repository: expected a URL (https, ssh, file) or a path")]
    NoName(String),
    /// A transport that runs commands or is not encrypted.
    #[error("repositories over `{0}` are not supported: use https, ssh, file, or a path")]
    Transport(String),
}

impl Remote {
    /// The remote of a URL or path. A path is made absolute, because `git` runs in the mirror.
    ///
    /// # Errors
    /// When it names none, or a transport that is not supported.
    pub fn new(text: &str) -> Result<Self, RemoteError> {
        if text.is_empty() || text.starts_with('-') || text.contains(char::is_control) {
            return Err(RemoteError::NoName(text.escape_default().to_string()));
        }
        if let Some((transport, _)) = text.split_once("::") {
            return Err(RemoteError::Transport(transport.to_owned()));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            let url = if is_scp_like(text) { text.to_owned() } else { absolute(text) };
            return Ok(Self { shown: url.clone(), url, token_for: None, settings: None });
        };
        match scheme {
            "file" => Ok(Self { url: text.to_owned(), shown: text.to_owned(), token_for: None, settings: None }),
            "https" | "ssh" => {
                let authority = rest.split('/').next().unwrap_or_default();
                let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(u, h)| (Some(u), h));
                // The user of an SSH URL is no secret, and all before `@` of any other may be.
                let kept = user.filter(|user| scheme == "ssh" && !user.contains(':')).map(|u| format!("{u}@"));
                let path = rest.get(authority.len()..).unwrap_or_default();
                // A query may hold a token.
                let path = path.split(['?', '#']).next().unwrap_or_default();
                let shown = format!("{scheme}://{}{host}{path}", kept.unwrap_or_default());
                let token_for = (scheme == "https" && user.is_none()).then(|| format!("https://{host}"));
                Ok(Self { url: text.to_owned(), shown, token_for, settings: None })
            }
            other => Err(RemoteError::Transport(other.to_owned())),
        }
    }

    /// With the settings of a repository of the user's: a CI job's checkout keeps its credentials there.
    #[must_use]
    pub fn with_settings(self, file: PathBuf) -> Self {
        Self { settings: Some(file), ..self }
    }

    /// A file of Git settings that count besides the user's.
    pub(super) fn settings(&self) -> Option<&Path> {
        self.settings.as_deref()
    }

    /// As `git` takes it; may hold credentials.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// As messages show it: without credentials.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Scheme and host that a token may be given to.
    pub(super) fn token_for(&self) -> Option<&str> {
        self.token_for.as_deref()
    }

    /// A text of `git`'s without this remote's credentials.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(&self.url, &self.shown)
            .split_inclusive(char::is_whitespace)
            .map(|word| match (word.find("://"), word.rfind('@')) {
                (Some(scheme), Some(at)) if scheme < at && !word.starts_with("ssh://") => {
                    format!("{}{}", word.get(..scheme + 3).unwrap_or_default(), word.get(at + 1..).unwrap_or_default())
                }
                _ => word.to_owned(),
            })
            .collect()
    }
}

/// `user@host:path` or `host:path`, as `git` tells it from a path: a colon before the first slash.
fn is_scp_like(text: &str) -> bool {
    let colon = text.find(':');
    colon.is_some_and(|colon| text.find('/').is_none_or(|slash| colon < slash))
}

fn absolute(path: &str) -> String {
    std::path::absolute(Path::new(path)).map_or_else(|_| path.to_owned(), |p| p.to_string_lossy().into_owned())
}

/// Checks that a name can be a branch, so that it can be nothing else on a command line.
pub(super) fn check_branch(name: &str) -> Result<(), String> {
    if git2::Reference::is_valid_name(&format!("refs/heads/{name}")) && !name.starts_with('-') && name != "HEAD" {
        return Ok(());
    }
    Err(format!("`{}` cannot be the name of a branch", name.escape_default()))
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remote").field(&self.shown).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_holds_no_credentials() {
        for (text, shown, token_for) in [
            ("https://git.example/a/b.git", "https://git.example/a/b.git", Some("https://git.example")),
            ("https://git.example:8443/a", "https://git.example:8443/a", Some("https://git.example:8443")),
            ("https://ann:s3cret@git.example/a", "https://git.example/a", None),
            ("https://s3cret@git.example/a@b", "https://git.example/a@b", None),
            ("ssh://git@git.example:22/a", "ssh://git@git.example:22/a", None),
            ("ssh://git:s3cret@git.example/a", "ssh://git.example/a", None),
            ("git@git.example:a/b.git", "git@git.example:a/b.git", None),
            ("file:///srv/fleet.git", "file:///srv/fleet.git", None),
            ("/srv/fleet.git", "/srv/fleet.git", None),
        ] {
            let remote = Remote::new(text).unwrap();
            assert_eq!((remote.shown(), remote.token_for()), (shown, token_for), "{text}");
            assert!(!format!("{remote:?}").contains("s3cret"));
            let said = remote.redact(&format!("fatal: unable to access '{text}/': bad\n"));
            assert!(!said.contains("s3cret"), "{said}");
        }
    }

    #[test]
    fn a_token_in_another_url_of_a_message_is_not_shown() {
        let remote = Remote::new("/srv/fleet.git").unwrap();
        let said = remote.redact("fatal: redirected to https://ann:s3cret@other.example/x refused\n");
        assert_eq!(said, "fatal: redirected to https://other.example/x refused\n");
    }

    #[test]
    fn what_names_no_remote() {
        for text in ["", "-x", "--upload-pack=x", "a\nb"] {
            assert!(matches!(Remote::new(text), Err(RemoteError::NoName(_))), "{text:?}");
        }
        for (text, transport) in [("ext::sh -c x", "ext"), ("http://git.example/a", "http"), ("git://x/y", "git")] {
            assert_eq!(Remote::new(text), Err(RemoteError::Transport(transport.to_owned())));
        }
        assert!(Remote::new("fleet.git").unwrap().url().starts_with('/'), "relative paths are of this process");
        for (name, is_branch) in
            [("live", true), ("a/b", true), ("-x", false), ("a b", false), ("a:b", false), ("", false)]
        {
            assert_eq!(check_branch(name).is_ok(), is_branch, "{name}");
        }
    }
}
