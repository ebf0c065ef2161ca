//! FW1020–FW1039: documents of the fleet's API that do not have its form.

family! {
    /// A field that this kind does not have. It is refused rather than ignored, because a misspelt field would silently
    /// do nothing. The nearest name is shown where one is near.
    UNKNOWN_FIELD = 1020 Error "unknown field";
    /// A value has another type than the field takes: a string where a number is expected, a map where a list is.
    WRONG_TYPE = 1021 Error "wrong type";
    /// A field that must be stated is missing. The message names it; `fleetwright explain app.spec.placement` and its like say
    /// what each field is for.
    MISSING_FIELD = 1022 Error "missing field";
    /// A value has the right type but is not one the field takes: out of range, not of the required form, or not one of
    /// the words that are listed.
    INVALID_VALUE = 1023 Error "invalid value";
    /// A field or value of the API whose behaviour is not there yet in this version. It is refused rather than ignored, so
    /// that nobody relies on something that does nothing. Remove it; the changelog says when it arrives.
    NOT_YET = 1024 Error "not supported yet";
    /// `apiVersion` or `kind` is missing, or is none that fleetwright knows. Files outside `teams/` hold only kinds of
    /// `fleetwright.io/v1alpha1` (and PriorityClass of `scheduling.k8s.io/v1` in `policies/`).
    UNKNOWN_KIND = 1025 Error "unknown apiVersion or kind";
    /// A name is not of the form that Kubernetes takes for this kind. The message says which characters are allowed.
    INVALID_NAME = 1026 Error "invalid name";
    /// A label key or value, or a label expression, is not of the form that Kubernetes takes. `In` and `NotIn` need
    /// values, `Exists` and `DoesNotExist` have none.
    INVALID_LABEL = 1027 Error "invalid label or label expression";
    /// A taint or toleration that Kubernetes refuses: `tolerationSeconds` without NoExecute, `Exists` with a value, an
    /// empty key without `Exists`.
    INVALID_TOLERATION = 1028 Error "invalid taint or toleration";
    /// `names: []` selects nothing, which is never what somebody wants to say. Leave `names` out to inherit, or write
    /// `{}` for all.
    EMPTY_NAMES = 1029 Error "an empty list of names";
    /// `toolVersion` in `fleet.yaml` names another version of fleetwright. Each version may place and render differently,
    /// so an upgrade is a reviewed change of this line. Use that version, or change the line and look at the diff.
    TOOL_VERSION = 1030 Error "another version of fleetwright is required";
}
