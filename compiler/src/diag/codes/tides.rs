//! FW1200–FW1219: tides and calendars.

family! {
    /// `timeZone` of a Tide is no place of the IANA time zone database. A fixed offset such as `Etc/GMT-8`, `+08:00` or `EST`
    /// is refused: people keep wall clocks, and an offset would be an hour off for half of the year wherever clocks
    /// change. Write `Europe/Berlin`, `Asia/Shanghai`, or `UTC` where that is meant.
    TIME_ZONE = 1200 Error "unknown time zone";
    /// The phases of a tide contradict each other or do nothing: two begin at the same time or have the same name, there is
    /// no day on which one begins, or none states weights or replicas.
    PHASES = 1201 Error "phases that contradict each other";
    /// A tide names a Calendar that is not in `policies/`. Without it nobody could say on which dates its phases begin.
    UNKNOWN_CALENDAR = 1202 Error "unknown calendar";
    /// A calendar contradicts itself: a holiday that ends before it begins or overlaps another, or a date that is worked and
    /// a holiday at once.
    CALENDAR = 1203 Error "calendar that contradicts itself";
    /// Two tides of the same precedence select one app, and its weights can only follow one of them. Give one of the tides
    /// a higher `precedence`, or let them select different apps.
    OVERLAP = 1204 Error "two tides on one app";
    /// A tide selects an app in which it can move nothing: its weights replace those of workloads that are divided by
    /// StaticWeight, its replicas those of workloads that are divided at all, and never those of a Job. Give the App such
    /// a strategy, let the tide not select it, or state `tide: Ignore` in the App.
    MOVES_NOTHING = 1205 Error "tide that moves nothing of an app";
    /// The record says that a tide is in a phase that it does not have any more. Until the next phase is recorded, the
    /// App's own weights count.
    RECORDED_PHASE_GONE = 1206 Warning "recorded phase that is gone";
}
