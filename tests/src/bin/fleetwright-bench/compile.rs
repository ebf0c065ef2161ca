//! A whole compile, from bytes in memory to manifests in memory.

use std::time::Instant;

use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{MemoryFiles, Overlay};
use fleetwright_compiler::{Compiled, Session};
use fleetwright_tests::generate::{Shape, files};

/// Compiles a generated fleet once.
pub fn compiled(shape: Shape) -> Result<Compiled, String> {
    let tree = MemoryFiles::new(files(shape)).map_err(|e| e.to_string())?;
    let overlay = Overlay::without_record(&tree);
    fleetwright_compiler::compile(&Session::new(), &overlay, &Scenario::default()).map_err(|e| e.to_string())
}

/// Compiles cold, then so many times with nothing changed.
pub fn compile(shape: Shape, runs: u32) -> Result<String, String> {
    let files = files(shape);
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    let tree = MemoryFiles::new(files.iter().map(|(p, t)| (p, t))).map_err(|e| e.to_string())?;
    drop(files);
    let session = Session::new();
    let mut out = format!("{bytes} bytes in\n");
    for state in std::iter::once("cold").chain(std::iter::repeat_n("live, nothing changed", runs as usize)) {
        let (wall, cpu) = (Instant::now(), cpu_secs());
        let compiled = fleetwright_compiler::compile(&session, &Overlay::without_record(&tree), &Scenario::default());
        let compiled = compiled.map_err(|e| format!("{e}"))?;
        let written: usize = compiled.rendered.clusters.iter().flat_map(|c| &c.files).map(|f| f.objects.len()).sum();
        out.push_str(&format!(
            "{state}: {:.2} s wall, {:.2} s CPU, peak {} MiB; {} apps, {} objects\n",
            wall.elapsed().as_secs_f64(),
            cpu_secs() - cpu,
            peak_mib(),
            compiled.fleet.apps.len(),
            written,
        ));
    }
    Ok(out)
}

/// CPU seconds of this process, user and system, in ticks of 1/100 s.
fn cpu_secs() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<f64>().ok()).sum();
    ticks / 100.0
}

fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) / 1024
}
