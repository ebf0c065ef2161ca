//! `fleet.yaml`.

use super::{Docs, Lowering};
use crate::api::{BranchesSpec, FleetFailoverSpec, FleetSpec, SecretsSpec};
use crate::base::FileId;
use crate::base::branch::check_branch;
use crate::base::name::NameRule;
use crate::diag::{Diagnostic, Place, codes};
use crate::model::Settings;

/// The settings of the repository. A missing `fleet.yaml` is reported.
pub(super) fn settings(cx: &mut Lowering<'_>, docs: &Docs<'_>) -> Settings {
    let mut settings = Settings { live_branch: "live".into(), intents_branch: "main".into(), ..Settings::default() };
    let fleets = super::unique(cx, &docs.fleets, "Fleet", |o| &o.metadata.name);
    for (file, extra) in fleets.iter().skip(1) {
        cx.error(
            codes::layout::DUPLICATE_NAME,
            Place::Span(*file, extra.metadata.name.span),
            "fleet.yaml holds more than one Fleet",
        );
    }
    let Some((file, fleet)) = docs.fleets.first() else {
        if !std::mem::replace(&mut cx.unread.fleet, true) {
            cx.report(
                Diagnostic::new(codes::layout::NO_FLEET, Place::Path("fleet.yaml".to_owned()), "there is no Fleet")
                    .help("`fleetwright init` writes one; -C DIR chooses another repository"),
            );
        }
        return settings;
    };
    let FleetSpec {
        tool_version,
        defaults: _, // placement.rs
        branches,
        limits: _, // not yet
        failover,
        adopt: _, // not yet
        drift: _, // not yet
        secrets,
        values,
    } = &fleet.spec;
    settings.file = Some(*file);
    settings.name = fleet.metadata.name.value.clone();
    cx.check_name(*file, &fleet.metadata.name, NameRule::Dns1123Subdomain, "fleet name");
    super::policy::labels(cx, *file, &fleet.metadata);
    if let Some(version) = tool_version
        && version.as_str() != env!("CARGO_PKG_VERSION")
    {
        cx.report(
            Diagnostic::new(
                codes::fields::TOOL_VERSION,
                Place::Span(*file, version.span),
                format!("this repository is for fleetwright {}, this is {}", version.value, env!("CARGO_PKG_VERSION")),
            )
            .help("use that version, or change the line and review what `diff` shows"),
        );
    }
    if let Some(BranchesSpec { intents, live, rendered: _ }) = branches {
        for (written, setting) in [(live, &mut settings.live_branch), (intents, &mut settings.intents_branch)] {
            let Some(name) = written else { continue };
            match check_branch(&name.value) {
                Ok(()) => setting.clone_from(&name.value),
                Err(expected) => cx.error(
                    codes::fields::INVALID_NAME,
                    Place::Span(*file, name.span),
                    format!("`{}` is not a valid branch name: expected {expected}", name.value),
                ),
            }
        }
        if settings.live_branch == settings.intents_branch {
            let span = live.as_ref().or(intents.as_ref()).map_or(fleet.metadata.name.span, |n| n.span);
            cx.error(
                codes::placement::CONTRADICTION,
                Place::Span(*file, span),
                format!("`branches.live` and `branches.intents` are both `{}`", settings.live_branch),
            );
        }
    }
    if let Some(SecretsSpec { plaintext, decryption: _ }) = secrets {
        settings.plaintext = plaintext.as_ref().map(|p| p.value).unwrap_or_default();
    }
    if let Some(failover) = failover {
        let FleetFailoverSpec { max_clusters, after, purge_mode: _ } = &failover.value;
        settings.failover.max_clusters = *max_clusters;
        if let Some(after) = after {
            settings.failover.after_secs = after.secs;
        }
    }
    settings.values.clone_from(values);
    settings
}

/// The file and name of the Fleet, for layers.
pub(super) fn home<'a>(docs: &Docs<'a>) -> Option<(FileId, &'a FleetSpec, &'a str)> {
    docs.fleets.first().map(|(file, fleet)| (*file, &fleet.spec, fleet.metadata.name.as_str()))
}
