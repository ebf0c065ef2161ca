//! `fleetwright why`: why an app is where it is, and why it is nowhere else.

use fleetwright_compiler::base::name::nearest;
use fleetwright_compiler::base::{AppId, ClusterId};
use fleetwright_compiler::model::Fleet;
use fleetwright_compiler::report::WhyReport;
use fleetwright_compiler::{Session, report};

use crate::args::Format;
use crate::context::Context;
use crate::exit::{Failure, Outcome};
use crate::{fleet, output, streams};

/// Explain why an app runs where it does, and why nowhere else
///
/// Shows the layer that each field of its placement came from, with file and line; its replicas in each cluster; and the
/// reason of every cluster that gets none.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The app: `team/app`, or `app` where only one team has an app of that name
    app: String,

    /// This cluster first, in detail
    cluster: Option<String>,

    /// Name every cluster, however many fare alike: the same as `-o wide`
    #[arg(long)]
    all: bool,
}

/// The forms it has.
pub const FORMATS: &[Format] = &[Format::Text, Format::Wide, Format::Json, Format::Yaml];

pub fn run(context: &Context, args: &Args) -> Result<Outcome, Failure> {
    let opened = fleet::open(context)?;
    let compiled = fleet::compile(context, &Session::new(), &opened)?;
    let app = app_named(&compiled.fleet, &args.app)?;
    let cluster = args.cluster.as_deref().map(|name| cluster_named(&compiled.fleet, name)).transpose()?;
    fleet::say_missing_live(&opened);
    let why = report::why(&compiled, app, cluster, &|file| opened.read(file));
    let report = WhyReport { record: opened.record(), ..why };
    let wide = args.all || context.format() == Format::Wide;
    streams::data(&output::data(context.format(), &report, || report.to_text(wide))?)?;
    Ok(Outcome::Done)
}

/// The app of a name; without its team, the name must be that of one app alone.
pub fn app_named(fleet: &Fleet, name: &str) -> Result<AppId, Failure> {
    if let Some((team, app)) = name.split_once('/') {
        return fleet.app_id(team, app).ok_or_else(|| {
            // The same app in another team is nearer than any name that is spelt alike.
            let elsewhere = apps_called(fleet, app).first().map(|id| fleet.app_name(*id));
            unknown("app", name, elsewhere.or_else(|| nearest_of(name, fleet.app_ids().map(|id| fleet.app_name(id)))))
        });
    }
    match apps_called(fleet, name).as_slice() {
        [only] => Ok(*only),
        [] => {
            let near = nearest_of(name, fleet.apps.iter().map(|app| app.name.to_string()));
            Err(unknown("app", name, near))
        }
        several => {
            let names: Vec<String> = several.iter().map(|id| fleet.app_name(*id)).collect();
            Err(Failure::Usage(format!("more than one team has an app `{name}`: name {}", names.join(" or "))))
        }
    }
}

fn apps_called(fleet: &Fleet, name: &str) -> Vec<AppId> {
    fleet.app_ids().filter(|id| fleet.app(*id).name == name).collect()
}

pub fn cluster_named(fleet: &Fleet, name: &str) -> Result<ClusterId, Failure> {
    fleet.cluster_id(name).ok_or_else(|| {
        let near = nearest_of(name, fleet.clusters.iter().map(|cluster| cluster.name.to_string()));
        unknown("cluster", name, near)
    })
}

pub fn nearest_of(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let known: Vec<String> = known.collect();
    nearest(name, known.iter().map(String::as_str)).map(str::to_owned)
}

pub fn unknown(what: &str, name: &str, near: Option<String>) -> Failure {
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Failure::Usage(format!("there is no {what} `{name}`{hint}"))
}

#[cfg(test)]
mod tests {
    use fleetwright_compiler::schedule::Scenario;
    use fleetwright_compiler::source::{MemoryFiles, Overlay};

    use super::*;

    const HEAD: &str = "apiVersion: fleetwright.io/v1alpha1\nkind";

    fn fleet() -> Fleet {
        let app = |name: &str| {
            format!("{HEAD}: App\nmetadata: {{name: {name}}}\nspec: {{namespace: x, manifests: [cm.yaml]}}\n")
        };
        let team = |name: &str| {
            format!("{HEAD}: Team\nmetadata: {{name: {name}}}\nspec: {{namespaces: [{{prefix: \"\"}}]}}\n")
        };
        let map = |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
        let files = [
            ("fleet.yaml", format!("{HEAD}: Fleet\nmetadata: {{name: fleet}}\nspec: {{}}\n")),
            ("clusters/eu-a.yaml", format!("{HEAD}: Cluster\nmetadata: {{name: eu-a}}\nspec: {{}}\n")),
            ("teams/pay.yaml", team("pay")),
            ("teams/shop.yaml", team("shop")),
            ("teams/pay/web/app.yaml", app("web")),
            ("teams/pay/web/cm.yaml", map("pay-web")),
            ("teams/pay/ledger/app.yaml", app("ledger")),
            ("teams/pay/ledger/cm.yaml", map("ledger")),
            ("teams/shop/web/app.yaml", app("web")),
            ("teams/shop/web/cm.yaml", map("shop-web")),
        ];
        let files = MemoryFiles::new(files).unwrap();
        match fleetwright_compiler::compile(&Session::new(), &Overlay::same(&files), &Scenario::default()) {
            Ok(compiled) => compiled.fleet,
            Err(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn apps_by_name() {
        let fleet = fleet();
        for (name, expected) in [
            ("pay/web", Ok("pay/web")),
            ("ledger", Ok("pay/ledger")),
            ("web", Err("more than one team has an app `web`: name pay/web or shop/web")),
            ("shop/ledger", Err("there is no app `shop/ledger`; did you mean `pay/ledger`?")),
            ("shop/wbe", Err("there is no app `shop/wbe`; did you mean `shop/web`?")),
            ("legder", Err("there is no app `legder`; did you mean `ledger`?")),
            ("something", Err("there is no app `something`")),
        ] {
            let got = app_named(&fleet, name).map(|id| fleet.app_name(id));
            assert_eq!(got, expected.map(str::to_owned).map_err(|text| Failure::Usage(text.to_owned())), "{name}");
        }
        assert_eq!(cluster_named(&fleet, "eu-a"), Ok(ClusterId(0)));
        let hint = "there is no cluster `eu-b`; did you mean `eu-a`?".to_owned();
        assert_eq!(cluster_named(&fleet, "eu-b"), Err(Failure::Usage(hint)));
    }
}
