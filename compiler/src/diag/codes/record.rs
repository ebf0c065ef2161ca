//! FW1180–FW1199: `placements/` and `state/`.

family! {
    /// A file of the record is not of a form or version that this binary knows, says nothing, or lies where nobody looks for
    /// it. Nothing is placed on a guess.
    UNKNOWN_RECORD = 1180 Error "record that cannot be read";
    /// The record says something twice: two files or documents about one team or cluster, an app, a workload or an observed
    /// pool twice, or two seats of one workload in one pool of a cluster. It is written by fleetwright; two merged branches
    /// may have left both. Keep one.
    DUPLICATE_RECORD = 1181 Error "recorded twice";
    /// A cluster file was removed while the cluster still holds placements. Removing it never deletes anything in the
    /// cluster. Set `lifecycle: Draining`, let its apps move, then `Retired`, then remove the file.
    CLUSTER_STILL_HOLDS = 1182 Error "cluster removed while it holds placements";
    /// A file of `state/` whose meaning this version does not know yet. It is refused rather than ignored: ignoring a move
    /// or a hold could undo what somebody decided.
    STATE_NOT_YET = 1183 Error "state that is not supported yet";
    /// The record names an app, a workload, a pool or a cluster that the intents no longer have. The seats of an app or a
    /// workload are given up, those in a pool look for another place, and what was observed of an app, a workload, a pool or a
    /// cluster does not count. Expected after a removal; otherwise a name is misspelt.
    RECORD_GONE = 1184 Warning "recorded placement of something that is gone";
}
