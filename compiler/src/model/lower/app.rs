//! Apps: their names, layers and rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::moves::Moves;
use super::policy::Priority;
use super::relations::Relations;
use super::{Docs, Lowering, fleet, manifests, objects, overrides, placement, selector, team, tide, workload};
use crate::api::{self, AppSpec, FailoverSpec, ObjectMatch, ObjectRule, PlacementSpec};
use crate::base::name::NameRule;
use crate::base::{AppId, FileId, SmolStr, Spanned, TeamId};
use crate::diag::{Diagnostic, Place, codes};
use crate::model::{App, ClusterSet, MinAvailable, Object, Placement, Spread, Tide, TopologyKey};

/// The apps, ascending by (team, app), and the tides that move them.
pub(super) fn apps(cx: &mut Lowering<'_>, docs: &Docs<'_>) -> (Vec<Arc<App>>, Vec<Arc<Tide>>) {
    team::folders_without_team(cx);
    let files_of = manifests::assign(cx, docs);
    let scopes = objects::custom_scopes(cx, &files_of);
    for (file, team) in &docs.teams {
        team.spec.placement.iter().for_each(|spec| placement::check(cx, *file, spec));
    }
    if let Some((file, fleet, _)) = fleet::home(docs) {
        fleet.defaults.iter().flat_map(|d| &d.placement).for_each(|spec| placement::check(cx, file, spec));
    }
    let known = known(cx, docs);
    let mut policies = placement::policies(cx, docs, &known);
    let mut override_policies = overrides::policies(cx, docs, &known);
    let mut tides = tide::Tides::lower(cx, docs, &known);
    let mut by_name: BTreeMap<(TeamId, &SmolStr), usize> = BTreeMap::new();
    for (index, (file, app)) in docs.apps.iter().enumerate() {
        let Some(team) = team::owner(cx, *file) else { continue };
        let name = &app.metadata.name;
        match by_name.get(&(team, &name.value)) {
            None => {
                by_name.insert((team, &name.value), index);
            }
            Some(first) => {
                let (first_file, first) = docs.apps[*first];
                cx.report(
                    Diagnostic::new(
                        codes::layout::DUPLICATE_NAME,
                        Place::Span(*file, name.span),
                        format!("App `{}` is defined twice in this team", name.value),
                    )
                    .related(Place::Span(first_file, first.metadata.name.span), "first defined here")
                    .help("rename or remove one of the two"),
                );
            }
        }
    }
    let named = by_name.iter().map(|((team, _), index)| (*team, docs.apps[*index]));
    let mut relations = Relations::new(cx, named);
    let apps: Vec<Arc<App>> = by_name
        .into_iter()
        .zip(0_u32..)
        .map(|(((team, _), index), id)| {
            let (file, object) = docs.apps[index];
            let mut one = AppLowering { cx, docs, team, file, object, scopes: &scopes };
            let mut app = one.lower(&files_of[index], &mut policies, &mut override_policies);
            let choice = object.spec.tide.as_ref().map(|tide| tide.value);
            let of_tide = tides.reach(cx, AppId(id), &app, choice);
            if !app.exclusive {
                let stated = app.min_available.into_iter().chain(of_tide.min_available);
                app.min_available = stated.reduce(MinAvailable::and);
                app.tide_steps = of_tide.steps;
            }
            app.depends_on = relations.depends_on(cx, AppId(id), file, object);
            app.previous_names = relations.previous_names(cx, AppId(id), file, object);
            Arc::new(app)
        })
        .collect();
    relations.report_cycles(cx);
    placement::unused(cx, &policies);
    overrides::unused(cx, &override_policies);
    std::mem::take(&mut cx.shadows).report(cx);
    (apps, tides.finish(cx))
}

fn known(cx: &Lowering<'_>, docs: &Docs<'_>) -> selector::KnownApps {
    let mut known = selector::KnownApps::default();
    for (file, app) in &docs.apps {
        if let Some(team) = team::owner(cx, *file) {
            known.add(&cx.teams[team.index()].name, &app.metadata.name.value);
        }
    }
    known
}

struct AppLowering<'c, 'a, 'd> {
    cx: &'c mut Lowering<'a>,
    docs: &'d Docs<'d>,
    team: TeamId,
    file: FileId,
    object: &'d api::Object<AppSpec>,
    scopes: &'d objects::Scopes,
}

impl<'d> AppLowering<'_, '_, 'd> {
    fn lower(
        &mut self,
        files: &[FileId],
        policies: &mut [placement::Policy<'d>],
        override_policies: &mut [overrides::Policy<'d>],
    ) -> App {
        let AppSpec {
            namespace,
            manifests: _, // manifests.rs
            sources,      // not yet
            images,
            priority_class_name,
            placement,
            objects: rules,
            overrides: app_overrides,
            depends_on: _, // relations.rs
            failover,
            survive,
            traffic: _, // not yet
            rollout: _, // not yet
            suspend,
            prune,
            exclusive,
            previous_names: _, // relations.rs
            tide: _,           // tide.rs
        } = &self.object.spec;
        let name = &self.object.metadata.name;
        self.cx.check_name(self.file, name, NameRule::Dns1123Label, "app name");
        if let Some(namespace) = namespace {
            self.cx.check_name(self.file, namespace, NameRule::Dns1123Label, "namespace");
        }
        let labels = super::policy::labels(self.cx, self.file, &self.object.metadata);
        let team = Arc::clone(&self.cx.teams[self.team.index()]);
        let priority = self.priority(priority_class_name.as_ref());
        let spec: Option<&'d PlacementSpec> = placement.as_ref();
        let layers = placement::layers(
            self.docs,
            policies,
            (self.team, &team.name, team.file),
            (&name.value, &labels, self.file, spec),
        );
        let placement::Resolved { mut placement, total, moves: Moves { mut min_available, mut steps } } =
            placement::resolve(self.cx, self.docs, &layers, &team, (self.file, &labels));
        let is = |flag: &Option<Spanned<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
        if let Some(exclusive) = exclusive.as_ref().filter(|exclusive| exclusive.value) {
            self.in_one_cluster(exclusive, &mut placement);
            // the new copy waits for the old one to go, so that must not wait for the new one
            min_available = Some(MinAvailable::of_percent(0));
            // and a step raises first
            steps = None;
        }
        let failover_after_secs = failover.as_ref().and_then(|failover| {
            // the others: not yet
            let FailoverSpec { after, purge_mode: _, preserve: _, fail_back: _ } = &failover.value;
            after.map(|after| after.secs)
        });
        let mut objects = objects::objects(self.cx, self.scopes, (self.file, name), &team, files, namespace.as_ref());
        if objects.is_empty() && sources.is_none() && !self.cx.unread.objects_of(&team.name) {
            self.cx.report(
                Diagnostic::new(
                    codes::layout::NO_MANIFESTS,
                    Place::Span(self.file, name.span),
                    format!("App `{}` has no manifests", name.value),
                )
                .help("put manifests into its folder or below, or name them in `manifests`"),
            );
        }
        let matched = self.match_rules(&team.name, rules, &objects);
        for (object, rule) in objects.iter_mut().zip(&matched) {
            object.only = rule.and_then(|i| self.only(&rules[i].value));
        }
        self.outside_of_candidates(&objects, &matched, rules, &placement.candidates);
        let names = (team.name.as_str(), namespace.as_ref().map(|n| &n.value));
        let place = (self.file, name.span);
        let workloads = workload::workloads(self.cx, place, &objects, names, rules, &matched, (&placement, total));
        let overrides = overrides::of_app(
            self.cx,
            override_policies,
            (self.team, &team.name),
            (&name.value, &labels, self.file),
            images,
            app_overrides,
            &objects,
        );
        App {
            team: self.team,
            name: name.value.clone(),
            file: self.file,
            name_span: name.span,
            namespace: namespace.clone(),
            labels,
            priority: priority.value,
            preempts: priority.preempts,
            survive: survive.as_ref().map(|survive| survive.value).or(team.survive),
            placement,
            objects,
            workloads,
            overrides,
            depends_on: Vec::new(),
            keep_removed: prune.as_ref().is_some_and(|prune| !prune.value),
            suspended: is(suspend),
            exclusive: is(exclusive),
            previous_names: Vec::new(),
            min_available,
            steps,
            tide_steps: None,
            failover_after_secs,
        }
    }

    /// Two clusters would be two running copies.
    fn in_one_cluster(&mut self, exclusive: &Spanned<bool>, placement: &mut Placement) {
        match placement.spread.iter_mut().find(|spread| spread.key == TopologyKey::Cluster) {
            None => placement.spread.push(Spread { key: TopologyKey::Cluster, min: 1, max: Some(1) }),
            Some(spread) if spread.min <= 1 => spread.max = Some(1),
            Some(spread) => {
                let message = format!(
                    "the app is never to run in two clusters, and its `spread` asks for at least {}",
                    spread.min
                );
                self.cx.error(codes::placement::CONTRADICTION, Place::Span(self.file, exclusive.span), message);
            }
        }
    }

    fn priority(&mut self, class: Option<&Spanned<SmolStr>>) -> Priority {
        let Some(class) = class else { return self.cx.default_priority };
        super::policy::known_class(self.cx, self.file, class);
        let team = &self.cx.teams[self.team.index()];
        let team_doc = self.docs.teams.iter().find(|(f, o)| *f == team.file && o.metadata.name.value == team.name);
        let allowed = team_doc.map(|(_, o)| o.spec.priority_class_names.as_slice()).unwrap_or_default();
        if self.cx.classes.contains_key(&class.value) && !allowed.iter().any(|a| a.value == class.value) {
            let message = format!("team `{}` may not use priority class `{}`", team.name, class.value);
            self.cx.report(
                Diagnostic::new(codes::rights::PRIORITY_NOT_ALLOWED, Place::Span(self.file, class.span), message)
                    .help("the platform's file of the team lists `priorityClassNames`"),
            );
        }
        self.cx.classes.get(&class.value).copied().unwrap_or(self.cx.default_priority)
    }

    /// By object, the first rule that matches it; rules that match nothing are reported.
    fn match_rules(&mut self, team: &str, rules: &[Spanned<ObjectRule>], objects: &[Object]) -> Vec<Option<usize>> {
        let matches = |rule: &ObjectRule, object: &Object| {
            let ObjectMatch { kind, name, labels } = &rule.match_;
            kind.as_ref().is_none_or(|k| k.value == object.key.kind)
                && name.as_ref().is_none_or(|n| n.value == object.key.name)
                && labels.iter().all(|(k, v)| object.facts.labels.get(k) == Some(v))
        };
        // most rules of a long list name their object: those are looked up, the others asked one by one
        let mut named: BTreeMap<&SmolStr, Vec<usize>> = BTreeMap::new();
        let mut unnamed: Vec<usize> = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            match &rule.match_.name {
                Some(name) => named.entry(&name.value).or_default().push(index),
                None => unnamed.push(index),
            }
        }
        let mut used = vec![false; rules.len()];
        let mut first = Vec::with_capacity(objects.len());
        for object in objects {
            let by_name = named.get(&object.key.name).map(Vec::as_slice).unwrap_or_default();
            let mut matching =
                by_name.iter().filter(|i| matches(&rules[**i].value, object)).inspect(|i| used[**i] = true);
            let by_name = matching.next().copied();
            matching.for_each(drop);
            let other = unnamed.iter().copied().find(|i| matches(&rules[*i].value, object));
            first.push(by_name.into_iter().chain(other).min());
        }
        for index in unnamed {
            used[index] = objects.iter().any(|o| matches(&rules[index].value, o));
        }
        for (rule, used) in rules.iter().zip(used) {
            if !used && !self.cx.unread.objects_of(team) {
                self.cx.error(
                    codes::references::SELECTS_NOTHING,
                    Place::Span(self.file, rule.span),
                    "this rule matches no object of the app",
                );
            }
        }
        first
    }

    /// Reports rules whose clusters are all none of the app's: what they match goes nowhere.
    fn outside_of_candidates(
        &mut self,
        objects: &[Object],
        matched: &[Option<usize>],
        rules: &[Spanned<ObjectRule>],
        candidates: &ClusterSet,
    ) {
        let nowhere = |only: &ClusterSet| !only.is_empty() && !candidates.is_empty() && only.and(candidates).is_empty();
        let rows = objects.iter().zip(matched);
        let lost = rows.filter_map(|(object, rule)| object.only.as_ref().filter(|o| nowhere(o)).and(*rule));
        for rule in lost.collect::<BTreeSet<_>>() {
            let span = rules[rule].value.clusters.as_ref().map_or(rules[rule].span, |c| c.span);
            self.cx.report(
                Diagnostic::new(
                    codes::references::SELECTS_NOTHING,
                    Place::Span(self.file, span),
                    "the app goes to none of these clusters, so what the rule matches goes nowhere",
                )
                .help("`objects[].clusters` narrows `placement.clusters`, it adds none"),
            );
        }
    }

    fn only(&mut self, rule: &ObjectRule) -> Option<ClusterSet> {
        let written = rule.clusters.as_ref()?;
        Some(selector::set_or_all(self.cx, self.file, Some(&written.value), written.span))
    }
}

#[cfg(test)]
mod tests {
    use crate::diag::codes;
    use crate::diff::tests::fixture::Files;

    #[test]
    fn of_several_rules_the_first_counts_and_one_that_matches_nothing_is_said() {
        let on = |what: &str, cluster: &str| format!("{{match: {{{what}}}, clusters: {{names: [{cluster}]}}}}");
        let rules = [
            on("kind: ConfigMap", "eu-a"),
            on("name: config", "eu-b"),
            on("name: db", "us-a"),
            on("kind: Secret", "eu-a"),
            on("name: config, kind: Secret", "eu-a"),
            on("kind: Service", "eu-a"),
        ];
        let compiled =
            Files::shop().app("web", &format!("{{namespace: shop, objects: [{}]}}", rules.join(", "))).compiled();
        let only: Vec<String> = compiled.fleet.apps[0]
            .objects
            .iter()
            .map(|object| {
                let names =
                    object.only.iter().flat_map(|set| set.iter()).map(|id| compiled.fleet.cluster(id).name.as_str());
                format!("{}: {}", object.key.kind, names.collect::<Vec<_>>().join(" "))
            })
            .collect();
        assert_eq!(only, ["ConfigMap: eu-a", "Deployment: ", "Secret: us-a"]);
        let nothing = compiled.diagnostics.iter().filter(|d| d.code == codes::references::SELECTS_NOTHING);
        assert_eq!(nothing.count(), 2);
    }

    #[test]
    fn what_the_reconciler_is_told() {
        let tide = "apiVersion: fleetwright.io/v1alpha1\nkind: Tide\nmetadata: {name: day}\nspec: {timeZone: UTC, apps: \
                    {names: [web]}, phases: [{name: day, from: \"07:00\", replicas: 50%}], move: {minAvailable: 70%}}\n";
        for (spec, floor, after, flags) in [
            ("", Some((70, 0)), None, [false; 3]),
            (", placement: {move: {minAvailable: 90%}}", Some((90, 0)), None, [false; 3]),
            (", placement: {move: {minAvailable: 60%}}", Some((70, 0)), None, [false; 3]),
            (", placement: {move: {minAvailable: 60%}}, tide: Ignore", Some((60, 0)), None, [false; 3]),
            (", placement: {move: {minAvailable: 3}}", Some((70, 3)), None, [false; 3]),
            (", placement: {move: {minAvailable: 3}}, tide: Ignore", Some((0, 3)), None, [false; 3]),
            (", tide: Ignore, failover: {after: 90s}", None, Some(90), [false; 3]),
            (", suspend: true, prune: false, exclusive: true", Some((0, 0)), None, [true; 3]),
            (", suspend: false, prune: true, exclusive: false, failover: {}", Some((70, 0)), None, [false; 3]),
        ] {
            let spec = format!("{{namespace: shop{spec}}}");
            let strategy = |files: Files| files.edit("fleet.yaml", "Duplicated", "StaticWeight");
            let files = strategy(Files::shop()).app("web", &spec).with("policies/day.yaml", tide);
            let compiled = files.compiled();
            let app = &compiled.fleet.apps[0];
            let stated = app.min_available.map(|floor| (floor.percent, floor.count));
            assert_eq!((stated, app.failover_after_secs), (floor, after), "{spec}");
            assert_eq!([app.suspended, app.keep_removed, app.exclusive], flags, "{spec}");
        }
    }

    #[test]
    fn an_exclusive_app_goes_to_one_cluster() {
        for (spec, clusters) in [("", 3), (", exclusive: true", 1), (", exclusive: false", 3)] {
            let compiled = Files::shop().app("web", &format!("{{namespace: shop{spec}}}")).compiled();
            assert_eq!(compiled.target.apps[0].clusters.len(), clusters, "{spec}");
        }
    }

    #[test]
    fn apps_wait_for_apps_in_the_order_of_their_names() {
        let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
        let mut files = Files::shop().app("web", "{namespace: shop, dependsOn: [shop/z, a, z, shop/a]}");
        for name in ["a", "z"] {
            let config = config.replace("name: c", &format!("name: {name}"));
            files = files.app(name, "{namespace: shop}").with(&format!("teams/shop/{name}/c.yaml"), &config);
        }
        let fleet = files.compiled().fleet;
        let web = fleet.app(fleet.app_id("shop", "web").unwrap());
        let names: Vec<String> = web.depends_on.iter().map(|id| fleet.app_name(*id)).collect();
        assert_eq!(names, ["shop/a", "shop/z"]);
    }
}
