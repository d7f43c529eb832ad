//! What a written `PostgreSQLDatabase` means: a borrowed view of the raw object with its defaults filled in.

use serde_json::Value;

use crate::api::raw;
use crate::api::words::open_words;

/// A Database's `spec` with every default filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectiveDatabase<'a> {
    /// `metadata.name`, if the object has one.
    pub name: Option<&'a str>,
    /// `instanceRef.name`; absent only in an invalid Database.
    pub instance: Option<&'a str>,
    /// `database`: the name on the server; absent only in an invalid Database.
    pub database: Option<&'a str>,
    /// `loginRole`: the owner's name on the server; absent only in an invalid Database.
    pub login_role: Option<&'a str>,
    /// `source`; absent only in an invalid Database.
    pub source: Option<Source<'a>>,
    /// `credentialRef`, if declared.
    pub credential: Option<EffectiveCredential<'a>>,
    /// `reclaimPolicy`, by default Retain.
    pub reclaim_policy: ReclaimPolicy<'a>,
    /// `tenantRef`, if there is one.
    pub tenant: Option<EffectiveTenantRef<'a>>,
}

/// `credentialRef`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveCredential<'a> {
    /// The mount of the KV store; absent only in an invalid Database.
    pub mount: Option<&'a str>,
    /// The logical path inside the mount; absent only in an invalid Database.
    pub path: Option<&'a str>,
}

/// `tenantRef`: the identity of the tenant that the Database is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectiveTenantRef<'a> {
    /// The tenant's namespace.
    pub namespace: Option<&'a str>,
    /// The tenant's name.
    pub name: Option<&'a str>,
    /// The tenant's UID, which alone identifies it.
    pub uid: Option<&'a str>,
}

impl EffectiveTenantRef<'_> {
    /// Whether all three parts are there, which a valid binding needs.
    pub const fn is_full(&self) -> bool {
        self.namespace.is_some() && self.name.is_some() && self.uid.is_some()
    }
}

open_words! {
    /// Where the database comes from.
    pub enum Source {
        /// Covenant makes it.
        Provision = "Provision",
        /// An administrator registers one that exists.
        Import = "Import",
    }
}

open_words! {
    /// What becomes of the database when its tenant goes.
    pub enum ReclaimPolicy {
        /// It is kept.
        Retain = "Retain",
        /// It is dropped.
        Delete = "Delete",
    }
}

impl<'a> EffectiveDatabase<'a> {
    /// Reads a whole object.
    pub fn of_object(object: &'a Value) -> Self {
        let name = raw::text(raw::object(Some(object), "metadata"), "name");
        Self::of_spec(name, raw::field(Some(object), "spec"))
    }

    /// Reads a `spec` of the Database with this name; an absent one reads as empty.
    pub fn of_spec(name: Option<&'a str>, spec: Option<&'a Value>) -> Self {
        Self {
            name,
            instance: raw::text(raw::object(spec, "instanceRef"), "name"),
            database: raw::text(spec, "database"),
            login_role: raw::text(spec, "loginRole"),
            source: raw::text(spec, "source").map(Source::from_word),
            credential: raw::object(spec, "credentialRef").map(|credential| EffectiveCredential {
                mount: raw::text(Some(credential), "mount"),
                path: raw::text(Some(credential), "path"),
            }),
            reclaim_policy: raw::text(spec, "reclaimPolicy")
                .map_or(ReclaimPolicy::Retain, ReclaimPolicy::from_word),
            tenant: raw::object(spec, "tenantRef").map(|tenant| EffectiveTenantRef {
                namespace: raw::text(Some(tenant), "namespace"),
                name: raw::text(Some(tenant), "name"),
                uid: raw::text(Some(tenant), "uid"),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn omitted_fields_mean_what_the_documentation_says() {
        let object = json!({"metadata": {"name": "orders"}, "spec": {
            "instanceRef": {"name": "main"}, "database": "orders", "loginRole": "orders", "source": "Import",
            "tenantRef": {"namespace": "shop", "name": "orders"},
        }});
        let database = EffectiveDatabase::of_object(&object);
        assert_eq!(database.reclaim_policy, ReclaimPolicy::Retain);
        assert_eq!(database.source, Some(Source::Import));
        assert_eq!(database.credential, None);
        assert!(!database.tenant.unwrap().is_full());
        assert_eq!(EffectiveDatabase::of_object(&json!({"spec": 1})).source, None);
    }
}
