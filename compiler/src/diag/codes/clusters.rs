//! FW2001–FW2099: what clusters answer.

family! {
    /// A cluster's `apis` do not list a kind that the App holds, so the API server there would refuse the object.
    /// Replicas are not placed there. Install what serves the kind (a CustomResourceDefinition, an operator) and list
    /// it, or keep the object away with a rule in `objects`.
    API_NOT_SERVED = 2001 Warning "kind that a cluster does not serve";
}
