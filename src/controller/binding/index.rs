//! Who refers to whom among the three kinds and the claims: built from the watches, asked to find what to read live, and
//! telling who is to be looked at when something changes. It only ever locates; nothing is decided by it.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::wake::{Bus, Wake};
use crate::api::Kind;
use crate::api::conditions::{DatabaseReason, TenantReason};
use crate::binding::{Database, Instance, Target, Tenant};

/// A namespace, empty for a kind without one, with a name in it.
pub(in crate::controller) type Place = (String, String);

/// A map from one to many that keeps no empty entries.
#[derive(Debug)]
struct Many<K, V>(HashMap<K, BTreeSet<V>>);

impl<K, V> Default for Many<K, V> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Hash + Eq, V: Ord + Clone> Many<K, V> {
    fn add(&mut self, key: K, value: V) {
        self.0.entry(key).or_default().insert(value);
    }

    fn remove(&mut self, key: &K, value: &V) {
        if let Some(values) = self.0.get_mut(key) {
            values.remove(value);
            if values.is_empty() {
                self.0.remove(key);
            }
        }
    }

    fn of(&self, key: &K) -> Vec<V> {
        self.0.get(key).into_iter().flatten().cloned().collect()
    }
}

/// What is known of a Tenant. Two that are equal are the same to everybody who refers to it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TenantSeen {
    uid: String,
    is_deleting: bool,
    phase: Option<String>,
    /// The Databases that it names or has on record.
    databases: BTreeSet<String>,
    /// The UID of the Database that it has on record.
    recorded: Option<String>,
    instance: Option<String>,
    /// The reason of Ready: a Database that is going waits for its Tenant to say that it has noticed.
    reason: Option<String>,
}

/// What is known of a Database.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DatabaseSeen {
    uid: String,
    is_deleting: bool,
    generation: i64,
    observed_generation: Option<i64>,
    instance_uid: Option<String>,
    phase: Option<String>,
    reason: Option<String>,
    tenant: Option<Place>,
    instance: String,
}

#[derive(Debug, Default)]
struct Known {
    tenants: HashMap<Place, TenantSeen>,
    databases: HashMap<String, DatabaseSeen>,
    instances: HashMap<String, (String, bool)>,
    tenants_of_database: Many<String, Place>,
    tenants_of_record: Many<String, Place>,
    tenants_of_instance: Many<String, Place>,
    databases_of_tenant: Many<Place, String>,
    databases_of_instance: Many<String, String>,
    /// The holder of each claim, and the claims of each holder.
    holder_of: HashMap<String, String>,
    claims_of: Many<String, String>,
    /// How many lists of Tenants are still to come, and whether that of the claims is there.
    awaited_lists: usize,
    has_claims: bool,
}

/// The index with those it wakes.
pub(in crate::controller) struct Index {
    known: Mutex<Known>,
    pub(super) bus: Bus,
}

impl Index {
    /// An index that waits for this many lists of Tenants.
    pub(in crate::controller) fn new(awaited_lists: usize) -> Self {
        let known = Known { awaited_lists, ..Known::default() };
        Self { known: Mutex::new(known), bus: Bus::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake<'a>(
        &self,
        tenants: impl IntoIterator<Item = &'a Place>,
        databases: impl IntoIterator<Item = &'a String>,
        instances: impl IntoIterator<Item = &'a String>,
    ) {
        let tenants = tenants.into_iter().map(Wake::tenant);
        let databases = databases.into_iter().map(|name| Wake::database(name));
        let instances = instances.into_iter().map(|name| Wake::instance(name));
        for wake in tenants.chain(databases).chain(instances) {
            self.bus.wake(wake);
        }
    }

    /// One more list of Tenants is complete.
    pub(super) fn tenants_listed(&self) {
        let mut known = self.lock();
        known.awaited_lists = known.awaited_lists.saturating_sub(1);
        drop(known);
        self.bus.wake(Wake::All(Kind::PostgreSQLDatabase));
    }

    /// The list of claims is complete.
    pub(super) fn claims_listed(&self) {
        self.lock().has_claims = true;
    }

    /// The places of the Tenants whose status names the Database with this UID; none while not all of them are known.
    pub(super) fn referrers(&self, uid: &str) -> Option<Vec<Place>> {
        let known = self.lock();
        (known.awaited_lists == 0).then(|| known.tenants_of_record.of(&uid.to_owned()))
    }

    /// The names of the claims of this holder; none while not all are known.
    pub(super) fn claims_of(&self, holder: &str) -> Option<Vec<String>> {
        let known = self.lock();
        known.has_claims.then(|| known.claims_of.of(&holder.to_owned()))
    }

    /// A version of a Tenant was seen, or it is gone.
    pub(super) fn tenant(&self, place: &Place, tenant: Option<&Tenant>) {
        let mut known = self.lock();
        let after = tenant.map(seen_tenant);
        let before = known.tenants.get(place).cloned();
        if before == after {
            return;
        }
        if let Some(before) = &before {
            for name in &before.databases {
                known.tenants_of_database.remove(name, place);
            }
            if let Some(uid) = &before.recorded {
                known.tenants_of_record.remove(uid, place);
            }
            if let Some(instance) = &before.instance {
                known.tenants_of_instance.remove(instance, place);
            }
        }
        if let Some(after) = &after {
            for name in &after.databases {
                known.tenants_of_database.add(name.clone(), place.clone());
            }
            if let Some(uid) = &after.recorded {
                known.tenants_of_record.add(uid.clone(), place.clone());
            }
            if let Some(instance) = &after.instance {
                known.tenants_of_instance.add(instance.clone(), place.clone());
            }
            known.tenants.insert(place.clone(), after.clone());
        } else {
            known.tenants.remove(place);
        }
        let mut databases: BTreeSet<String> = known.databases_of_tenant.of(place).into_iter().collect();
        let mut instances = BTreeSet::new();
        for seen in [&before, &after].into_iter().flatten() {
            databases.extend(seen.databases.iter().cloned());
            instances.extend(seen.instance.clone());
        }
        instances.retain(|name| known.instances.get(name).is_some_and(|(_, is_deleting)| *is_deleting));
        let existence =
            |seen: &Option<TenantSeen>| seen.as_ref().map(|seen| (seen.uid.clone(), seen.is_deleting));
        let is_other = existence(&before) != existence(&after);
        databases.retain(|name| {
            known.databases.get(name).is_some_and(|database| {
                // A Database that is bound to a Tenant cares whether that one lives. What else the Tenant says matters to
                // one that is going, that is in conflict, or that is somebody else's.
                is_other
                    || database.is_deleting
                    || database.tenant.as_ref() != Some(place)
                    || database.reason.as_deref() == Some(DatabaseReason::Conflict.as_str())
            })
        });
        drop(known);
        self.wake([], &databases, &instances);
    }

    /// A version of a Database was seen, or it is gone. `by_tenant`: a Tenant's pass has made this version, and goes on with it.
    pub(super) fn database(&self, name: &str, database: Option<&Database>, by_tenant: bool) {
        let mut known = self.lock();
        let after = database.map(seen_database);
        let before = known.databases.get(name).cloned();
        if before == after {
            return;
        }
        let name = name.to_owned();
        if let Some(before) = &before {
            known.databases_of_instance.remove(&before.instance, &name);
            if let Some(tenant) = &before.tenant {
                known.databases_of_tenant.remove(tenant, &name);
            }
        }
        if let Some(after) = &after {
            known.databases_of_instance.add(after.instance.clone(), name.clone());
            if let Some(tenant) = &after.tenant {
                known.databases_of_tenant.add(tenant.clone(), name.clone());
            }
            known.databases.insert(name.clone(), after.clone());
        } else {
            known.databases.remove(&name);
        }
        let mut tenants: BTreeSet<Place> = known.tenants_of_database.of(&name).into_iter().collect();
        let carrier = after.as_ref().and_then(|after| after.tenant.clone());
        let mut instances = BTreeSet::new();
        for seen in [&before, &after].into_iter().flatten() {
            tenants.extend(seen.tenant.clone());
            tenants.extend(known.tenants_of_record.of(&seen.uid));
            instances.insert(seen.instance.clone());
        }
        if let (Some(place), Some(seen)) = (carrier, &after) {
            // The Tenant that it is bound to, and that has it on record, does not care how the Database words it.
            let has_it =
                known.tenants.get(&place).is_some_and(|tenant| tenant.recorded.as_ref() == Some(&seen.uid));
            let same = before.as_ref().is_some_and(|before| {
                (&before.uid, before.is_deleting, &before.tenant)
                    == (&seen.uid, seen.is_deleting, &seen.tenant)
            });
            if by_tenant
                || (has_it && same && seen.reason.as_deref() != Some(DatabaseReason::Conflict.as_str()))
            {
                tenants.remove(&place);
            }
        }
        instances.retain(|name| known.instances.get(name).is_some_and(|(_, is_deleting)| *is_deleting));
        drop(known);
        self.wake(&tenants, [], &instances);
    }

    /// A version of an Instance was seen, or it is gone.
    pub(super) fn instance(&self, name: &str, instance: Option<&Instance>) {
        let mut known = self.lock();
        let after = instance.map(|found| (found.metadata.uid.clone(), found.metadata.is_deleting));
        let before = match after.clone() {
            Some(after) => known.instances.insert(name.to_owned(), after),
            None => known.instances.remove(name),
        };
        if before == after {
            return;
        }
        let tenants = known.tenants_of_instance.of(&name.to_owned());
        let databases = known.databases_of_instance.of(&name.to_owned());
        // A Tenant that names an existing Database depends on that one's Instance.
        let through = databases.iter().flat_map(|database| known.tenants_of_database.of(database));
        let tenants: BTreeSet<Place> = tenants.into_iter().chain(through).collect();
        drop(known);
        self.wake(&tenants, &databases, []);
    }

    /// A claim was seen with its holder, or it is gone. Who waits for one is in conflict: all of those look again.
    pub(super) fn claim(&self, name: &str, holder: Option<&str>) {
        let mut known = self.lock();
        let before = match holder {
            Some(holder) => known.holder_of.insert(name.to_owned(), holder.to_owned()),
            None => known.holder_of.remove(name),
        };
        if before.as_deref() == holder {
            return;
        }
        if let Some(before) = &before {
            known.claims_of.remove(before, &name.to_owned());
        }
        if let Some(holder) = holder {
            known.claims_of.add(holder.to_owned(), name.to_owned());
        }
        if before.is_none() {
            return;
        }
        let tenants: Vec<Place> = known
            .tenants
            .iter()
            .filter(|(_, seen)| seen.reason.as_deref() == Some(TenantReason::Conflict.as_str()))
            .map(|(place, _)| place.clone())
            .collect();
        let databases: Vec<String> = known
            .databases
            .iter()
            .filter(|(_, seen)| {
                seen.reason.as_deref() == Some(DatabaseReason::Conflict.as_str())
                    || Some(&seen.uid) == before.as_ref()
            })
            .map(|(name, _)| name.clone())
            .collect();
        drop(known);
        self.wake(&tenants, &databases, []);
    }
}

fn seen_tenant(tenant: &Tenant) -> TenantSeen {
    let recorded = tenant.status.database_ref.as_ref();
    let named = tenant.named_database().into_iter();
    let reason = tenant.status.conditions.iter().find(|condition| condition.type_ == "Ready");
    TenantSeen {
        uid: tenant.metadata.uid.clone(),
        is_deleting: tenant.metadata.is_deleting,
        phase: tenant.status.phase.clone(),
        databases: named.chain(tenant.recorded_database().map(str::to_owned)).collect(),
        recorded: recorded.map(|record| record.uid.clone()).filter(|uid| !uid.is_empty()),
        instance: match &tenant.target {
            Target::Provision { instance, .. } => Some(instance.clone()),
            Target::Existing { .. } | Target::Invalid => None,
        },
        reason: reason.map(|ready| ready.reason.clone()),
    }
}

fn seen_database(database: &Database) -> DatabaseSeen {
    let reason = database.status.conditions.iter().find(|condition| condition.type_ == "Ready");
    let tenant = database.tenant_on_record();
    DatabaseSeen {
        uid: database.metadata.uid.clone(),
        is_deleting: database.metadata.is_deleting,
        generation: database.metadata.generation,
        observed_generation: database.status.observed_generation,
        instance_uid: database.status.instance_uid.clone(),
        phase: database.status.phase.clone(),
        reason: reason.map(|ready| ready.reason.clone()),
        tenant: tenant.map(|tenant| (tenant.namespace, tenant.name)),
        instance: database.instance.clone(),
    }
}
