//! Rules of the PostgreSQL kinds that need other objects: what two may not have at once, and what is not there.

use serde_json::Value;

use super::stored;
use crate::api::names::{DELIVERY_SUFFIX, TENANT_DATABASE_PREFIX};
use crate::api::phases::DatabasePhase;
use crate::api::postgresql_database::effective::EffectiveDatabase;
use crate::api::postgresql_instance::effective::EffectiveInstance;
use crate::api::postgresql_tenant::effective::EffectiveTenant;
use crate::api::{Kind, texts};
use crate::rules::field::FieldPath;
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;
use crate::rules::limits;
use crate::rules::world::{Key, World};

/// The names that an object takes on a server.
struct Names<'a> {
    instance: &'a str,
    database: Option<&'a str>,
    login_role: Option<&'a str>,
}

impl<'a> Names<'a> {
    fn of_database(database: &EffectiveDatabase<'a>) -> Option<Self> {
        let (instance, name, login_role) = (database.instance?, database.database, database.login_role);
        Some(Self { instance, database: name, login_role })
    }

    fn of_tenant(tenant: &EffectiveTenant<'a>) -> Option<Self> {
        let (instance, database, login_role) = (tenant.instance()?, tenant.database(), tenant.login_role());
        Some(Self { instance, database, login_role })
    }
}

/// What is wrong with a Database beside the other objects.
pub fn database(object: &Value, world: &dyn World) -> Findings {
    let database = EffectiveDatabase::of_object(object);
    let mut findings = Findings::new();
    let Some(names) = Names::of_database(&database) else { return findings };
    let fields = Fields {
        duplicate: RuleId::DatabaseDuplicate,
        reserved: RuleId::DatabaseReservedName,
        missing: RuleId::DatabaseInstanceExists,
        instance: "spec.instanceRef.name",
        database: "spec.database",
        login_role: "spec.loginRole",
    };
    taken(object, &names, &fields, stored::tenant_uid(object), world, &mut findings);
    own_database(&names, &fields, world, &mut findings);
    missing_instance(&names, &fields, world, &mut findings);
    if let Some(credential) = database.credential.filter(|credential| credential.path.is_some()) {
        let (mount, path) = (credential.mount.unwrap_or_default(), credential.path.unwrap_or_default());
        let key = Key::Credential(mount.to_owned(), path.to_owned());
        let holders = world.having(Kind::PostgreSQLDatabase, &key).filter(|other| !is_same(object, other));
        let rule = RuleId::DatabaseDuplicateCredential;
        report(rule, "spec.credentialRef.path", path, texts::CREDENTIAL_IS_TAKEN, holders, &mut findings);
    }
    // What a backup restores is bound to somebody who is gone, and must come back before it can be released.
    if database.tenant.is_some() {
        return findings.into_iter().map(Finding::as_warning).collect();
    }
    findings
}

/// What is wrong with a Tenant beside the other objects.
pub fn tenant(object: &Value, world: &dyn World) -> Findings {
    let tenant = EffectiveTenant::of_object(object);
    let mut findings = Findings::new();
    if let Some(names) = Names::of_tenant(&tenant) {
        let fields = Fields {
            duplicate: RuleId::TenantDuplicate,
            reserved: RuleId::TenantReservedName,
            missing: RuleId::TenantReferenceExists,
            instance: "spec.provision.instanceRef.name",
            database: "spec.provision.database",
            login_role: "spec.provision.loginRole",
        };
        taken(object, &names, &fields, stored::uid(object), world, &mut findings);
        own_database(&names, &fields, world, &mut findings);
        missing_instance(&names, &fields, world, &mut findings);
    } else if let Some(name) = tenant.source.database_ref() {
        database_ref(object, &tenant, name, world, &mut findings);
    }
    delivered_names(object, &tenant, world, &mut findings);
    findings
}

/// What is wrong with an Instance beside the other objects: the database that it connects to is nobody's.
pub fn instance(object: &Value, world: &dyn World) -> Findings {
    let mut findings = Findings::new();
    let own = EffectiveInstance::of_object(object).database;
    if own.is_empty() || texts::RESERVED_DATABASES.contains(&own) {
        return findings;
    }
    let key = Key::Database(stored::name(object).to_owned(), own.to_owned());
    // For a bound Tenant its Database speaks.
    let is_unbound = |tenant: &&Value| stored::recorded_uid(tenant, "databaseRef").is_empty();
    let holders = world
        .having(Kind::PostgreSQLDatabase, &key)
        .chain(world.having(Kind::PostgreSQLTenant, &key).filter(is_unbound));
    let (rule, text) = (RuleId::InstanceOwnDatabase, texts::OWN_DATABASE_IS_TAKEN);
    report(rule, "spec.endpoint.database", own, text, holders, &mut findings);
    findings
}

/// Where the names of a kind stand, and which rules speak of them.
struct Fields {
    duplicate: RuleId,
    reserved: RuleId,
    missing: RuleId,
    instance: &'static str,
    database: &'static str,
    login_role: &'static str,
}

/// Makes a key of the names of an Instance and of something on it.
type MakeKey = fn(String, String) -> Key;

/// Names on the server that somebody else has. `own` is the UID of the Tenant that stands on the same side.
fn taken(
    object: &Value,
    names: &Names<'_>,
    fields: &Fields,
    own: &str,
    world: &dyn World,
    findings: &mut Findings,
) {
    let is_own = |uid: &str| !own.is_empty() && uid == own;
    let is_other_database = |other: &&Value| {
        let made_for = stored::name(other).strip_prefix(TENANT_DATABASE_PREFIX).unwrap_or_default();
        !is_same(object, other) && !is_own(stored::tenant_uid(other)) && !is_own(made_for)
    };
    // For a bound Tenant its Database speaks.
    let is_other_tenant = |other: &&Value| {
        !is_same(object, other)
            && !is_own(stored::uid(other))
            && stored::recorded_uid(other, "databaseRef").is_empty()
    };
    let on_instance = names.instance.to_owned();
    for (field, name, key, text) in [
        (fields.database, names.database, Key::Database as MakeKey, texts::DATABASE_IS_TAKEN),
        (fields.login_role, names.login_role, Key::LoginRole, texts::ROLE_IS_TAKEN),
    ] {
        let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
        let key = key(on_instance.clone(), name.to_owned());
        let databases = world.having(Kind::PostgreSQLDatabase, &key).filter(is_other_database);
        let tenants = world.having(Kind::PostgreSQLTenant, &key).filter(is_other_tenant);
        report(fields.duplicate, field, name, text, databases.chain(tenants), findings);
    }
}

/// A value that `holders` have: refused while one of them lives, a warning while the last of them is leaving.
fn report<'a>(
    rule: RuleId,
    field: &'static str,
    value: &str,
    text: &str,
    holders: impl Iterator<Item = &'a Value>,
    findings: &mut Findings,
) {
    let (mut living, mut leaving) = (false, false);
    for holder in holders {
        if stored::is_leaving(holder) { leaving = true } else { living = true }
    }
    if !living && !leaving {
        return;
    }
    let mut finding = Finding::duplicate(rule, FieldPath::dotted(field), Shown::text(value));
    text.clone_into(&mut finding.detail);
    findings.push(if living { finding } else { finding.as_warning() });
}

fn own_database(names: &Names<'_>, fields: &Fields, world: &dyn World, findings: &mut Findings) {
    let Some(instance) = world.find(Kind::PostgreSQLInstance, "", names.instance) else { return };
    if let Some(name) = names.database
        && EffectiveInstance::of_object(instance).database == name
        && !texts::RESERVED_DATABASES.contains(&name)
    {
        let (field, shown) = (FieldPath::dotted(fields.database), Shown::text(name));
        findings.push(Finding::invalid(fields.reserved, field, shown, texts::INSTANCE_OWN_DATABASE));
    }
}

fn missing_instance(names: &Names<'_>, fields: &Fields, world: &dyn World, findings: &mut Findings) {
    if world.knows_absence() && world.find(Kind::PostgreSQLInstance, "", names.instance).is_none() {
        let (field, shown) = (FieldPath::dotted(fields.instance), Shown::text(names.instance));
        findings.push(Finding::not_found(fields.missing, field, shown).as_warning());
    }
}

/// Warns, in one text for every reason, of a Database that cannot be bound now; judges the names where it is seen.
fn database_ref(
    object: &Value,
    tenant: &EffectiveTenant<'_>,
    name: &str,
    world: &dyn World,
    findings: &mut Findings,
) {
    let field = || FieldPath::dotted("spec.databaseRef.name");
    let database = world.find(Kind::PostgreSQLDatabase, "", name);
    let is_free = database.is_some_and(|database| {
        let bound_to = stored::tenant_uid(database);
        let is_own = !bound_to.is_empty() && bound_to == stored::uid(object);
        let is_available = bound_to.is_empty()
            && stored::phase(database) == DatabasePhase::Available.as_str()
            && !stored::is_deleting(database);
        is_own || is_available
    });
    if world.knows_absence() && !is_free {
        let detail = texts::cannot_be_bound(name);
        let finding = Finding::invalid(RuleId::TenantReferenceExists, field(), Shown::omitted(), detail);
        findings.push(finding.as_warning());
    }
    let instance = database.and_then(|database| EffectiveDatabase::of_object(database).instance);
    let characters = |name: Option<&str>| name.map_or(0, |name| name.chars().count());
    if characters(instance) + characters(tenant.name) > limits::DELIVERED_NAMES_CHARACTERS {
        let rule = RuleId::TenantDeliveredName;
        findings.push(Finding::invalid(rule, field(), Shown::omitted(), texts::DELIVERED_NAME));
    }
}

/// The Instance that a Tenant's database is on, as far as it is known.
fn instance_of<'a>(tenant: &EffectiveTenant<'a>, world: &'a dyn World) -> Option<&'a str> {
    tenant.instance().or_else(|| {
        let database = world.find(Kind::PostgreSQLDatabase, "", tenant.source.database_ref()?)?;
        EffectiveDatabase::of_object(database).instance
    })
}

/// The names of what is delivered to a Tenant, as far as they are known.
struct Delivered {
    secret: Option<String>,
    external_secret: Option<String>,
}

fn delivered(tenant: &EffectiveTenant<'_>, world: &dyn World) -> Delivered {
    let delivery = instance_of(tenant, world).and_then(|instance| tenant.delivery_name(instance));
    let secret = tenant.declared_secret_name.map(str::to_owned);
    Delivered { secret: secret.or_else(|| delivery.clone()), external_secret: delivery }
}

/// The Tenants of `namespace` that can have something delivered under `name`: those that write it out as their Secret,
/// and those whose own name stands in it, since '<instance>-<tenant>-postgresql' can be taken apart at any '-'.
fn candidates<'a>(namespace: &str, name: &str, world: &'a dyn World) -> Vec<&'a Value> {
    let key = Key::Secret(namespace.to_owned(), name.to_owned());
    let mut found: Vec<_> = world.having(Kind::PostgreSQLTenant, &key).collect();
    let stem = name.strip_suffix(DELIVERY_SUFFIX).and_then(|stem| stem.strip_suffix('-')).unwrap_or_default();
    let names = stem.match_indices('-').filter_map(|(place, _)| stem.get(place + 1..));
    found.extend(names.filter_map(|name| world.find(Kind::PostgreSQLTenant, namespace, name)));
    found
}

/// Secrets and ExternalSecrets of one namespace have one owner each.
fn delivered_names(object: &Value, tenant: &EffectiveTenant<'_>, world: &dyn World, findings: &mut Findings) {
    let own = delivered(tenant, world);
    let source =
        if tenant.instance().is_some() { "spec.provision.instanceRef.name" } else { "spec.databaseRef.name" };
    let rule = RuleId::TenantDuplicateDelivery;
    let others = |name: &str| {
        let found = candidates(stored::namespace(object), name, world).into_iter();
        let others = found.filter(|other| !is_same(object, other));
        others.map(|other| (other, delivered(&EffectiveTenant::of_object(other), world))).collect::<Vec<_>>()
    };
    let mut is_said = false;
    if let Some(name) = &own.external_secret {
        let others = others(name);
        let has = |names: &Delivered| names.external_secret.as_ref() == Some(name);
        is_said = others.iter().any(|(_, names)| has(names));
        let holders = others.iter().filter(|(_, names)| has(names)).map(|(holder, _)| *holder);
        report(rule, source, name, texts::DELIVERY_IS_TAKEN, holders, findings);
    }
    if let Some(name) = own.secret.filter(|_| !is_said || tenant.declared_secret_name.is_some()) {
        let others = others(&name);
        let holders = others.iter().filter(|(_, names)| names.secret.as_ref() == Some(&name));
        let holders = holders.map(|(holder, _)| *holder);
        report(rule, "spec.secretName", &name, texts::SECRET_IS_TAKEN, holders, findings);
    }
}

/// Whether both are the same object, by kind, namespace and name.
fn is_same(one: &Value, other: &Value) -> bool {
    let same_kind = match (one.get("kind"), other.get("kind")) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    };
    same_kind
        && stored::name(one) == stored::name(other)
        && stored::namespace(one) == stored::namespace(other)
}
