//! FW9001–FW9099: our bugs.

family! {
    /// The independent checker found the schedule wrong. Nothing is written or applied. Please report it with the
    /// repository, or with what remains after removing all that is not needed to show it.
    BAD_SCHEDULE = 9001 Error "the schedule breaks its own rules";
}
