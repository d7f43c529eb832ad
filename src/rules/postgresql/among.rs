//! Rules of the PostgreSQL kinds that need other objects: what two may not have at once, and what is not there.

use serde_json::Value;

use super::stored;
use crate::api::names::TENANT_DATABASE_PREFIX;
use crate::api::phases::DatabasePhase;
use crate::api::postgresql_database::effective::EffectiveDatabase;
use crate::api::postgresql_instance::effective::EffectiveInstance;
use crate::api::postgresql_tenant::effective::EffectiveTenant;
use crate::api::{Kind, texts};
use crate::rules::field::FieldPath;
use crate::rules::finding::{Finding, Findings, Shown};
use crate::rules::id::RuleId;
use crate::rules::limits;
use crate::rules::world::World;

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

/// Picks one of the names.
type Pick = for<'n> fn(&Names<'n>) -> Option<&'n str>;

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
        let holders = world.all(Kind::PostgreSQLDatabase).filter(|other| {
            !is_same(object, other) && EffectiveDatabase::of_object(other).credential == Some(credential)
        });
        let rule = RuleId::DatabaseDuplicateCredential;
        let path = credential.path.unwrap_or_default();
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

/// Where the names of a kind stand, and which rules speak of them.
struct Fields {
    duplicate: RuleId,
    reserved: RuleId,
    missing: RuleId,
    instance: &'static str,
    database: &'static str,
    login_role: &'static str,
}

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
    let databases: Vec<_> = world
        .all(Kind::PostgreSQLDatabase)
        .filter(|other| {
            let made_for = stored::name(other).strip_prefix(TENANT_DATABASE_PREFIX).unwrap_or_default();
            !is_same(object, other) && !is_own(stored::tenant_uid(other)) && !is_own(made_for)
        })
        .filter_map(|other| Some((other, Names::of_database(&EffectiveDatabase::of_object(other))?)))
        .collect();
    // For a bound Tenant its Database speaks.
    let tenants: Vec<_> = world
        .all(Kind::PostgreSQLTenant)
        .filter(|other| {
            !is_same(object, other)
                && !is_own(stored::uid(other))
                && stored::recorded_uid(other, "databaseRef").is_empty()
        })
        .filter_map(|other| Some((other, Names::of_tenant(&EffectiveTenant::of_object(other))?)))
        .collect();
    let picks: [(&str, Pick, &str); 2] = [
        (fields.database, |names| names.database, texts::DATABASE_IS_TAKEN),
        (fields.login_role, |names| names.login_role, texts::ROLE_IS_TAKEN),
    ];
    for (field, pick, text) in picks {
        let Some(name) = pick(names).filter(|name| !name.is_empty()) else { continue };
        let holders = databases
            .iter()
            .chain(&tenants)
            .filter(|(_, other)| other.instance == names.instance && pick(other) == Some(name));
        let field = if field == fields.database { fields.database } else { fields.login_role };
        report(fields.duplicate, field, name, text, holders.map(|(holder, _)| *holder), findings);
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

/// Secrets and ExternalSecrets of one namespace have one owner each.
fn delivered_names(object: &Value, tenant: &EffectiveTenant<'_>, world: &dyn World, findings: &mut Findings) {
    let names = |tenant: &EffectiveTenant<'_>| {
        let instance = instance_of(tenant, world);
        let secret = tenant.declared_secret_name.map(str::to_owned);
        let delivery = instance.and_then(|instance| tenant.delivery_name(instance));
        (secret.or_else(|| delivery.clone()), delivery)
    };
    let (secret, delivery) = names(tenant);
    let others: Vec<_> = world
        .all(Kind::PostgreSQLTenant)
        .filter(|other| stored::namespace(other) == stored::namespace(object) && !is_same(object, other))
        .map(|other| (other, names(&EffectiveTenant::of_object(other))))
        .collect();
    let source =
        if tenant.instance().is_some() { "spec.provision.instanceRef.name" } else { "spec.databaseRef.name" };
    let rule = RuleId::TenantDuplicateDelivery;
    let mut is_said = false;
    if let Some(name) = &delivery {
        let holders: Vec<_> = others.iter().filter(|(_, (_, other))| other.as_ref() == Some(name)).collect();
        is_said = !holders.is_empty();
        let holders = holders.into_iter().map(|(holder, _)| *holder);
        report(rule, source, name, texts::DELIVERY_IS_TAKEN, holders, findings);
    }
    if let Some(name) = secret.filter(|_| !is_said || tenant.declared_secret_name.is_some()) {
        let holders = others.iter().filter(|(_, (other, _))| other.as_ref() == Some(&name));
        let holders = holders.map(|(holder, _)| *holder);
        report(rule, "spec.secretName", &name, texts::SECRET_IS_TAKEN, holders, findings);
    }
}

/// Whether both are the same object: by UID where both have one, else by name and kind.
fn is_same(one: &Value, other: &Value) -> bool {
    let same_kind = match (one.get("kind"), other.get("kind")) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    };
    same_kind
        && stored::name(one) == stored::name(other)
        && stored::namespace(one) == stored::namespace(other)
}
