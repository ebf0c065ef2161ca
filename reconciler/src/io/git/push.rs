//! Pushes one commit to one branch.

use fleetwright_compiler::base::SmolStr;
use git2::Oid;

use super::remote::Remote;
use super::subprocess::{Git, Output, last_words};
use crate::ports::{NewCommit, PortError, PushError};

/// Pushes, if the branch still stands at `commit.tip`.
///
/// The lease makes the remote compare: without it, a branch that somebody set back meanwhile would silently be moved
/// forward again. It forces nothing, because the commit is a child of the very commit that the lease names.
pub(super) fn push(git: &Git, remote: &Remote, commit: &NewCommit, id: Oid) -> Result<(), PushError> {
    let reference = format!("refs/heads/{}", commit.branch);
    let expected = commit.tip.as_ref().map(|tip| tip.0.as_str()).unwrap_or_default();
    let lease = format!("--force-with-lease={reference}:{expected}");
    let refspec = format!("{id}:{reference}");
    let args = ["push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", &lease, "--"];
    let args: Vec<&str> = args.into_iter().chain([remote.url(), &refspec]).collect();
    let output = git.run(remote, &args)?;
    if output.success {
        return Ok(());
    }
    Err(failure(&commit.branch, remote, &output))
}

/// Why a push failed: from its porcelain line, `!<TAB>from:to<TAB>[rejected] (reason)`, else from what `git` said.
fn failure(branch: &SmolStr, remote: &Remote, output: &Output) -> PushError {
    let summary = output.stdout.lines().find_map(|line| line.strip_prefix("!\t")?.split('\t').nth(1));
    let said = last_words(&remote.redact(&output.stderr));
    match summary {
        Some(summary) if summary.starts_with("[rejected]") => PushError::Moved(branch.clone()),
        // Another push won while the remote was writing ours.
        Some(summary)
            if ["failed to update ref", "cannot lock ref", "fetch first"].iter().any(|s| summary.contains(s)) =>
        {
            PushError::Moved(branch.clone())
        }
        Some(summary) if summary.starts_with("[remote rejected]") => {
            let why = summary.trim_start_matches("[remote rejected]").trim().trim_matches(['(', ')']);
            PushError::Refused { branch: branch.clone(), reason: format!("{why}; {said}") }
        }
        Some(summary) => PushError::Failed(PortError::Transient(format!("pushing to {}: {summary}", remote.shown()))),
        None if [
            "ermission denied",
            "Authentication failed",
            "ermission to",
            "denied to",
            "not authorized",
            " 403",
        ]
        .iter()
        .any(|sign| output.stderr.contains(sign)) =>
        {
            PushError::Refused { branch: branch.clone(), reason: said }
        }
        None => PushError::Failed(PortError::Transient(format!("cannot push to {}: {said}", remote.shown()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_push_failed() {
        let remote = Remote::new("https://git.example/fleet.git").unwrap();
        let moved = || PushError::Moved("live".into());
        let refused = |reason: &str| PushError::Refused { branch: "live".into(), reason: reason.into() };
        for (stdout, stderr, expected) in [
            ("!\ta:refs/heads/live\t[rejected] (stale info)\n", "", moved()),
            ("!\ta:refs/heads/live\t[rejected] (fetch first)\n", "", moved()),
            ("!\ta:refs/heads/live\t[remote rejected] (failed to update ref)\n", "", moved()),
            ("!\ta:refs/heads/live\t[remote rejected] (cannot lock ref 'refs/heads/live')\n", "", moved()),
            (
                "!\ta:refs/heads/live\t[remote rejected] (pre-receive hook declined)\n",
                "remote: live is frozen\nTo https://git.example/fleet.git\n",
                refused("pre-receive hook declined; remote: live is frozen"),
            ),
            ("", "remote: Permission to a/b denied to bot.\n", refused("remote: Permission to a/b denied to bot.")),
            (
                "",
                "fatal: unable to access 'https://git.example/fleet.git/': Could not resolve host\n",
                PushError::Failed(PortError::Transient(
                    "cannot push to https://git.example/fleet.git: fatal: unable to access \
                     'https://git.example/fleet.git/': Could not resolve host"
                        .into(),
                )),
            ),
        ] {
            let output = Output { success: false, stdout: stdout.into(), stderr: stderr.into() };
            assert_eq!(failure(&"live".into(), &remote, &output), expected, "{stdout}{stderr}");
        }
    }
}
