//! What objects are looked up by, besides their names.

use serde_json::Value;

use crate::api::postgresql_database::effective::EffectiveDatabase;
use crate::api::postgresql_tenant::effective::EffectiveTenant;
use crate::api::{Kind, raw};

/// Something that an object has and others may ask for. Names are the effective ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The object's own UID.
    Uid(String),
    /// A Database or a dynamic Tenant on the Instance of this name.
    Instance(String),
    /// A database on a server: the names of Instance and database.
    Database(String, String),
    /// A role on a server: the names of Instance and role.
    LoginRole(String, String),
    /// A Database whose credential stands here: mount and path.
    Credential(String, String),
    /// A Database whose `spec.tenantRef` has this UID.
    BoundTenant(String),
    /// A Tenant whose status names the Database with this UID.
    RecordedDatabase(String),
    /// A Tenant that writes out its `secretName`: namespace and name.
    Secret(String, String),
}

impl Key {
    /// Every key of an object of `kind`.
    pub(super) fn all(kind: Kind, object: &Value) -> Vec<Self> {
        let metadata = raw::object(Some(object), "metadata");
        let mut keys = Vec::new();
        let mut add = |key: Option<Self>| keys.extend(key);
        add(text(metadata, "uid").map(Self::Uid));
        match kind {
            Kind::PostgreSQLDatabase => {
                let database = EffectiveDatabase::of_object(object);
                on_server(database.instance, database.database, database.login_role, &mut add);
                if let Some((mount, path)) = database.credential.and_then(|it| Some((it.mount?, it.path?))) {
                    add(Some(Self::Credential(mount.to_owned(), path.to_owned())));
                }
                add(database
                    .tenant
                    .and_then(|tenant| tenant.uid)
                    .map(|uid| Self::BoundTenant(uid.to_owned())));
            }
            Kind::PostgreSQLTenant => {
                let tenant = EffectiveTenant::of_object(object);
                on_server(tenant.instance(), tenant.database(), tenant.login_role(), &mut add);
                let status = raw::object(Some(object), "status");
                add(text(raw::object(status, "databaseRef"), "uid").map(Self::RecordedDatabase));
                let namespace = tenant.namespace.unwrap_or_default().to_owned();
                add(tenant.declared_secret_name.map(|name| Self::Secret(namespace, name.to_owned())));
            }
            Kind::PostgreSQLInstance | Kind::SecretContract => {}
        }
        keys
    }
}

fn text(object: Option<&Value>, field: &str) -> Option<String> {
    raw::text(object, field).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn on_server(
    instance: Option<&str>,
    database: Option<&str>,
    login_role: Option<&str>,
    add: &mut impl FnMut(Option<Key>),
) {
    let Some(instance) = instance else { return };
    add(Some(Key::Instance(instance.to_owned())));
    add(database.map(|name| Key::Database(instance.to_owned(), name.to_owned())));
    add(login_role.map(|name| Key::LoginRole(instance.to_owned(), name.to_owned())));
}
