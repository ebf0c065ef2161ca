//! FW1160–FW1179: overrides.

family! {
    /// The target of an override matches no object of the app, so the override would silently do nothing. Compare kind, name
    /// and labels with the manifests.
    TARGET_MATCHES_NOTHING = 1160 Error "override target matches nothing";
    /// An override, or an object that asks for substitution, uses a variable that is not there in at least one cluster
    /// it is for. State it in `values` of the cluster or the Fleet, or narrow the override's `clusters`. A literal `${`
    /// is written `$${`.
    UNKNOWN_VARIABLE = 1161 Error "unknown variable";
    /// An override names a path that the object does not have. `set` needs the parent of what it sets, `remove` the field
    /// itself; paths are JSON pointers (`/spec/replicas`, `/metadata/annotations/a~1b`).
    NO_SUCH_PATH = 1162 Error "no such path";
    /// An override would change the kind, name or namespace of an object: it would be another object, and the first
    /// would be missing. Write another manifest, and choose its clusters with a rule in `objects`.
    IDENTITY_CHANGED = 1163 Error "override changes the identity of an object";
    /// After an override, a field has a value of a type that it does not take in Kubernetes, or that does not exist:
    /// the API server would refuse the object.
    OVERRIDE_TYPE = 1164 Error "override gives a field the wrong type";
    /// An operation that cannot be applied: not a valid patch, a `test` that fails, a container that is not there.
    OVERRIDE_FAILED = 1165 Error "override cannot be applied";
    /// A patch replaces a list of a custom resource whose items have names: perhaps a merge was meant. Merge keys are known
    /// for Kubernetes' own kinds only.
    LIST_REPLACED = 1166 Warning "list of a custom resource replaced";
    /// An override without any operation does nothing. Add an operation, or remove the entry.
    EMPTY_OVERRIDE = 1167 Error "override without an operation";
    /// An entry in `images` matches no image of the app. `name` is the image as manifests write it, without tag or digest.
    IMAGE_MATCHES_NOTHING = 1168 Warning "image rule matches nothing";
    /// A label or annotation that fleetwright sets, or the identity of an object, is none of an override's business.
    RESERVED_METADATA = 1169 Error "override of reserved metadata";
    /// A patch that can be applied and probably does not do what it says: it deletes what is not there, keeps members that
    /// it seems to replace, or names one item twice.
    PATCH_REMARK = 1170 Warning "patch that may not do what it says";
    /// An override adds a part to a set of pods (a worker group of a RayCluster), or renames one. What a set consists of is
    /// what its manifest says: room, quota and the record know no other part. Write the part into the manifest, with no pods
    /// where it is not wanted, and let overrides change its number.
    PART_ADDED = 1171 Error "override adds a part to a set";
}
