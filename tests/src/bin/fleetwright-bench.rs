//! Whole-process benchmarks on generated fleets.
//!
//! `fleetwright-bench generate APPS CLUSTERS SEED DIR` writes a fleet; `fleetwright-bench compile APPS CLUSTERS SEED
//! [--adversarial] [--runs N]` compiles it from memory and prints wall and CPU time and peak memory of each stage.

use std::process::ExitCode;
use std::time::Instant;

use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::{MemoryFiles, Overlay};
use fleetwright_compiler::{Session, compile};
use fleetwright_tests::generate::{Shape, files};

#[allow(clippy::print_stdout, clippy::print_stderr)]
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<String, String> {
    let usage = "usage: fleetwright-bench generate APPS CLUSTERS SEED DIR | compile APPS CLUSTERS SEED [--adversarial] [--runs N]";
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<u32>().ok()).ok_or(usage);
    let adversarial = args.iter().any(|a| a == "--adversarial");
    let shape = Shape { apps: number(1)?, clusters: number(2)?, seed: u64::from(number(3)?), adversarial };
    match args.first().map(String::as_str) {
        Some("generate") => {
            let dir = std::path::Path::new(args.get(4).ok_or(usage)?);
            let files = files(shape);
            for (path, text) in &files {
                let path = dir.join(path);
                let parent = path.parent().unwrap_or(dir);
                std::fs::create_dir_all(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
                std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
            }
            Ok(format!("wrote {} files", files.len()))
        }
        Some("compile") => {
            let runs = args.iter().position(|a| a == "--runs").map_or(Ok(3), |i| number(i + 1))?;
            let files = files(shape);
            let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
            let tree = MemoryFiles::new(files.iter().map(|(p, t)| (p, t))).map_err(|e| e.to_string())?;
            drop(files);
            let session = Session::new();
            let mut out = format!("{} bytes in\n", bytes);
            for state in std::iter::once("cold").chain(std::iter::repeat_n("live, nothing changed", runs as usize)) {
                let (wall, cpu) = (Instant::now(), cpu_secs());
                let compiled = compile(&session, &Overlay::without_record(&tree), &Scenario::default());
                let compiled = compiled.map_err(|e| format!("{e}"))?;
                let written: usize =
                    compiled.rendered.clusters.iter().flat_map(|c| &c.files).map(|f| f.objects.len()).sum();
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
        _ => Err(usage.to_owned()),
    }
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
