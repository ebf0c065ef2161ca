//! FW2001–FW2099: what clusters answer.

family! {
    /// A cluster serves no such kind. Replicas are not placed there. List the kind in the cluster's `apis`, or install its
    /// CustomResourceDefinition through the fleet.
    API_NOT_SERVED = 2001 Warning "kind that a cluster does not serve";
}
