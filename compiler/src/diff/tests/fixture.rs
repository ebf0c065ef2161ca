//! A small fleet to change: three clusters, one team, one app of a Deployment, a ConfigMap and a Secret, everything
//! everywhere.

use std::collections::BTreeMap;

use crate::schedule::Scenario;
use crate::source::{MemoryFiles, Overlay};
use crate::{CompileError, Compiled, Session, compile};

/// Files by path.
#[derive(Clone)]
pub(crate) struct Files(BTreeMap<String, String>);

const API: &str = "apiVersion: fleetwright.io/v1alpha1";

impl Files {
    /// The fleet.
    pub(crate) fn shop() -> Self {
        let files = Self(BTreeMap::new())
            .with(
                "fleet.yaml",
                &format!(
                    "{API}\nkind: Fleet\nmetadata: {{name: fleet}}\nspec:\n  secrets: {{plaintext: Allow}}\n  defaults:\n    \
                     placement:\n      replicas: {{strategy: Duplicated, capacity: Ignore}}\n"
                ),
            )
            .with(
                "teams/shop.yaml",
                &format!("{API}\nkind: Team\nmetadata: {{name: shop}}\nspec: {{namespaces: [{{name: shop}}]}}\n"),
            )
            .cluster("eu-a", "{region: eu}")
            .cluster("eu-b", "{region: eu}")
            .cluster("us-a", "{region: us}")
            .app("web", "{namespace: shop}");
        files
            .with(
                "teams/shop/web/web.yaml",
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  selector: {matchLabels: \
                 {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      containers:\n      - name: \
                 web\n        image: web:1\n        resources: {requests: {cpu: 500m, memory: 1Gi}}\n",
            )
            .with(
                "teams/shop/web/config.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata:\n  app.conf: |\n    a = 1\n    b = 2\n",
            )
            .with(
                "teams/shop/web/secret.yaml",
                "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {pw: swordfish-one}\n",
            )
    }

    /// With a file, in place of what was there.
    pub(crate) fn with(mut self, path: &str, text: &str) -> Self {
        self.0.insert(path.to_owned(), text.to_owned());
        self
    }

    /// Without a file.
    pub(crate) fn without(mut self, path: &str) -> Self {
        assert!(self.0.remove(path).is_some(), "{path}");
        self
    }

    /// With something else in a file; what is replaced must be there.
    pub(crate) fn edit(self, path: &str, from: &str, to: &str) -> Self {
        let text = self.0.get(path).unwrap();
        assert!(text.contains(from), "{from} is not in {text}");
        let text = text.replace(from, to);
        self.with(path, &text)
    }

    /// With a cluster.
    pub(crate) fn cluster(self, name: &str, spec: &str) -> Self {
        let text = format!("{API}\nkind: Cluster\nmetadata: {{name: {name}}}\nspec: {spec}\n");
        self.with(&format!("clusters/{name}.yaml"), &text)
    }

    /// With an app of the team `shop`, in a folder of its own.
    pub(crate) fn app(self, name: &str, spec: &str) -> Self {
        let text = format!("{API}\nkind: App\nmetadata: {{name: {name}}}\nspec: {spec}\n");
        self.with(&format!("teams/shop/{name}/app.yaml"), &text)
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Compiled.
    pub(crate) fn compiled(&self) -> Compiled {
        self.supposing(&Scenario::default())
    }

    /// Compiled, supposing something.
    pub(crate) fn supposing(&self, scenario: &Scenario) -> Compiled {
        let files = MemoryFiles::new(&self.0).unwrap();
        match compile(&Session::new(), &Overlay::same(&files), scenario) {
            Ok(compiled) => compiled,
            Err(CompileError::Refused(refusal)) => {
                panic!("{:#?}", refusal.diagnostics.iter().map(|d| (d.code, &d.message)).collect::<Vec<_>>())
            }
            Err(error) => panic!("{error}"),
        }
    }
}
