//! Finding a repository and what a revision stands for, with messages that help.

use std::path::Path;

use fleetwright_compiler::base::name::nearest;
use fleetwright_compiler::source::FilesError;
use git2::{BranchType, ErrorClass, ErrorCode, Oid, Reference, Repository};

pub(crate) fn open_repository(path: &Path) -> Result<Repository, FilesError> {
    Repository::open(path).map_err(|e| open_error(path, &e))
}

pub(crate) fn open_error(path: &Path, e: &git2::Error) -> FilesError {
    let reason = match e.code() {
        ErrorCode::NotFound => "not a Git repository".to_owned(),
        ErrorCode::Owner => format!(
            "the repository belongs to another user; if you trust it: git config --global --add safe.directory '{}'",
            path.display()
        ),
        _ => e.message().to_owned(),
    };
    FilesError::new(path.to_string_lossy(), reason)
}

/// The commit, if it is one, and the tree of a revision.
pub(crate) fn resolve(repo: &Repository, path: &Path, revision: &str) -> Result<(Option<Oid>, Oid), FilesError> {
    let fail = |reason: String| FilesError::new(format!("revision `{revision}` of {}", path.display()), reason);
    let object = match repo.revparse_single(revision) {
        Ok(object) => object,
        Err(e) => return Err(fail(unknown(repo, revision, &e))),
    };
    let commit = object.peel_to_commit().ok().map(|commit| commit.id());
    match object.peel_to_tree() {
        Ok(tree) => Ok((commit, tree.id())),
        Err(_) if object.kind() == Some(git2::ObjectType::Blob) => {
            Err(fail("it is a file; name a commit or a folder".into()))
        }
        Err(e) => Err(fail(e.message().to_owned())),
    }
}

fn unknown(repo: &Repository, revision: &str, e: &git2::Error) -> String {
    let names = names(repo);
    if names.is_empty() && repo.head().is_err() {
        return "the repository has no commit yet".to_owned();
    }
    if e.code() == ErrorCode::Ambiguous {
        return format!("{}; write more of the id", e.message());
    }
    let mut reason = match (e.code(), e.class()) {
        (ErrorCode::NotFound | ErrorCode::UnbornBranch, _) | (_, ErrorClass::Reference) => {
            "there is no such branch, tag or commit".to_owned()
        }
        _ => e.message().to_owned(),
    };
    let near = near(revision, &names);
    if let Some(base) = known_base(repo, revision) {
        reason = match repo.is_shallow() {
            true => format!(
                "`{base}` is there, but the clone is shallow and holds no commit before its depth; \
                 `git fetch --unshallow` gets the rest"
            ),
            false => format!("`{base}` is there, but nothing of it is called `{revision}`"),
        };
    } else if !near.is_empty() {
        reason.push_str(&format!("; did you mean {}?", near.join(" or ")));
    } else if repo.is_shallow() {
        reason.push_str("; the clone is shallow: `git fetch --unshallow` gets the rest");
    } else {
        reason.push_str("; `git fetch` if it is new");
    }
    reason
}

/// What a revision begins with (`HEAD` of `HEAD~9`), where that is there and only the rest is not.
fn known_base<'r>(repo: &Repository, revision: &'r str) -> Option<&'r str> {
    let (base, _) = revision.split_at(revision.find(['~', '^'])?);
    repo.revparse_single(base).ok().map(|_| base)
}

/// Branches, remote branches and tags by their short names, sorted.
fn names(repo: &Repository) -> Vec<String> {
    let Ok(references) = repo.references() else { return Vec::new() };
    let short = |r: &Reference<'_>| r.shorthand().map(str::to_owned).ok();
    let mut names: Vec<String> = references.flatten().filter_map(|r| short(&r)).collect();
    names.sort();
    names
}

/// The names that were most likely meant: one as a whole, one by its last part.
fn near(revision: &str, names: &[String]) -> Vec<String> {
    let typed = revision.split(['~', '^', ':', '@']).next().unwrap_or(revision);
    let bare = |name: &String| name.rsplit('/').next().unwrap_or(name).to_owned();
    let whole = nearest(typed, names.iter().map(String::as_str)).map(str::to_owned);
    let last_parts: Vec<String> = names.iter().map(bare).collect();
    let by_last_part = nearest(typed, last_parts.iter().map(String::as_str)).map(str::to_owned);
    let of_last_part = by_last_part.and_then(|part| names.iter().find(|n| bare(n) == part)).cloned();
    let mut found: Vec<String> = whole.into_iter().chain(of_last_part).collect();
    found.dedup();
    found.into_iter().map(|name| format!("`{name}`")).collect()
}

/// The revision that holds the record: the local branch of this name, else that of the remote `origin`, as a full
/// reference, which no tag can shadow. `None` when there is neither.
///
/// # Errors
/// When there is no repository, or its branches cannot be read.
pub fn live_revision(repo: &Path, branch: &str) -> Result<Option<String>, FilesError> {
    let handle = open_repository(repo)?;
    let remote = format!("origin/{branch}");
    for (name, kind) in [(branch, BranchType::Local), (&*remote, BranchType::Remote)] {
        match handle.find_branch(name, kind) {
            Ok(found) => {
                let name = found.get().name().map(str::to_owned);
                return name.map(Some).map_err(|e| FilesError::new(branch, e.message()));
            }
            Err(e) if matches!(e.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => {}
            Err(e) => return Err(FilesError::new(format!("branch `{branch}` of {}", repo.display()), e.message())),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_whole_or_by_their_last_part() {
        let names: Vec<String> = ["main", "origin/live", "v1.0"].map(str::to_owned).into();
        for (typed, expected) in
            [("mian", vec!["`main`"]), ("lvie", vec!["`origin/live`"]), ("main~3", vec!["`main`"]), ("zzzzzz", vec![])]
        {
            assert_eq!(near(typed, &names), expected, "{typed}");
        }
    }
}
