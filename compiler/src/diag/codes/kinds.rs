//! FW1220–FW1239: WorkloadKinds.

family! {
    /// A text that should be CEL is none, names what no object has, calls what is no function, or is too large. Expressions
    /// name `apiVersion`, `kind`, `metadata`, `spec`, `status` and `data` of the object, and are kept short: at most 1024
    /// bytes, brackets 6 deep, 48 brackets, dots and operators, and two of all, exists, filter and map inside each other.
    BAD_EXPRESSION = 1220 Error "expression that is not CEL";
    /// A WorkloadKind for a kind that needs none: one of Kubernetes' own, or one that another WorkloadKind teaches already.
    NOT_TO_TEACH = 1221 Error "kind that is known already";
    /// A path of a WorkloadKind that is no JSON pointer, such as `spec.replicas` in place of `/spec/replicas`.
    BAD_POINTER = 1222 Error "path that is no JSON pointer";
    /// What a WorkloadKind says contradicts itself, or lacks a half: a set of parts that has a count as a whole or is
    /// divided, a kind that is divided and has no count, a reference without a kind or a name.
    BAD_TEACHING = 1223 Error "WorkloadKind that contradicts itself";
}
