//! What apps say of each other: which wait for which (`dependsOn`), and which names they had before (`previousNames`).
//!
//! Invariants: what is returned names apps that are there, or names that no app has; no app waits for itself, by whatever
//! way, unless that was reported.

use std::collections::{BTreeMap, BTreeSet};

use super::Lowering;
use crate::api::{self, AppSpec};
use crate::base::name::{NameRule, nearest};
use crate::base::{AppId, FileId, SmolStr, Spanned, TeamId};
use crate::diag::{Diagnostic, Place, codes};

/// (team, app)
type AppName = (SmolStr, SmolStr);

/// The apps there are, and what they said of each other so far.
pub(super) struct Relations {
    /// Which app has a name, and where that is written.
    apps: BTreeMap<AppName, (AppId, Place)>,
    /// Names by app.
    names: Vec<AppName>,
    /// Which app had a name before, and where it says so. Of two, the first.
    previous: BTreeMap<AppName, (AppId, Place)>,
    /// What an app waits for, and where it says so.
    waits: BTreeMap<AppId, BTreeMap<AppId, Place>>,
    /// How many names that nobody has may still be held against all others.
    hints: usize,
}

/// Names for which the nearest one is looked for.
const HINTS: usize = 100;
/// Steps of a circle that are shown.
const STEPS: usize = 50;

impl Relations {
    /// Of these apps, in the order of their ids.
    pub(super) fn new<'a>(
        cx: &Lowering<'_>,
        apps: impl Iterator<Item = (TeamId, (FileId, &'a api::Object<AppSpec>))>,
    ) -> Self {
        let mut relations = Self {
            apps: BTreeMap::new(),
            names: Vec::new(),
            previous: BTreeMap::new(),
            waits: BTreeMap::new(),
            hints: HINTS,
        };
        for ((team, (file, object)), id) in apps.zip(0_u32..) {
            let (id, app) = (AppId(id), &object.metadata.name);
            let name = (cx.teams[team.index()].name.clone(), app.value.clone());
            for old in object.spec.previous_names.iter().flat_map(|names| &names.value) {
                let place = Place::Span(file, old.span);
                relations.previous.entry(full(&name.0, old)).or_insert((id, place));
            }
            relations.names.push(name.clone());
            relations.apps.insert(name, (id, Place::Span(file, app.span)));
        }
        relations
    }

    /// The apps that must be Current before this one, ascending.
    pub(super) fn depends_on(
        &mut self,
        cx: &mut Lowering<'_>,
        id: AppId,
        file: FileId,
        object: &api::Object<AppSpec>,
    ) -> Vec<AppId> {
        let own_team = self.names[id.index()].0.clone();
        let mut waits: BTreeMap<AppId, Place> = BTreeMap::new();
        for written in object.spec.depends_on.iter().flat_map(|list| &list.value) {
            let name = full(&own_team, written);
            match self.apps.get(&name) {
                Some((other, _)) => {
                    let place = Place::Span(file, written.span);
                    if let Some(first) = waits.get(other) {
                        let message = format!("`{}/{}` is in `dependsOn` twice", name.0, name.1);
                        cx.report(twice(message, place, first.clone()));
                    } else {
                        waits.insert(*other, place);
                    }
                }
                None if cx.unread.apps() => {}
                None => self.unknown(cx, file, written, &name),
            }
        }
        let ids = waits.keys().copied().collect();
        if !waits.is_empty() {
            self.waits.insert(id, waits);
        }
        ids
    }

    fn unknown(&mut self, cx: &mut Lowering<'_>, file: FileId, written: &Spanned<SmolStr>, name: &AppName) {
        let message = format!("there is no app `{}/{}` to wait for", name.0, name.1);
        let mut diagnostic = Diagnostic::new(codes::references::UNKNOWN_APP, Place::Span(file, written.span), message);
        diagnostic.help = match self.previous.get(name) {
            Some((heir, _)) => Some(format!("it is `{}` now", self.shown(*heir))),
            None if self.hints == 0 => None,
            None => {
                self.hints -= 1;
                let all: Vec<String> = self.apps.keys().map(|(team, app)| format!("{team}/{app}")).collect();
                let near = nearest(&format!("{}/{}", name.0, name.1), all.iter().map(String::as_str));
                near.map(|near| format!("did you mean `{near}`?"))
            }
        };
        cx.report(diagnostic);
    }

    /// The names an app had before, in the order of its file: those that nobody has.
    pub(super) fn previous_names(
        &self,
        cx: &mut Lowering<'_>,
        id: AppId,
        file: FileId,
        object: &api::Object<AppSpec>,
    ) -> Vec<AppName> {
        let own = &self.names[id.index()];
        let mut names: Vec<AppName> = Vec::new();
        let mut seen: BTreeMap<AppName, Place> = BTreeMap::new();
        for written in object.spec.previous_names.iter().flat_map(|list| &list.value) {
            let name = full(&own.0, written);
            let place = Place::Span(file, written.span);
            let before = cx.said;
            for (part, what) in [(&name.0, "team name"), (&name.1, "app name")] {
                let part = Spanned::new(part.clone(), written.span);
                cx.check_name(file, &part, NameRule::Dns1123Label, what);
            }
            if cx.said != before {
                continue;
            }
            let shown = format!("{}/{}", name.0, name.1);
            if name == *own {
                let message = format!("`{shown}` is the name this app has now");
                cx.report(Diagnostic::new(codes::references::PREVIOUS_NAME_TAKEN, place, message).help("remove it"));
                continue;
            }
            if let Some((_, there)) = self.apps.get(&name) {
                cx.report(
                    Diagnostic::new(
                        codes::references::PREVIOUS_NAME_TAKEN,
                        place,
                        format!("there is an app `{shown}`: what runs under that name is its own"),
                    )
                    .related(there.clone(), "that app")
                    .help("remove the old App in this change, or take its name out of `previousNames`"),
                );
                continue;
            }
            match self.previous.get(&name) {
                Some((first, there)) if *first != id => cx.report(
                    Diagnostic::new(
                        codes::references::PREVIOUS_NAME_TWICE,
                        place,
                        format!("App `{}` says as well that it was `{shown}` before", self.shown(*first)),
                    )
                    .related(there.clone(), "where it says so")
                    .help("leave the name with the app that what runs there becomes"),
                ),
                Some(_) | None => match seen.get(&name) {
                    Some(first) => {
                        cx.report(twice(format!("`{shown}` is in `previousNames` twice"), place, first.clone()));
                    }
                    None => {
                        seen.insert(name.clone(), place);
                        names.push(name);
                    }
                },
            }
        }
        names
    }

    fn shown(&self, id: AppId) -> String {
        let (team, app) = &self.names[id.index()];
        format!("{team}/{app}")
    }

    /// Reports circles of apps that wait for each other: one for each app that is in any.
    pub(super) fn report_cycles(self, cx: &mut Lowering<'_>) {
        for cycle in cycles(&self.waits) {
            let steps: Vec<(&AppId, &AppId)> = cycle.iter().zip(cycle.iter().cycle().skip(1)).collect();
            let place = |(from, to): (&AppId, &AppId)| self.waits.get(from).and_then(|waits| waits.get(to)).cloned();
            let Some((first, at)) = steps.first().and_then(|step| Some((*step, place(*step)?))) else { continue };
            let mut path: Vec<String> = cycle.iter().take(STEPS).map(|id| format!("`{}`", self.shown(*id))).collect();
            if cycle.len() > STEPS {
                path.push(format!("{} more", cycle.len() - STEPS));
            }
            path.extend(cycle.first().map(|id| format!("`{}`", self.shown(*id))));
            let message = if cycle.len() == 1 {
                format!("App `{}` waits for itself", self.shown(*first.0))
            } else {
                format!("apps wait for each other: {}", path.join(" -> "))
            };
            let mut diagnostic = Diagnostic::new(codes::references::DEPENDENCY_CYCLE, at, message)
                .help("none of them would ever be applied first: take one of the steps out");
            for step in steps.iter().take(STEPS).skip(1) {
                if let Some(place) = place(*step) {
                    diagnostic = diagnostic
                        .related(place, format!("`{}` waits for `{}`", self.shown(*step.0), self.shown(*step.1)));
                }
            }
            cx.report(diagnostic);
        }
    }
}

/// A name that a list holds already: it changes nothing, and somebody meant another.
fn twice(message: String, place: Place, first: Place) -> Diagnostic {
    Diagnostic::new(codes::references::NAMED_TWICE, place, message)
        .related(first, "the first time")
        .help("remove one of them, or name the app that was meant")
}

/// `team/app`, or `app` of one's own team.
fn full(own_team: &SmolStr, written: &Spanned<SmolStr>) -> AppName {
    match written.value.split_once('/') {
        Some((team, app)) => (team.into(), app.into()),
        None => (own_team.clone(), written.value.clone()),
    }
}

/// Circles, each from its lowest app on; no two of them share an app.
fn cycles(waits: &BTreeMap<AppId, BTreeMap<AppId, Place>>) -> Vec<Vec<AppId>> {
    let mut done: BTreeSet<AppId> = BTreeSet::new();
    let mut in_cycle: BTreeSet<AppId> = BTreeSet::new();
    let mut cycles = Vec::new();
    for start in waits.keys() {
        if done.contains(start) {
            continue;
        }
        // depth first without recursion: the way so far, and what is still to be tried from each of its apps
        let next = |id: AppId| waits.get(&id).into_iter().flat_map(BTreeMap::keys).copied();
        let mut way: Vec<AppId> = vec![*start];
        let mut to_try: Vec<Vec<AppId>> = vec![next(*start).collect()];
        let mut on_way: BTreeMap<AppId, usize> = [(*start, 0)].into();
        while let Some(open) = to_try.last_mut() {
            let Some(id) = open.pop() else {
                to_try.pop();
                if let Some(id) = way.pop() {
                    on_way.remove(&id);
                    done.insert(id);
                }
                continue;
            };
            if let Some(at) = on_way.get(&id) {
                let cycle = way.get(*at..).unwrap_or_default();
                if cycle.iter().all(|id| !in_cycle.contains(id)) {
                    in_cycle.extend(cycle);
                    let lowest = cycle.iter().enumerate().min_by_key(|(_, id)| **id).map_or(0, |(index, _)| index);
                    let (before, from) = cycle.split_at(lowest);
                    cycles.push(from.iter().chain(before).copied().collect());
                }
            } else if !done.contains(&id) {
                on_way.insert(id, way.len());
                way.push(id);
                to_try.push(next(id).collect());
            }
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Span;

    fn graph(edges: &[(u32, u32)]) -> BTreeMap<AppId, BTreeMap<AppId, Place>> {
        let mut waits: BTreeMap<AppId, BTreeMap<AppId, Place>> = BTreeMap::new();
        for (from, to) in edges {
            let place = Place::Span(FileId(0), Span { start: *from, end: *to });
            waits.entry(AppId(*from)).or_default().insert(AppId(*to), place);
        }
        waits
    }

    #[test]
    fn circles_are_found_once() {
        for (edges, expected) in [
            (&[][..], &[][..]),
            (&[(0, 1), (1, 2), (0, 2)], &[]),
            (&[(3, 3)], &[&[3][..]]),
            (&[(0, 1), (1, 0)], &[&[0, 1]]),
            (&[(2, 1), (1, 5), (5, 2), (0, 5)], &[&[1, 5, 2]]),
            (&[(0, 1), (1, 0), (2, 3), (3, 2)], &[&[0, 1], &[2, 3]]),
            (&[(4, 0), (0, 4), (4, 4)], &[&[4]]),
        ] {
            let found: Vec<Vec<u32>> =
                cycles(&graph(edges)).into_iter().map(|cycle| cycle.into_iter().map(|id| id.0).collect()).collect();
            assert_eq!(found, expected, "{edges:?}");
        }
    }

    #[test]
    fn a_long_way_is_no_deep_one() {
        let edges: Vec<(u32, u32)> = (0..50_000).map(|id| (id, id + 1)).collect();
        assert_eq!(cycles(&graph(&edges)), Vec::<Vec<AppId>>::new());
    }
}
