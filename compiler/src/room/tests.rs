//! Facts by table, and properties against packings.

mod facts;
mod packing;
mod properties;

use std::collections::BTreeMap;

use smol_str::SmolStr;

use super::{EligiblePool, PoolRef, PoolSpec, Rooms};
use crate::base::{ClusterId, Resources};

const GI: i128 = 1 << 30;

fn res(amounts: &[(&str, i128)]) -> Resources {
    Resources(amounts.iter().map(|(name, amount)| (SmolStr::new(name), *amount)).collect::<BTreeMap<_, _>>())
}

/// Milli-CPU of whole CPUs.
fn cpu(cpus: i128) -> Resources {
    res(&[("cpu", cpus * 1000)])
}

/// One cluster with one pool.
fn single(spec: PoolSpec) -> (Rooms, PoolRef) {
    let rooms = Rooms::new([vec![spec]]);
    let pool = rooms.pools(ClusterId(0)).next().unwrap();
    (rooms, pool)
}

fn room(rooms: &mut Rooms, pool: PoolRef, request: &Resources) -> u64 {
    let request = rooms.request(request);
    rooms.room(pool, request).unwrap().replicas
}

fn untainted(pools: impl IntoIterator<Item = PoolRef>) -> Vec<EligiblePool> {
    pools.into_iter().map(|pool| EligiblePool { pool, tainted: false }).collect()
}
