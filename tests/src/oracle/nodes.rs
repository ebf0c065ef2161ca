//! Pods on single nodes, as kube-scheduler puts them there.
//!
//! Filter: every resource of the pod fits into what the node has left. Score: `NodeResourcesFit` with `LeastAllocated` and
//! `NodeResourcesBalancedAllocation`, of CPU and memory, one to one, as the scheduler's defaults have it (Kubernetes,
//! `pkg/scheduler/framework/plugins/noderesources`), in integers; the highest sum, of equal ones the earlier node. Left out,
//! because equal nodes of one pool differ in none of them: images, taints, affinities, the soft spread of a Service's pods
//! over nodes; and that of more than a hundred nodes a part is scored.

/// What a pod requests, or a node has: milli-CPU, bytes of memory, pods, devices.
pub type Amounts = [u64; 4];

const CPU: usize = 0;
const MEMORY: usize = 1;

/// What `LeastAllocated` supposes of a pod that requests nothing of it: 100 milli-CPU, 200 MiB.
const SUPPOSED: [u64; 2] = [100, 200 << 20];

/// One node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it offers to pods.
    pub allocatable: Amounts,
    /// What its pods request.
    requested: Amounts,
    /// The same of CPU and memory, with what is supposed of pods that request none.
    supposed: [u64; 2],
}

impl Node {
    /// A node without pods.
    #[must_use]
    pub fn new(allocatable: Amounts) -> Self {
        Self { allocatable, requested: [0; 4], supposed: [0; 2] }
    }

    /// How many more pods of a request fit.
    #[must_use]
    pub fn fits(&self, pod: &Amounts) -> u64 {
        let left = self.allocatable.iter().zip(&self.requested).map(|(all, used)| all.saturating_sub(*used));
        left.zip(pod).filter(|(_, pod)| **pod > 0).map(|(left, pod)| left / pod).min().unwrap_or(u64::MAX)
    }

    /// Puts a pod here, whether it fits or not.
    pub fn add(&mut self, pod: &Amounts) {
        self.requested = sum(&self.requested, pod);
        self.supposed = self.supposed_with(pod);
    }

    fn supposed_with(&self, pod: &Amounts) -> [u64; 2] {
        [CPU, MEMORY].map(|r| self.supposed[r] + if pod[r] == 0 { SUPPOSED[r] } else { pod[r] })
    }

    /// The score of the node for a pod that fits, 0 to 200.
    fn score(&self, pod: &Amounts) -> u64 {
        let supposed = self.supposed_with(pod);
        let free = |r: usize| (self.allocatable[r].saturating_sub(supposed[r]) * 100).checked_div(self.allocatable[r]);
        let (cpu, memory) = (free(CPU).unwrap_or(0), free(MEMORY).unwrap_or(0));
        u64::midpoint(cpu, memory) + self.balance(pod)
    }

    /// A hundred, less half the difference of the shares of CPU and memory that are used, rounded down.
    fn balance(&self, pod: &Amounts) -> u64 {
        if pod[CPU] == 0 && pod[MEMORY] == 0 {
            return 0;
        }
        let used = sum(&self.requested, pod);
        let all = [CPU, MEMORY].map(|r| u128::from(self.allocatable[r]));
        let whole = all[0] * all[1];
        if whole == 0 {
            return 100;
        }
        let part = |r: usize, other: u128| u128::from(used[r].min(self.allocatable[r])) * other;
        let half = 50 * part(CPU, all[1]).abs_diff(part(MEMORY, all[0]));
        u64::try_from((100 * whole - half) / whole).unwrap_or(0)
    }
}

fn sum(a: &Amounts, b: &Amounts) -> Amounts {
    [0, 1, 2, 3].map(|r| a[r] + b[r])
}

/// How many more pods of one request fit on the nodes: they fill each node by itself, in whatever order.
#[must_use]
pub fn fits(nodes: &[Node], pod: &Amounts) -> u64 {
    nodes.iter().map(|node| node.fits(pod)).fold(0, u64::saturating_add)
}

/// Puts pods on nodes, one by one; gives how many found a node.
pub fn schedule(nodes: &mut [Node], pod: &Amounts, pods: u64) -> u64 {
    for placed in 0..pods {
        let able = nodes.iter().enumerate().filter(|(_, node)| node.fits(pod) > 0);
        let best = able.max_by_key(|(at, node)| (node.score(pod), std::cmp::Reverse(*at))).map(|(at, _)| at);
        match best.and_then(|at| nodes.get_mut(at)) {
            Some(node) => node.add(pod),
            None => return placed,
        }
    }
    pods
}

#[cfg(test)]
mod tests {
    use super::*;

    const GI: u64 = 1 << 30;

    fn used(nodes: &[Node]) -> Vec<u64> {
        nodes.iter().map(|node| node.requested[CPU]).collect()
    }

    #[test]
    fn scores_are_those_of_the_scheduler() {
        // (node CPU, node GiB, pod CPU, pod GiB, LeastAllocated, BalancedAllocation)
        let cases = [
            (4000, 16, 1000, 4, 75, 100),
            (4000, 16, 1000, 8, 62, 87),  // free 75 and 50; shares 1/4 and 1/2: 100 - 12.5
            (4000, 16, 4000, 16, 0, 100), // full
            (4000, 16, 0, 4, 86, 87),     // 100 milli-CPU are supposed: 97 and 75; shares 0 and 1/4
            (4000, 16, 0, 0, 97, 0),      // 97 and 98; no balance of nothing
        ];
        for (cpu, memory, pod_cpu, pod_memory, least, balance) in cases {
            let node = Node::new([cpu, memory * GI, 110, 0]);
            let pod = [pod_cpu, pod_memory * GI, 1, 0];
            assert_eq!(node.balance(&pod), balance, "balance of {pod:?}");
            assert_eq!(node.score(&pod), least + balance, "score of {pod:?}");
        }
    }

    #[test]
    fn pods_go_to_the_emptiest_node_and_to_the_first_of_equals() {
        let mut nodes = vec![Node::new([4000, 16 * GI, 110, 0]); 3];
        assert_eq!(schedule(&mut nodes, &[1000, 4 * GI, 1, 0], 4), 4);
        assert_eq!(used(&nodes), [2000, 1000, 1000]);
        assert_eq!(fits(&nodes, &[3000, GI, 1, 0]), 2);
        assert_eq!(schedule(&mut nodes, &[3000, GI, 1, 0], 3), 2, "the third finds no node");
        assert_eq!(used(&nodes), [2000, 4000, 4000]);
    }

    #[test]
    fn every_resource_counts() {
        let mut nodes = vec![Node::new([4000, 16 * GI, 3, 2])];
        assert_eq!(fits(&nodes, &[1000, GI, 1, 0]), 3);
        assert_eq!(fits(&nodes, &[100, GI, 1, 1]), 2);
        assert_eq!(schedule(&mut nodes, &[0, 0, 1, 1], 9), 2);
        assert_eq!(fits(&nodes, &[0, 0, 1, 0]), 1);
    }
}
