//! The rule again, by looking at every minute: the phase at an instant, and that changes are where the phase changes.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Zones with changes of an hour, half an hour and two hours, before and after midnight, and skipped dates.
const ZONES: &[&str] = &[
    "UTC",
    "Europe/Berlin",
    "Europe/Dublin",
    "America/New_York",
    "America/Sao_Paulo",
    "America/St_Johns",
    "America/Nuuk",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Pyongyang",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Kwajalein",
    "Pacific/Kiritimati",
];

const MINUTE: i64 = 60;

/// The phase at a minute, found by looking at each minute of the ten days before it.
fn by_search(tide: &Timetable, now: i64) -> Option<(usize, i64)> {
    let mut begun: BTreeSet<(Date, usize)> = BTreeSet::new();
    let mut best: Option<(usize, i64)> = None;
    let first = now - 10 * 86_400;
    for at in (first..=now).step_by(60) {
        let local = tide.zone.local(Timestamp::from_second(at).unwrap());
        let day = local.date();
        let holiday = tide.calendar.holidays.iter().any(|(from, (to, _))| *from <= day && day <= *to);
        let listed = tide.calendar.working_days.contains(&day);
        let minute = local.hour() as u16 * 60 + local.minute() as u16;
        let mut order: Vec<usize> = (0..tide.starts.len()).collect();
        order.sort_by_key(|i| tide.starts[*i].from_minute);
        for phase in order {
            let due = minute >= tide.starts[phase].from_minute && begun.insert((day, phase));
            // what began on the first date may have begun before the search did
            if due && !holiday && (listed || tide.days.has(day.weekday())) && at - first > 2 * 86_400 {
                best = Some((phase, at));
            }
        }
    }
    best
}

/// A timetable, and an instant near a change of its clocks where there is one.
fn cases() -> impl Strategy<Value = (Timetable, i64)> {
    let starts = proptest::collection::btree_set(0_u16..288, 1..5);
    (0..ZONES.len(), starts, 1_u8..128, 0_i64..40, 0_usize..120, -2_500_i64..2_500).prop_map(
        |(zone, starts, days, holiday, change, minutes)| {
            let zone = Zone::named(ZONES[zone]).unwrap();
            // from 1990 to 2100 or so
            let mut around = 631_152_000 + i64::try_from(change).unwrap() * 28_927_182;
            around -= around.rem_euclid(MINUTE);
            let offset = |at: i64| zone.offset_secs(Timestamp::from_second(at).unwrap());
            let near = (0..400).map(|day| around + day * 86_400).find(|at| offset(*at) != offset(at + 86_400));
            let now = near.unwrap_or(around) + minutes * MINUTE;
            let mut calendar = Calendar::default();
            let today = zone.local(Timestamp::from_second(now).unwrap()).date();
            if holiday < 4 {
                calendar.holidays.insert(today, (today, "x".into()));
            } else if holiday < 8 {
                calendar.working_days.insert(today);
            }
            // a search of ten days finds every phase of a timetable with two days of the week or more
            let weekdays = (0..7).filter(|day| days & (1 << day) != 0);
            let mut set: Vec<Weekday> = weekdays.map(|d| Weekday::from_monday_zero_offset(d).unwrap()).collect();
            set.extend([Weekday::Monday, Weekday::Thursday]);
            let starts = starts.into_iter().map(|n| Start { phase: format!("p{n}").into(), from_minute: n * 5 });
            (Timetable { zone, days: set.into_iter().collect(), calendar, starts: starts.collect() }, now)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_phase_is_the_one_a_search_finds((tide, now) in cases()) {
        let found = phase_at(&tide, Timestamp::from_second(now).unwrap());
        prop_assert_eq!(found.map(|w| (w.phase, w.begin.as_second())), by_search(&tide, now));
    }

    #[test]
    fn a_change_is_where_the_phase_changes((tide, now) in cases()) {
        let now = Timestamp::from_second(now).unwrap();
        let phase = |at: Timestamp| phase_at(&tide, at).map(|w| w.phase);
        if let Some(change) = next_change(&tide, now) {
            let second = |at: Timestamp, n: i64| Timestamp::from_second(at.as_second() + n).unwrap();
            prop_assert_eq!(phase(change.begin), Some(change.phase));
            prop_assert_eq!(phase(second(change.begin, -1)), phase(now));
            prop_assert_ne!(phase(now), Some(change.phase));
        } else {
            prop_assert_eq!(tide.starts.len(), 1);
        }
    }
}
