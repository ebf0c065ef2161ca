//! `fleetwright reconcile`: a running controller looks at the repository now.

use fleetwright_reconciler::io::ask;

use crate::args::Format;
use crate::connect::Connections;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::streams;

/// Have a running controller look at the repository now, instead of at its next poll
///
/// Nothing is decided or applied that would not be anyway. A webhook of the Git server can do the same: POST
/// /api/reconcile.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the controller serves: `http://HOST:PORT`
    #[arg(long, value_name = "URL", env = "FLEETWRIGHT_SERVER", default_value = "http://127.0.0.1:8080")]
    server: String,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text];

pub fn run(_context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let connections = Connections::new(None, std::collections::BTreeMap::new())?;
    let server = args.server.trim_end_matches('/');
    match ask::post(connections.runtime(), server, "/api/reconcile").map_err(Failure::Environment)? {
        Some(said) => streams::talk(&said),
        None => return Err(Failure::Environment(format!("{server} is no fleetwright controller"))),
    }
    Ok(Outcome::Done)
}
