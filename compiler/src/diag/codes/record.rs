//! FW1180–FW1199: `placements/` and `state/`.

family! {
    /// A file of the record is not of a form or version that this binary knows. Nothing is placed on a guess.
    UNKNOWN_RECORD = 1180 Error "record that cannot be read";
    /// The record holds an app twice, a workload twice, or two seats of one workload in one pool of a cluster. It is
    /// written by fleetwright; two merged branches may have left both. Keep one.
    DUPLICATE_RECORD = 1181 Error "recorded twice";
    /// A cluster file was removed while the cluster still holds placements. Removing it never deletes anything in the
    /// cluster. Set `lifecycle: Draining`, let its apps move, then `Retired`, then remove the file.
    CLUSTER_STILL_HOLDS = 1182 Error "cluster removed while it holds placements";
    /// A file of `state/` whose meaning this version does not know yet. It is refused rather than ignored: ignoring a move
    /// or a hold could undo what somebody decided.
    STATE_NOT_YET = 1183 Error "state that is not supported yet";
    /// The record names a workload, an app or a pool that the intents no longer have. Its seats are given up.
    RECORD_GONE = 1184 Warning "recorded placement of something that is gone";
}
