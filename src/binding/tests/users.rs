//! What users do: by the rules, and past them.

use super::build::{TenantExt as _, legacy, tenant, tenant_for_legacy};
use super::model::delete;
use super::simulation::Simulation;
use crate::api::postgresql_database::PostgreSQLDatabaseStatus;
use crate::api::postgresql_tenant::PostgreSQLTenantStatus;
use crate::api::refs::{DatabaseIdentity, TenantRef};
use crate::binding::{Target, Tenant};

const TENANTS: [&str; 4] = ["a/orders", "a/bills", "b/orders", "b/mail"];
const DATABASES: [&str; 2] = ["legacy", "other"];

impl Simulation {
    /// Something that users may do by the rules.
    pub(super) fn user(&mut self) {
        let key = self.random.pick(&TENANTS).unwrap();
        let name = self.random.pick(&self.server.databases.keys().cloned().collect::<Vec<_>>());
        let name = name.unwrap_or_default();
        match self.random.below(18) {
            0..=4 => {
                let tenant = self.any_tenant(key);
                self.server.create_tenant(tenant);
                self.log.push(format!("user creates {key}"));
            }
            5 | 6 => {
                self.log.push(format!("user deletes {key}"));
                self.server.edit_tenant(key, |tenant| delete(&mut tenant.metadata));
            }
            7 => {
                let target = self.any_tenant(key).target;
                self.server.edit_tenant(key, |tenant| {
                    if matches!(tenant.status.phase.as_deref(), None | Some("Pending")) {
                        tenant.target = target;
                        tenant.metadata.generation += 1;
                    }
                });
            }
            8 => self.import(),
            9 => {
                self.log.push(format!("user deletes database {name}"));
                self.server.edit_database(&name, |database| delete(&mut database.metadata));
            }
            10 => {
                let policy = self.random.pick(&["Retain", "Delete"]).unwrap();
                self.server.edit_database(&name, |database| {
                    if database.status.release.is_none() && !database.metadata.is_deleting {
                        database.reclaim_policy = policy.to_owned();
                        database.metadata.generation += 1;
                    }
                });
            }
            11 | 12 => self.reopen(&name),
            13 => {
                self.log.push(format!("somebody forces {key}"));
                self.server.edit_tenant(key, |tenant| tenant.metadata.finalizers.clear());
            }
            14 => {
                self.log.push(format!("somebody forces database {name}"));
                self.forced.extend(self.server.databases.get(&name).map(|found| found.metadata.uid.clone()));
                self.server.edit_database(&name, |database| database.metadata.finalizers.clear());
            }
            15 if self.random.chance(30) => {
                self.log.push("somebody forces the instance and makes it anew".to_owned());
                self.server.edit_instance("main", |instance| {
                    instance.metadata.finalizers.clear();
                    delete(&mut instance.metadata);
                });
                self.server.create_instance();
            }
            16 => self.restore(),
            _ => self.server.edit_tenant(key, |_| {}),
        }
    }

    /// A Database from a backup: its Tenant's UID is nobody's.
    fn restore(&mut self) {
        self.log.push("somebody restores a database".to_owned());
        let mut database = legacy();
        database.metadata.name = "tenant-before".to_owned();
        "Provision".clone_into(&mut database.source);
        let (namespace, name, uid) = ("a".to_owned(), "orders".to_owned(), "before".to_owned());
        database.tenant_ref = Some(TenantRef { namespace, name, uid });
        self.server.create_database(database);
    }

    fn any_tenant(&mut self, key: &str) -> Tenant {
        let (namespace, name) = key.split_once('/').unwrap();
        let mut tenant = if self.random.chance(50) { tenant_for_legacy() } else { tenant() };
        tenant.metadata.namespace = Some(namespace.to_owned());
        name.clone_into(&mut tenant.metadata.name);
        let role = self.random.pick(&["orders", "mail"]).unwrap();
        match &mut tenant.target {
            Target::Provision { database, login_role, .. } => {
                name.clone_into(database);
                role.clone_into(login_role);
            }
            Target::Existing { name } => self.random.pick(&DATABASES).unwrap().clone_into(name),
            Target::Invalid => {}
        }
        tenant
    }

    fn import(&mut self) {
        let mut database = legacy();
        self.random.pick(&DATABASES).unwrap().clone_into(&mut database.metadata.name);
        let name = self.random.pick(&["orders", "old", "older"]).unwrap();
        database.database = name.to_owned();
        database.login_role = name.to_owned();
        self.server.create_database(database);
    }

    /// A re-open that the webhook and the admission policy let through.
    fn reopen(&mut self, name: &str) {
        let Some(database) = self.server.databases.get(name) else { return };
        let released = database.status.release.as_ref().and_then(|release| release.tenant_ref.clone());
        let (Some(bound), Some(released)) = (&database.tenant_ref, released) else { return };
        let lives = self.server.tenants.values().any(|tenant| tenant.metadata.uid == bound.uid);
        let is_releasing = database.status.phase.as_deref() == Some("Releasing");
        if bound.uid == released.uid && !lives && !is_releasing && !database.metadata.is_deleting {
            self.log.push(format!("administrator re-opens {name}"));
            self.server.edit_database(name, |database| {
                database.tenant_ref = None;
                database.metadata.generation += 1;
            });
        }
    }

    /// Something that users do past the rules, to bindings that are complete or to a status alone.
    pub(super) fn tamper(&mut self) {
        let key = self.random.pick(&TENANTS).unwrap();
        let name = self.random.pick(&self.server.databases.keys().cloned().collect::<Vec<_>>());
        let Some(name) = name else { return };
        let kind = self.random.below(8);
        self.log.push(format!("tampering {kind} with {key} or {name}"));
        let uid = self.server.databases[&name].metadata.uid.clone();
        let is_complete = self
            .server
            .tenants
            .values()
            .any(|tenant| tenant.status.database_ref.as_ref().is_some_and(|record| record.uid == uid));
        let has_record = self.server.databases[&name].status.tenant_ref.is_some();
        match kind {
            0 => self.server.edit_tenant(key, |tenant| tenant.status = PostgreSQLTenantStatus::default()),
            1 => self
                .server
                .edit_database(&name, |database| database.status = PostgreSQLDatabaseStatus::default()),
            2 => {
                self.forged.push(key.to_owned());
                self.server.edit_tenant(key, |tenant| {
                    tenant.status.database_ref = Some(DatabaseIdentity { name: name.clone(), uid });
                });
            }
            3 => self.server.edit_database(&name, |database| {
                database.status.phase = Some("Available".to_owned());
            }),
            4 if is_complete && has_record => self.server.edit_database(&name, |database| {
                database.tenant_ref = None;
                database.metadata.generation += 1;
            }),
            5 if is_complete && has_record => {
                let other: Option<TenantRef> = self.server.tenants.get(key).map(Tenant::identity);
                self.server.edit_database(&name, |database| {
                    database.tenant_ref = other;
                    database.metadata.generation += 1;
                });
            }
            6 => {
                let lease = self.random.pick(&self.server.leases.keys().cloned().collect::<Vec<_>>());
                lease.and_then(|lease| self.server.leases.remove(&lease));
            }
            _ => self
                .server
                .edit_tenant(key, |tenant| *tenant = tenant.clone().phase("Bound", "BindingComplete")),
        }
    }
}
