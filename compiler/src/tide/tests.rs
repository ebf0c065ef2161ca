//! Facts: gaps, folds, skipped dates, days of the week and calendars.

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn date(text: &str) -> Date {
    text.parse().unwrap()
}

fn timetable(zone: &str, starts: &[(&str, &str)]) -> Timetable {
    let minute = |text: &str| {
        let (hours, minutes) = text.split_once(':').unwrap();
        hours.parse::<u16>().unwrap() * 60 + minutes.parse::<u16>().unwrap()
    };
    Timetable {
        zone: Zone::named(zone).unwrap(),
        days: Weekdays::ALL,
        calendar: Calendar::default(),
        starts: starts
            .iter()
            .map(|(phase, from)| Start { phase: (*phase).into(), from_minute: minute(from) })
            .collect(),
    }
}

fn phase(timetable: &Timetable, now: &str) -> String {
    phase_at(timetable, at(now))
        .map_or("none".into(), |w| format!("{} since {}", timetable.starts[w.phase].phase, w.begin))
}

const DAY_NIGHT: &[(&str, &str)] = &[("day", "07:00"), ("night", "23:00")];

#[test]
fn the_phase_is_a_state_of_the_clock() {
    let rows = [
        ("Asia/Shanghai", "2026-11-30T14:59:59Z", "day since 2026-11-29T23:00:00Z"),
        ("Asia/Shanghai", "2026-11-30T15:00:00Z", "night since 2026-11-30T15:00:00Z"),
        ("Asia/Shanghai", "2026-11-30T22:59:59Z", "night since 2026-11-30T15:00:00Z"),
        ("UTC", "2026-11-30T07:00:00Z", "day since 2026-11-30T07:00:00Z"),
        ("Asia/Kathmandu", "2026-11-30T01:15:00Z", "day since 2026-11-30T01:15:00Z"),
        ("Asia/Kathmandu", "2026-11-30T01:14:59Z", "night since 2026-11-29T17:15:00Z"),
    ];
    for (zone, now, expected) in rows {
        assert_eq!(phase(&timetable(zone, DAY_NIGHT), now), expected, "{zone} {now}");
    }
}

#[test]
fn gaps_folds_and_skipped_dates() {
    let early = [("a", "01:30"), ("b", "02:00"), ("c", "02:15")];
    let rows = [
        // 2027-03-28: 02:00 becomes 03:00 in Berlin; b and c begin at one instant, and c is the later
        ("Europe/Berlin", "2027-03-28T00:59:59Z", "a since 2027-03-28T00:30:00Z"),
        ("Europe/Berlin", "2027-03-28T01:00:00Z", "c since 2027-03-28T01:00:00Z"),
        // 2026-10-25: 03:00 becomes 02:00; c begins at the first 02:15, and the second 02:00 is nothing new
        ("Europe/Berlin", "2026-10-25T00:15:00Z", "c since 2026-10-25T00:15:00Z"),
        ("Europe/Berlin", "2026-10-25T01:05:00Z", "c since 2026-10-25T00:15:00Z"),
        // Samoa had no 30 December 2011
        ("Pacific/Apia", "2011-12-30T10:30:00Z", "c since 2011-12-29T12:15:00Z"),
        // clocks go back half an hour
        ("Australia/Lord_Howe", "2027-04-03T15:10:00Z", "a since 2027-04-03T14:30:00Z"),
        ("Australia/Lord_Howe", "2027-04-03T15:45:00Z", "c since 2027-04-03T15:45:00Z"),
        // Pyongyang, 2018-05-04 23:30 became the next midnight
        ("Asia/Pyongyang", "2018-05-04T15:00:00Z", "c since 2018-05-03T17:45:00Z"),
    ];
    for (zone, now, expected) in rows {
        assert_eq!(phase(&timetable(zone, &early), now), expected, "{zone} {now}");
    }
    let late = timetable("Asia/Pyongyang", &[("evening", "23:45"), ("noon", "12:00")]);
    assert_eq!(late.zone.first(date("2018-05-04"), 23 * 60 + 45), None, "that date ended at 23:30");
    assert_eq!(phase(&late, "2018-05-05T02:59:59Z"), "noon since 2018-05-04T03:30:00Z");
}

#[test]
fn days_of_the_week_and_calendars() {
    let mut tide = timetable("Asia/Shanghai", DAY_NIGHT);
    tide.days = [Weekday::Monday, Weekday::Tuesday, Weekday::Wednesday, Weekday::Thursday, Weekday::Friday]
        .into_iter()
        .collect();
    // Saturday 2026-10-10 is worked for the holiday week before it
    tide.calendar.holidays.insert(date("2026-10-01"), (date("2026-10-07"), "National Day".into()));
    tide.calendar.working_days.insert(date("2026-10-10"));
    let rows = [
        ("2026-09-30T16:00:00Z", "night since 2026-09-30T15:00:00Z"),
        ("2026-10-07T12:00:00Z", "night since 2026-09-30T15:00:00Z"),
        ("2026-10-07T23:00:00Z", "day since 2026-10-07T23:00:00Z"),
        ("2026-10-09T23:00:00Z", "day since 2026-10-09T23:00:00Z"),
        ("2026-10-11T12:00:00Z", "night since 2026-10-10T15:00:00Z"),
    ];
    for (now, expected) in rows {
        assert_eq!(phase(&tide, now), expected, "{now}");
    }
    let next = |after: &str| next_change(&tide, at(after)).map(|window| window.begin.to_string());
    assert_eq!(next("2026-09-30T16:00:00Z").as_deref(), Some("2026-10-07T23:00:00Z"));
    assert_eq!(next("2026-10-07T22:59:59Z").as_deref(), Some("2026-10-07T23:00:00Z"));
    assert_eq!(next("2026-10-07T23:00:00Z").as_deref(), Some("2026-10-08T15:00:00Z"));
}

#[test]
fn a_timetable_that_never_begins_has_no_phase() {
    let now = "2026-11-30T00:00:00Z";
    assert_eq!(phase(&timetable("UTC", &[]), now), "none");
    let mut tide = timetable("UTC", DAY_NIGHT);
    tide.days = [].into_iter().collect();
    assert_eq!(phase(&tide, now), "none");
    assert_eq!(next_change(&tide, at(now)), None);
    assert_eq!(next_change(&timetable("UTC", &[("only", "02:00")]), at(now)), None, "one phase never changes");
    for edge in [Timestamp::MIN, Timestamp::MAX] {
        let tide = timetable("Pacific/Apia", DAY_NIGHT);
        let _ = (phase_at(&tide, edge), next_change(&tide, edge), days(&tide, edge, edge, 3));
    }
}

#[test]
fn only_places_and_utc_are_zones() {
    for name in ["UTC", "Asia/Shanghai", "America/Argentina/Buenos_Aires", "Antarctica/Troll", "Japan"] {
        assert_eq!(Zone::named(name).map(|zone| zone.name()), Ok(name));
    }
    for name in ["+08:00", "UTC+8", "GMT-3", "Etc/GMT-8", "Etc/UTC", "EST", "HST", "GMT", "Zulu", "-0300"] {
        assert_eq!(Zone::named(name), Err(ZoneError::FixedOffset(name.to_owned())), "{name}");
    }
    for (name, near) in [
        ("Asia/Shangai", Some("Asia/Shanghai")),
        ("asia/shanghai", Some("Asia/Shanghai")),
        ("utc", Some("UTC")),
        ("", None),
        ("CST", None),
        ("../../etc/passwd", None),
    ] {
        let Err(ZoneError::Unknown { near: found, .. }) = Zone::named(name) else { panic!("{name}") };
        if near.is_some() || name.contains("passwd") {
            assert_eq!(found, near, "{name}");
        }
    }
    assert!(tzdb_version().starts_with("20"), "{}", tzdb_version());
}

#[test]
fn days_say_what_the_wall_clock_did() {
    let told = |tide: &Timetable, from: &str, until: &str| -> Vec<String> {
        days(tide, at(from), at(until), 10)
            .into_iter()
            .flat_map(|day| {
                let kind = format!("{} {:?}", day.date, day.kind);
                let each = day.beginnings.into_iter().map(|b| {
                    let over = if b.superseded { ", superseded" } else { "" };
                    format!("  {} at {} {:?}{over}", tide.starts[b.window.phase].phase, b.local, b.landing)
                });
                std::iter::once(kind).chain(each).collect::<Vec<_>>()
            })
            .collect()
    };
    let early = timetable("Europe/Berlin", &[("b", "02:00"), ("c", "02:15")]);
    assert_eq!(
        told(&early, "2027-03-27T23:00:00Z", "2027-03-28T20:00:00Z"),
        [
            "2027-03-28 Weekday",
            "  b at 2027-03-28T03:00:00 AfterGap, superseded",
            "  c at 2027-03-28T03:00:00 AfterGap"
        ]
    );
    assert_eq!(
        told(&early, "2026-10-24T22:00:00Z", "2026-10-25T20:00:00Z"),
        ["2026-10-25 Weekday", "  b at 2026-10-25T02:00:00 FirstOfTwo", "  c at 2026-10-25T02:15:00 FirstOfTwo"]
    );
    assert_eq!(
        told(&timetable("Pacific/Apia", &[("day", "07:00")]), "2011-12-29T12:00:00Z", "2011-12-30T20:00:00Z"),
        [
            "2011-12-29 Weekday",
            "  day at 2011-12-29T07:00:00 Exact",
            "2011-12-30 Skipped",
            "2011-12-31 Weekday",
            "  day at 2011-12-31T07:00:00 Exact"
        ]
    );
}

/// Clocks that change, as problem cases of other schedulers have them: a phase begins once, is never left out, and lasts
/// as long as the wall clock says.
#[test]
fn tz_01_tz_02_tz_07_a_phase_begins_once_and_is_never_skipped() {
    let nightly = [("job", "02:00")];
    let skipped = [("job", "02:30")];
    let window = [("on", "22:00"), ("off", "06:00")];
    type Row<'r> = (&'r str, &'r str, &'r [(&'r str, &'r str)], &'r str, &'r str);
    let rows: [Row<'_>; 14] = [
        // 02:00 happens at 00:00Z and at 01:00Z
        ("tz-01", "Europe/Berlin", &nightly, "2026-10-24T23:59:59Z", "job since 2026-10-24T00:00:00Z"),
        ("tz-01", "Europe/Berlin", &nightly, "2026-10-25T00:00:00Z", "job since 2026-10-25T00:00:00Z"),
        ("tz-01", "Europe/Berlin", &nightly, "2026-10-25T01:00:00Z", "job since 2026-10-25T00:00:00Z"),
        ("tz-01", "Europe/Berlin", &nightly, "2026-10-26T00:59:59Z", "job since 2026-10-25T00:00:00Z"),
        ("tz-01", "Europe/Berlin", &nightly, "2026-10-26T01:00:00Z", "job since 2026-10-26T01:00:00Z"),
        // 02:30 does not exist
        ("tz-02", "America/New_York", &skipped, "2026-03-08T06:59:59Z", "job since 2026-03-07T07:30:00Z"),
        ("tz-02", "America/New_York", &skipped, "2026-03-08T07:00:00Z", "job since 2026-03-08T07:00:00Z"),
        ("tz-02", "America/New_York", &skipped, "2026-03-09T06:29:59Z", "job since 2026-03-08T07:00:00Z"),
        ("tz-02", "America/New_York", &skipped, "2026-03-09T06:30:00Z", "job since 2026-03-09T06:30:00Z"),
        // a night of seven hours, and one of nine
        ("tz-07", "Europe/Berlin", &window, "2026-03-29T03:59:59Z", "on since 2026-03-28T21:00:00Z"),
        ("tz-07", "Europe/Berlin", &window, "2026-03-29T04:00:00Z", "off since 2026-03-29T04:00:00Z"),
        ("tz-07", "Europe/Berlin", &window, "2026-03-29T04:30:00Z", "off since 2026-03-29T04:00:00Z"),
        ("tz-07", "Europe/Berlin", &window, "2026-10-25T04:59:59Z", "on since 2026-10-24T20:00:00Z"),
        ("tz-07", "Europe/Berlin", &window, "2026-10-25T05:00:00Z", "off since 2026-10-25T05:00:00Z"),
    ];
    for (case, zone, starts, now, expected) in rows {
        assert_eq!(phase(&timetable(zone, starts), now), expected, "{case} {now}");
    }
}

/// `EST` is five hours behind all year: no wall clock of New York.
#[test]
fn tz_08_a_zone_is_a_place() {
    assert_eq!(Zone::named("EST").unwrap_err(), ZoneError::FixedOffset("EST".to_owned()));
    let starts = [("on", "06:20"), ("off", "09:00")];
    let new_york = timetable("America/New_York", &starts);
    for (now, expected) in [
        ("2026-07-01T10:19:59Z", "off since 2026-06-30T13:00:00Z"),
        ("2026-07-01T10:40:00Z", "on since 2026-07-01T10:20:00Z"),
        ("2026-07-01T11:25:00Z", "on since 2026-07-01T10:20:00Z"),
        ("2026-12-01T11:19:59Z", "off since 2026-11-30T14:00:00Z"),
        ("2026-12-01T11:20:00Z", "on since 2026-12-01T11:20:00Z"),
    ] {
        assert_eq!(phase(&new_york, now), expected, "{now}");
    }
}

/// What begins on working days alone ends all the same: the last phase of Friday lasts until Monday.
#[test]
fn tidal_01_a_window_of_working_days_ends_on_friday() {
    use Weekday::{Friday, Monday, Thursday, Tuesday, Wednesday};
    let mut vienna = timetable("Europe/Vienna", &[("in", "07:15"), ("out", "21:45")]);
    vienna.days = [Monday, Tuesday, Wednesday, Thursday, Friday].into_iter().collect();
    for (now, expected) in [
        ("2026-06-05T19:44:59Z", "in since 2026-06-05T05:15:00Z"),
        ("2026-06-05T20:00:00Z", "out since 2026-06-05T19:45:00Z"),
        ("2026-06-06T10:00:00Z", "out since 2026-06-05T19:45:00Z"),
        ("2026-06-08T05:30:00Z", "in since 2026-06-08T05:15:00Z"),
    ] {
        assert_eq!(phase(&vienna, now), expected, "{now}");
    }
}
