//! `fleetwright check`: is the repository right?

use fleetwright_compiler::diag::Diagnostics;
use fleetwright_compiler::model::Fleet;
use fleetwright_compiler::schedule::Scenario;
use fleetwright_compiler::source::SourceFile;
use fleetwright_compiler::{CompileError, Session};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::fleet::{self, Opened};
use crate::output::{self, count};
use crate::streams;

/// Check the repository and say everything that is wrong with it
///
/// Compiles the whole fleet and writes nothing. All mistakes come in one run, each with its code, file, line and column,
/// and how to fix it; `fleetwright explain CODE` says more. On a terminal they are drawn; elsewhere each is a line
/// `path:line:column: error[CODE]: message`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Json, Format::Yaml, Format::Sarif, Format::Github];

pub fn run(context: &Context, _args: &Args) -> Result<Outcome, Failure> {
    let opened = fleet::open(context)?;
    fleet::say_missing_live(&opened);
    match fleetwright_compiler::compile(&Session::new(), &opened.overlay(), &Scenario::default()) {
        Ok(compiled) => {
            show(context, &opened, &compiled.files, &compiled.diagnostics)?;
            let size = size(&compiled.fleet);
            streams::talk(&if compiled.diagnostics.is_empty() {
                format!("ok: {size}")
            } else {
                format!("ok, with {}: {size}", output::counts(&compiled.diagnostics))
            });
            Ok(Outcome::Done)
        }
        Err(CompileError::Refused(refusal)) => {
            show(context, &opened, &refusal.files, &refusal.diagnostics)?;
            Err(Failure::Refused(output::counts(&refusal.diagnostics)))
        }
        Err(error) => Err(fleet::failure(error)),
    }
}

/// Diagnostics are what this command is for: they are data.
fn show(context: &Context, opened: &Opened, files: &[SourceFile], diagnostics: &Diagnostics) -> Result<(), Failure> {
    let located = output::located(opened, files, diagnostics);
    let text = match context.format() {
        Format::Sarif => output::sarif::text(&located, &opened.paths())?,
        Format::Github => output::github::text(&located, &opened.paths()),
        format => {
            output::data(format, &located, || output::for_people(opened, files, &located, context.stdout_look()))?
        }
    };
    streams::data(&text)
}

/// `12 clusters, 3 teams, 8 apps`
fn size(fleet: &Fleet) -> String {
    [(fleet.clusters.len(), "cluster"), (fleet.teams.len(), "team"), (fleet.apps.len(), "app")]
        .map(|(n, what)| count(n, what))
        .join(", ")
}
