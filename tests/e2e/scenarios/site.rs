//! What scenarios with the product begin with: a fleet of all clusters of the rig with one team, and looks at the clusters.

use std::error::Error;
use std::time::Duration;

use fleetwright_tests::kube::{Cluster, Rig};
use fleetwright_tests::product::{Controller, Fleet};
use serde_json::Value;

/// For what takes a moment: two cores may be busy with other things.
pub const SOON: Duration = Duration::from_secs(90);

/// Where the team's objects are.
pub const NAMESPACE: &str = "shop";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A fleet repository and the clusters it is about.
pub struct Site<'r> {
    pub rig: &'r Rig,
    pub fleet: Fleet,
}

impl<'r> Site<'r> {
    /// All clusters of the rig; team `shop` may use two namespaces, Roles and CustomResourceDefinitions. `spec` is that of
    /// `fleet.yaml`, in flow style: `{drift: Report}`.
    pub fn new(rig: &'r Rig, spec: &str) -> Result<Site<'r>> {
        let fleet = Fleet::new(rig.folder())?;
        let site = Site { rig, fleet };
        site.settings(spec)?;
        for cluster in rig.clusters() {
            site.cluster(cluster.name(), "{}")?;
        }
        let kinds = "{allow: [{group: rbac.authorization.k8s.io, kind: Role}, {group: apiextensions.k8s.io, kind: CustomResourceDefinition}]}";
        site.intent(
            "teams/shop.yaml",
            "Team",
            "shop",
            &format!("{{namespaces: [{{name: shop}}, {{name: shop-more}}], kinds: {kinds}}}"),
        )?;
        Ok(site)
    }

    /// `fleet.yaml`.
    pub fn settings(&self, spec: &str) -> Result<()> {
        self.intent("fleet.yaml", "Fleet", "e2e", spec)
    }

    /// The file of a cluster.
    pub fn cluster(&self, name: &str, spec: &str) -> Result<()> {
        self.intent(&format!("clusters/{name}.yaml"), "Cluster", name, spec)
    }

    /// An app of team `shop`. Without a placement it is copied to all clusters.
    pub fn app(&self, name: &str, spec: &str, manifests: &[String]) -> Result<()> {
        let spec = match spec {
            "" => "namespace: shop, placement: {replicas: {strategy: Duplicated}}".to_owned(),
            spec if spec.contains("placement:") => format!("namespace: shop, {spec}"),
            spec => format!("namespace: shop, placement: {{replicas: {{strategy: Duplicated}}}}, {spec}"),
        };
        self.intent(&format!("teams/shop/{name}/app.yaml"), "App", name, &format!("{{{spec}}}"))?;
        Ok(self.fleet.write(&manifests_of(name), &manifests.join("---\n"))?)
    }

    fn intent(&self, path: &str, kind: &str, name: &str, spec: &str) -> Result<()> {
        let text =
            format!("apiVersion: fleetwright.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n");
        Ok(self.fleet.write(path, &text)?)
    }

    /// Pushes everything, and waits until it is live and Current everywhere.
    pub fn deploy(&self, controller: &Controller, message: &str) -> Result<()> {
        let main = self.fleet.push(message)?;
        controller.nudge()?;
        controller.wait_for_current(&main, SOON)?;
        Ok(())
    }

    /// Pushes everything and has the controller look. Returns the commit.
    pub fn push(&self, controller: &Controller, message: &str) -> Result<String> {
        let main = self.fleet.push(message)?;
        controller.nudge()?;
        Ok(main)
    }

    pub fn start(&self) -> Result<Controller> {
        Ok(Controller::start(self.rig, &self.fleet)?)
    }

    /// The first cluster.
    pub fn first(&self) -> Result<&'r Cluster> {
        Ok(self.rig.clusters().first().ok_or("no cluster")?)
    }
}

/// Where [`Site::app`] writes the manifests of an app.
pub fn manifests_of(app: &str) -> String {
    format!("teams/shop/{app}/manifests.yaml")
}

/// A Deployment.
pub fn deployment(name: &str, replicas: u32, image: &str) -> String {
    slow_deployment(name, replicas, image, "0s")
}

/// One whose pods become ready after a while.
pub fn slow_deployment(name: &str, replicas: u32, image: &str, ready_after: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}}}\nspec:\n  replicas: {replicas}\n  selector: {{matchLabels: \
         {{app: {name}}}}}\n  template:\n    metadata:\n      labels: {{app: {name}}}\n      annotations: \
         {{rig.fleetwright.io/ready-after: {ready_after}}}\n    spec:\n      containers:\n      - {{name: web, image: \
         \"{image}\", resources: {{requests: {{cpu: 10m, memory: 16Mi}}}}}}\n"
    )
}

/// A ConfigMap with one value.
pub fn config_map(name: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{value: \"{value}\"}}\n")
}

pub fn deployment_path(name: &str) -> String {
    format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{name}")
}

pub fn map_path(name: &str) -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{name}")
}

/// The items of a list.
pub fn items(cluster: &Cluster, path: &str) -> Result<Vec<Value>> {
    Ok(cluster.client().get(path)?["items"].as_array().cloned().unwrap_or_default())
}

/// The UIDs of the objects of a list, sorted.
pub fn uids(cluster: &Cluster, path: &str) -> Result<Vec<String>> {
    let items = items(cluster, path)?;
    let mut uids: Vec<String> = items.iter().filter_map(|i| i["metadata"]["uid"].as_str().map(str::to_owned)).collect();
    uids.sort();
    Ok(uids)
}

/// Waits until a look at an object finds what it should.
pub fn wait_for_object(cluster: &Cluster, what: &str, path: &str, is: impl Fn(&Value) -> bool) -> Result<Value> {
    let found = cluster.wait_for(what, SOON, || {
        let object = cluster.client().find(path).map_err(|error| error.to_string())?.unwrap_or(Value::Null);
        if is(&object) { Ok(object) } else { Err(object.to_string().chars().take(2000).collect()) }
    })?;
    Ok(found)
}

/// Waits until there is no such object any more.
pub fn wait_for_end(cluster: &Cluster, path: &str) -> Result<()> {
    wait_for_object(cluster, &format!("the end of {path}"), path, Value::is_null).map(drop)
}
