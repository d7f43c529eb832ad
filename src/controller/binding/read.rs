//! Reads what a pass needs, live and in the order that the protocol asks for. A read that fails is unknown, never "gone".

use std::collections::HashMap;

use futures::future::{join, join_all, join3};
use kube::Client;
use serde_json::Value;

use super::index::Place;
use super::{Shared, index::Index};
use crate::api::Kind;
use crate::api::names;
use crate::binding::{
    Claim, ClaimNames, Claims, Database, DatabaseWorld, Instance, InstanceWorld, Listing, Lookup, Namespace,
    ObservedDatabase, Referrer, ReferringTenant, Tenant, TenantWorld,
};
use crate::cluster::objects;
use crate::controller::engine::spec_of;
use crate::rules::facts;
use crate::rules::finding::Findings;
use crate::rules::{Installation, shape};

/// The objects of our kinds as they were read: what is written back is what was read.
pub(super) type Raw = HashMap<(Kind, Place), Value>;

/// One pass's reads.
pub(super) struct Reader<'a> {
    shared: &'a Shared,
    pub(super) raw: Raw,
}

/// From the outcome of a read to what the protocol knows: an answer, or nothing.
fn known<T>(found: facts::Lookup<T>) -> Lookup<T> {
    match found {
        facts::Lookup::Found(found) => Lookup::Found(found),
        facts::Lookup::Absent => Lookup::Absent,
        facts::Lookup::Forbidden
        | facts::Lookup::Failed(_)
        | facts::Lookup::NotInInput
        | facts::Lookup::NotServed => Lookup::Unknown,
    }
}

/// What SHAPE says of a stored object, its status apart.
pub(super) fn findings(kind: Kind, object: &Value, installation: &Installation) -> Findings {
    shape(kind, &spec_of(object), installation)
}

/// Something that is read from a raw object of one kind.
pub(super) trait Readable: Sized {
    const KIND: Kind;
    fn of(object: &Value, findings: &Findings) -> Option<Self>;
}

impl Readable for Tenant {
    const KIND: Kind = Kind::PostgreSQLTenant;
    fn of(object: &Value, findings: &Findings) -> Option<Self> {
        Self::of_object(object, findings)
    }
}

impl Readable for Database {
    const KIND: Kind = Kind::PostgreSQLDatabase;
    fn of(object: &Value, findings: &Findings) -> Option<Self> {
        Self::of_object(object, findings)
    }
}

impl Readable for Instance {
    const KIND: Kind = Kind::PostgreSQLInstance;
    fn of(object: &Value, findings: &Findings) -> Option<Self> {
        Self::of_object(object, findings)
    }
}

/// Reads an object that was just stored, or read, as what it is.
pub(super) fn parse<T: Readable>(object: &Value, installation: &Installation) -> Option<T> {
    T::of(object, &findings(T::KIND, object, installation))
}

impl<'a> Reader<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        Self { shared, raw: Raw::new() }
    }

    const fn client(&self) -> &Client {
        &self.shared.client
    }

    const fn index(&self) -> &Index {
        &self.shared.index
    }

    /// Keeps an object as it was read, and reads it.
    pub(super) fn keep<T: Readable>(&mut self, place: Place, object: Value) -> Option<T> {
        let parsed = parse(&object, &self.shared.installation);
        self.raw.insert((T::KIND, place), object);
        parsed
    }

    async fn get<T: Readable>(&mut self, namespace: Option<&str>, name: &str) -> Lookup<T> {
        let found = raw_get(self.client(), T::KIND, namespace, name).await;
        self.take((namespace.unwrap_or_default().to_owned(), name.to_owned()), found)
    }

    fn take<T: Readable>(&mut self, place: Place, found: Lookup<Value>) -> Lookup<T> {
        match found {
            Lookup::Found(object) => self.keep(place, object).map_or(Lookup::Unknown, Lookup::Found),
            Lookup::Absent => Lookup::Absent,
            Lookup::Unknown => Lookup::Unknown,
        }
    }

    /// The Tenants that say they are bound to a Database: found in the index, confirmed by live reads.
    async fn referrers(&self, database: &Database) -> Listing<Referrer> {
        let uid = &database.metadata.uid;
        let Some(places) = self.index().referrers(uid) else { return Listing::Unknown };
        let reads = places
            .iter()
            .map(|(namespace, name)| raw_get(self.client(), Tenant::KIND, Some(namespace), name));
        let mut referrers = Vec::new();
        for found in join_all(reads).await {
            let object = match found {
                Lookup::Found(object) => object,
                Lookup::Absent => continue,
                Lookup::Unknown => return Listing::Unknown,
            };
            let Some(tenant) = parse::<Tenant>(&object, &self.shared.installation) else {
                return Listing::Unknown;
            };
            if tenant.status.database_ref.as_ref().is_some_and(|record| record.uid == *uid) {
                let identity = tenant.identity();
                referrers.push(Referrer {
                    namespace: identity.namespace,
                    name: identity.name,
                    uid: identity.uid,
                });
            }
        }
        Listing::Complete(referrers)
    }

    async fn observed(&self, database: Database) -> ObservedDatabase {
        let referrers = self.referrers(&database).await;
        ObservedDatabase { database, referrers }
    }

    async fn database(&mut self, name: &str) -> Lookup<ObservedDatabase> {
        match self.get::<Database>(None, name).await {
            Lookup::Found(database) => Lookup::Found(self.observed(database).await),
            Lookup::Absent => Lookup::Absent,
            Lookup::Unknown => Lookup::Unknown,
        }
    }

    /// Every Database whose `spec.tenantRef.uid` is this one.
    async fn carrying(&mut self, uid: &str) -> Option<Vec<Database>> {
        let path = objects::collection(Kind::PostgreSQLDatabase, None);
        let list = objects::list(self.client(), &path, &format!("spec.tenantRef.uid={uid}")).await.ok()?;
        let mut databases = Vec::with_capacity(list.len());
        for mut object in list {
            // The items of a list carry no type of their own.
            if let Value::Object(fields) = &mut object {
                fields.insert("apiVersion".into(), Kind::PostgreSQLDatabase.api_version().into());
                fields.insert("kind".into(), Kind::PostgreSQLDatabase.as_str().into());
            }
            let name =
                object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned();
            databases.push(self.keep((String::new(), name), object)?);
        }
        Some(databases)
    }

    async fn claims(&self, names: Option<ClaimNames>, own: Option<&str>) -> Claims {
        let Some(names) = names else { return Claims::default() };
        let (database, role) = join(self.claim(&names.database, own), self.claim(&names.role, own)).await;
        Claims { database, role }
    }

    async fn claim(&self, name: &str, own: Option<&str>) -> Lookup<Claim> {
        let path = lease_path(&self.shared.namespace);
        let lease = match known(objects::read(self.client(), &path, name).await) {
            Lookup::Found(lease) => lease,
            Lookup::Absent => return Lookup::Absent,
            Lookup::Unknown => return Lookup::Unknown,
        };
        let Some(mut claim) = claim_of(&lease) else { return Lookup::Unknown };
        let annotation =
            lease.pointer("/metadata/annotations").and_then(|all| all.get(names::DATABASE_NAME_ANNOTATION));
        if own != Some(claim.holder.as_str())
            && let Some(database) = annotation.and_then(Value::as_str)
        {
            let found = raw_get(self.client(), Kind::PostgreSQLDatabase, None, database).await;
            claim.holder_lookup = Some(match found {
                Lookup::Found(database) => {
                    let uid = database.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default();
                    Lookup::Found(uid.to_owned())
                }
                Lookup::Absent => Lookup::Absent,
                Lookup::Unknown => Lookup::Unknown,
            });
        }
        Lookup::Found(claim)
    }

    async fn namespace(&self, name: &str) -> Namespace {
        match known(objects::read(self.client(), "/api/v1/namespaces", name).await) {
            Lookup::Found(namespace) if namespace.pointer("/metadata/deletionTimestamp").is_some() => {
                Namespace::Terminating
            }
            Lookup::Found(_) => Namespace::Active,
            Lookup::Absent => Namespace::Terminating,
            Lookup::Unknown => Namespace::Unknown,
        }
    }

    /// The world of a Tenant's pass.
    pub(super) async fn tenant_world(&mut self, place: &Place) -> TenantWorld {
        let mut world =
            TenantWorld { tenant: self.get(Some(&place.0), &place.1).await, ..TenantWorld::default() };
        let Lookup::Found(tenant) = &world.tenant else { return world };
        let (uid, named) = (tenant.metadata.uid.clone(), tenant.named_database());
        let recorded = tenant.recorded_database().map(str::to_owned);
        if let Some(databases) = self.carrying(&uid).await {
            let observed = databases.into_iter().map(|database| self.observed(database));
            world.carrying = Listing::Complete(join_all(observed).await);
        }
        if let Some(name) = &named {
            world.named = self.database(name).await;
        }
        if let Some(name) = &recorded {
            world.recorded =
                if named.as_ref() == Some(name) { world.named.clone() } else { self.database(name).await };
        }
        if let Some(name) = world.instance_name().map(str::to_owned) {
            world.instance = self.get(None, &name).await;
        }
        let own = world.named.found().map(|seen| seen.database.metadata.uid.clone());
        let claims = self.claims(world.claim_names(), own.as_deref());
        (world.claims, world.namespace) = join(claims, self.namespace(&place.0)).await;
        if let Some(seen) = world.named.found() {
            world.observation = self.shared.observer.database(&seen.database);
        }
        // Nothing is delivered by this version, so nothing is there to be removed.
        world.delivered = Listing::Complete(Vec::new());
        world
    }

    /// The Tenant that a Database has on record; nothing is known of one where it has none.
    pub(super) async fn tenant_of(&mut self, database: &Database) -> Lookup<Tenant> {
        match database.tenant_on_record() {
            Some(tenant) => self.get(Some(&tenant.namespace), &tenant.name).await,
            None => Lookup::Unknown,
        }
    }

    /// The world of a Database's pass.
    pub(super) async fn database_world(&mut self, place: &Place) -> DatabaseWorld {
        let mut world = DatabaseWorld { database: self.database(&place.1).await, ..DatabaseWorld::default() };
        let Lookup::Found(seen) = &world.database else { return world };
        let database = seen.database.clone();
        world.observation = self.shared.observer.database(&database);
        world.tenant = self.tenant_of(&database).await;
        if let Some(bound) = &database.tenant_ref
            && let Some(carrying) = self.carrying(&bound.uid).await
        {
            let others = carrying.into_iter().map(|other| other.metadata.name);
            world.siblings =
                Listing::Complete(others.filter(|name| *name != database.metadata.name).collect());
        }
        world.instance = self.get(None, &database.instance).await;
        world.claims = self.claims(world.claim_names(), Some(&database.metadata.uid)).await;
        if let Some(names) = self.index().claims_of(&database.metadata.uid) {
            world.owned_claims = Listing::Complete(names);
        }
        world
    }

    /// The world of an Instance's pass.
    pub(super) async fn instance_world(&mut self, place: &Place) -> InstanceWorld {
        let mut world =
            InstanceWorld { instance: self.get(None, &place.1).await, ..InstanceWorld::default() };
        let Lookup::Found(instance) = &world.instance else { return world };
        world.observation = self.shared.observer.instance(instance);
        if instance.metadata.is_deleting {
            let client = self.client();
            let databases = objects::collection(Kind::PostgreSQLDatabase, None);
            let tenants = objects::collection(Kind::PostgreSQLTenant, None);
            let (of_database, of_tenant) = (
                format!("spec.instanceRef.name={}", place.1),
                format!("spec.provision.instanceRef.name={}", place.1),
            );
            let (databases, tenants, ()) = join3(
                objects::list(client, &databases, &of_database),
                objects::list(client, &tenants, &of_tenant),
                async {},
            )
            .await;
            let name =
                |object: &Value| object.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned);
            if let Ok(databases) = databases {
                world.databases = Listing::Complete(databases.iter().filter_map(name).collect());
            }
            if let Ok(tenants) = tenants {
                world.tenants = Listing::Complete(tenants.iter().filter_map(referring).collect());
            }
        }
        world
    }
}

async fn raw_get(client: &Client, kind: Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
    let namespace = namespace.filter(|_| kind.namespaced());
    known(objects::read(client, &objects::collection(kind, namespace), name).await)
}

/// The address of the claims: Leases in the controller's own namespace.
pub(super) fn lease_path(namespace: &str) -> String {
    format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")
}

/// A claim as it is stored; whether its holder is there is not looked up.
pub(super) fn claim_of(lease: &Value) -> Option<Claim> {
    let text = |pointer| lease.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Some(Claim {
        name: text("/metadata/name")?,
        uid: text("/metadata/uid")?,
        resource_version: text("/metadata/resourceVersion")?,
        holder: text("/spec/holderIdentity").unwrap_or_default(),
        holder_lookup: None,
    })
}

fn referring(object: &Value) -> Option<ReferringTenant> {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    Some(ReferringTenant {
        namespace: text("/metadata/namespace")?,
        name: text("/metadata/name")?,
        is_bound: text("/status/databaseRef/uid").is_some(),
        is_deleting: object.pointer("/metadata/deletionTimestamp").is_some(),
    })
}
