//! No value of a Secret is in any output.

use std::sync::Arc;

use proptest::prelude::*;

use crate::base::ClusterId;
use crate::diff::diff;
use crate::diff::tests::fixture::Files;
use crate::report::{diff_markdown, diff_text, located, plan, why};
use crate::source::SourceFile;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn whatever_changes(
        before in "Zq[a-z0-9]{10,20}",
        after in "Zq[a-z0-9]{10,20}",
        field in prop::sample::select(vec!["stringData: {pw: VALUE}", "stringData: {pw: VALUE, other: VALUE}", "stringData:\n  pw: |\n    VALUE\n    VALUE"]),
        annotated in any::<bool>(),
    ) {
        let applied = "metadata: {name: db, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{\"stringData\":{\"pw\":\"VALUE\"}}'}}";
        let metadata = if annotated { applied } else { "metadata: {name: db}" };
        let files = |value: &str| {
            let text = format!("apiVersion: v1\nkind: Secret\n{metadata}\n{field}\n");
            Files::shop().with("teams/shop/web/secret.yaml", &text.replace("VALUE", value))
        };
        let (base, head) = (files(&before), files(&after));
        let read = |file: &SourceFile| head.text(file.path.as_str()).map(|text| Arc::<[u8]>::from(text.as_bytes()));
        let (was, is) = (base.compiled(), head.compiled());
        let app = is.fleet.app_id("shop", "web").unwrap();
        let without = base.clone().without("teams/shop/web/secret.yaml").compiled();
        let mut all = Vec::new();
        for diff in [diff(&was, &is), diff(&was, &without), diff(&without, &is)] {
            all.extend([diff_text(&diff), diff_markdown(&diff), serde_json::to_string(&diff).unwrap()]);
            all.push(format!("{diff:?}"));
        }
        let (plan, why) = (plan(&is), why(&is, app, Some(ClusterId(0)), &read));
        all.extend([plan.to_text(true), serde_json::to_string(&plan).unwrap()]);
        all.extend([why.to_text(true), serde_json::to_string(&why).unwrap()]);
        all.push(serde_json::to_string(&located(&is.diagnostics, &is.files, &read)).unwrap());
        for text in &all {
            prop_assert!(!text.contains("Zq"), "{}", text);
            // its base64 begins so, whatever follows
            prop_assert!(!text.contains("WnF") && !text.contains("WnE"), "{}", text);
        }
        prop_assert_eq!(before != after, all[0].contains("key pw changed: *** -> ***"), "{}", all[0]);
    }
}
