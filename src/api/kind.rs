//! The four kinds, with what the API server and the rules must know of each.

use std::fmt;
use std::sync::OnceLock;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSONSchemaProps,
};
use kube::CustomResourceExt;

use super::crd::normalise;
use super::names::{DATABASE_GROUP, SECRETS_GROUP, VERSION};
use super::{PostgreSQLDatabase, PostgreSQLInstance, PostgreSQLTenant, SecretContract};

/// One of the kinds that users write.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// What a Secret must hold.
    SecretContract,
    /// A PostgreSQL server that an administrator registers.
    PostgreSQLInstance,
    /// A database with its one login role, managed by the platform.
    PostgreSQLDatabase,
    /// A team's claim for a database.
    PostgreSQLTenant,
}

impl Kind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 4] =
        [Self::SecretContract, Self::PostgreSQLInstance, Self::PostgreSQLDatabase, Self::PostgreSQLTenant];

    /// The kind's name in `kind:`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SecretContract => "SecretContract",
            Self::PostgreSQLInstance => "PostgreSQLInstance",
            Self::PostgreSQLDatabase => "PostgreSQLDatabase",
            Self::PostgreSQLTenant => "PostgreSQLTenant",
        }
    }

    /// The API group.
    pub const fn group(self) -> &'static str {
        match self {
            Self::SecretContract => SECRETS_GROUP,
            Self::PostgreSQLInstance | Self::PostgreSQLDatabase | Self::PostgreSQLTenant => DATABASE_GROUP,
        }
    }

    /// The version that is served and stored.
    pub const fn version(self) -> &'static str {
        VERSION
    }

    /// Group and version as they stand in `apiVersion:`.
    pub fn api_version(self) -> String {
        format!("{}/{}", self.group(), self.version())
    }

    /// The resource name: plural, lower case.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::SecretContract => "secretcontracts",
            Self::PostgreSQLInstance => "postgresqlinstances",
            Self::PostgreSQLDatabase => "postgresqldatabases",
            Self::PostgreSQLTenant => "postgresqltenants",
        }
    }

    /// The name of one object of the kind, lower case.
    pub const fn singular(self) -> &'static str {
        match self {
            Self::SecretContract => "secretcontract",
            Self::PostgreSQLInstance => "postgresqlinstance",
            Self::PostgreSQLDatabase => "postgresqldatabase",
            Self::PostgreSQLTenant => "postgresqltenant",
        }
    }

    /// The first part of the ids of the kind's rules: `contract` in `contract/env-name-grammar`.
    pub const fn rule_prefix(self) -> &'static str {
        match self {
            Self::SecretContract => "contract",
            Self::PostgreSQLInstance => "instance",
            Self::PostgreSQLDatabase => "database",
            Self::PostgreSQLTenant => "tenant",
        }
    }

    /// Whether an object of the kind lives in a namespace.
    pub const fn namespaced(self) -> bool {
        match self {
            Self::SecretContract | Self::PostgreSQLTenant => true,
            Self::PostgreSQLInstance | Self::PostgreSQLDatabase => false,
        }
    }

    /// The kind with this group and name, whatever the version.
    pub fn find(group: &str, kind: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.group() == group && known.as_str() == kind)
    }

    /// The kind of an object by its `apiVersion` and `kind`; none for another version than ours.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        let (group, version) = api_version.split_once('/')?;
        Self::find(group, kind).filter(|known| known.version() == version)
    }

    /// The kind's definition as it is installed in a cluster.
    pub fn crd(self) -> CustomResourceDefinition {
        let mut crd = match self {
            Self::SecretContract => SecretContract::crd(),
            Self::PostgreSQLInstance => PostgreSQLInstance::crd(),
            Self::PostgreSQLDatabase => PostgreSQLDatabase::crd(),
            Self::PostgreSQLTenant => PostgreSQLTenant::crd(),
        };
        normalise(&mut crd);
        crd
    }

    /// The schema of a whole object of the kind, made once.
    pub fn schema(self) -> &'static JSONSchemaProps {
        static SCHEMAS: [OnceLock<JSONSchemaProps>; 4] = [const { OnceLock::new() }; 4];
        static EMPTY: OnceLock<JSONSchemaProps> = OnceLock::new();
        let cell = SCHEMAS.get(self as usize).unwrap_or(&EMPTY);
        cell.get_or_init(|| {
            let versions = self.crd().spec.versions;
            let schema = versions.into_iter().next().and_then(|version| version.schema);
            schema.and_then(|schema| schema.open_api_v3_schema).unwrap_or_default()
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_agree_with_the_constants() {
        for kind in Kind::ALL {
            let crd = kind.crd();
            assert_eq!(crd.spec.group, kind.group());
            assert_eq!(crd.spec.names.kind, kind.as_str());
            assert_eq!(crd.spec.names.plural, kind.plural());
            assert_eq!(crd.spec.names.singular.as_deref(), Some(kind.singular()));
            assert_eq!(crd.spec.scope == "Namespaced", kind.namespaced());
            assert_eq!(crd.spec.versions.len(), 1);
            assert_eq!(crd.spec.versions[0].name, kind.version());
            assert!(kind.schema().properties.as_ref().unwrap().contains_key("spec"), "{kind}");
            assert_eq!(Kind::of(&kind.api_version(), kind.as_str()), Some(kind));
        }
        assert_eq!(Kind::of("hostk8s.io/v1", "SecretContract"), None);
        assert_eq!(Kind::of("secrets.codepop.tech/v2", "SecretContract"), None);
        assert_eq!(Kind::of("v1", "Secret"), None);
    }
}
