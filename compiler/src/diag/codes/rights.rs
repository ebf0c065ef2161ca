//! FW1110–FW1129: what a team may not do.

family! {
    /// The team may not use this namespace. The platform's file of the team lists those it may; a team cannot edit that
    /// file. An object without a namespace takes its App's.
    NAMESPACE_NOT_ALLOWED = 1110 Error "namespace that the team may not use";
    /// The team may not use this kind. By default cluster-scoped kinds and `rbac.authorization.k8s.io` are denied; the
    /// platform's file of the team can allow them.
    KIND_NOT_ALLOWED = 1111 Error "kind that the team may not use";
    /// The App names a cluster that the team may not use. The platform's file of the team selects those it may.
    CLUSTER_NOT_ALLOWED = 1112 Error "cluster that the team may not use";
    /// The App, or a pod template of it, names a priority class that the team may not use. The platform's file of the team
    /// lists those it may; where the list is empty, Apps may name none, and what pods name is not looked at.
    PRIORITY_NOT_ALLOWED = 1113 Error "priority class that the team may not use";
    /// A policy in a team's folder reaches other teams, or says `enforced`. Only policies in `policies/` may: a team
    /// decides about its own apps.
    TEAM_POLICY_REACH = 1114 Error "team policy beyond the team";
    /// The App asks for more than the team's quota leaves. It keeps what it had. In a single compile this is a warning,
    /// because adding a cluster or a failover must never be refused by a quota; a change that causes it is refused by
    /// `diff`.
    OVER_QUOTA = 1115 Warning "more than the team's quota";
    /// The quota counts a resource that a container of the App does not state. Kubernetes refuses such pods under a
    /// ResourceQuota, and counted as nothing they pass every quota. A warning, so that an import or a lowered quota stops no
    /// failover; a change that causes it is refused by `diff`. State the request (or limit) in every container.
    QUOTA_NEEDS_REQUESTS = 1116 Warning "resource under quota that is not stated";
    /// A custom kind of which nothing says whether its objects lie in namespaces or belong to the whole cluster, in the App
    /// of a team that may have only the former. State `metadata.namespace` in the manifest, which says it; or add the kind's
    /// CustomResourceDefinition to any App; or let the platform allow the kind in the team's `kinds.allow`.
    UNKNOWN_SCOPE = 1117 Error "kind that may belong to the whole cluster";
}
