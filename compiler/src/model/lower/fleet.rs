//! `fleet.yaml`.

use super::{Docs, Lowering};
use crate::api::{
    AdoptSpec, BranchesSpec, Budget, FleetFailoverSpec, FleetSpec, IntOrPercent, LimitsSpec, SecretsSpec,
};
use crate::base::branch::check_branch;
use crate::base::name::NameRule;
use crate::base::{FileId, SmolStr, Spanned};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{DeletionLimit, Settings};

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
        limits,
        failover,
        adopt,
        drift,
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
    if let Some(BranchesSpec { intents, live, rendered }) = branches {
        for (written, setting) in [(live, &mut settings.live_branch), (intents, &mut settings.intents_branch)] {
            if let Some(name) = written.as_ref().and_then(|name| branch(cx, *file, name)) {
                *setting = name;
            }
        }
        settings.rendered_branch = rendered.as_ref().and_then(|name| branch(cx, *file, name));
        if settings.live_branch == settings.intents_branch {
            let span = live.as_ref().or(intents.as_ref()).map_or(fleet.metadata.name.span, |n| n.span);
            cx.error(
                codes::placement::CONTRADICTION,
                Place::Span(*file, span),
                format!("`branches.live` and `branches.intents` are both `{}`", settings.live_branch),
            );
        }
        for (taken, what) in [(&settings.live_branch, "live"), (&settings.intents_branch, "intents")] {
            if let Some(rendered) = rendered.as_ref().filter(|name| name.value == *taken) {
                cx.error(
                    codes::placement::CONTRADICTION,
                    Place::Span(*file, rendered.span),
                    format!("`branches.rendered` and `branches.{what}` are both `{taken}`"),
                );
            }
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
    if let Some(limits) = limits {
        let LimitsSpec { deletions, moves: _ } = &limits.value; // moves: not yet
        settings.limits.deletions = deletions.as_ref().map(|budget| deletion_limit(cx, *file, budget));
    }
    if let Some(adopt) = adopt {
        let AdoptSpec { managers } = &adopt.value;
        for manager in managers.iter().filter(|manager| manager.value.trim().is_empty()) {
            let message = "a field manager is empty: expected a name as `metadata.managedFields` has it";
            cx.error(codes::fields::INVALID_VALUE, Place::Span(*file, manager.span), message);
        }
        settings.adopt_managers = managers.iter().map(|manager| manager.value.clone()).collect();
    }
    settings.drift = drift.as_ref().map(|drift| drift.value).unwrap_or_default();
    settings.values.clone_from(values);
    settings
}

fn branch(cx: &mut Lowering<'_>, file: FileId, name: &Spanned<SmolStr>) -> Option<SmolStr> {
    match check_branch(&name.value) {
        Ok(()) => Some(name.value.clone()),
        Err(expected) => {
            let message = format!("`{}` is not a valid branch name: expected {expected}", name.value);
            cx.error(codes::fields::INVALID_NAME, Place::Span(file, name.span), message);
            None
        }
    }
}

/// A budget of deletions: nobody says "as much as you like" by leaving both parts out.
fn deletion_limit(cx: &mut Lowering<'_>, file: FileId, written: &Spanned<Budget>) -> DeletionLimit {
    let Budget { share, count } = &written.value;
    if share.is_none() && count.is_none() {
        let message = "a budget states `share`, `count`, or both";
        cx.error(codes::fields::MISSING_FIELD, Place::Span(file, written.span), message);
    }
    let share_percent = share.as_ref().and_then(|share| match share.value {
        IntOrPercent::Percent(percent) => Some(percent),
        IntOrPercent::Int(number) => {
            cx.report(
                Diagnostic::new(
                    codes::fields::INVALID_VALUE,
                    Place::Span(file, share.span),
                    format!("`{number}` is no share: expected a percentage such as 10%"),
                )
                .help(format!("an absolute number is `count: {number}`")),
            );
            None
        }
    });
    DeletionLimit { share_percent, count: *count }
}

/// The file and name of the Fleet, for layers.
pub(super) fn home<'a>(docs: &Docs<'a>) -> Option<(FileId, &'a FleetSpec, &'a str)> {
    docs.fleets.first().map(|(file, fleet)| (*file, &fleet.spec, fleet.metadata.name.as_str()))
}
