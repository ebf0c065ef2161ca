//! `fleetwright controller` as a process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fleetwright_reconciler::controller::status::Status;
use serde_json::Value;
use ureq::Agent;

use super::{Fleet, ProductError};
use crate::kube::{Process, Rig, until};

/// How long it may take until it listens: a debug build on a busy machine.
const START_WITHIN: Duration = Duration::from_secs(60);

/// A running `fleetwright controller`. Dropped, it is killed.
#[derive(Debug)]
pub struct Controller {
    process: Process,
    address: String,
    agent: Agent,
    /// How long its log was when it started: it is appended to.
    log_begin: usize,
}

/// The time that a process kept processors busy, user and system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cpu {
    /// Its own, in seconds.
    pub own_secs: f64,
    /// That of programs that it ran and that have ended: `git`.
    pub children_secs: f64,
}

impl Cpu {
    /// Of this process; `children_secs` is that of programs it ran.
    ///
    /// # Errors
    /// When the system does not say it.
    pub fn of_this() -> Result<Cpu, ProductError> {
        read_cpu("self")
    }
}

/// The product: the program beside this one.
///
/// # Errors
/// When it is not there.
pub fn program() -> Result<PathBuf, ProductError> {
    let this = std::env::current_exe().map_err(ProductError::io("looking for this program"))?;
    let folder = this.parent().unwrap_or(Path::new("."));
    // tests run in a folder below
    let found = [folder, &folder.join("..")].map(|folder| folder.join("fleetwright"));
    match found.iter().find(|path| path.is_file()) {
        Some(path) => Ok(path.clone()),
        None => Err(ProductError::NotBuilt(folder.join("fleetwright"))),
    }
}

impl Controller {
    /// Starts one for a fleet and all clusters of a rig, and waits until it listens. It looks at the repository every second.
    /// One that was killed is started again by the same call: it finds nothing of the other but its log.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(rig: &Rig, fleet: &Fleet) -> Result<Controller, ProductError> {
        Controller::start_with(rig, fleet, &[])
    }

    /// The same, with more arguments.
    ///
    /// # Errors
    /// As [`Controller::start`].
    pub fn start_with(rig: &Rig, fleet: &Fleet, more: &[&str]) -> Result<Controller, ProductError> {
        let log = rig.folder().join("controller/controller.log");
        let log_begin = std::fs::read(&log).map_or(0, |bytes| bytes.len());
        let mut process = spawn(rig, fleet, more)?;
        let address = until("the controller to listen", START_WITHIN, || {
            if let Some(status) = process.ended() {
                return Err(format!("it ended: {status}"));
            }
            let lines = read_log(process.log(), log_begin);
            let bound = lines.iter().find_map(|line| line["fields"]["address"].as_str().map(str::to_owned));
            bound.ok_or_else(|| format!("{} lines of log", lines.len()))
        });
        let address = address.map_err(|late| ProductError::Late { late, log: process.log_tail() })?;
        let agent =
            Agent::config_builder().timeout_global(Some(Duration::from_secs(10))).proxy(None).build().new_agent();
        Ok(Controller { process, address, agent, log_begin })
    }

    /// Starts one and kills it after a while, in the middle of whatever it does.
    ///
    /// # Errors
    /// When it cannot be started, or ends before by itself.
    pub fn start_and_kill(rig: &Rig, fleet: &Fleet, after: Duration) -> Result<(), ProductError> {
        let mut process = spawn(rig, fleet, &[])?;
        std::thread::sleep(after);
        if let Some(status) = process.ended() {
            let said = format!("it ended by itself ({status}):\n{}", process.log_tail());
            return Err(ProductError::Failed { command: "fleetwright controller".to_owned(), said });
        }
        process.kill();
        Ok(())
    }

    /// What it says about the fleet.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn status(&self) -> Result<Status, String> {
        serde_json::from_str(&self.get("/api/status")?).map_err(|error| error.to_string())
    }

    /// Its metrics, as text.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn metrics(&self) -> Result<String, String> {
        self.get("/metrics")
    }

    /// The sum of a metric over all its labels.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn metric(&self, name: &str) -> Result<f64, String> {
        let text = self.metrics()?;
        let values = text.lines().filter_map(|line| {
            let rest = line.strip_prefix(name).filter(|rest| rest.starts_with(['{', ' ']))?;
            rest.rsplit(' ').next()?.parse::<f64>().ok()
        });
        Ok(values.sum())
    }

    /// Has it look at the repository at once, as a webhook does.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn nudge(&self) -> Result<(), String> {
        let sent = self.agent.post(format!("http://{}/api/reconcile", self.address)).send_empty();
        sent.map(drop).map_err(|error| error.to_string())
    }

    /// Waits until its status is as it must become; `look` says what it is instead.
    ///
    /// # Errors
    /// After `within`, with the end of its log.
    pub fn wait_for<T>(
        &self,
        what: &str,
        within: Duration,
        mut look: impl FnMut(&Status) -> Result<T, String>,
    ) -> Result<T, ProductError> {
        until(what, within, || look(&self.status()?))
            .map_err(|late| ProductError::Late { late, log: self.process.log_tail() })
    }

    /// Waits until `main` is live, applied in all clusters that answer, and every app is Current with all its replicas ready.
    ///
    /// # Errors
    /// After `within`.
    pub fn wait_for_current(&self, main: &str, within: Duration) -> Result<Status, ProductError> {
        self.wait_for(&format!("{} to be live and Current", main.get(..10).unwrap_or(main)), within, |status| {
            if status.main.as_deref() == Some(main) && is_current(status) {
                Ok(status.clone())
            } else {
                Err(in_short(status))
            }
        })
    }

    /// The lines of its log since it was started.
    pub fn log(&self) -> Vec<Value> {
        read_log(self.process.log(), self.log_begin)
    }

    /// How long it kept processors busy so far.
    ///
    /// # Errors
    /// When the system does not say it.
    pub fn cpu(&self) -> Result<Cpu, ProductError> {
        read_cpu(&self.process.id().to_string())
    }

    /// Asks it to end, as a service manager does.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn stop(mut self, within: Duration) -> Result<(), ProductError> {
        self.process.signal("TERM")?;
        until("the controller to end", within, || self.process.ended().ok_or_else(|| "it runs".to_owned()))
            .map(drop)
            .map_err(|late| ProductError::Late { late, log: self.process.log_tail() })
    }

    /// Ends it in the middle of whatever it does.
    pub fn kill(mut self) {
        self.process.kill();
    }

    fn get(&self, path: &str) -> Result<String, String> {
        let answer = self.agent.get(format!("http://{}{path}", self.address)).call();
        answer.and_then(|mut answer| answer.body_mut().read_to_string()).map_err(|error| error.to_string())
    }
}

fn spawn(rig: &Rig, fleet: &Fleet, more: &[&str]) -> Result<Process, ProductError> {
    let (repository, kubeconfig) = (fleet.remote().display().to_string(), rig.kubeconfig().display().to_string());
    let words = ["controller", "--repo", &repository, "--kubeconfig", &kubeconfig];
    let words = words.into_iter().chain(["--poll-secs", "1", "--listen", "127.0.0.1:0"]).chain(more.iter().copied());
    let words: Vec<String> = words.map(str::to_owned).collect();
    Ok(rig.start_program("controller", &program()?, &words)?)
}

/// Whether everything that is live is applied in all clusters that answer, and does well.
pub fn is_current(status: &Status) -> bool {
    let answering: Vec<_> = status.clusters.iter().filter(|cluster| cluster.answers == "Yes").collect();
    status.live.is_some()
        && answering.iter().all(|cluster| cluster.applied == status.live)
        && status.apps.iter().all(|app| app.health == "Current" && app.ready >= app.replicas)
}

/// A status in a line.
pub fn in_short(status: &Status) -> String {
    let live = status.live.as_deref().unwrap_or("none");
    let live = live.get(..10).unwrap_or(live);
    let clusters = status.clusters.iter().map(|cluster| {
        let applied = if cluster.applied == status.live { "applied" } else { "not applied" };
        format!(
            "{}: {} {applied} {}/{} held {}",
            cluster.name, cluster.answers, cluster.current, cluster.apps, cluster.held
        )
    });
    let apps = status.apps.iter().filter(|app| app.health != "Current" || app.ready < app.replicas);
    let apps = apps.take(5).map(|app| {
        let here = app.clusters.iter().flat_map(|placement| placement.blocking.iter().chain(&placement.held));
        let why = here.take(3).map(|object| format!(" {}: {}", object.object, object.reason)).collect::<String>();
        format!("{}/{} {} {}/{}{why}", app.team, app.app, app.health, app.ready, app.replicas)
    });
    let errors = status.clusters.iter().filter_map(|cluster| cluster.error.clone());
    let reports = status.reports.iter().map(|report| format!("{}: {}", report.urgency, report.text));
    let all = clusters.chain(apps).chain(errors).chain(reports).collect::<Vec<_>>().join("; ");
    format!("live {live} main {}; {all}", status.main.as_deref().and_then(|main| main.get(..10)).unwrap_or("none"))
}

fn read_log(path: &Path, begin: usize) -> Vec<Value> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(bytes.get(begin..).unwrap_or_default()).into_owned();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn read_cpu(process: &str) -> Result<Cpu, ProductError> {
    let path = format!("/proc/{process}/stat");
    let text = std::fs::read_to_string(&path).map_err(ProductError::io(format!("reading {path}")))?;
    Ok(cpu_of(&text))
}

/// Of a line of `/proc/PID/stat`: the name may hold blanks, and its parenthesis is the last one.
fn cpu_of(stat: &str) -> Cpu {
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    // `rest` begins with field 3; utime, stime, cutime and cstime are 14 to 17, in hundredths of a second on every Linux
    let ticks: Vec<f64> = rest.split_whitespace().skip(11).take(4).filter_map(|field| field.parse().ok()).collect();
    let secs = |index: usize| (ticks.get(index).unwrap_or(&0.0) + ticks.get(index + 1).unwrap_or(&0.0)) / 100.0;
    Cpu { own_secs: secs(0), children_secs: secs(2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_process() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 100 200 0 0 150 50 25 75 20 0 4 0 99 1 1";
        assert_eq!(cpu_of(stat), Cpu { own_secs: 2.0, children_secs: 1.0 });
        let own = std::fs::read_to_string("/proc/self/stat").unwrap();
        assert!(cpu_of(&own).own_secs < 600.0);
    }
}
