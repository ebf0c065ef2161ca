//! Dividing replicas: Karmada's strategies and its Webster.

use std::collections::{BTreeMap, BTreeSet};

use fleetwright_compiler::divide::{Candidate, Capacity, Division, Party, Start, Strategy, divide, webster};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::asked::{Asked, Deviation, Op, Unanswered};
use crate::read::read;

pub const OPS: &[Op] = &[
    Op { name: "webster", answer: seats, normal: assigned, deviations: TIES },
    Op { name: "divide", answer: divided, normal: assigned, deviations: DIVIDE },
    Op { name: "divide_available", answer: divided_available, normal: assigned, deviations: DIVIDE },
    Op { name: "assign_replicas", answer: assign_replicas, normal: assigned, deviations: DIVIDE },
];

/// A cluster that is not named has no replicas. Whether one with 0 is named is a matter of Karmada's types.
fn assigned(_: &Value, mut value: Value) -> Value {
    if let Value::Object(map) = &mut value {
        map.shift_remove("zero_replica_clusters_kept");
        if let Some(Value::Object(assignment)) = map.get_mut("assignment") {
            assignment.retain(|_, replicas| replicas.as_u64() != Some(0));
        }
    }
    value
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Seats {
    seats: u32,
    votes: BTreeMap<String, u64>,
    #[serde(default)]
    initial: Option<BTreeMap<String, u32>>,
    /// Karmada turns the order of ties by its hash.
    #[serde(default, rename = "uid")]
    _uid: Option<String>,
}

fn seats(input: &Value) -> Result<Value, Unanswered> {
    let Seats { seats, votes, initial, _uid } = read(input)?;
    let initial = initial.unwrap_or_default();
    let names: BTreeSet<&String> = votes.keys().chain(initial.keys()).collect();
    let mut parties: Vec<Party> = names
        .iter()
        .map(|name| Party {
            weight: votes.get(*name).copied().unwrap_or(0),
            seats: initial.get(*name).copied().unwrap_or(0),
            cap: u32::MAX,
            room: None,
        })
        .collect();
    webster(seats, &mut parties);
    let seats: BTreeMap<&String, u32> = names.into_iter().zip(parties.iter().map(|party| party.seats)).collect();
    Ok(json!({ "seats": seats }))
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Karmada {
    #[serde(default)]
    strategy: Option<String>,
    #[serde(default)]
    mode: Option<String>,
    replicas: u32,
    candidates: Vec<Cluster>,
    #[serde(default)]
    static_weights: Option<Vec<Weight>>,
    #[serde(default)]
    previous: Option<Vec<Seat>>,
    /// Karmada turns the order of ties by its hash.
    #[serde(default, rename = "uid")]
    _uid: Option<String>,
    /// Groups of clusters; the candidates are those of the group in use, and say where they overflow.
    #[serde(default, rename = "cluster_affinities")]
    _cluster_affinities: Option<Value>,
    #[serde(default, rename = "observed_affinity")]
    _observed_affinity: Option<String>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Cluster {
    name: String,
    /// Replicas that fit beside those that are there.
    #[serde(default)]
    allocatable: Option<u64>,
    /// The same with those that are there.
    #[serde(default, rename = "available")]
    _available: Option<u64>,
    /// Which group fills first.
    #[serde(default)]
    overflow_order: u32,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Weight {
    weight: u64,
    clusters: Vec<String>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Seat {
    name: String,
    replicas: u32,
}

impl Karmada {
    fn strategy(&self) -> Result<Strategy, Unanswered> {
        match self.strategy.as_deref() {
            // Karmada duplicates unless told otherwise.
            None | Some("duplicated") => Ok(Strategy::Duplicated),
            Some("static_weight") => Ok(Strategy::StaticWeight),
            Some("dynamic_weight") => Ok(Strategy::DynamicWeight),
            Some("aggregated") => Ok(Strategy::Aggregated),
            Some(other) => Err(Unanswered::Unmapped(format!("no such strategy: {other}"))),
        }
    }

    fn held(&self, name: &str) -> u32 {
        let seats = self.previous.iter().flatten();
        seats.filter(|seat| seat.name == name).map(|seat| seat.replicas).fold(0, u32::saturating_add)
    }

    /// Without rules every cluster weighs 1; of several matching rules the largest counts.
    fn weight(&self, name: &str) -> u64 {
        match &self.static_weights {
            None => 1,
            Some(rules) => {
                let matching = rules.iter().filter(|rule| rule.clusters.iter().any(|cluster| cluster == name));
                matching.map(|rule| rule.weight).max().unwrap_or(0)
            }
        }
    }

    fn divide(mut self) -> Result<Value, Unanswered> {
        self.candidates.sort_by(|a, b| a.name.cmp(&b.name));
        let strategy = self.strategy()?;
        // Static weights and Duplicated look at no room in Karmada, and static weights are divided anew each time.
        let looks_at_room = matches!(strategy, Strategy::DynamicWeight | Strategy::Aggregated);
        let start = match (self.mode.as_deref(), strategy) {
            (Some("fresh"), _) => Start::Fresh,
            (None | Some("steady"), Strategy::StaticWeight) => Start::Anew,
            (None | Some("steady"), _) => Start::Steady,
            (Some(other), _) => return Err(Unanswered::Unmapped(format!("no such mode: {other}"))),
        };
        let candidates: Vec<Candidate> = self
            .candidates
            .iter()
            .map(|cluster| {
                let previous = self.held(&cluster.name);
                // Room counts a cluster's own replicas, `allocatable` does not.
                let room = cluster.allocatable.map(|free| free.saturating_add(u64::from(previous)));
                Candidate {
                    weight: self.weight(&cluster.name),
                    room: room.filter(|_| looks_at_room),
                    max: None,
                    quota: None,
                    floor: 0,
                    witness: false,
                    previous,
                    vetoed: false,
                    tier: cluster.overflow_order,
                }
            })
            .collect();
        let capacity = if looks_at_room { Capacity::Require } else { Capacity::Ignore };
        let outcome = divide(&Division { strategy, capacity, start, replicas: self.replicas, candidates: &candidates });
        if outcome.refused {
            return Ok(json!({ "unschedulable": true }));
        }
        let names = self.candidates.iter().map(|cluster| &cluster.name);
        let assignment: BTreeMap<&String, u32> = names.zip(outcome.seats).collect();
        let nothing = strategy != Strategy::Duplicated && outcome.unplaced > 0;
        Ok(if nothing {
            json!({ "assignment": assignment, "unplaced": outcome.unplaced })
        } else {
            json!({ "assignment": assignment })
        })
    }
}

fn divided(input: &Value) -> Result<Value, Unanswered> {
    read::<Karmada>(input)?.divide()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Available {
    strategy: String,
    target_replicas: u32,
    available: Vec<Seat>,
    #[serde(default)]
    previous: Option<Vec<Seat>>,
}

/// The part of a division that follows the estimate: `target_replicas` more, by what is `available`.
fn divided_available(input: &Value) -> Result<Value, Unanswered> {
    let Available { strategy, target_replicas, available, previous } = read(input)?;
    if previous.as_ref().is_some_and(|seats| !seats.is_empty()) {
        return Err(Unanswered::Unmapped("a step inside Karmada's division, with replicas already placed".to_owned()));
    }
    let cluster = |seat: Seat| Cluster {
        name: seat.name,
        allocatable: Some(u64::from(seat.replicas)),
        _available: None,
        overflow_order: 0,
    };
    let karmada = Karmada {
        strategy: Some(strategy),
        mode: None,
        replicas: target_replicas,
        candidates: available.into_iter().map(cluster).collect(),
        static_weights: None,
        previous: None,
        _uid: None,
        _cluster_affinities: None,
        _observed_affinity: None,
    };
    karmada.divide()
}

/// As `divide`, with Karmada's errors: no clusters at all is one, no room for all is another.
fn assign_replicas(input: &Value) -> Result<Value, Unanswered> {
    let karmada: Karmada = read(input)?;
    if karmada.candidates.is_empty() {
        return Ok(json!({ "error": true, "unschedulable": false }));
    }
    let answer = karmada.divide()?;
    Ok(if answer.get("unschedulable").is_some() { json!({ "error": true, "unschedulable": true }) } else { answer })
}

const TIES: &[Deviation] = &[TURNED_TIES];

const DIVIDE: &[Deviation] = &[
    TURNED_TIES,
    Deviation {
        why: "growth: room counts a cluster's own replicas, so that growing in steps equals growing at once",
        holds: |asked| {
            read::<Karmada>(asked.input).is_ok_and(|karmada| {
                let held: u64 = karmada.candidates.iter().map(|cluster| u64::from(karmada.held(&cluster.name))).sum();
                looks_at_room(&karmada) && held > 0 && u64::from(karmada.replicas) > held && all_fits(asked, &karmada)
            })
        },
    },
    Deviation {
        why: "room is a cap: Karmada's rounding gives a cluster more than fits",
        holds: |asked| {
            read::<Karmada>(asked.input).is_ok_and(|karmada| {
                let room = |cluster: &Cluster| {
                    cluster.allocatable.map(|free| free.saturating_add(u64::from(karmada.held(&cluster.name))))
                };
                let too_much = |cluster: &Cluster| {
                    room(cluster).is_some_and(|room| replicas(asked.expected, &cluster.name) > room)
                };
                looks_at_room(&karmada) && karmada.candidates.iter().any(too_much) && all_fits(asked, &karmada)
            })
        },
    },
    Deviation {
        why: "weights are given and none matches: unplaced, not 1 for each",
        holds: |asked| {
            read::<Karmada>(asked.input).is_ok_and(|karmada| {
                karmada.strategy.as_deref() == Some("static_weight")
                    && karmada.candidates.iter().all(|cluster| karmada.weight(&cluster.name) == 0)
                    && asked.answer.get("unplaced").and_then(Value::as_u64) == Some(u64::from(karmada.replicas))
            })
        },
    },
];

const TURNED_TIES: Deviation = Deviation {
    why: "ties go by name, not by a hash of the workload's uid: the same numbers, in another order",
    holds: |asked| {
        let has_uid = asked.input.get("uid").and_then(Value::as_str).is_some_and(|uid| !uid.is_empty());
        has_uid && sorted_numbers(asked.answer).is_some_and(|numbers| Some(numbers) == sorted_numbers(asked.expected))
    },
};

fn looks_at_room(karmada: &Karmada) -> bool {
    matches!(karmada.strategy(), Ok(Strategy::DynamicWeight | Strategy::Aggregated))
}

/// Whether we placed all replicas, no cluster getting more than fits.
fn all_fits(asked: &Asked<'_>, karmada: &Karmada) -> bool {
    let mut placed = 0;
    for cluster in &karmada.candidates {
        let replicas = replicas(asked.answer, &cluster.name);
        let room = cluster.allocatable.map(|free| free.saturating_add(u64::from(karmada.held(&cluster.name))));
        if room.is_some_and(|room| replicas > room) {
            return false;
        }
        placed += replicas;
    }
    placed == u64::from(karmada.replicas) && asked.expected.get("assignment").is_some()
}

fn replicas(answer: &Value, cluster: &str) -> u64 {
    let assignment = answer.get("assignment");
    assignment.and_then(|assignment| assignment.get(cluster)).and_then(Value::as_u64).unwrap_or(0)
}

fn sorted_numbers(answer: &Value) -> Option<Vec<u64>> {
    let numbers = answer.get("seats").or_else(|| answer.get("assignment"))?.as_object()?;
    let mut numbers: Vec<u64> = numbers.values().filter_map(Value::as_u64).collect();
    numbers.sort_unstable();
    Some(numbers)
}
