//! Which record a result was made from. The compiler does not know: whoever opened the trees says it.

use std::fmt;

use serde::Serialize;

/// Where a record, or a side of a diff, comes from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// What people call it: `origin/live`, or a folder.
    pub name: String,
    /// The commit, in hexadecimal; none for a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When that was committed: `2026-11-30T15:00:00Z`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// How to get a newer one, where this is a copy of a remote's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh: Option<String>,
}

/// Characters of a commit's id that people read.
const SHORT_ID: usize = 12;

/// `origin/live at 3f2a1b9c4d5e of 2026-11-30T15:00:00Z, as last fetched: ...`
impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, commit, time, refresh } = self;
        f.write_str(name)?;
        if let Some(commit) = commit {
            write!(f, " at {}", commit.get(..SHORT_ID).unwrap_or(commit))?;
        }
        if let Some(time) = time {
            write!(f, " of {time}")?;
        }
        refresh.as_ref().map_or(Ok(()), |refresh| write!(f, "; {refresh}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_words() {
        let mut of = Provenance { name: "origin/live".into(), commit: None, time: None, refresh: None };
        assert_eq!(of.to_string(), "origin/live");
        of.commit = Some("3f2a1b9c4d5e6f708192a3b4c5d6e7f801234567".into());
        of.time = Some("2026-11-30T15:00:00Z".into());
        assert_eq!(of.to_string(), "origin/live at 3f2a1b9c4d5e of 2026-11-30T15:00:00Z");
        of.refresh = Some("`git fetch origin live` looks for a newer one".into());
        let text = "origin/live at 3f2a1b9c4d5e of 2026-11-30T15:00:00Z; `git fetch origin live` looks for a newer one";
        assert_eq!(of.to_string(), text);
    }
}
