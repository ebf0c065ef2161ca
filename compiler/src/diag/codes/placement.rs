//! FW1130–FW1159: placement.

family! {
    /// More than one cluster is selected and no layer states how replicas are divided. 12 replicas could mean 12 in all or
    /// 12 in each. State `placement.replicas.strategy` in the App, a PlacementPolicy, the Team or the Fleet.
    STRATEGY_NOT_STATED = 1130 Error "strategy not stated";
    /// No cluster is a candidate: none matches the selector and the team's clusters. The message lists each with its reason.
    NO_CLUSTER_MATCHES = 1131 Error "no cluster matches";
    /// Replicas that fit nowhere; the message says what each cluster lacks. With `capacity: Cap` what fits runs. With
    /// `Require`, the default of DynamicWeight and Aggregated, new replicas run only where all of them fit; what already
    /// runs and still fits stays.
    UNPLACED = 1132 Warning "replicas that fit nowhere";
    /// The spread cannot be met by the clusters there are. Nothing is added; what is placed stays. Lower `min`, or let
    /// more clusters match.
    SPREAD_UNMET = 1133 Warning "spread cannot be met";
    /// `weights` are stated and none matches a selected cluster, so nothing would be placed. A cluster that no rule
    /// matches has weight 0.
    NO_WEIGHT_MATCHES = 1134 Warning "no weight matches";
    /// `total` in an App with several divisible workloads does not say which of them is meant. Use a rule in `objects`.
    AMBIGUOUS_TOTAL = 1135 Error "total for several workloads";
    /// Two fields of one placement contradict each other: a minimum above a maximum, weights with a strategy that has none.
    CONTRADICTION = 1136 Error "contradiction in placement";
    /// A field of `placement` that a more specific layer replaces, so that it has no effect here.
    SHADOWED = 1137 Warning "placement field without effect";
    /// A Job without `completions`, or an Indexed one, is told to be divided: each part would complete by itself, and
    /// nobody could tell when the whole has. Place it on one cluster, or state `completions`.
    JOB_NOT_DIVISIBLE = 1138 Error "Job that cannot be divided";
    /// A StatefulSet is told to be divided, and pods of the same name could run in two clusters. Number them apart: override
    /// `spec.ordinals.start` for each cluster, further apart than the most replicas that a cluster may get. Where that is
    /// not done it stays on one cluster, or is copied to each under Duplicated.
    STATEFULSET_DIVIDED = 1139 Error "StatefulSet that cannot be divided";
    /// The capacity of a cluster is not stated, so room in it counts as unknown: as much as is asked for. State
    /// `nodePools` in its file.
    UNKNOWN_CAPACITY = 1140 Warning "capacity of a cluster unknown";
    /// Two spread constraints on the same topology key. Only one can count: merge them into one with `min` and `max`.
    DUPLICATE_SPREAD = 1141 Error "two constraints on one topology key";
    /// The App states what it must survive (`survive`, its own or its team's), and with that lost it would be short. The
    /// message says of what. `fleetwright what-if --lose` shows the whole of it; `diff` refuses a change that causes it.
    LAPSE = 1142 Warning "loss that is not survived";
    /// The cluster multiplies its allocatable resources (`overcommit`), which kube-scheduler does not know: pods can stay
    /// Pending. Lower the requests in those clusters with an override as well.
    OVERCOMMIT = 1143 Warning "overcommit that kube-scheduler does not know";
    /// Apps of a group share their clusters (`affinity`), or share none (`antiAffinity`), and this one is where it should
    /// not be: it was there before, and has no place elsewhere. It moves as soon as it has one.
    GROUP_BROKEN = 1144 Warning "group that cannot be kept";
    /// An App is applied in a cluster once those in its `dependsOn` are Current there, and one of them does not go to all of
    /// its clusters. In those without it the App is never applied. Place both alike, or wait for less.
    WAITS_ELSEWHERE = 1145 Warning "app that waits for one that goes elsewhere";
    /// `weighBy` names an estimator, and the record holds no estimates of it (`state/estimates/<name>.yaml`). Until it does,
    /// the room of node pools is the weight.
    NO_ESTIMATES = 1146 Warning "estimates missing";
    /// Replicas ran in a pool that no longer holds them: nodes vanished, or requests grew. What found room elsewhere moves
    /// there, the rest is reported as unplaced. Which of them go is decided by priority, then by name.
    DISPLACED = 1147 Warning "replicas that no longer fit where they run";
    /// More must run in a pool than its nodes hold: replicas that are bound to their data, whose App ignores capacity, is
    /// exclusive or suspended, or whose number an override states. Some of them stay Pending, and nobody else gets room.
    OVERDRAWN = 1148 Warning "pool with more than its nodes hold";
    /// An app gave up replicas for one of higher priority, because a person accepted that (`fleetwright preempt`), and has
    /// found no other place for them. They run again as soon as there is room.
    GAVE_WAY = 1149 Warning "replicas displaced by a preemption";
    /// A `move` without any field. It stands in place of the `move` of wider layers (PlacementPolicy, Team, Fleet) and states no
    /// steps, so everything moves at once. State `max`, or remove it; `max: 100%` is one step that waits.
    EMPTY_MOVE = 1150 Warning "a `move` that says nothing";
}
