//! From a raw object to plain data. What has the wrong type reads as absent; SHAPE has already said so.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::observed::{Database, Instance, Metadata, Target, Tenant};
use crate::api::postgresql_database::effective::{EffectiveDatabase, Source};
use crate::api::postgresql_tenant::effective::{EffectiveTenant, TenantSource};
use crate::api::raw;
use crate::api::refs::TenantRef;
use crate::rules::finding::{Finding, Findings};
use crate::rules::id::RuleId;

impl Metadata {
    /// The metadata of a stored object; none where name, UID or resourceVersion is missing, which the API server always
    /// gives.
    pub fn of_object(object: &Value) -> Option<Self> {
        let metadata = raw::object(Some(object), "metadata");
        let text = |name| raw::text(metadata, name).filter(|text| !text.is_empty()).map(str::to_owned);
        Some(Self {
            namespace: text("namespace"),
            name: text("name")?,
            uid: text("uid")?,
            resource_version: text("resourceVersion")?,
            generation: raw::integer(metadata, "generation").unwrap_or_default(),
            is_deleting: text("deletionTimestamp").is_some(),
            finalizers: raw::texts(metadata, "finalizers")
                .iter()
                .map(|finalizer| finalizer.value.to_owned())
                .collect(),
        })
    }
}

impl Tenant {
    /// Reads a stored Tenant; `findings` are those of SHAPE.
    pub fn of_object(object: &Value, findings: &Findings) -> Option<Self> {
        let effective = EffectiveTenant::of_object(object);
        let target = match effective.source {
            TenantSource::Provision(provision) => {
                match (provision.instance, effective.database(), effective.login_role()) {
                    (Some(instance), Some(database), Some(login_role)) => Target::Provision {
                        instance: instance.to_owned(),
                        database: database.to_owned(),
                        login_role: login_role.to_owned(),
                    },
                    _ => Target::Invalid,
                }
            }
            TenantSource::DatabaseRef(Some(name)) => Target::Existing { name: name.to_owned() },
            TenantSource::DatabaseRef(None) | TenantSource::Both { .. } | TenantSource::Neither => {
                Target::Invalid
            }
        };
        let unread =
            || (target == Target::Invalid).then(|| "spec: Invalid value: names no target".to_owned());
        Some(Self {
            metadata: Metadata::of_object(object)?,
            fault: fault(findings).or_else(unread),
            target,
            status: status(object),
        })
    }
}

impl Database {
    /// Reads a stored Database; `findings` are those of SHAPE.
    pub fn of_object(object: &Value, findings: &Findings) -> Option<Self> {
        let effective = EffectiveDatabase::of_object(object);
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let tenant_ref = effective.tenant.map(|tenant| TenantRef {
            namespace: text(tenant.namespace),
            name: text(tenant.name),
            uid: text(tenant.uid),
        });
        Some(Self {
            metadata: Metadata::of_object(object)?,
            instance: text(effective.instance),
            database: text(effective.database),
            login_role: text(effective.login_role),
            source: text(effective.source.map(Source::as_str)),
            reclaim_policy: effective.reclaim_policy.as_str().to_owned(),
            tenant_ref,
            fault: fault(findings),
            status: status(object),
        })
    }
}

impl Instance {
    /// Reads a stored Instance; `findings` are those of SHAPE.
    pub fn of_object(object: &Value, findings: &Findings) -> Option<Self> {
        let mut notes =
            findings.warnings().filter(|finding| finding.rule == RuleId::InstanceInsecureTransport);
        Some(Self {
            metadata: Metadata::of_object(object)?,
            fault: fault(findings),
            note: notes.next().map(Finding::line),
            status: status(object),
        })
    }
}

fn fault(findings: &Findings) -> Option<String> {
    findings.has_errors().then(|| findings.errors().map(Finding::line).collect::<Vec<_>>().join("; "))
}

fn status<S: DeserializeOwned + Default>(object: &Value) -> S {
    object.get("status").and_then(|status| S::deserialize(status).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_that_nobody_can_read_is_a_fault_and_no_panic() {
        let metadata = json!({"name": "orders", "namespace": "team", "uid": "1", "resourceVersion": "7",
            "finalizers": ["a/b", 3], "deletionTimestamp": "2026-01-01T00:00:00Z"});
        for spec in [json!(null), json!([]), json!({"provision": 3}), json!({"databaseRef": {"name": []}})] {
            let object = json!({"metadata": metadata, "spec": spec, "status": {"phase": {"a": 1}}});
            let tenant = Tenant::of_object(&object, &Findings::new()).unwrap();
            assert_eq!(tenant.target, Target::Invalid);
            assert!(tenant.fault.is_some() && tenant.metadata.is_deleting);
            assert_eq!(tenant.metadata.finalizers, ["a/b"]);
            assert_eq!(tenant.status.phase, None);
            assert_eq!(Database::of_object(&object, &Findings::new()).unwrap().instance, "");
        }
        assert_eq!(Tenant::of_object(&json!({"metadata": {"name": "x"}}), &Findings::new()), None);
        assert_eq!(Instance::of_object(&json!(3), &Findings::new()), None);
    }

    #[test]
    fn names_that_are_left_out_are_the_tenants() {
        let object = json!({"metadata": {"name": "orders", "namespace": "team", "uid": "1", "resourceVersion": "7"},
            "spec": {"provision": {"instanceRef": {"name": "main"}, "loginRole": "app"}}});
        let tenant = Tenant::of_object(&object, &Findings::new()).unwrap();
        let (instance, database, login_role) = ("main".to_owned(), "orders".to_owned(), "app".to_owned());
        assert_eq!(tenant.target, Target::Provision { instance, database, login_role });
        assert_eq!(tenant.named_database().as_deref(), Some("tenant-1"));
    }
}
