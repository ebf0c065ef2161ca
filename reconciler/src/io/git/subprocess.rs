//! Runs the user's `git` against the mirror.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::GIT_TIMEOUT_VARIABLE;
use super::remote::{Remote, TOKEN_VARIABLE};
use crate::ports::PortError;

/// The user's `git`.
#[derive(Debug)]
pub(super) struct Git {
    mirror: PathBuf,
    timeout: Duration,
}

/// What a run gave.
#[derive(Debug)]
pub(super) struct Output {
    pub success: bool,
    pub stdout: String,
    pub stderr: String,
}

/// Variables by which a surrounding `git` (a hook, an alias) would point ours at its own repository.
const SURROUNDING: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Longest answer that is kept: a hostile remote must not fill the memory.
const MAX_BYTES: usize = 4 << 20;

/// How long the rest of an answer is waited for once `git` has ended.
const LINGER: Duration = Duration::from_secs(5);

/// How often a running `git` is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

impl Git {
    pub fn new(mirror: PathBuf, timeout: Duration) -> Self {
        Self { mirror, timeout }
    }

    /// Runs `git` with these arguments. A failure of `git` itself is no error here: the caller reads what it said.
    ///
    /// # Errors
    /// When there is no `git`, or it does not end in time.
    pub fn run(&self, remote: &Remote, args: &[&str]) -> Result<Output, PortError> {
        self.run_within(self.timeout, remote, args)
    }

    /// The same within another time.
    ///
    /// # Errors
    /// As [`Git::run`].
    pub fn run_within(&self, timeout: Duration, remote: &Remote, args: &[&str]) -> Result<Output, PortError> {
        let mut command = Command::new("git");
        for variable in SURROUNDING {
            command.env_remove(variable);
        }
        // Messages are read: they must be in English.
        command.env("LC_ALL", "C").env_remove("LANGUAGE");
        command.arg("--git-dir").arg(&self.mirror);
        if let Some(host) =
            remote.token_for().filter(|_| std::env::var_os(TOKEN_VARIABLE).is_some_and(|t| !t.is_empty()))
        {
            // The shell of the helper reads the token; it is in no argument.
            let helper = format!(
                "credential.{host}.helper=!f() {{ test \"$1\" = get && echo username=x-access-token && echo \
                 \"password=${TOKEN_VARIABLE}\"; }}; f"
            );
            command.args(["-c", &format!("credential.{host}.helper="), "-c", &helper]);
        }
        if let Some(settings) = remote.settings() {
            let mut include = OsString::from("include.path=");
            include.push(settings);
            command.arg("-c").arg(include);
        }
        command.args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|e| PortError::Permanent(format!("cannot run `git`: {e}; install it, or put it into PATH")))?;
        let stdout = collect(child.stdout.take());
        let stderr = collect(child.stderr.take());
        let name = args.iter().find(|arg| !arg.starts_with('-') && !arg.contains('=')).copied().unwrap_or("git");
        let status = wait(&mut child, name, timeout)?;
        Ok(Output { success: status.success(), stdout: stdout.text(), stderr: stderr.text() })
    }
}

fn wait(child: &mut Child, name: &str, timeout: Duration) -> Result<ExitStatus, PortError> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if started.elapsed() < timeout => thread::sleep(LOOK_EVERY),
            Ok(None) => {
                // It may have ended meanwhile; either way it is gone afterwards.
                let _ = child.kill();
                let _ = child.wait();
                return Err(PortError::Transient(late(name, timeout)));
            }
            Err(e) => return Err(PortError::Transient(format!("cannot wait for `git {name}`: {e}"))),
        }
    }
}

/// That it was ended, what becomes of that, and what to do about it.
fn late(name: &str, timeout: Duration) -> String {
    let secs = timeout.as_secs();
    format!(
        "`git {name}` did not end within {secs} s, and begins anew when it is tried again; where the repository is large or \
         the line slow, {GIT_TIMEOUT_VARIABLE}={} in the environment gives it longer",
        secs.max(1).saturating_mul(3)
    )
}

/// What comes out of a pipe.
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: mpsc::Receiver<()>,
}

impl Collected {
    /// All of it. A process that outlives `git` and holds the pipe open (a shared SSH connection) is not waited for.
    fn text(self) -> String {
        // Whether it ended or not: what is there is what was said.
        let _ = self.ended.recv_timeout(LINGER);
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> Collected {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    let (end, ended) = mpsc::channel();
    if let Some(mut pipe) = pipe {
        let bytes = Arc::clone(&bytes);
        thread::spawn(move || {
            let mut chunk = [0_u8; 8192];
            // An error ends it as the end does: what was read before is still what was said.
            while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
                if bytes.len() < MAX_BYTES {
                    bytes.extend(chunk.iter().take(count));
                }
            }
            // Nobody listens any more when it ends too late.
            let _ = end.send(());
        });
    }
    Collected { bytes, ended }
}

/// The part of what `git` said on stderr that says why: bounded, one line.
pub(super) fn last_words(stderr: &str) -> String {
    let noise = ["hint:", "Please make sure", "and the repository exists", "To ", "error: failed to push some refs"];
    let lines: Vec<&str> =
        stderr.lines().map(str::trim).filter(|l| !l.is_empty() && !noise.iter().any(|n| l.starts_with(n))).collect();
    let from = lines.len().saturating_sub(6);
    let text = lines.get(from..).unwrap_or_default().join("; ");
    if text.is_empty() {
        return "git says no more".to_owned();
    }
    text.chars().take(600).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_in_time_is_ended_and_says_how_it_gets_longer() {
        // ends when its input does, which it does not
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let error = wait(&mut child, "fetch", Duration::ZERO).unwrap_err();
        assert!(child.try_wait().unwrap().is_some(), "it is gone");
        assert!(matches!(&error, PortError::Transient(text) if text.contains("`git fetch`")), "{error}");
        assert!(late("fetch", Duration::from_secs(600)).contains("within 600 s, and begins anew"));
        assert!(late("fetch", Duration::from_secs(600)).contains("FLEETWRIGHT_GIT_TIMEOUT_SECS=1800"));
    }
}
