//! The catalogue of rules: every rule once, with its identifier, the layers that hold it and one sentence.
//!
//! The identifiers appear in audit annotations, logs and `covenant explain`; they are never reused.

use crate::api::kind::Kind;

/// Where a rule is held (see the README's table of layers). A rule may be held by several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    /// The API server's strict field validation.
    FieldValidation,
    /// The schema of the custom resource definition.
    Schema,
    /// A CEL rule of the custom resource definition.
    Cel,
    /// A `ValidatingAdmissionPolicy`.
    Policy,
    /// The validating webhook.
    Webhook,
    /// The controller, on every pass.
    Controller,
}

macro_rules! rules {
    ($($variant:ident = $id:literal, [$($layer:ident),+], $sentence:literal;)+) => {
        /// A rule of Covenant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RuleId {
            $(#[doc = $sentence] $variant,)+
        }

        impl RuleId {
            /// Every rule, in the order of the catalogue.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The identifier as the catalogue lists it: `<kind>/<what>`, with `*` for a rule that every kind has.
            /// [`identifier`](Self::identifier) is what outputs show.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }

            /// The identifier for an object of `kind`: `contract/type`.
            pub fn identifier(self, kind: Kind) -> String {
                match self.as_str().split_once('/') {
                    Some(("*", what)) => format!("{}/{what}", kind.rule_prefix()),
                    _ => self.as_str().to_owned(),
                }
            }

            /// The layers that hold the rule, outermost first.
            pub const fn layers(self) -> &'static [Layer] {
                match self { $(Self::$variant => &[$(Layer::$layer),+],)+ }
            }

            /// The rule as a sentence.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)+ }
            }
        }
    };
}

rules! {
    ObjectName = "*/name", [Schema, Controller], "metadata.name is a name of the API's own grammar.";
    FieldType = "*/type", [Schema, Webhook, Controller], "A field has the JSON type that the schema gives it.";
    FieldRequired = "*/required", [Schema, Webhook, Controller], "A required field is set.";
    FieldUnknown = "*/unknown-field", [FieldValidation], "An object has only the fields that its kind defines.";
    FieldEnum = "*/enum", [Schema, Webhook, Controller], "A field with a closed list of values has one of them.";
    FieldBounds = "*/bounds", [Schema, Webhook, Controller], "Lengths, counts and numbers stay within the schema's bounds.";
    FieldPattern = "*/pattern", [Schema, Webhook, Controller], "A text matches the pattern that the schema gives it.";
    ListItemUnique = "*/unique", [Schema, Webhook, Controller], "The items of a set, and the keys of a list-map, are unique.";

    ContractSecretName = "contract/secret-name", [Webhook, Controller], "secretRef.name is a name that a Secret can have.";
    ContractKeyName = "contract/key-name", [Webhook, Controller], "A required key's name is one that a Secret's data can hold.";
    ContractNonEmptyMaxLength = "contract/non-empty-max-length", [Webhook, Controller], "A key that must not be empty is not limited to zero bytes.";
    ContractLengthBounds = "contract/length-bounds", [Webhook, Controller], "minLength is not above maxLength.";
    ContractPattern = "contract/pattern", [Webhook, Controller], "A pattern is a Go regular expression within the limits of the API version.";
    ContractEnvNameGrammar = "contract/env-name-grammar", [Webhook, Controller], "envName is a portable environment variable name.";
    ContractEnvNameUnique = "contract/env-name-unique", [Webhook, Controller], "No two keys map to one environment variable.";
    ContractNonPortableKey = "contract/non-portable-key", [Webhook], "A key that is no portable environment variable name has an envName where a workload consumes variables.";
    ContractExternalSecretName = "contract/external-secret-name", [Webhook, Controller], "externalSecretRef.name is a name that an ExternalSecret can have.";
    ContractExternalSecretVersion = "contract/external-secret-version", [Webhook, Controller], "externalSecretRef.apiVersion is in the installation's list.";
    ContractWorkloadName = "contract/workload-name", [Webhook, Controller], "A workloadRef's name is one that the workload can have.";
    ContractContainerName = "contract/container-name", [Webhook, Controller], "A container's name is a DNS label.";
    ContractInjectionMode = "contract/injection-mode", [Webhook, Controller], "injection.mode is Disabled in this version.";
    ContractRestartOnChange = "contract/restart-on-change", [Webhook, Controller], "rotation.restartOnChange is false in this version.";
    ContractMaxAge = "contract/max-age", [Webhook, Controller], "rotation.maxAge is a Go duration above zero and at most ten years.";
    ContractRotatedAtAnnotation = "contract/rotated-at-annotation", [Webhook, Controller], "rotation.rotatedAtAnnotation is a prefixed annotation name outside Kubernetes' own domains, and has a maxAge beside it.";
    ContractPolicyConfig = "contract/policy-requires-config", [Webhook, Controller], "A policy that requires a check has that check configured.";

    TenantSource = "tenant/one-source", [Cel, Webhook, Controller], "A Tenant has exactly one of provision and databaseRef.";
    TenantReservedName = "tenant/reserved-name", [Cel, Webhook, Controller], "A database or login role does not take a name that PostgreSQL or Covenant reserves.";
    TenantDefaultName = "tenant/default-name", [Cel, Webhook, Controller], "Where database or loginRole is left out, metadata.name is a PostgreSQL identifier.";
    TenantDeliveredName = "tenant/delivered-name", [Cel, Webhook, Controller], "The names of Instance and Tenant together leave a valid name for what is delivered.";
    TenantReferenceName = "tenant/reference-name", [Cel, Webhook, Controller], "The names that a Tenant refers to are names of the API's own grammar.";
    TenantExtensionName = "tenant/extension-name", [Cel, Webhook, Controller], "An extension's name is a PostgreSQL identifier that needs no server to be judged.";

    TenantTarget = "tenant/frozen-target", [Cel, Webhook, Controller], "Once binding has begun, the target of a Tenant stays as it was written.";
    TenantInstalledExtensions = "tenant/installed-extensions", [Cel, Webhook], "An extension that is installed stays in the list.";
    TenantDuplicate = "tenant/duplicate", [Webhook, Controller], "No two claims take one database or role on one Instance.";
    TenantDuplicateDelivery = "tenant/duplicate-delivery", [Webhook, Controller], "No two Tenants of a namespace are delivered under one name.";
    TenantReferenceExists = "tenant/reference-exists", [Webhook, Controller], "What a Tenant refers to exists and can be bound.";

    DatabaseReservedName = "database/reserved-name", [Cel, Webhook, Controller], "A database or login role does not take a name that PostgreSQL or Covenant reserves.";
    DatabaseCredential = "database/credential", [Cel, Webhook, Controller], "credentialRef is set for an import, and only for an import.";
    DatabaseCredentialPath = "database/credential-path", [Cel, Webhook, Controller], "The credential's mount and path are plain logical segments inside the installation's list.";
    DatabaseReferenceName = "database/reference-name", [Cel, Webhook, Controller], "The names that a Database refers to are names of the API's own grammar.";
    DatabaseTenantRef = "database/tenant-ref", [Cel, Webhook, Controller], "tenantRef is absent or complete.";

    DatabaseInstanceImmutable = "database/instance-immutable", [Cel, Webhook], "A Database never moves to another Instance.";
    DatabaseFrozen = "database/frozen", [Cel, Webhook], "What a Database stands for is fixed once it was observed or bound.";
    DatabasePolicyFrozen = "database/policy-frozen", [Cel, Policy, Webhook], "The reclaim policy is fixed once the database is being released or deleted.";
    DatabaseBinding = "database/binding", [Cel, Policy, Webhook, Controller], "A Database is bound to a Tenant that asks for it, and re-opened only when that Tenant is gone.";
    DatabaseDuplicate = "database/duplicate", [Webhook, Controller], "No two claims take one database or role on one Instance.";
    DatabaseDuplicateCredential = "database/duplicate-credential", [Webhook], "No two Databases have their credential at one place.";
    DatabaseInstanceExists = "database/instance-exists", [Webhook, Controller], "The Instance of a Database exists.";
    DatabaseDeletion = "database/deletion", [Webhook, Controller], "A Database in use is not deleted.";

    InstanceOwnDatabase = "instance/own-database", [Webhook], "The database that an Instance connects to is no claim's.";
    InstanceDeletion = "instance/deletion", [Webhook, Controller], "An Instance that something refers to is not deleted.";
    InstanceHost = "instance/host", [Cel, Webhook, Controller], "endpoint.host is a DNS name in lower case and no address.";
    InstanceHostAddress = "instance/host-address", [Cel, Webhook, Controller], "endpoint.hostaddr is one IPv4 or IPv6 address.";
    InstanceDatabase = "instance/database", [Cel, Webhook, Controller], "endpoint.database is a name that PostgreSQL can hold whole.";
    InstanceAdminCredential = "instance/admin-credential", [Cel, Webhook, Controller], "adminCredentialRef names a Secret and keys that a Secret can have.";
    InstanceInsecureTransport = "instance/insecure-transport", [Webhook, Controller], "sslMode verifies the server.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn identifiers_are_unique_and_of_the_fixed_form() {
        let ids: BTreeSet<_> = RuleId::ALL.iter().map(|rule| rule.as_str()).collect();
        assert_eq!(ids.len(), RuleId::ALL.len());
        for id in ids {
            let (kind, what) = id.split_once('/').unwrap();
            assert!(["*", "contract", "instance", "database", "tenant"].contains(&kind), "{id}");
            assert!(what.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{id}");
        }
    }
}
