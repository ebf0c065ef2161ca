use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{LiveCluster, import, named_after, node, pools};
use crate::base::SmolStr;
use crate::import::tests::{compiled, notes};
use crate::import::{About, Imported};

/// `name cpu key=value … !taint=value:Effect … -NotReady|-Cordoned`, with 4Gi of memory for each CPU; `gpu=N` gives GPUs.
fn node(line: &str) -> Value {
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default();
    let cpu: u64 = words.next().and_then(|cpu| cpu.parse().ok()).unwrap_or(0);
    let mut labels = json!({"kubernetes.io/hostname": name});
    let (mut taints, mut ready, mut cordoned) = (Vec::new(), "True", false);
    let mut allocatable =
        json!({"cpu": cpu.to_string(), "memory": format!("{}Gi", cpu * 4), "pods": "110", "hugepages-2Mi": "0"});
    for word in words {
        match (word, word.strip_prefix('!'), word.split_once('=')) {
            ("-NotReady", _, _) => ready = "Unknown",
            ("-Cordoned", _, _) => cordoned = true,
            (_, Some(taint), _) => {
                let (key, effect) = taint.rsplit_once(':').unwrap();
                let (key, value) = key.split_once('=').unwrap_or((key, ""));
                taints.push(json!({"key": key, "value": value, "effect": effect, "timeAdded": "2026-11-30T00:00:00Z"}));
            }
            (_, _, Some(("gpu", count))) => allocatable["nvidia.com/gpu"] = count.into(),
            (_, _, Some((key, value))) => labels[key] = value.into(),
            _ => panic!("{word}"),
        }
    }
    json!({
        "metadata": {"name": name, "labels": labels},
        "spec": {"providerID": format!("aws:///eu-west-1a/{name}"), "taints": taints, "unschedulable": cordoned},
        "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": ready}]},
    })
}

fn imported(context: &str, lines: &[&str], split_by: &[&str]) -> Imported {
    let nodes = lines.iter().map(|line| node(line)).collect();
    let cluster = LiveCluster { context: context.into(), name: None, nodes, served: None };
    import(&[cluster], &split_by.iter().map(|key| SmolStr::from(*key)).collect::<Vec<_>>())
}

/// `name: nodes x cpu {labels} [taints]`
fn lines(imported: &Imported) -> Vec<String> {
    let file = imported.files.iter().find(|(path, _)| path.starts_with("clusters/")).unwrap().1;
    let (documents, _) = crate::yaml::compose(file, &crate::yaml::Limits::default());
    let value = documents[0].root.as_ref().unwrap().to_json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |pool: &Value| {
        let labels = pool["labels"].as_object().into_iter().flatten();
        let labels: Vec<String> = labels.map(|(key, value)| format!("{key}={}", text(value))).collect();
        let taints = pool["taints"].as_array().into_iter().flatten();
        let taints = taints.map(|t| format!(" !{}={}:{}", text(&t["key"]), text(&t["value"]), text(&t["effect"])));
        let (name, cpu, labels) = (text(&pool["name"]), text(&pool["allocatable"]["cpu"]), labels.join(","));
        format!("{name}: {} x {cpu} {labels}{}", pool["nodes"], taints.collect::<String>())
    };
    value["spec"]["nodePools"].as_array().into_iter().flatten().map(line).collect()
}

#[test]
fn nodes_become_pools() {
    type Row<'t> = (&'t str, &'t [&'t str], &'t [&'t str], &'t [&'t str]);
    let table: &[Row<'_>] = &[
        (
            "a pool of the provider is one, whatever its zones",
            &[],
            &[
                "a 4 cloud.google.com/gke-nodepool=web topology.kubernetes.io/zone=z1",
                "b 4 cloud.google.com/gke-nodepool=web topology.kubernetes.io/zone=z2",
                "c 8 cloud.google.com/gke-nodepool=gpu gpu=2 !nvidia.com/gpu=present:NoSchedule",
            ],
            &[
                "gpu: 1 x 8 cloud.google.com/gke-nodepool=gpu !nvidia.com/gpu=present:NoSchedule",
                "web: 2 x 4 cloud.google.com/gke-nodepool=web",
            ],
        ),
        (
            "unless it is split by them",
            &["topology.kubernetes.io/zone"],
            &[
                "a 4 cloud.google.com/gke-nodepool=web topology.kubernetes.io/zone=z1",
                "b 4 cloud.google.com/gke-nodepool=web topology.kubernetes.io/zone=z2",
            ],
            &[
                "web-z1: 1 x 4 cloud.google.com/gke-nodepool=web,topology.kubernetes.io/zone=z1",
                "web-z2: 1 x 4 cloud.google.com/gke-nodepool=web,topology.kubernetes.io/zone=z2",
            ],
        ),
        (
            "a pool that mixes sizes is a pool for each type",
            &[],
            &[
                "a 4 karpenter.sh/nodepool=spot node.kubernetes.io/instance-type=m5.xlarge",
                "b 16 karpenter.sh/nodepool=spot node.kubernetes.io/instance-type=m5.4xlarge",
                "c 16 karpenter.sh/nodepool=spot node.kubernetes.io/instance-type=m5.4xlarge",
            ],
            &[
                "spot-m5.4xlarge: 2 x 16 karpenter.sh/nodepool=spot,node.kubernetes.io/instance-type=m5.4xlarge",
                "spot-m5.xlarge: 1 x 4 karpenter.sh/nodepool=spot,node.kubernetes.io/instance-type=m5.xlarge",
            ],
        ),
        (
            "of equal types in one pool the smallest counts",
            &[],
            &[
                "a 99 eks.amazonaws.com/nodegroup=ng node.kubernetes.io/instance-type=m5a",
                "b 98 eks.amazonaws.com/nodegroup=ng node.kubernetes.io/instance-type=m5",
            ],
            &["ng: 2 x 98 eks.amazonaws.com/nodegroup=ng"],
        ),
        (
            "without a pool's label: by instance type, and by labels of their own",
            &[],
            &[
                "a 4 node.kubernetes.io/instance-type=m5",
                "b 4 node.kubernetes.io/instance-type=m5 disk=ssd",
                "c 8 node.kubernetes.io/instance-type=c5",
            ],
            &[
                "m5-ssd: 1 x 4 disk=ssd,node.kubernetes.io/instance-type=m5",
                "c5: 1 x 8 node.kubernetes.io/instance-type=c5",
                "m5: 1 x 4 node.kubernetes.io/instance-type=m5",
            ],
        ),
        (
            "without a type: by size, as far as labels tell sizes apart",
            &[],
            &["a 4 os=l", "b 4 os=l", "c 16 os=l rank=big", "d 16 os=l rank=big", "e 15 os=l rank=big"],
            &["general-big: 3 x 15 os=l,rank=big", "general: 2 x 4 os=l"],
        ),
        (
            "sizes that no label tells apart are one pool, and the smallest counts",
            &[],
            &["a 4 os=l", "b 16 os=l"],
            &["general: 2 x 4 os=l"],
        ),
        (
            "labels of single machines are no pools",
            &[],
            &["a 4 serial=1", "b 4 serial=2", "c 4 serial=3"],
            &["general: 3 x 4 "],
        ),
        (
            "a control plane is apart, with its taint",
            &[],
            &[
                "m 4 node-role.kubernetes.io/control-plane= !node-role.kubernetes.io/control-plane:NoSchedule",
                "a 4 x=y",
                "g 4 x=y gpu=1 accelerator=v100",
            ],
            &[
                "gpu-v100: 1 x 4 accelerator=v100,x=y",
                "control-plane: 1 x 4 node-role.kubernetes.io/control-plane= !node-role.kubernetes.io/control-plane=:NoSchedule",
                "general: 1 x 4 x=y",
            ],
        ),
        (
            "nodes that take no pods now are in their pool, and not counted; passing taints are left out",
            &[],
            &[
                "a 4 node.kubernetes.io/instance-type=m5 !node.kubernetes.io/not-ready:NoSchedule -NotReady",
                "b 4 node.kubernetes.io/instance-type=m5 !node.kubernetes.io/unschedulable:NoSchedule -Cordoned",
                "c 4 node.kubernetes.io/instance-type=m5",
                "d 2 node.kubernetes.io/instance-type=t3 -Cordoned",
            ],
            &["m5: 1 x 4 node.kubernetes.io/instance-type=m5", "t3: 0 x 2 node.kubernetes.io/instance-type=t3"],
        ),
        (
            "taints that no label tells: those of most nodes",
            &[],
            &["a 4 os=l", "b 4 os=l", "c 4 os=l !mine:NoSchedule"],
            &["general: 3 x 4 os=l"],
        ),
        (
            "taints with a label of their own",
            &[],
            &["a 4 os=l", "b 4 os=l", "c 4 os=l db= !db:NoSchedule"],
            &["general-db: 1 x 4 db=,os=l !db=:NoSchedule", "general: 2 x 4 os=l"],
        ),
        (
            "names are valid and not that of nodes without a pool",
            &[],
            &["a 4 cloud.google.com/gke-nodepool=other", "b 4 karpenter.sh/nodepool=Ä_big"],
            &["big: 1 x 4 karpenter.sh/nodepool=Ä_big", "other-2: 1 x 4 cloud.google.com/gke-nodepool=other"],
        ),
        ("what is no room of its own is left out", &[], &["f 2 eks.amazonaws.com/compute-type=fargate"], &[]),
    ];
    for (what, split_by, nodes, expected) in table {
        assert_eq!(lines(&imported("c", nodes, split_by)), *expected, "{what}");
    }
}

/// The rule of the controller, over fleets of nodes with labels and taints at random.
#[test]
fn every_node_is_found_in_the_pool_it_is_read_into() {
    let mut seed = 7_u64;
    let mut below = |bound: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % bound
    };
    for round in 0..200 {
        let count = 1 + below(12);
        let texts: Vec<String> = (0..count)
            .map(|number| {
                let mut line = format!("n{number} {}", [2, 4, 16][usize::try_from(below(3)).unwrap()]);
                for (key, values) in
                    [("node.kubernetes.io/instance-type", 3), ("karpenter.sh/nodepool", 2), ("a", 2), ("b", 4)]
                {
                    if below(2) == 0 {
                        line += &format!(" {key}=v{}", below(values));
                    }
                }
                if below(4) == 0 {
                    line += " !t:NoSchedule";
                }
                line
            })
            .collect();
        let values: Vec<Value> = texts.iter().map(|line| node(line)).collect();
        let nodes: Vec<node::Node<'_>> = values.iter().map(|value| node::read(value).unwrap()).collect();
        let mut notes = Vec::new();
        let mut about = About { file: "c".into(), object: "c".into(), notes: &mut notes };
        let specs = pools::pools(&nodes, &[], &mut about);
        // as `reconciler::observe::capacity` counts, with the least of each resource
        let mut seen: BTreeMap<&str, (u32, i128)> = BTreeMap::new();
        for node in &nodes {
            let pool = specs.iter().find(|pool| node.has(&pool.labels)).map(|pool| pool.name.value.as_str());
            let cpu = node.allocatable["cpu"].milli_value();
            let entry = seen.entry(pool.unwrap_or("other")).or_insert((0, cpu));
            *entry = (entry.0 + 1, entry.1.min(cpu));
        }
        let stated: BTreeMap<&str, (u32, i128)> = specs
            .iter()
            .map(|pool| {
                let cpu = pool.allocatable.iter().find(|(name, _)| name.value == "cpu").unwrap().1.milli_value();
                (pool.name.value.as_str(), (pool.nodes.value, cpu))
            })
            .collect();
        assert_eq!(seen, stated, "round {round}: {texts:#?}");
    }
}

#[test]
fn a_cluster_and_what_was_guessed() {
    let place = "topology.kubernetes.io/region=eu-west-1 topology.kubernetes.io/zone";
    let mut found = LiveCluster {
        context: "arn:aws:eks:eu-west-1:1234:cluster/Prod".into(),
        name: None,
        nodes: vec![
            node(&format!("a 4 eks.amazonaws.com/nodegroup=ng {place}=eu-west-1a")),
            node(&format!("b 8 eks.amazonaws.com/nodegroup=ng {place}=eu-west-1b -Cordoned")),
            node("f 1 eks.amazonaws.com/compute-type=fargate"),
        ],
        served: None,
    };
    let first = import(std::slice::from_ref(&found), &[]);
    compiled(&first);
    assert_eq!(
        first.files["clusters/prod.yaml"],
        "\
apiVersion: fleetwright.io/v1alpha1
kind: Cluster
metadata:
  name: prod
spec:
  provider: aws
  region: eu-west-1
  zones:
  - eu-west-1a
  - eu-west-1b
  nodePools:
  - name: ng
    nodes: 1
    allocatable:
      cpu: \"4\"
      memory: \"16Gi\"
      pods: \"110\"
    labels:
      eks.amazonaws.com/nodegroup: ng
      topology.kubernetes.io/region: eu-west-1
  connection:
    context: arn:aws:eks:eu-west-1:1234:cluster/Prod
"
    );
    let said = notes(&first);
    for part in [
        "Resolved Cluster prod metadata.name: is `prod` after the context",
        "Skipped Cluster prod node f: is made for one pod",
        "Skipped Cluster prod pool ng: b: cordoned: not counted",
        "Resolved Cluster prod pool ng: 2 nodes, by eks.amazonaws.com/nodegroup=ng",
        "its nodes differ in topology.kubernetes.io/zone (its nodes stand in 2 zones)",
        "NoCounterpart Cluster prod spec.nodePools: how far an autoscaler may grow",
        "Differs Cluster prod spec.nodePools: what runs there already takes its part",
    ] {
        assert!(said.iter().any(|note| note.contains(part)), "{part}: {said:#?}");
    }
    // what is served, beyond what every cluster has; and a name of one's own
    let kinds = |names: &[&str]| names.iter().map(|name| SmolStr::from(*name)).collect();
    found.served = Some(
        [("apps/v1".into(), kinds(&["Deployment"])), ("ray.io/v1".into(), kinds(&["RayJob", "RayCluster"]))].into(),
    );
    found.name = Some("eu".into());
    found.nodes.clear();
    let second = import(&[found], &[]);
    compiled(&second);
    assert_eq!(
        second.files["clusters/eu.yaml"],
        "\
apiVersion: fleetwright.io/v1alpha1
kind: Cluster
metadata:
  name: eu
spec:
  apis:
  - groupVersion: ray.io/v1
    kinds:
    - RayCluster
    - RayJob
  connection:
    context: arn:aws:eks:eu-west-1:1234:cluster/Prod
"
    );
    assert!(notes(&second)[0].contains("there is no node to read: its capacity is left unknown"));
}

#[test]
fn clusters_are_named_after_their_contexts() {
    for (context, name) in [
        ("eu-a", "eu-a"),
        ("gke_my-project_europe-west1-b_prod", "prod"),
        ("gke_my-project_europe-west1-b_prod_2", "prod-2"),
        ("kubernetes-admin@kubernetes", "kubernetes"),
        ("arn:aws:eks:eu-west-1:1234:cluster/Prod", "prod"),
        ("a/b/C_d", "c-d"),
        ("..", "cluster"),
        ("", "cluster"),
    ] {
        assert_eq!(named_after(context), name, "{context}");
    }
    // two contexts of one name
    let cluster = |context: &str| LiveCluster { context: context.into(), name: None, nodes: Vec::new(), served: None };
    let both = import(&[cluster("x/prod"), cluster("y/prod")], &[]);
    assert!(both.files.contains_key("clusters/prod.yaml") && both.files.contains_key("clusters/prod-2.yaml"));
}
