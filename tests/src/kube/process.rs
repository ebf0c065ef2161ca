//! One program of a cluster: its process, its log, and signals to it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use super::error::RigError;

/// How much of a log an error shows.
const TAIL_LINES: usize = 12;
const TAIL_BYTES: u64 = 16 << 10;

/// A running program. Its id stays its own until it is waited for, so a signal never reaches a stranger.
#[derive(Debug)]
pub struct Process {
    pub(super) name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a program in a folder and a process group; all it prints goes to `NAME.log` there, appended. It sees nothing of
    /// this process' environment but `PATH`, so that proxies and a user's configuration do not reach it.
    pub(super) fn start(
        name: &'static str,
        program: &Path,
        arguments: &[String],
        folder: &Path,
        group: i32,
    ) -> Result<Process, RigError> {
        let log = folder.join(format!("{name}.log"));
        let doing = || RigError::io(format!("starting {}", program.display()));
        let out = File::options().create(true).append(true).open(&log).map_err(doing())?;
        let err = out.try_clone().map_err(doing())?;
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder)
            .env("TMPDIR", folder)
            .current_dir(folder)
            .process_group(group)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn()
            .map_err(doing())?;
        Ok(Process { name, child, log })
    }

    /// How it ended, when it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Ends it at once and waits until it is gone. Also ends what is stopped.
    pub fn kill(&mut self) {
        // both fail only for a process that is gone already
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Its id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where all it prints is.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Sends `STOP`, `CONT` or `TERM`. Rust's library sends no signal but KILL, and every `sh` has a `kill`.
    ///
    /// # Errors
    /// When it has ended.
    pub fn signal(&mut self, signal: &'static str) -> Result<(), RigError> {
        let doing = format!("sending {signal} to {}", self.name);
        if let Some(status) = self.ended() {
            let source = std::io::Error::other(format!("it has ended ({status})"));
            return Err(RigError::Io { doing, source });
        }
        let status = Command::new("sh")
            .args(["-c", r#"kill -"$1" "$2""#, "sh", signal, &self.child.id().to_string()])
            .status()
            .map_err(RigError::io(doing.clone()))?;
        if status.success() {
            return Ok(());
        }
        Err(RigError::Io { doing, source: std::io::Error::other(format!("kill: {status}")) })
    }

    /// The last lines of its log, indented.
    pub fn log_tail(&self) -> String {
        match tail(&self.log) {
            Ok(text) => text,
            Err(error) => format!("    ({}: {error})", self.log.display()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn tail(log: &Path) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.iter().skip(lines.len().saturating_sub(TAIL_LINES));
    Ok(last.map(|line| format!("    {}", line.chars().take(300).collect::<String>())).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::kube::wait::until;

    fn shell(script: &str, folder: &Path) -> Process {
        Process::start("sh", Path::new("/bin/sh"), &["-c".to_owned(), script.to_owned()], folder, 0).unwrap()
    }

    #[test]
    fn the_tail_holds_the_last_lines_of_both_outputs_and_no_environment_leaks() {
        let folder = tempfile::tempdir().unwrap();
        let mut process = shell("seq 1 40; echo $HOME >&2; env | grep -c CARGO; exit 3", folder.path());
        let status = until("the end", Duration::from_secs(30), || process.ended().ok_or("running".to_owned())).unwrap();
        assert_eq!(status.code(), Some(3));
        let tail = process.log_tail();
        let lines: Vec<&str> = tail.lines().map(str::trim).collect();
        assert_eq!(lines.len(), TAIL_LINES);
        assert_eq!(lines[..2], ["31", "32"]);
        assert_eq!(lines[10..], [folder.path().to_str().unwrap(), "0"]);
    }

    #[test]
    fn a_stopped_process_is_killed_and_a_dead_one_gets_no_signal() {
        let folder = tempfile::tempdir().unwrap();
        let mut process = shell("while :; do sleep 1; done", folder.path());
        process.signal("STOP").unwrap();
        assert!(process.ended().is_none());
        process.kill();
        assert!(process.ended().is_some());
        assert!(process.signal("CONT").unwrap_err().to_string().contains("it has ended"));
    }
}
