//! A fleet repository: a bare remote that guards its branches, and the working copy of a person.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{ProductError, program};

/// The variable by which the remote knows a person.
const PERSON: &str = "FLEET_PERSON";

/// Refuses what a hosting service's protected branches refuse. `frozen` holds the names of branches that nobody may push to.
const HOOK: &str = r#"#!/bin/sh
while read -r old new ref; do
  branch=${ref#refs/heads/}
  if [ "$branch" = main ] && [ -z "$FLEET_PERSON" ]; then
    echo "$branch $new" >>refused
    echo "protected main" >&2
    exit 1
  fi
  if [ -f frozen ] && grep -qx "$branch" frozen; then
    echo "$branch $new" >>refused
    echo "$branch is frozen" >&2
    exit 1
  fi
done
"#;

/// A fleet repository.
#[derive(Debug)]
pub struct Fleet {
    below: PathBuf,
    remote: PathBuf,
    copy: PathBuf,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// `Fleetwright-Cause`; empty where it has none.
    pub cause: String,
    /// `Fleetwright-Key`; empty where it has none.
    pub key: String,
}

/// How a command of the product ended.
#[derive(Debug, Clone)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Fleet {
    /// A new one in a folder, empty, with the working copy on branch `main`.
    ///
    /// # Errors
    /// When there is no `git`, or the folder cannot be written.
    pub fn new(below: &Path) -> Result<Fleet, ProductError> {
        let fleet = Fleet { below: below.to_owned(), remote: below.join("fleet.git"), copy: below.join("copy") };
        fleet.git_in(below, &["init", "--quiet", "--bare", "--initial-branch=main", "fleet.git"])?;
        fleet.git_in(below, &["clone", "--quiet", "fleet.git", "copy"])?;
        fleet.git(&["checkout", "--quiet", "-B", "main"])?;
        let hook = fleet.remote.join("hooks/pre-receive");
        fs::write(&hook, HOOK).map_err(ProductError::io("writing the hook"))?;
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).map_err(ProductError::io("writing the hook"))?;
        Ok(fleet)
    }

    /// The bare remote.
    pub fn remote(&self) -> &Path {
        &self.remote
    }

    /// Writes a file of the working copy, and folders as needed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: &str) -> Result<(), ProductError> {
        let file = self.copy.join(path);
        let write = || {
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&file, text)
        };
        write().map_err(ProductError::io(format!("writing {path}")))
    }

    /// Replaces a text that must be in a file.
    ///
    /// # Errors
    /// When it is not there.
    pub fn replace(&self, path: &str, from: &str, to: &str) -> Result<(), ProductError> {
        let text = fs::read_to_string(self.copy.join(path)).map_err(ProductError::io(format!("reading {path}")))?;
        if !text.contains(from) {
            return Err(ProductError::Failed {
                command: format!("replace in {path}"),
                said: format!("no `{from}` in it"),
            });
        }
        self.write(path, &text.replace(from, to))
    }

    /// Removes a file or a folder.
    ///
    /// # Errors
    /// When it is not there.
    pub fn remove(&self, path: &str) -> Result<(), ProductError> {
        self.git(&["rm", "-r", "--quiet", "--", path]).map(drop)
    }

    /// Moves a file or a folder.
    ///
    /// # Errors
    /// When it is not there.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), ProductError> {
        self.git(&["mv", from, to]).map(drop)
    }

    /// Commits everything and pushes it to `main`. Returns the commit.
    ///
    /// # Errors
    /// What `git` said.
    pub fn push(&self, message: &str) -> Result<String, ProductError> {
        self.git(&["add", "--all"])?;
        self.git(&["commit", "--quiet", "-m", message])?;
        self.git(&["push", "--quiet", "origin", "main"])?;
        Ok(self.git(&["rev-parse", "HEAD"])?.trim().to_owned())
    }

    /// Reverts a commit of `live` and pushes that, as a person does it. Returns the commit.
    ///
    /// # Errors
    /// What `git` said.
    pub fn revert(&self, commit: &str) -> Result<String, ProductError> {
        self.git(&["fetch", "--quiet", "origin"])?;
        self.git(&["checkout", "--quiet", "-B", "live", "origin/live"])?;
        self.git(&["revert", "--no-edit", commit])?;
        let id = self.git(&["rev-parse", "HEAD"])?.trim().to_owned();
        self.git(&["push", "--quiet", "origin", "live"])?;
        self.git(&["checkout", "--quiet", "main"])?;
        Ok(id)
    }

    /// The commits of a branch, newest first, without what was merged into it; none where there is no such branch.
    ///
    /// # Errors
    /// What `git` said.
    pub fn commits(&self, branch: &str) -> Result<Vec<Commit>, ProductError> {
        if self.git_in(&self.remote, &["for-each-ref", &format!("refs/heads/{branch}")])?.is_empty() {
            return Ok(Vec::new());
        }
        let format = "--format=%H%x09%(trailers:key=Fleetwright-Cause,valueonly,separator=%x20)%x09%(trailers:key=Fleetwright-Key,valueonly,separator=%x20)%x09%s";
        let log = self.git_in(&self.remote, &["log", "--first-parent", format, branch])?;
        let commit = |line: &str| {
            let mut parts = line.splitn(4, '\t').map(str::to_owned);
            let mut part = || parts.next().unwrap_or_default();
            let (id, cause, key) = (part(), part(), part());
            Commit { id, cause, key, subject: part() }
        };
        Ok(log.lines().map(commit).collect())
    }

    /// A file as a branch has it, or none.
    pub fn file(&self, branch: &str, path: &str) -> Option<String> {
        self.git_in(&self.remote, &["show", &format!("{branch}:{path}")]).ok()
    }

    /// The message of a commit.
    ///
    /// # Errors
    /// What `git` said.
    pub fn message(&self, commit: &str) -> Result<String, ProductError> {
        self.git_in(&self.remote, &["log", "-1", "--format=%B", commit])
    }

    /// From now on nobody may push to these branches.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn freeze(&self, branches: &[&str]) -> Result<(), ProductError> {
        fs::write(self.remote.join("frozen"), branches.join("\n")).map_err(ProductError::io("writing `frozen`"))
    }

    /// What pushes were refused so far: branch and commit.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn refused(&self) -> Result<Vec<String>, ProductError> {
        match fs::read_to_string(self.remote.join("refused")) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(ProductError::io("reading `refused`")(error)),
        }
    }

    /// Runs a command of the product on this repository, as a person or a CI job does it: `["approve", "b3:…"]`.
    ///
    /// # Errors
    /// When it cannot be started; that it fails is no error here.
    pub fn run(&self, words: &[&str]) -> Result<Ran, ProductError> {
        let remote = self.remote.display().to_string();
        self.run_in(&self.below, &[words, &["--repo", &remote]].concat())
    }

    /// Runs a command of the product in the working copy.
    ///
    /// # Errors
    /// As [`Fleet::run`].
    pub fn run_here(&self, words: &[&str]) -> Result<Ran, ProductError> {
        self.run_in(&self.copy, words)
    }

    fn run_in(&self, folder: &Path, words: &[&str]) -> Result<Ran, ProductError> {
        let mut command = Command::new(program()?);
        self.prepare(&mut command, folder);
        let output = command.args(words).env("FLEETWRIGHT_BY", "Ann").output();
        let output = output.map_err(ProductError::io(format!("running fleetwright {}", words.join(" "))))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Ran { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) })
    }

    fn git(&self, words: &[&str]) -> Result<String, ProductError> {
        self.git_in(&self.copy, words)
    }

    fn git_in(&self, folder: &Path, words: &[&str]) -> Result<String, ProductError> {
        let mut command = Command::new("git");
        self.prepare(&mut command, folder);
        command.env(PERSON, "ann").args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]).args(words);
        let doing = format!("git {}", words.join(" "));
        let Output { status, stdout, stderr } = command.output().map_err(ProductError::io(doing.clone()))?;
        let out = String::from_utf8_lossy(&stdout).into_owned();
        if status.success() {
            return Ok(out);
        }
        Err(ProductError::Failed { command: doing, said: format!("{out}{}", String::from_utf8_lossy(&stderr)) })
    }

    /// Nothing of the user's environment counts but where programs are.
    fn prepare(&self, command: &mut Command, folder: &Path) {
        command.current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", &self.below).env("TMPDIR", &self.below).env("LC_ALL", "C").env("GIT_CONFIG_NOSYSTEM", "1");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remote_guards_its_branches() {
        let folder = tempfile::tempdir().unwrap();
        let fleet = Fleet::new(folder.path()).unwrap();
        fleet.write("a/b.yaml", "x: 1\n").unwrap();
        let first = fleet.push("first\n\nFleetwright-Cause: Pin\nFleetwright-Key: b3:1").unwrap();
        let commit = Commit { id: first, subject: "first".into(), cause: "Pin".into(), key: "b3:1".into() };
        assert_eq!(fleet.commits("main").unwrap(), [commit]);
        assert_eq!(fleet.commits("live").unwrap(), []);
        assert_eq!(fleet.file("main", "a/b.yaml").as_deref(), Some("x: 1\n"));
        // whoever is no person may push to any other branch
        let push = |branch: &str| {
            let mut command = Command::new("git");
            fleet.prepare(&mut command, &fleet.copy);
            let output = command.args(["push", "--force", "origin", &format!("HEAD:{branch}")]).output().unwrap();
            (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        fleet.replace("a/b.yaml", "1", "2").unwrap();
        fleet.git(&["commit", "--quiet", "-am", "second"]).unwrap();
        let (pushed, said) = push("main");
        assert!(!pushed && said.contains("protected main"), "{said}");
        assert!(push("live").0);
        fleet.freeze(&["live"]).unwrap();
        fleet.git(&["commit", "--quiet", "--allow-empty", "-m", "third"]).unwrap();
        let (pushed, said) = push("live");
        assert!(!pushed && said.contains("live is frozen"), "{said}");
        assert_eq!(fleet.refused().unwrap().len(), 2);
        assert_eq!(fleet.commits("live").unwrap().len(), 2);
    }
}
