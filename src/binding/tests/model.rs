//! A model of an API server, for the property test only: objects with UID and resourceVersion, optimistic concurrency,
//! finalizers, deletion and the garbage collection of Leases. What the model shows is proven again on the real one.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::build::instance;
use crate::binding::{
    Claim, ClaimNames, Claims, Database, Instance, Listing, Lookup, Metadata, ObjectVersion,
    ObservedDatabase, Operation, Outcome, Referrer, Status, Tenant,
};
use crate::rules::finding::Findings;

/// A claim Lease.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    pub(super) uid: String,
    pub(super) resource_version: String,
    pub(super) holder: String,
    pub(super) database_name: String,
    pub(super) owner: String,
}

/// The objects, Tenants by `namespace/name`.
#[derive(Clone, Debug, Default)]
pub(super) struct Server {
    pub(super) tenants: BTreeMap<String, Tenant>,
    pub(super) databases: BTreeMap<String, Database>,
    pub(super) instances: BTreeMap<String, Instance>,
    pub(super) leases: BTreeMap<String, Lease>,
    count: u64,
}

fn is_read(stored: &Metadata, read: &ObjectVersion) -> bool {
    stored.uid == read.uid && stored.resource_version == read.resource_version
}

impl Server {
    fn next(&mut self) -> String {
        self.count += 1;
        self.count.to_string()
    }

    pub(super) fn key(metadata: &Metadata) -> String {
        format!("{}/{}", metadata.namespace.as_deref().unwrap_or_default(), metadata.name)
    }

    fn fresh(&mut self, metadata: &mut Metadata) {
        metadata.uid = format!("u{}", self.next());
        metadata.resource_version = self.next();
        metadata.generation = 1;
    }

    pub(super) fn create_tenant(&mut self, mut tenant: Tenant) {
        self.fresh(&mut tenant.metadata);
        self.tenants.entry(Self::key(&tenant.metadata)).or_insert(tenant);
    }

    pub(super) fn create_database(&mut self, mut database: Database) -> bool {
        self.fresh(&mut database.metadata);
        let name = database.metadata.name.clone();
        if self.databases.contains_key(&name) {
            return false;
        }
        self.databases.insert(name, database);
        true
    }

    pub(super) fn create_instance(&mut self) {
        let mut instance = instance();
        self.fresh(&mut instance.metadata);
        self.instances.entry(instance.metadata.name.clone()).or_insert(instance);
    }

    /// Any write of a user to a Tenant; it moves the resourceVersion.
    pub(super) fn edit_tenant(&mut self, key: &str, edit: impl FnOnce(&mut Tenant)) {
        let version = self.next();
        if let Some(tenant) = self.tenants.get_mut(key) {
            edit(tenant);
            tenant.metadata.resource_version = version;
        }
        self.tenants.retain(|_, tenant| is_kept(&tenant.metadata));
    }

    /// Any write of a user to a Database; it moves the resourceVersion.
    pub(super) fn edit_database(&mut self, name: &str, edit: impl FnOnce(&mut Database)) {
        let version = self.next();
        if let Some(database) = self.databases.get_mut(name) {
            edit(database);
            database.metadata.resource_version = version;
        }
        self.databases.retain(|_, database| is_kept(&database.metadata));
    }

    pub(super) fn edit_instance(&mut self, name: &str, edit: impl FnOnce(&mut Instance)) {
        let version = self.next();
        if let Some(instance) = self.instances.get_mut(name) {
            edit(instance);
            instance.metadata.resource_version = version;
        }
        self.instances.retain(|_, instance| is_kept(&instance.metadata));
    }

    /// Leases whose owner is gone go.
    pub(super) fn collect_garbage(&mut self) {
        let lives = |uid: &str| self.databases.values().any(|database| database.metadata.uid == uid);
        let dead: Vec<String> = self
            .leases
            .iter()
            .filter(|(_, lease)| !lives(&lease.owner))
            .map(|(name, _)| name.clone())
            .collect();
        for name in dead {
            self.leases.remove(&name);
        }
    }

    pub(super) fn observed(&self, database: &Database) -> ObservedDatabase {
        let uid = &database.metadata.uid;
        let refers =
            |tenant: &&Tenant| tenant.status.database_ref.as_ref().is_some_and(|record| record.uid == *uid);
        let referrers = self.tenants.values().filter(refers).map(|tenant| Referrer {
            namespace: tenant.metadata.namespace.clone().unwrap_or_default(),
            name: tenant.metadata.name.clone(),
            uid: tenant.metadata.uid.clone(),
        });
        ObservedDatabase { database: database.clone(), referrers: Listing::Complete(referrers.collect()) }
    }

    pub(super) fn claim(&self, name: &str) -> Lookup<Claim> {
        let Some(lease) = self.leases.get(name) else { return Lookup::Absent };
        let holder = match self.databases.get(&lease.database_name) {
            Some(database) => Lookup::Found(database.metadata.uid.clone()),
            None => Lookup::Absent,
        };
        Lookup::Found(Claim {
            name: name.to_owned(),
            uid: lease.uid.clone(),
            resource_version: lease.resource_version.clone(),
            holder: lease.holder.clone(),
            holder_lookup: Some(holder),
        })
    }

    pub(super) fn claims(&self, names: &ClaimNames) -> Claims {
        Claims { database: self.claim(&names.database), role: self.claim(&names.role) }
    }

    /// Whether a step would be done: its preconditions hold.
    pub(super) fn admit(&self, operation: &Operation) -> Result<(), Outcome> {
        match operation {
            Operation::ReplaceFinalizers { object, finalizers }
            | Operation::Bind { object, finalizers, .. } => {
                let stored = self.metadata(object)?;
                let adds = finalizers.iter().any(|new| !stored.has_finalizer(new));
                if stored.is_deleting && adds { Err(Outcome::Changed) } else { Ok(()) }
            }
            Operation::ReplaceStatus { object, .. } | Operation::DeleteDatabase { object } => {
                self.metadata(object).map(drop)
            }
            Operation::CreateDatabase { body } => exists_not(&self.databases, body),
            Operation::CreateLease { body } => exists_not(&self.leases, body),
            Operation::DeleteLease { name, uid, resource_version } => self
                .leases
                .get(name)
                .filter(|stored| stored.uid == *uid && stored.resource_version == *resource_version)
                .map(drop)
                .ok_or(Outcome::Changed),
            Operation::DeleteDelivered { .. } => unreachable!("nothing is delivered"),
        }
    }

    /// Does what a step says; its preconditions hold.
    pub(super) fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::ReplaceFinalizers { object, finalizers } => {
                self.change(object, |metadata| metadata.finalizers.clone_from(finalizers));
            }
            Operation::Bind { object, tenant_ref, finalizers } => {
                self.edit_database(&object.name, |database| {
                    assert_eq!(
                        database.tenant_ref, None,
                        "N1: spec.tenantRef changes from absent to full only"
                    );
                    database.tenant_ref = Some(tenant_ref.clone());
                    database.metadata.finalizers.clone_from(finalizers);
                    database.metadata.generation += 1;
                });
            }
            Operation::CreateDatabase { body } => {
                let mut whole = body.clone();
                whole["metadata"]["uid"] = json!("new");
                whole["metadata"]["resourceVersion"] = json!("new");
                self.create_database(Database::of_object(&whole, &Findings::new()).unwrap());
            }
            Operation::ReplaceStatus { object, status } => match status {
                Status::Tenant(status) => {
                    self.edit_tenant(&key_of(object), |tenant| tenant.status = status.as_ref().clone());
                }
                Status::Database(status) => {
                    self.edit_database(&object.name, |database| database.status = status.as_ref().clone());
                }
                Status::Instance(status) => {
                    self.edit_instance(&object.name, |instance| instance.status = status.as_ref().clone());
                }
            },
            Operation::DeleteDatabase { object } => {
                self.edit_database(&object.name, |database| delete(&mut database.metadata));
            }
            Operation::CreateLease { body } => {
                let text = |pointer: &str| body.pointer(pointer).unwrap().as_str().unwrap().to_owned();
                let lease = Lease {
                    uid: self.next(),
                    resource_version: self.next(),
                    holder: text("/spec/holderIdentity"),
                    database_name: text("/metadata/annotations/database.ayatori.ddupan.top~1database-name"),
                    owner: text("/metadata/ownerReferences/0/uid"),
                };
                self.leases.insert(text("/metadata/name"), lease);
            }
            Operation::DeleteLease { name, .. } => {
                self.leases.remove(name);
            }
            Operation::DeleteDelivered { .. } => unreachable!("nothing is delivered"),
        }
    }

    /// The stored object, if it is exactly the one that was read.
    fn metadata(&self, object: &ObjectVersion) -> Result<&Metadata, Outcome> {
        use crate::api::Kind;
        let stored = match object.kind {
            Kind::PostgreSQLTenant => self.tenants.get(&key_of(object)).map(|found| &found.metadata),
            Kind::PostgreSQLDatabase => self.databases.get(&object.name).map(|found| &found.metadata),
            Kind::PostgreSQLInstance => self.instances.get(&object.name).map(|found| &found.metadata),
            Kind::SecretContract => None,
        };
        stored.filter(|stored| is_read(stored, object)).ok_or(Outcome::Changed)
    }

    fn change(&mut self, object: &ObjectVersion, change: impl FnOnce(&mut Metadata)) {
        use crate::api::Kind;
        match object.kind {
            Kind::PostgreSQLTenant => {
                self.edit_tenant(&key_of(object), |tenant| change(&mut tenant.metadata));
            }
            Kind::PostgreSQLDatabase => {
                self.edit_database(&object.name, |database| change(&mut database.metadata));
            }
            Kind::PostgreSQLInstance => {
                self.edit_instance(&object.name, |instance| change(&mut instance.metadata));
            }
            Kind::SecretContract => {}
        }
    }
}

fn exists_not<T>(objects: &BTreeMap<String, T>, body: &Value) -> Result<(), Outcome> {
    let exists =
        body.pointer("/metadata/name").and_then(Value::as_str).is_some_and(|name| objects.contains_key(name));
    if exists { Err(Outcome::Changed) } else { Ok(()) }
}

/// A DELETE.
pub(super) fn delete(metadata: &mut Metadata) {
    if !metadata.is_deleting {
        metadata.is_deleting = true;
        metadata.generation += 1;
    }
}

fn is_kept(metadata: &Metadata) -> bool {
    !metadata.is_deleting || !metadata.finalizers.is_empty()
}

fn key_of(object: &ObjectVersion) -> String {
    format!("{}/{}", object.namespace.as_deref().unwrap_or_default(), object.name)
}
