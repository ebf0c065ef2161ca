//! `import`: what is written compiles, and what is said can be read by people and by tools.

use super::{assert_code, line, write};

const KARMADA: &str = "\
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: eu, labels: {env: prod}}
spec: {provider: aws, region: eu-west-1, apiEndpoint: 'https://eu'}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  schedulerName: mine
";

#[test]
fn a_folder_becomes_a_repository_that_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, "karmada/all.yaml", KARMADA);
    write(here, "karmada/.hidden.yaml", ": no yaml");
    let result = line(here, "import karmada karmada --to fleet");
    assert_code(&result, 0);
    assert!(result.stdout.contains("No counterpart; left out"), "{}", result.stdout);
    assert!(
        result.stdout.contains("PropagationPolicy shop/web spec.schedulerName: there is one scheduler"),
        "{}",
        result.stdout
    );
    assert!(result.stderr.contains("wrote 6 files into fleet; it compiles"), "{}", result.stderr);
    assert_code(&line(here, "-C fleet check"), 0);
    let plan = line(here, "-C fleet plan");
    assert!(plan.stdout.contains("shop/web"), "{}", plan.stdout);
    // not over what is there
    let again = line(here, "import karmada karmada --to fleet");
    assert_code(&again, 2);
    assert!(again.stderr.contains("is not empty"), "{}", again.stderr);

    let bindings = "apiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {name: web, namespace: shop}\nspec:\n  \
                    resource: {kind: Deployment, namespace: shop, name: web}\n  clusters: [{name: eu, replicas: 2}]\n";
    write(here, "karmada/bindings.yaml", bindings);
    assert_code(&line(here, "import karmada karmada --to running --with-placements"), 0);
    assert!(here.join("running/placements/shop.yaml").exists());
    let json = line(here, "import karmada karmada --to other -o json");
    assert!(json.stdout.contains("\"fate\": \"NoCounterpart\""), "{}", json.stdout);

    write(here, "karmada/wrong.yaml", "a: [1\n");
    let wrong = line(here, "import karmada karmada --to third");
    assert_code(&wrong, 3);
    assert!(wrong.stderr.contains("wrong.yaml:") && !here.join("third").exists(), "{}", wrong.stderr);
}

#[test]
fn inventories_and_management_clusters() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(here, "spray/lab/hosts.yaml", "all: {children: {kube_node: {hosts: {n1: null}}}}\n");
    write(
        here,
        "capi/a.yaml",
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: mgd}\nspec: {}\n",
    );
    for (source, cluster) in [("kubespray spray", "lab"), ("kubespray spray/lab", "lab"), ("capi capi", "mgd")] {
        let to = source.replace([' ', '/'], "-");
        assert_code(&line(here, &format!("import {source} --to {to}")), 0);
        assert!(here.join(to).join(format!("clusters/{cluster}.yaml")).exists(), "{source}");
    }
    assert_code(&line(here, "import capi nowhere --to x"), 5);
    write(here, "nothing/other.yaml", "kind: Else\n");
    for source in ["capi", "kubespray"] {
        let run = line(here, &format!("import {source} nothing --to x"));
        assert_code(&run, 3);
        assert!(run.stderr.contains("nothing to import in nothing: there is no "), "{}", run.stderr);
        assert!(!here.join("x").exists());
    }
}

/// Without a cluster; one that answers is a scenario of `fleetwright-e2e`.
#[test]
fn a_running_cluster_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let config = "apiVersion: v1\nkind: Config\ncurrent-context: dead\ncontexts: [{name: dead, context: {cluster: c, user: u}}]\n\
                  clusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}]\nusers: [{name: u, user: {}}]\n";
    write(here, "config.yaml", config);
    assert_code(&line(here, "init fleet"), 0);
    for (words, code, said) in [
        ("-C fleet import live --kubeconfig config.yaml", 5, "dead: "),
        ("-C fleet import live --kubeconfig config.yaml --context live", 2, "has no context `live`; it has dead"),
        ("-C fleet import live --kubeconfig config.yaml --name A_b", 2, "`A_b` is no name of a cluster: expected"),
        ("-C fleet import live --kubeconfig nowhere.yaml", 5, "the kubeconfig cannot be read"),
        ("import live --kubeconfig config.yaml", 5, "fleet.yaml"),
    ] {
        let result = line(here, words);
        assert_code(&result, code);
        assert!(result.stderr.contains(said), "{words}: {}", result.stderr);
    }
    assert!(!here.join("fleet/clusters/dead.yaml").exists());
}
