//! Tides and calendars: their phases, and which apps each of them moves.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::moves::{self, Moves};
use super::{Docs, Lowering, replicas, selector};
use crate::api::{
    AppTide, CalendarSpec, HolidaySpec, IntOrPercent, PhaseSpec, ReplicasSpec, Strategy, TideDay, TideSpec,
    WorkingDaySpec,
};
use crate::base::name::{NameRule, nearest};
use crate::base::{AppId, FileId, SmolStr, Span, Spanned, TeamId};
use crate::diag::{Diagnostic, Place, codes, some_of};
use crate::model::tides::{self, weighs};
use crate::model::{App, Phase, Tide};
use crate::tide::{Calendar, Start, Timetable, Weekday, Weekdays, Zone, ZoneError};

/// The tides while apps are lowered.
pub(super) struct Tides {
    all: Vec<Reaching>,
    /// Apps that two tides of the same precedence select.
    overlaps: BTreeMap<(usize, usize), Vec<SmolStr>>,
}

/// A tide and which apps it reaches.
struct Reaching {
    tide: Tide,
    /// Only apps of this team, for a tide in a team's folder.
    team: Option<TeamId>,
    apps: selector::Apps,
    apps_span: Span,
    precedence: i32,
    used: bool,
    /// How replicas move when its phase changes.
    moves: Moves,
    /// Where a phase states a count of replicas.
    count: Option<Span>,
    /// Apps in which it can move nothing.
    still: Vec<SmolStr>,
    /// Apps in which a count could mean several workloads.
    ambiguous: Vec<SmolStr>,
}

impl Tides {
    /// Resolves all tides and calendars.
    pub(super) fn lower(cx: &mut Lowering<'_>, docs: &Docs<'_>, known: &selector::KnownApps) -> Self {
        let calendars = calendars(cx, docs);
        let tides = super::unique(cx, &docs.tides, "Tide", |o| &o.metadata.name);
        let all = tides.into_iter().map(|(file, object)| {
            let TideSpec { time_zone, apps, precedence, days, calendar, phases, move_ } = &object.spec;
            let name = &object.metadata.name;
            cx.check_name(file, name, NameRule::Dns1123Subdomain, "tide name");
            let team = super::team::owner(cx, file);
            let apps_span = apps.span;
            let mut apps = selector::apps(cx, file, team, apps);
            apps.check_names(cx, team, known);
            let phases = self::phases(cx, file, phases);
            let timetable = Timetable {
                zone: zone(cx, file, time_zone),
                days: weekdays(cx, file, days.as_ref()),
                calendar: calendar.as_ref().map(|name| named(cx, file, name, &calendars)).unwrap_or_default(),
                starts: phases.iter().map(|(start, _)| start.clone()).collect(),
            };
            let moves = move_.as_ref().map(|m| moves::lower(cx, file, m)).unwrap_or_default();
            let count = object.spec.phases.value.iter().find_map(|phase| match &phase.value.replicas {
                Some(replicas) if matches!(replicas.value, IntOrPercent::Int(_)) => Some(replicas.span),
                Some(_) | None => None,
            });
            let tide = Tide {
                name: name.value.clone(),
                file,
                name_span: name.span,
                timetable,
                phases: phases.into_iter().map(|(_, phase)| phase).collect(),
                apps: Vec::new(),
            };
            Reaching {
                tide,
                team,
                apps,
                apps_span,
                precedence: *precedence,
                used: false,
                moves,
                count,
                still: Vec::new(),
                ambiguous: Vec::new(),
            }
        });
        Self { all: all.collect(), overlaps: BTreeMap::new() }
    }

    /// Finds the tide that moves an app, and how.
    pub(super) fn reach(&mut self, cx: &Lowering<'_>, id: AppId, app: &App, choice: Option<AppTide>) -> Moves {
        let team = &cx.teams[app.team.index()].name;
        let mut found: Option<usize> = None;
        let mut rival: Option<usize> = None;
        for index in 0..self.all.len() {
            let best = found.map(|best| self.all[best].precedence);
            let reaching = &mut self.all[index];
            let in_reach = reaching.team.is_none_or(|team| team == app.team);
            if !in_reach || reaching.apps.matches(team, &app.name, &app.labels).is_none() {
                continue;
            }
            reaching.used = true;
            let precedence = reaching.precedence;
            match best {
                Some(best) if best > precedence => {}
                Some(best) if best == precedence => rival = Some(index),
                Some(_) | None => (found, rival) = (Some(index), None),
            }
        }
        let (Some(index), None) = (found, choice) else { return Moves::default() };
        let name = SmolStr::new(format!("{team}/{}", app.name));
        if let Some(rival) = rival {
            self.overlaps.entry((index, rival)).or_default().push(name);
            return Moves::default();
        }
        let reaching = &mut self.all[index];
        let weights = reaching.tide.phases.iter().any(|phase| phase.weights.is_some());
        let scales = reaching.tide.phases.iter().any(|phase| phase.replicas.is_some());
        let divided = app.workloads.iter().filter(|workload| tides::moves(workload)).count();
        let has_effect = (weights && app.workloads.iter().any(weighs)) || (scales && divided > 0);
        if !has_effect {
            // a tide without either was refused as such
            if (weights || scales) && !cx.unread.objects_of(team) {
                reaching.still.push(name);
            }
            return Moves::default();
        }
        if reaching.count.is_some() && divided > 1 {
            reaching.ambiguous.push(name);
        }
        reaching.tide.apps.push(id);
        reaching.moves
    }

    /// Reports what came of it; the tides, ascending by name.
    pub(super) fn finish(self, cx: &mut Lowering<'_>) -> Vec<Arc<Tide>> {
        for ((first, second), apps) in &self.overlaps {
            let (first, second) = (&self.all[*first], &self.all[*second]);
            let message = format!(
                "Tides `{}` and `{}` both select {}, with the same precedence",
                first.tide.name,
                second.tide.name,
                some_of("App", apps)
            );
            cx.report(
                Diagnostic::new(codes::tides::OVERLAP, Place::Span(second.tide.file, second.apps_span), message)
                    .related(Place::Span(first.tide.file, first.apps_span), "the other selects them here")
                    .help("give one of the two a higher `precedence`, or let them select different apps"),
            );
        }
        for reaching in &self.all {
            let (tide, place) = (&reaching.tide, Place::Span(reaching.tide.file, reaching.apps_span));
            if !reaching.used {
                reaching.apps.selects_nothing(cx, &format!("Tide `{}`", tide.name));
            }
            if !reaching.still.is_empty() {
                let message = format!("Tide `{}` can move nothing of {}", tide.name, some_of("App", &reaching.still));
                cx.report(Diagnostic::new(codes::tides::MOVES_NOTHING, place, message).help(
                    "its weights are for workloads that are divided by StaticWeight; an App takes itself out with `tide: Ignore`",
                ));
            }
            if let (Some(span), false) = (reaching.count, reaching.ambiguous.is_empty()) {
                let message = format!(
                    "a count of replicas does not say which of several workloads of {} is meant",
                    some_of("App", &reaching.ambiguous)
                );
                cx.report(
                    Diagnostic::new(codes::placement::AMBIGUOUS_TOTAL, Place::Span(tide.file, span), message)
                        .help("write a share such as 40%, which holds for each of them"),
                );
            }
        }
        self.all.into_iter().map(|reaching| Arc::new(reaching.tide)).collect()
    }
}

fn zone(cx: &mut Lowering<'_>, file: FileId, written: &Spanned<SmolStr>) -> Zone {
    Zone::named(&written.value).unwrap_or_else(|error| {
        let help = match &error {
            ZoneError::FixedOffset(_) => "write the zone of a place, such as Asia/Shanghai, or UTC".to_owned(),
            ZoneError::Unknown { near: Some(near), .. } => format!("did you mean `{near}`?"),
            ZoneError::Unknown { near: None, .. } => "write an IANA name such as Europe/Berlin, or UTC".to_owned(),
        };
        let place = Place::Span(file, written.span);
        cx.report(Diagnostic::new(codes::tides::TIME_ZONE, place, error.to_string()).help(help));
        Zone::utc()
    })
}

fn weekdays(cx: &mut Lowering<'_>, file: FileId, written: Option<&Spanned<Vec<Spanned<TideDay>>>>) -> Weekdays {
    let Some(days) = written else { return Weekdays::ALL };
    if days.value.is_empty() {
        let diagnostic = Diagnostic::new(
            codes::tides::PHASES,
            Place::Span(file, days.span),
            "`days: []` leaves no day on which a phase begins",
        );
        cx.report(diagnostic.help("leave `days` out for all of them"));
    }
    let day = |day: &Spanned<TideDay>| match day.value {
        TideDay::Mon => Weekday::Monday,
        TideDay::Tue => Weekday::Tuesday,
        TideDay::Wed => Weekday::Wednesday,
        TideDay::Thu => Weekday::Thursday,
        TideDay::Fri => Weekday::Friday,
        TideDay::Sat => Weekday::Saturday,
        TideDay::Sun => Weekday::Sunday,
    };
    days.value.iter().map(day).collect()
}

fn phases(cx: &mut Lowering<'_>, file: FileId, written: &Spanned<Vec<Spanned<PhaseSpec>>>) -> Vec<(Start, Phase)> {
    let mut found: Vec<(Start, Phase)> = Vec::new();
    if written.value.is_empty() {
        cx.error(codes::tides::PHASES, Place::Span(file, written.span), "a tide has at least one phase");
    }
    for spec in &written.value {
        let PhaseSpec { name, from, weights, replicas } = &spec.value;
        cx.check_name(file, name, NameRule::Dns1123Label, "phase name");
        let minute = from.value.minute;
        if let Some((other, _)) = found.iter().find(|(start, _)| start.from_minute == minute) {
            let message = format!("phases `{}` and `{}` both begin at {}", other.phase, name.value, from.value);
            cx.error(codes::tides::PHASES, Place::Span(file, from.span), message);
        }
        if found.iter().any(|(start, _)| start.phase == name.value) {
            let message = format!("phase `{}` is defined twice", name.value);
            cx.error(codes::tides::PHASES, Place::Span(file, name.span), message);
        }
        let weights = weights.as_ref().map(|weights| {
            // lowered as those of an App are, so that the same weights have the same digest
            let strategy = Some(Spanned::new(Strategy::StaticWeight, weights.span));
            let spec = ReplicasSpec { strategy, weights: Some(weights.value.clone()), ..ReplicasSpec::default() };
            let lowered = replicas::lower(cx, file, &spec);
            (lowered.weights.unwrap_or_default(), lowered.digest)
        });
        let start = Start { phase: name.value.clone(), from_minute: minute };
        let replicas = replicas.as_ref().map(|replicas| replicas.value);
        found.push((start, Phase { name: name.value.clone(), weights, replicas }));
    }
    if !found.is_empty() && found.iter().all(|(_, phase)| phase.weights.is_none() && phase.replicas.is_none()) {
        let message = "no phase states `weights` or `replicas`, so the tide moves nothing";
        cx.error(codes::tides::PHASES, Place::Span(file, written.span), message);
    }
    found
}

fn named(
    cx: &mut Lowering<'_>,
    file: FileId,
    name: &Spanned<SmolStr>,
    calendars: &BTreeMap<SmolStr, Calendar>,
) -> Calendar {
    if let Some(calendar) = calendars.get(&name.value) {
        return calendar.clone();
    }
    if !cx.unread.policies {
        let message = format!("there is no Calendar `{}` in policies/", name.value);
        let mut diagnostic = Diagnostic::new(codes::tides::UNKNOWN_CALENDAR, Place::Span(file, name.span), message);
        let near = nearest(&name.value, calendars.keys().map(SmolStr::as_str));
        diagnostic.help = near.map(|near| format!("did you mean `{near}`?"));
        cx.report(diagnostic);
    }
    Calendar::default()
}

/// The calendars, by name.
fn calendars(cx: &mut Lowering<'_>, docs: &Docs<'_>) -> BTreeMap<SmolStr, Calendar> {
    let unique = super::unique(cx, &docs.calendars, "Calendar", |o| &o.metadata.name);
    let calendars = unique.into_iter().map(|(file, object)| {
        let name = &object.metadata.name;
        cx.check_name(file, name, NameRule::Dns1123Subdomain, "calendar name");
        (name.value.clone(), calendar(cx, file, &object.spec))
    });
    calendars.collect()
}

/// The most dates of one holiday: a year's.
const MOST_DATES: i32 = 366;

fn calendar(cx: &mut Lowering<'_>, file: FileId, written: &CalendarSpec) -> Calendar {
    let CalendarSpec { holidays, working_days } = written;
    let mut calendar = Calendar::default();
    let mut wrong = |span: Span, message: String| {
        cx.error(codes::tides::CALENDAR, Place::Span(file, span), message);
    };
    for holiday in holidays {
        let HolidaySpec { name, date, until } = &holiday.value;
        let (first, last) = (date.value.0, until.as_ref().map_or(date.value.0, |until| until.value.0));
        let dates = (last - first).get_days().saturating_add(1);
        if let Some(until) = until.as_ref().filter(|_| !(1..=MOST_DATES).contains(&dates)) {
            let message = if dates < 1 {
                format!("`until: {last}` is before `date: {first}`")
            } else {
                format!("{dates} dates are one holiday; at most {MOST_DATES} are")
            };
            wrong(until.span, message);
            continue;
        }
        let overlapping = calendar.holidays.range(..=last).next_back().filter(|(_, (end, _))| *end >= first);
        if let Some((other, (_, called))) = overlapping {
            wrong(date.span, format!("`{}` overlaps `{called}`, which begins on {other}", name.value));
            continue;
        }
        calendar.holidays.insert(first, (last, name.value.clone()));
    }
    for day in working_days {
        let WorkingDaySpec { date } = &day.value;
        if let Some(holiday) = calendar.holiday(date.value.0) {
            wrong(date.span, format!("{} is a working day and a holiday, `{holiday}`", date.value));
        }
        if !calendar.working_days.insert(date.value.0) {
            wrong(date.span, format!("{} is listed twice", date.value));
        }
    }
    calendar
}
