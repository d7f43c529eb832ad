//! N1 to N10, as far as they bind our writes: what is about to be written is compared with what is stored. N1 stands in the
//! model itself, N8 in the property, and N4, N5 and N10 in that there is no other write.

use super::model::Server;
use super::simulation::Simulation;
use crate::api::refs::DatabaseIdentity;
use crate::binding::{Operation, Status, StepName};

impl Simulation {
    /// The invariants, as far as they bind our writes: what is about to be written to what is stored.
    pub(super) fn check(&self, before: &Server, step: StepName, operation: &Operation) {
        match operation {
            Operation::ReplaceStatus { object, status } => match status {
                Status::Tenant(status) => {
                    let key = format!("{}/{}", object.namespace.as_deref().unwrap(), object.name);
                    let stored = &before.tenants[&key].status.database_ref;
                    if stored.as_ref().is_some_and(|record| !record.uid.is_empty()) {
                        assert_eq!(*stored, status.database_ref, "N3: the record never changes");
                    } else if let Some(record) = &status.database_ref {
                        self.check_completion(before, &key, record);
                    }
                    if status.phase.as_deref() == Some("Lost") {
                        let uid = &status.database_ref.as_ref().unwrap().uid;
                        let lives = before.databases.values().any(|database| database.metadata.uid == *uid);
                        assert!(!lives, "N6: lost, and it lives");
                    }
                }
                Status::Database(status) => {
                    let stored = &before.databases[&object.name];
                    if step == StepName::RecordRelease {
                        let uid = &stored.tenant_ref.as_ref().unwrap().uid;
                        let lives = before
                            .tenants
                            .values()
                            .any(|tenant| tenant.metadata.uid == *uid && !tenant.metadata.is_deleting);
                        assert!(!lives, "N6: a release of a living tenant");
                    }
                    if status.phase.as_deref() == Some("Available") {
                        assert_eq!(stored.tenant_ref, None, "N9: available, and bound");
                        assert_eq!(stored.status.tenant_ref, None, "N9: available, and bound on record");
                        self.check_nobody_has(before, &object.uid, "N9: available, and a tenant has it");
                    }
                }
                Status::Instance(_) => {}
            },
            Operation::Bind { object, tenant_ref, .. } => {
                let stored = &before.databases[&object.name];
                assert_eq!(stored.status.phase.as_deref(), Some("Available"), "W2 without verification");
                self.check_nobody_has(before, &object.uid, "N2: bound, and another tenant has it");
                let key = format!("{}/{}", tenant_ref.namespace, tenant_ref.name);
                let other = before.tenants.get(&key).filter(|found| found.metadata.uid == tenant_ref.uid);
                assert!(
                    other.is_none_or(|tenant| tenant.recorded_database().is_none() || self.weather.tampering)
                );
            }
            Operation::DeleteDatabase { object } => {
                self.check_nobody_has_alive(before, &object.uid, "deleted, and a living tenant has it");
                assert_eq!(before.databases[&object.name].status.attempt, None);
            }
            Operation::ReplaceFinalizers { object, .. } if step == StepName::RemoveDatabaseFinalizer => {
                self.check_nobody_has_alive(before, &object.uid, "let go of, and a living tenant has it");
            }
            Operation::DeleteLease { name, .. } => {
                let holder = &before.leases[name].holder;
                let lives = before.databases.values().any(|database| database.metadata.uid == *holder);
                assert!(!lives, "N6: a claim was taken away from a living holder");
            }
            _ => {}
        }
    }

    /// W4: the Database names this Tenant, nobody else has it, and both claims are its own.
    fn check_completion(&self, before: &Server, key: &str, record: &DatabaseIdentity) {
        let tenant = &before.tenants[key];
        assert!(!tenant.metadata.is_deleting, "bound while being deleted");
        let database = before.databases.get(&record.name).filter(|found| found.metadata.uid == record.uid);
        if !self.weather.tampering {
            let Some(database) = database else {
                // Nothing protects from somebody who takes the finalizer away; it shows as Lost.
                assert!(self.forced.contains(&record.uid), "N7: bound to a database that is gone");
                return;
            };
            let bound = database.tenant_ref.as_ref().map(|bound| bound.uid.as_str());
            assert_eq!(bound, Some(tenant.metadata.uid.as_str()), "both records agree");
            let held = before.leases.values().filter(|lease| lease.holder == record.uid).count();
            assert!(held >= 2, "W4 without both claims");
        }
        for (other, found) in &before.tenants {
            let same = found.status.database_ref.as_ref().is_some_and(|held| held.uid == record.uid);
            assert!(other == key || !same || self.is_forged(other), "N2: two tenants with one database");
        }
    }

    fn check_nobody_has(&self, before: &Server, uid: &str, what: &str) {
        for (key, tenant) in &before.tenants {
            let has = tenant.status.database_ref.as_ref().is_some_and(|record| record.uid == uid);
            assert!(!has || self.is_forged(key), "{what}");
        }
    }

    fn check_nobody_has_alive(&self, before: &Server, uid: &str, what: &str) {
        for (key, tenant) in &before.tenants {
            let has = tenant.status.database_ref.as_ref().is_some_and(|record| record.uid == uid);
            assert!(!has || tenant.metadata.is_deleting || self.is_forged(key), "{what}");
        }
    }

    fn is_forged(&self, key: &str) -> bool {
        self.forged.iter().any(|forged| forged == key)
    }
}
