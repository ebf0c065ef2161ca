//! The binary as people and scripts use it: arguments in; text, files and an exit code out.
//!
//! Every command that README, the examples and the template print is run from there, so that a document cannot name
//! what does not exist. What the texts say is held by golden files; here it is how commands behave.

// Functions that tests share are tests too.
#![cfg(test)]

mod decide;
mod documents;
mod import;
mod record;
mod refusals;
mod suppositions;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// What a run left behind.
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

/// The folder of the workspace.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the workspace has a path")
}

fn command(folder: &Path) -> Command {
    program(env!("CARGO_BIN_EXE_fleetwright"), folder)
}

fn program(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(name);
    command.current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    // what the machine's user has configured for Git is not of these tests
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", "/nonexistent");
    command
}

fn finished(output: Output) -> Run {
    Run {
        code: output.status.code().expect("it ended by itself"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Runs the binary in a folder.
fn run<S: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = S>) -> Run {
    finished(command(folder).args(arguments).output().expect("the binary starts"))
}

/// Runs a line as a shell would split it; quotes are not used in these tests.
fn line(folder: &Path, words: &str) -> Run {
    run(folder, words.split_whitespace())
}

#[track_caller]
fn assert_code(run: &Run, code: i32) {
    assert_eq!(run.code, code, "stdout:\n{}\nstderr:\n{}", run.stdout, run.stderr);
}

fn git(folder: &Path, words: &str) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=ann", "-c", "user.email=ann@fleet.example"]);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.args(words.split_whitespace()).output().expect("git is there");
    assert!(output.status.success(), "git {words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// A new fleet repository as `init` writes it.
fn new_fleet() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    assert_code(&line(folder.path(), "init fleet"), 0);
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().expect("it has a parent")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = command(&workspace())
        .args(["-C", "examples/add-ons", "plan", "-o", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let mut said = String::new();
    io::Read::read_to_string(&mut child.stderr.take().expect("it is piped"), &mut said).expect("text");
    let status = child.wait().expect("it ends");
    assert!(!said.contains("panicked") && !said.contains("Broken pipe"), "{said}");
    assert!(status.code().is_none_or(|code| code == 0), "{status}: {said}");
}
