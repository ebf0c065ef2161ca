//! The working copy of a person in the story, and what they do with Git in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::stage::Stage;
use super::{say, streams};
use crate::exit::Failure;

/// A working copy.
#[derive(Debug)]
pub struct WorkingCopy {
    folder: PathBuf,
}

impl WorkingCopy {
    /// A clone of a new bare repository `fleet.git` in a folder, with these files, not committed yet.
    pub fn new(below: &Path, files: &BTreeMap<String, String>) -> Result<Self, Failure> {
        let (remote, folder) = (below.join("fleet.git"), below.join("clone"));
        let copy = Self { folder: below.to_path_buf() };
        copy.git(&["init", "--quiet", "--bare", "--initial-branch=main", &remote.display().to_string()], 0)?;
        copy.git(&["clone", "--quiet", &remote.display().to_string(), &folder.display().to_string()], 0)?;
        let copy = Self { folder };
        copy.git(&["checkout", "--quiet", "-B", "main"], 0)?;
        for (path, text) in files {
            copy.write(path, text)?;
        }
        Ok(copy)
    }

    /// Replaces a text in a file.
    pub fn replace(&self, path: &str, from: &str, to: &str) -> Result<(), Failure> {
        let file = self.folder.join(path);
        let text = std::fs::read_to_string(&file).map_err(|e| crate::fleet::disk_error("read", &file, &e))?;
        if !text.contains(from) {
            return Err(Failure::Bug(format!("{path} has no {from}")));
        }
        self.write(path, &text.replace(from, to))
    }

    /// Removes a folder.
    pub fn remove(&self, path: &str) -> Result<(), Failure> {
        let folder = self.folder.join(path);
        std::fs::remove_dir_all(&folder).map_err(|e| crate::fleet::disk_error("remove", &folder, &e))
    }

    /// Commits everything and pushes it.
    pub fn push(&mut self, stage: &mut Stage, branch: &str, message: &str) -> Result<(), Failure> {
        self.git(&["add", "--all"], stage.now_secs())?;
        self.git(&["commit", "--quiet", "-m", message], stage.now_secs())?;
        say(&format!("  $ git commit -m '{message}' && git push origin {branch}\n"))?;
        self.git(&["push", "--quiet", "origin", branch], stage.now_secs())?;
        Ok(())
    }

    /// Reverts a commit of a branch and pushes that.
    pub fn revert(&mut self, stage: &mut Stage, branch: &str, commit: &str) -> Result<(), Failure> {
        let now = stage.now_secs();
        self.git(&["fetch", "--quiet", "origin"], now)?;
        self.git(&["checkout", "--quiet", "-B", branch, &format!("origin/{branch}")], now)?;
        let short = commit.get(..10).unwrap_or(commit);
        say(&format!("  $ git revert --no-edit {short} && git push origin {branch}\n"))?;
        self.git(&["revert", "--no-edit", commit], now)?;
        self.git(&["push", "--quiet", "origin", branch], now)?;
        self.git(&["checkout", "--quiet", "main"], now)?;
        Ok(())
    }

    /// The commits of the live branch.
    pub fn log(&self) -> Result<(), Failure> {
        self.git(&["fetch", "--quiet", "origin"], 0)?;
        say("\n  $ git log --first-parent --format='%h %as %s' origin/live\n")?;
        let log = self.git(&["log", "--first-parent", "--format=  %h %as %s", "origin/main..origin/live"], 0)?;
        streams::data(&log)
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Failure> {
        let file = self.folder.join(path);
        let write = || {
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&file, text)
        };
        write().map_err(|e| crate::fleet::disk_error("write", &file, &e))
    }

    /// Runs Git as Ann, with nothing of the user's own settings, at a time of the story.
    fn git(&self, args: &[&str], now_secs: i64) -> Result<String, Failure> {
        let date = format!("@{now_secs} +0000");
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]).args(args).current_dir(&self.folder);
        for (name, value) in std::env::vars_os() {
            // A surrounding repository, and hooks or signing of the user's, are not of this story.
            if name.to_string_lossy().starts_with("GIT_") {
                drop(value);
                command.env_remove(name);
            }
        }
        let nothing = self.folder.join("no-settings");
        command.env("GIT_CONFIG_GLOBAL", &nothing).env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C");
        command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        let output = command
            .output()
            .map_err(|e| Failure::Environment(format!("`git` cannot be run, and the demo is played with it: {e}")))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Failure::Environment(format!("`git {}` failed: {}", args.join(" "), said.trim())))
    }
}
