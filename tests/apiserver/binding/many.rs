//! Many at once: how many writes a binding costs, and how long a thousand take.
//!
//! `COVENANT_TEST_TENANTS` says how many (1,000 for a night's run). The time is printed, not judged: a busy machine proves
//! nothing by being slow.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::lab::{Lab, TENANT, ready};
use crate::support::eventually;

fn count() -> usize {
    std::env::var("COVENANT_TEST_TENANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}

#[test]
#[expect(clippy::print_stdout, reason = "a figure for whoever asks with --nocapture")]
fn a_binding_costs_at_most_six_writes_however_many_there_are() {
    let lab = Arc::new(Lab::running("many"));
    let count = count();
    let begun = Instant::now();
    for number in 0..count {
        lab.tenant(&format!("shop{number}"));
    }
    let made = begun.elapsed();
    eventually("all are bound", || {
        let bound = lab
            .all(TENANT)
            .iter()
            .filter(|tenant| ready(tenant).is_some_and(|(_, why)| why == "BindingComplete"))
            .count();
        (bound == count).then_some(())
    });
    println!("{count} Tenants: made in {made:.1?}, bound {:.1?} after the first was made", begun.elapsed());
    lab.check();
    let mut writes: HashMap<String, usize> = HashMap::new();
    for step in lab.steps() {
        *writes.entry(step).or_default() += 1;
    }
    // Claims are Leases and stand apart, as Events do.
    let objects: usize =
        writes.iter().filter(|(step, _)| !step.starts_with("claim-")).map(|(_, count)| count).sum();
    assert!(objects <= 6 * count, "{objects} writes for {count} Tenants: {writes:?}");
    for step in ["W0", "W1", "W2", "W3", "W4"] {
        assert_eq!(writes[step], count, "{step}");
    }
}
