//! What ends a cluster's processes when this process is gone without having ended them: killed, aborted, interrupted.
//!
//! A `sh` leads the process group of one cluster and reads a pipe that only this process writes to. The operating system
//! closes the pipe whatever ends this process; the shell then ends its group and removes the files of all clusters: each of
//! their shells does the same at the same time.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use super::error::RigError;

/// The leader of a process group. As long as it lives, so does the group's id.
#[derive(Debug)]
pub(super) struct Watchdog {
    shell: Child,
    pipe: Option<ChildStdin>,
}

// A stopped process takes no TERM before its CONT, and KILL of group 0 also ends this shell, so it comes last. Two seconds
// are enough for every etcd, the only ones that write files.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
while read -r _; do :; done
kill -CONT 0
kill -TERM 0
sleep 2
rm -rf -- "$1"
kill -KILL 0
"#;

impl Watchdog {
    /// Starts the leader of a new group, which will remove `folder` when it has to act.
    pub fn start(folder: &Path) -> Result<Watchdog, RigError> {
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "fleetwright-watchdog"])
            .arg(folder)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(RigError::io("starting sh"))?;
        let pipe = shell.stdin.take();
        Ok(Watchdog { shell, pipe })
    }

    /// The id of the group.
    pub fn group(&self) -> Result<i32, RigError> {
        i32::try_from(self.shell.id())
            .map_err(|error| RigError::Io { doing: "reading a process id".to_owned(), source: io::Error::other(error) })
    }
}

impl Drop for Watchdog {
    /// Its group is empty by now. Killed before its pipe closes, it never acts.
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
        self.pipe = None;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::kube::process::Process;
    use crate::kube::wait::until;

    #[test]
    fn when_the_pipe_closes_the_group_ends_and_its_folder_goes() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("cluster");
        std::fs::create_dir(&folder).unwrap();
        let mut watchdog = Watchdog::start(&folder).unwrap();
        let group = watchdog.group().unwrap();
        let start = |seconds: &str| Process::start("sleep", Path::new("sleep"), &[seconds.to_owned()], &folder, group);
        let (mut running, mut stopped) = (start("3600").unwrap(), start("3601").unwrap());
        stopped.signal("STOP").unwrap();
        watchdog.pipe = None;
        for process in [&mut running, &mut stopped] {
            until("its end", Duration::from_secs(30), || process.ended().ok_or("running".to_owned())).unwrap();
        }
        let gone = || if folder.exists() { Err("it is there".to_owned()) } else { Ok(()) };
        until("the folder to go", Duration::from_secs(30), gone).unwrap();
        until("the shell's end", Duration::from_secs(30), || {
            watchdog.shell.try_wait().ok().flatten().ok_or(String::new())
        })
        .unwrap();
    }

    #[test]
    fn dropped_it_removes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(Watchdog::start(folder.path()).unwrap());
        assert!(folder.path().exists());
    }
}
