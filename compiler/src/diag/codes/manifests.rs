//! FW1080–FW1109: ordinary Kubernetes manifests that cannot be deployed as they are.

family! {
    /// A document without `apiVersion`, `kind` or `metadata.name`, or with something else than text there: no object.
    NOT_AN_OBJECT = 1080 Error "not a Kubernetes object";
    /// `metadata.generateName` asks the API server to invent a name. A fleet needs one that is known beforehand, or the
    /// object would be created anew at every deploy. Give it a name.
    GENERATE_NAME = 1081 Error "generateName instead of a name";
    /// A namespaced object without a namespace, in an App that states none either. State `spec.namespace` in the App, or
    /// `metadata.namespace` in the manifest.
    NO_NAMESPACE = 1082 Error "no namespace";
    /// Some manifests name another namespace than their App. What a manifest says itself counts, so these objects do
    /// not lie where the App says. Remove `metadata.namespace` from them, or make an App of their own.
    OTHER_NAMESPACE = 1083 Warning "another namespace than the app's";
    /// A cluster-scoped object with a namespace. The API server ignores it, and so does fleetwright.
    NAMESPACE_ON_CLUSTER_SCOPED = 1084 Warning "namespace on a cluster-scoped object";
    /// A field that the kind does not have in Kubernetes. The API server drops it, so whatever it was meant to do does not
    /// happen.
    UNKNOWN_NATIVE_FIELD = 1085 Warning "field that the kind does not have";
    /// A value of another type than the field has in Kubernetes: the API server would refuse the object.
    WRONG_NATIVE_TYPE = 1086 Error "value of the wrong type for its field";
    /// A field that Kubernetes requires is missing: the API server would refuse the object when it is applied, cluster
    /// by cluster.
    MISSING_NATIVE_FIELD = 1087 Warning "required field missing";
    /// A Secret in the clear in a Git repository is readable by everyone who can read the repository, for ever. Use an
    /// external secret store (an ExternalSecret instead of the Secret), or allow it with `secrets.plaintext: Allow` in
    /// `fleet.yaml`. Documents encrypted with SOPS are not rendered by this version (FW1097).
    PLAINTEXT_SECRET = 1088 Error "Secret in the clear";
    /// The same object stands in two places of one App: the same kind, namespace and name. Only one can be applied.
    DUPLICATE_OBJECT = 1089 Error "object defined twice in one app";
    /// Two Apps produce the same object in the same cluster. They would overwrite each other for ever. Give one of them
    /// another namespace or name, or clusters that do not overlap. It is checked on all clusters an App may ever run
    /// in, so that a failover is not what finds out.
    CONTESTED_OBJECT = 1090 Error "object of two apps in one cluster";
    /// The object is larger than the API server stores (1 MiB for the data of a ConfigMap or Secret, about 1.5 MiB for
    /// any object).
    TOO_LARGE = 1091 Error "object too large";
    /// A version of a kind that Kubernetes no longer serves: a current cluster refuses the object. Use the version that
    /// is shown; fields may have moved.
    REMOVED_VERSION = 1092 Warning "API version that Kubernetes no longer serves";
    /// A pod template that the API server would refuse: a container without a name, a request above its limit, a
    /// malformed quantity, a node affinity term without values.
    INVALID_POD = 1093 Error "pod that Kubernetes refuses";
    /// Bytes that are not base64 (`data` of a Secret, `binaryData` of a ConfigMap, a `caBundle`), so the API server would
    /// refuse the object. Plain text goes into `stringData` of a Secret and `data` of a ConfigMap; a placeholder to be
    /// filled in later belongs into no manifest.
    NOT_BASE64 = 1094 Error "data that is not base64";
    /// The name, the namespace, a label or the group of a manifest is not of the form that Kubernetes takes.
    INVALID_OBJECT_NAME = 1095 Error "name that Kubernetes refuses";
    /// `replicas`, `parallelism` or `completions` is not a whole number from 0 to 2147483647, which is all that
    /// Kubernetes takes.
    INVALID_REPLICAS = 1096 Error "invalid replica count";
    /// A document that is encrypted with SOPS. Encrypted documents are not rendered by this version. Use an external secret
    /// store, or keep the document out of the fleet repository.
    SOPS = 1097 Error "encrypted document";
    /// An annotation below `fleetwright.io/` with a value, or a name, that fleetwright does not know. A misspelt one
    /// would silently do nothing. The message lists those there are.
    UNKNOWN_ANNOTATION = 1098 Error "unknown fleetwright annotation";
    /// The manifest carries `fleetwright.io/team` or `fleetwright.io/app` itself. Both are set by fleetwright, on top-level
    /// metadata only, and replace what the manifest says.
    RESERVED_LABEL = 1099 Warning "label that fleetwright sets";
}
