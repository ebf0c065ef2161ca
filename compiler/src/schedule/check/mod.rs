//! The independent check of a schedule: written from the rules, not from the code that decides.
//!
//! It takes what any reader of the rules would: the model, the record, leaf vocabulary, and the ledgers of `room`. It uses
//! nothing of `filter`, `select`, `divide`, `decide` or `phases`. A violation is our bug: nothing is published.
//!
//! Invariants: linear in what is placed; a message says which app, workload and cluster break which rule.
//! The next rule is a file of its own here and a line of [`check`].

mod counts;
mod deficits;
mod facts;
mod groups;
mod held;
mod losses;
mod quota;
mod rooms;
mod sets;
mod spread;
mod standing;

mod tiers;

use std::cell::OnceCell;

use super::{Scenario, Target};
use crate::model::Fleet;
use crate::placements::Record;
use crate::variants::Variants;

use facts::{AppFacts, Inputs};

/// What breaks the rules, by app; empty where nothing does.
#[must_use]
pub fn check(fleet: &Fleet, variants: &Variants, record: &Record, scenario: &Scenario, target: &Target) -> Vec<String> {
    if target.apps.len() != fleet.apps.len() {
        return vec![format!("{} apps have a target, of {}", target.apps.len(), fleet.apps.len())];
    }
    let inputs = Inputs::new(fleet, variants, record, scenario, target);
    let mut violations = Vec::new();
    if !target.settled {
        violations.push("the schedule does not settle: each pass changes what the one before decided".to_owned());
    }
    let mut apps = Vec::with_capacity(fleet.apps.len());
    for id in fleet.app_ids() {
        match AppFacts::new(&inputs, id) {
            Ok(facts) => apps.push(facts),
            Err(violation) => violations.push(violation),
        }
    }
    if apps.len() < fleet.apps.len() {
        // Seats that do not even name a place make every other rule meaningless.
        return violations;
    }
    for app in apps.iter().filter(|app| app.held) {
        held::check(&inputs, app, &mut violations);
    }
    let displaced = OnceCell::new();
    for app in apps.iter().filter(|app| !app.held) {
        standing::check(&inputs, app, &mut violations);
        counts::check(&inputs, app, &mut violations);
        sets::check(&inputs, app, &mut violations);
        deficits::check(&inputs, app, &mut violations);
        spread::check(&inputs, app, &mut violations);
        groups::check(&inputs, app, &mut violations);
        let displaced = || displaced.get_or_init(|| rooms::displaced(&inputs, &apps));
        tiers::check(&inputs, app, &displaced, &mut violations);
        losses::check(&inputs, app, &displaced, &mut violations);
    }
    quota::check(&inputs, &apps, &mut violations);
    rooms::check(&inputs, &apps, &mut violations);
    violations
}
