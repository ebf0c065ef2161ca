//! Seeded fleets of any size, for benchmarks and for tests of scale.
//!
//! Shapes and shares: clusters log-normal around 1,500 nodes in 2 to 8 pools, 10 regions, 30 zones, 5 % tainted, GPU pools
//! in 30 %; teams by Zipf 1.1 with about 33 apps each; replicas log-normal (mu ln 4, sigma 1.6, at most 2,000); 40 request
//! sizes; 40 % StaticWeight, 30 % DynamicWeight, 15 % Aggregated, 15 % Duplicated; 20 % with spread; 4 objects per app.
//! Invariant: the same [`Shape`] gives the same bytes on every machine; floats are used only here, never in a decision.

use std::fmt::Write as _;

/// What to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many apps.
    pub apps: u32,
    /// How many clusters.
    pub clusters: u32,
    /// Seed of everything that is drawn.
    pub seed: u64,
    /// Whether no two apps are alike: every app has a request size and a selector of its own.
    pub adversarial: bool,
    /// How many regions, with three zones each.
    pub regions: u32,
    /// Whether every app is spread over regions and clusters, and none names a region: only the number of regions differs
    /// between two such fleets.
    pub spread: bool,
}

impl Shape {
    /// A fleet of the usual ten regions.
    #[must_use]
    pub fn new(apps: u32, clusters: u32, seed: u64) -> Self {
        Self { apps, clusters, seed, adversarial: false, regions: 10, spread: false }
    }
}

/// `(path, text)` of every file, ascending by path.
#[must_use]
pub fn files(shape: Shape) -> Vec<(String, String)> {
    let mut rng = Rng(shape.seed);
    let mut files = vec![(
        "fleet.yaml".to_owned(),
        "apiVersion: fleetwright.io/v1alpha1\nkind: Fleet\nmetadata: {name: generated}\nspec:\n  \
         values: {registry: registry.internal}\n"
            .to_owned(),
    )];
    for index in 0..shape.clusters {
        files.push((format!("clusters/c{index:04}.yaml"), cluster(index, shape.regions, &mut rng)));
    }
    let teams = (shape.apps / 33).max(1);
    for team in 0..teams {
        files.push((
            format!("teams/t{team:04}.yaml"),
            format!(
                "apiVersion: fleetwright.io/v1alpha1\nkind: Team\nmetadata: {{name: t{team:04}}}\nspec:\n  \
                 namespaces: [{{prefix: t{team:04}-}}]\n  quota: [{{hard: {{requests.cpu: \"2000000\"}}}}]\n"
            ),
        ));
    }
    let zipf = Zipf::new(teams);
    for index in 0..shape.apps {
        let team = zipf.draw(&mut rng);
        app(index, team, shape, &mut rng, &mut files);
    }
    files.sort();
    files
}

fn cluster(index: u32, regions: u32, rng: &mut Rng) -> String {
    let region = rng.below(regions);
    let zone = region * 3 + rng.below(3);
    let nodes = rng.log_normal(1_500_f64.ln(), 0.6, 10_000).max(8);
    let pools = 2 + rng.below(7);
    let env = if rng.percent(80) { "prod" } else { "staging" };
    let mut text = format!(
        "apiVersion: fleetwright.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: c{index:04}\n  \
         labels: {{env: {env}, tier: t{}}}\nspec:\n  provider: p{}\n  region: r{region}\n  zones: [z{zone}]\n",
        rng.below(4),
        rng.below(3),
    );
    if rng.percent(5) {
        text.push_str("  taints: [{key: maintenance, effect: NoSchedule}]\n");
    }
    let _ = write!(text, "  values: {{domain: c{index:04}.internal}}\n  nodePools:\n");
    let gpu = rng.percent(30);
    for pool in 0..pools {
        let (cpu, memory) = [(4, 16), (8, 32), (16, 64), (32, 128), (64, 256)][rng.below(5) as usize];
        let count = (nodes / pools).max(1);
        if gpu && pool == pools - 1 {
            let _ = writeln!(
                text,
                "  - {{name: gpu, nodes: {}, allocatable: {{cpu: \"64\", memory: 512Gi, nvidia.com/gpu: \"8\"}}, \
                 taints: [{{key: nvidia.com/gpu, effect: NoSchedule}}]}}",
                count.min(64),
            );
        } else {
            let _ = writeln!(
                text,
                "  - {{name: p{pool}, nodes: {count}, allocatable: {{cpu: \"{cpu}\", memory: {memory}Gi}}}}"
            );
        }
    }
    text
}

fn app(index: u32, team: u32, shape: Shape, rng: &mut Rng, files: &mut Vec<(String, String)>) {
    let folder = format!("teams/t{team:04}/a{index:06}");
    let replicas = rng.log_normal(4_f64.ln(), 1.6, 2_000).max(1);
    let size = rng.below(40);
    let mut cpu_milli = 50 * (1 + size % 20);
    let memory_mi = 64 * (1 + size % 10) * (1 + size / 20);
    if shape.adversarial {
        cpu_milli += index;
    }
    let mut text = format!(
        "apiVersion: fleetwright.io/v1alpha1\nkind: App\nmetadata:\n  name: a{index:06}\n  labels: {{tier: l{}}}\nspec:\n  \
         namespace: t{team:04}-{}\n  images:\n  - {{name: app, newTag: v{index}}}\n  placement:\n    clusters:\n",
        rng.below(5),
        index % 3,
    );
    if rng.percent(70) || shape.spread {
        text.push_str("      matchLabels: {env: prod}\n");
    } else {
        let _ = writeln!(text, "      regions: [r{}, r{}]", rng.below(shape.regions), rng.below(shape.regions));
    }
    if shape.adversarial && shape.clusters > 1 {
        let _ = writeln!(text, "      exclude: [c{:04}]", index % shape.clusters);
    }
    let draw = rng.below(100);
    let spread = rng.percent(20);
    let most = if draw >= 85 { 3 } else { 3 + rng.below(3) };
    if shape.spread {
        let _ = writeln!(
            text,
            "    spread: [{{topologyKey: region, min: 2, max: 3}}, {{topologyKey: cluster, min: 2, max: {most}}}]"
        );
    } else if spread {
        let _ = writeln!(
            text,
            "    spread: [{{topologyKey: region, min: 1, max: 3}}, {{topologyKey: cluster, max: {most}}}]"
        );
    } else {
        let _ = writeln!(text, "    spread: [{{topologyKey: cluster, max: {most}}}]");
    }
    let strategy = match draw {
        0..40 => "StaticWeight",
        40..70 => "DynamicWeight",
        70..85 => "Aggregated",
        _ => "Duplicated",
    };
    let _ = writeln!(text, "    replicas:\n      strategy: {strategy}");
    if strategy == "StaticWeight" {
        text.push_str("      weights:\n      - {clusters: {matchLabels: {tier: t0}}, weight: 3}\n      - {clusters: {}, weight: 1}\n");
    }
    if rng.percent(20) {
        text.push_str(
            "  overrides:\n  - target: {kind: Deployment, container: app}\n    \
             env: {DOMAIN: \"${cluster.values.domain}\"}\n",
        );
    }
    files.push((format!("{folder}/app.yaml"), text));
    files.push((format!("{folder}/manifests.yaml"), manifests(index, replicas, cpu_milli, memory_mi)));
}

fn manifests(index: u32, replicas: u32, cpu_milli: u32, memory_mi: u32) -> String {
    let name = format!("a{index:06}");
    format!(
        r"apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  labels: {{app.kubernetes.io/name: {name}}}
spec:
  replicas: {replicas}
  selector:
    matchLabels: {{app.kubernetes.io/name: {name}}}
  strategy: {{type: RollingUpdate, rollingUpdate: {{maxSurge: 25%, maxUnavailable: 0}}}}
  template:
    metadata:
      labels: {{app.kubernetes.io/name: {name}}}
    spec:
      serviceAccountName: {name}
      terminationGracePeriodSeconds: 45
      containers:
      - name: app
        image: app:latest
        args: [--listen=:8080, --metrics=:9090, --config=/etc/app/config.yaml]
        ports:
        - {{name: http, containerPort: 8080}}
        - {{name: metrics, containerPort: 9090}}
        env:
        - {{name: LOG_LEVEL, value: info}}
        - {{name: POD_IP, valueFrom: {{fieldRef: {{fieldPath: status.podIP}}}}}}
        readinessProbe: {{httpGet: {{path: /ready, port: http}}, periodSeconds: 5}}
        livenessProbe: {{httpGet: {{path: /live, port: http}}, periodSeconds: 10}}
        resources:
          requests: {{cpu: {cpu_milli}m, memory: {memory_mi}Mi}}
          limits: {{memory: {memory_mi}Mi}}
        volumeMounts:
        - {{name: config, mountPath: /etc/app}}
      volumes:
      - {{name: config, configMap: {{name: {name}}}}}
---
apiVersion: v1
kind: Service
metadata:
  name: {name}
  labels: {{app.kubernetes.io/name: {name}}}
spec:
  selector: {{app.kubernetes.io/name: {name}}}
  ports:
  - {{name: http, port: 80, targetPort: http}}
  - {{name: metrics, port: 9090, targetPort: metrics}}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
data:
  config.yaml: |
    server:
      listen: :8080
      timeouts: {{read: 5s, write: 10s, idle: 60s}}
    database:
      host: db.{name}.svc
      pool: {{min: 2, max: 20}}
    features:
    - alpha
    - beta
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {name}
automountServiceAccountToken: false
"
    )
}

/// SplitMix64: small, seeded, the same everywhere.
pub(crate) struct Rng(u64);

impl Rng {
    /// A generator; the same seed gives the same numbers.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        u32::try_from(self.next() % u64::from(n.max(1))).unwrap_or(0)
    }

    /// True in so many cases of a hundred.
    pub(crate) fn percent(&mut self, p: u32) -> bool {
        self.below(100) < p
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn log_normal(&mut self, mu: f64, sigma: f64, most: u32) -> u32 {
        let (u, v) = (self.unit().max(1e-12), self.unit());
        let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
        (mu + sigma * normal).exp().round().min(f64::from(most)) as u32
    }
}

/// Team sizes: team k is drawn in proportion to 1/k^1.1.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(n: u32) -> Self {
        let mut sum = 0.0;
        Self(
            (1..=n)
                .map(|k| {
                    sum += f64::from(k).powf(-1.1);
                    sum
                })
                .collect(),
        )
    }

    fn draw(&self, rng: &mut Rng) -> u32 {
        let total = self.0.last().copied().unwrap_or(1.0);
        let at = rng.unit() * total;
        u32::try_from(self.0.partition_point(|sum| *sum < at)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_shape_gives_the_same_bytes_and_other_seeds_other_bytes() {
        let shape = Shape::new(40, 6, 7);
        assert_eq!(files(shape), files(shape));
        assert_ne!(files(shape), files(Shape { seed: 8, ..shape }));
        assert_eq!(files(shape).len(), 1 + 6 + 1 + 2 * 40);
    }
}
