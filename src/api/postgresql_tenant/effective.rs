//! What a written `PostgreSQLTenant` means: a borrowed view of the raw object with its defaults filled in.

use serde_json::Value;

use crate::api::names::DELIVERY_SUFFIX;
use crate::api::raw::{self, Indexed};

/// A Tenant's `spec` with every default filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveTenant<'a> {
    /// `metadata.name`, if the object has one; the default of database, role and Secret stands on it.
    pub name: Option<&'a str>,
    /// `metadata.namespace`, if the object has one.
    pub namespace: Option<&'a str>,
    /// Where the database comes from.
    pub source: TenantSource<'a>,
    /// `extensions` in written order.
    pub extensions: Vec<Indexed<&'a str>>,
    /// `secretName` as written; [`EffectiveTenant::secret_name`] fills in the default.
    pub declared_secret_name: Option<&'a str>,
}

/// Where a Tenant's database comes from. A valid Tenant has exactly one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TenantSource<'a> {
    /// `provision`: a database is made.
    Provision(EffectiveProvision<'a>),
    /// `databaseRef`: an existing database, by name; the name is absent only in an invalid Tenant.
    DatabaseRef(Option<&'a str>),
    /// Both are declared: invalid.
    Both {
        /// `provision`.
        provision: EffectiveProvision<'a>,
        /// `databaseRef.name`.
        database_ref: Option<&'a str>,
    },
    /// Neither is declared: invalid.
    Neither,
}

/// `provision` as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveProvision<'a> {
    /// `instanceRef.name`; absent only in an invalid Tenant.
    pub instance: Option<&'a str>,
    /// `database` as written; [`EffectiveTenant::database`] fills in the default.
    pub database: Option<&'a str>,
    /// `loginRole` as written; [`EffectiveTenant::login_role`] fills in the default.
    pub login_role: Option<&'a str>,
}

impl<'a> TenantSource<'a> {
    /// `provision`, if declared.
    pub const fn provision(&self) -> Option<EffectiveProvision<'a>> {
        match self {
            Self::Provision(provision) | Self::Both { provision, .. } => Some(*provision),
            Self::DatabaseRef(_) | Self::Neither => None,
        }
    }

    /// `databaseRef.name`, if declared.
    pub const fn database_ref(&self) -> Option<&'a str> {
        match self {
            Self::DatabaseRef(name) | Self::Both { database_ref: name, .. } => *name,
            Self::Provision(_) | Self::Neither => None,
        }
    }
}

impl<'a> EffectiveTenant<'a> {
    /// Reads a whole object.
    pub fn of_object(object: &'a Value) -> Self {
        let metadata = raw::object(Some(object), "metadata");
        Self {
            namespace: raw::text(metadata, "namespace"),
            ..Self::of_spec(raw::text(metadata, "name"), raw::field(Some(object), "spec"))
        }
    }

    /// Reads a `spec` of the Tenant with this name; an absent one reads as empty.
    pub fn of_spec(name: Option<&'a str>, spec: Option<&'a Value>) -> Self {
        let provision = raw::object(spec, "provision").map(|provision| EffectiveProvision {
            instance: raw::text(raw::object(Some(provision), "instanceRef"), "name"),
            database: raw::text(Some(provision), "database"),
            login_role: raw::text(Some(provision), "loginRole"),
        });
        let database_ref =
            raw::object(spec, "databaseRef").map(|reference| raw::text(Some(reference), "name"));
        let source = match (provision, database_ref) {
            (Some(provision), None) => TenantSource::Provision(provision),
            (None, Some(database_ref)) => TenantSource::DatabaseRef(database_ref),
            (Some(provision), Some(database_ref)) => TenantSource::Both { provision, database_ref },
            (None, None) => TenantSource::Neither,
        };
        Self {
            name,
            namespace: None,
            source,
            extensions: raw::texts(spec, "extensions"),
            declared_secret_name: raw::text(spec, "secretName"),
        }
    }

    /// The name on the server of the database to be made: as written, else the Tenant's own name. None for a Tenant
    /// that asks for an existing Database, or that has no name.
    pub fn database(&self) -> Option<&'a str> {
        self.source.provision()?.database.or(self.name)
    }

    /// The name on the server of the role to be made: as written, else the Tenant's own name. None for a Tenant that
    /// asks for an existing Database, or that has no name.
    pub fn login_role(&self) -> Option<&'a str> {
        self.source.provision()?.login_role.or(self.name)
    }

    /// The Instance that the Tenant names itself; one that asks for an existing Database learns it from there.
    pub fn instance(&self) -> Option<&'a str> {
        self.source.provision()?.instance
    }

    /// The name of the ExternalSecret that is delivered from `instance`: `<instance>-<tenant>-postgresql`.
    pub fn delivery_name(&self, instance: &str) -> Option<String> {
        self.name.map(|name| format!("{instance}-{name}-{DELIVERY_SUFFIX}"))
    }

    /// The name of the delivered Secret: as written, else that of the ExternalSecret.
    pub fn secret_name(&self, instance: &str) -> Option<String> {
        self.declared_secret_name.map(str::to_owned).or_else(|| self.delivery_name(instance))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_default_to_the_tenants_own() {
        let object = json!({"metadata": {"name": "orders", "namespace": "shop"}, "spec": {
            "provision": {"instanceRef": {"name": "main"}, "loginRole": "orders_app"},
        }});
        let tenant = EffectiveTenant::of_object(&object);
        assert_eq!(tenant.namespace, Some("shop"));
        assert_eq!(tenant.database(), Some("orders"));
        assert_eq!(tenant.login_role(), Some("orders_app"));
        assert_eq!(tenant.instance(), Some("main"));
        assert_eq!(tenant.secret_name("main").as_deref(), Some("main-orders-postgresql"));
    }

    #[test]
    fn an_existing_database_gives_the_names() {
        let object = json!({"metadata": {"name": "orders"}, "spec": {
            "databaseRef": {"name": "legacy"}, "secretName": "db", "extensions": ["hstore", 3, "citext"],
        }});
        let tenant = EffectiveTenant::of_object(&object);
        assert_eq!(tenant.source, TenantSource::DatabaseRef(Some("legacy")));
        assert_eq!((tenant.database(), tenant.instance()), (None, None));
        assert_eq!(tenant.secret_name("main").as_deref(), Some("db"));
        assert_eq!(tenant.extensions[1], Indexed { index: 2, value: "citext" });
    }

    #[test]
    fn both_or_neither_source_is_told_apart() {
        let both = json!({"provision": {}, "databaseRef": {}});
        assert!(matches!(EffectiveTenant::of_spec(None, Some(&both)).source, TenantSource::Both { .. }));
        assert_eq!(EffectiveTenant::of_spec(None, None).source, TenantSource::Neither);
        let wrong = json!({"provision": "yes", "databaseRef": {"name": 7}});
        assert_eq!(EffectiveTenant::of_spec(None, Some(&wrong)).source, TenantSource::DatabaseRef(None));
    }
}
