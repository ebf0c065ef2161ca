//! Whether what a session kept still gives the answer of a fresh one.

use std::fmt;

use crate::render::{RenderedCluster, RenderedFile};
use crate::schedule::Scenario;
use crate::source::{Overlay, SourceFile};
use crate::{CompileError, Compiled, Session, compile};

/// A session kept something that no longer holds: our bug, or a source whose content ids do not follow its content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("compiled with what was kept, and anew: {0}")]
pub struct StaleMemo(Difference);

/// The first stage in which two compiles differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// One gives a result and the other does not, or they fail for different causes.
    Outcome,
    /// What was found wrong.
    Diagnostics,
    /// What should run.
    Target,
    /// Which object goes where.
    Plan,
    /// The manifests of the cluster of this name.
    Manifests(String),
}

impl StaleMemo {
    /// Where the compiles first differ.
    #[must_use]
    pub fn difference(&self) -> &Difference {
        &self.0
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome => f.write_str("only one of them gives a result"),
            Self::Diagnostics => f.write_str("the diagnostics differ"),
            Self::Target => f.write_str("the targets differ"),
            Self::Plan => f.write_str("the plans differ"),
            Self::Manifests(cluster) => write!(f, "the manifests of cluster {cluster} differ"),
        }
    }
}

impl Session {
    /// Compiles with what this session kept and with a fresh one, and compares everything that a user could see. For who
    /// mistrusts a session that lives long.
    ///
    /// # Errors
    /// When the two compiles differ. That the fleet is refused is no error, as long as it is for the same mistakes.
    pub fn check(&self, overlay: &Overlay<'_>, scenario: &Scenario) -> Result<(), StaleMemo> {
        let kept = compile(self, overlay, scenario);
        let fresh = compile(&Self::new(), overlay, scenario);
        difference(&kept, &fresh).map_or(Ok(()), |difference| Err(StaleMemo(difference)))
    }
}

/// The first stage in which two compiles differ; `None` where a user could not tell them apart. Of one fleet: whether it
/// lay in a folder, in Git or in memory makes no difference.
#[must_use]
pub fn difference(a: &Result<Compiled, CompileError>, b: &Result<Compiled, CompileError>) -> Option<Difference> {
    match (a, b) {
        (Ok(a), Ok(b)) => difference_of_results(a, b),
        (Err(CompileError::Refused(a)), Err(CompileError::Refused(b))) => {
            (!same_files(&a.files, &b.files) || a.diagnostics != b.diagnostics).then_some(Difference::Diagnostics)
        }
        (Err(CompileError::Bug(a)), Err(CompileError::Bug(b))) => (a != b).then_some(Difference::Outcome),
        (Err(CompileError::Files(a)), Err(CompileError::Files(b))) => (a != b).then_some(Difference::Outcome),
        _ => Some(Difference::Outcome),
    }
}

fn difference_of_results(a: &Compiled, b: &Compiled) -> Option<Difference> {
    if !same_files(&a.files, &b.files) || a.diagnostics != b.diagnostics {
        return Some(Difference::Diagnostics);
    }
    if a.target != b.target {
        return Some(Difference::Target);
    }
    if a.plan != b.plan {
        return Some(Difference::Plan);
    }
    if a.rendered.clusters.len() != b.rendered.clusters.len() {
        return Some(Difference::Manifests(String::new()));
    }
    let clusters = a.fleet.cluster_ids().zip(a.rendered.clusters.iter().zip(&b.rendered.clusters));
    let mut differing = clusters.filter(|(_, (a, b))| !same_manifests(a, b));
    differing.next().map(|(id, _)| Difference::Manifests(a.fleet.cluster(id).name.to_string()))
}

/// The same files, whatever the source calls their content.
fn same_files(a: &[SourceFile], b: &[SourceFile]) -> bool {
    a.iter()
        .map(|file| (&file.path, file.class, file.from))
        .eq(b.iter().map(|file| (&file.path, file.class, file.from)))
}

fn same_manifests(a: &RenderedCluster, b: &RenderedCluster) -> bool {
    let same_file = |(a, b): (&RenderedFile, &RenderedFile)| {
        a.app == b.app
            && a.objects.len() == b.objects.len()
            && a.objects.iter().zip(&b.objects).all(|(a, b)| a.object == b.object && a.digest() == b.digest())
    };
    a.files.len() == b.files.len() && a.files.iter().zip(&b.files).all(same_file)
}
