//! WorkloadKinds for the operators in wide use, in the form in which a fleet writes its own. Facts are those of the operators;
//! the address of their documentation is in each file. A fleet's own WorkloadKind for the same kind stands in place of ours.
//!
//! The next kind is a document in `shipped/`, and a new file a row here.

/// Name and text of each file.
pub const FILES: &[(&str, &str)] = &[
    ("argo.yaml", include_str!("shipped/argo.yaml")),
    ("flink.yaml", include_str!("shipped/flink.yaml")),
    ("flux.yaml", include_str!("shipped/flux.yaml")),
    ("kruise.yaml", include_str!("shipped/kruise.yaml")),
    ("kubeflow.yaml", include_str!("shipped/kubeflow.yaml")),
    ("kyverno.yaml", include_str!("shipped/kyverno.yaml")),
    ("ray.yaml", include_str!("shipped/ray.yaml")),
    ("spark.yaml", include_str!("shipped/spark.yaml")),
    ("volcano.yaml", include_str!("shipped/volcano.yaml")),
];
