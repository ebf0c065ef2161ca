//! The fleet that the demo plays with: `examples/demo`, part of the binary.

use std::collections::BTreeMap;

use fleetwright_compiler::base::SmolStr;

/// The name of the fleet.
pub const NAME: &str = "demo";

/// When the story begins: Monday 2026-03-02, 10:00 in Shanghai.
pub const BEGIN_SECS: i64 = 1_772_416_800;

/// When its night phase begins: the same day, 23:00 in Shanghai.
pub const NIGHT_SECS: i64 = BEGIN_SECS + 13 * 3600;

const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("../../../examples/demo/README.md")),
    ("clusters/asia-1.yaml", include_str!("../../../examples/demo/clusters/asia-1.yaml")),
    ("clusters/eu-1.yaml", include_str!("../../../examples/demo/clusters/eu-1.yaml")),
    ("clusters/eu-2.yaml", include_str!("../../../examples/demo/clusters/eu-2.yaml")),
    ("fleet.yaml", include_str!("../../../examples/demo/fleet.yaml")),
    ("policies/sun.yaml", include_str!("../../../examples/demo/policies/sun.yaml")),
    ("teams/ml.yaml", include_str!("../../../examples/demo/teams/ml.yaml")),
    ("teams/ml/chat/app.yaml", include_str!("../../../examples/demo/teams/ml/chat/app.yaml")),
    ("teams/ml/chat/chat.yaml", include_str!("../../../examples/demo/teams/ml/chat/chat.yaml")),
    ("teams/shop.yaml", include_str!("../../../examples/demo/teams/shop.yaml")),
    ("teams/shop/checkout/app.yaml", include_str!("../../../examples/demo/teams/shop/checkout/app.yaml")),
    ("teams/shop/checkout/checkout.yaml", include_str!("../../../examples/demo/teams/shop/checkout/checkout.yaml")),
    ("teams/shop/promo/app.yaml", include_str!("../../../examples/demo/teams/shop/promo/app.yaml")),
    ("teams/shop/promo/promo.yaml", include_str!("../../../examples/demo/teams/shop/promo/promo.yaml")),
];

/// Its files, by path.
pub fn files() -> BTreeMap<String, String> {
    FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// The same shop in other clusters, whose capacity is observed. Nothing in it follows the sun.
pub fn files_for(clusters: &[SmolStr]) -> BTreeMap<String, String> {
    let mut files = files();
    files.retain(|path, _| {
        !["clusters/", "policies/", "teams/ml"].iter().any(|of_the_story| path.starts_with(of_the_story))
    });
    for (number, cluster) in clusters.iter().enumerate() {
        files.insert(
            format!("clusters/{number}.yaml"),
            format!("apiVersion: fleetwright.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: {cluster}\nspec: {{}}\n"),
        );
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::tests::files_of;

    #[test]
    fn the_list_is_the_example() {
        assert_eq!(files().into_keys().collect::<Vec<_>>(), files_of("examples/demo"));
    }
}
