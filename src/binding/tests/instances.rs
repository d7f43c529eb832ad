//! The scenarios of an Instance's plan.

use super::build::*;
use crate::api::names;
use crate::binding::{
    Instance, InstanceObservation, InstanceWorld, Listing, Lookup, ReferringTenant, plan_instance,
};

fn protected() -> Instance {
    let mut instance = instance();
    instance.metadata.finalizers.push(names::INSTANCE_FINALIZER.to_owned());
    instance
}

fn deleting(databases: &[&str], tenants: Vec<ReferringTenant>) -> InstanceWorld {
    let mut instance = protected();
    instance.metadata.is_deleting = true;
    InstanceWorld {
        instance: Lookup::Found(instance),
        databases: Listing::Complete(databases.iter().map(|name| (*name).to_owned()).collect()),
        tenants: Listing::Complete(tenants),
        observation: InstanceObservation::NotObserved,
    }
}

fn referring(name: &str, is_bound: bool, is_deleting: bool) -> ReferringTenant {
    ReferringTenant { namespace: "team".to_owned(), name: name.to_owned(), is_bound, is_deleting }
}

fn step(world: &InstanceWorld) -> String {
    shown(&plan_instance(world, now()))
}

#[test]
fn e14_stays_while_something_refers_to_it() {
    for (databases, tenants) in [
        (&["a"][..], vec![]),
        (&[][..], vec![referring("b", false, false)]),
        (&["a", "c"][..], vec![referring("b", false, false)]),
    ] {
        assert_eq!(step(&deleting(databases, tenants)), "ReportStatus Deleting/DeletionBlocked");
    }
    let world = deleting(&["a", "c"], vec![referring("b", false, false)]);
    let text = message(&plan_instance(&world, now()));
    assert!(
        text.contains("2 PostgreSQLDatabases (\"a\", \"c\") and 1 unbound PostgreSQLTenant (\"team/b\")"),
        "{text}"
    );
    assert_eq!(step(&deleting(&[], vec![])), "RemoveInstanceFinalizer");
}

#[test]
fn e14_a_failed_list_is_not_no_references() {
    let known = deleting(&[], vec![]);
    assert_eq!(step(&InstanceWorld { databases: Listing::Unknown, ..known.clone() }), "Wait");
    assert_eq!(step(&InstanceWorld { tenants: Listing::Unknown, ..known.clone() }), "Wait");
    assert_eq!(step(&InstanceWorld { instance: Lookup::Unknown, ..known }), "Wait");
}

#[test]
fn e16_a_lost_or_deleting_tenant_does_not_block() {
    let tenants = vec![referring("lost", true, false), referring("going", false, true)];
    assert_eq!(step(&deleting(&[], tenants)), "RemoveInstanceFinalizer");
}

#[test]
fn it_is_protected_first_and_then_shown_as_it_was_observed() {
    let world = |instance, observation| InstanceWorld {
        instance: Lookup::Found(instance),
        observation,
        ..InstanceWorld::default()
    };
    assert_eq!(step(&world(instance(), InstanceObservation::NotObserved)), "AddInstanceFinalizer");
    assert_eq!(
        step(&world(protected(), InstanceObservation::NotObserved)),
        "ReportStatus Pending/ServerNotObserved"
    );
    let ready = |generation| InstanceObservation::Ready {
        generation,
        version: "17.2".to_owned(),
        system_identifier: "7".to_owned(),
    };
    assert_eq!(step(&world(protected(), ready(1))), "ReportStatus Ready/Ready");
    assert_eq!(step(&world(protected(), ready(0))), "ReportStatus Pending/ServerNotObserved");
    let invalid = Instance { fault: Some("spec.endpoint.host: bad".to_owned()), ..protected() };
    assert_eq!(step(&world(invalid, ready(1))), "ReportStatus Pending/InvalidSpec");
}
