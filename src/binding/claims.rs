//! Claims: the Leases that give a physical database or role on an Instance to one Database object. A list is no atomic
//! claim; the creation of an object of a fixed name is.
//!
//! The database's name is claimed first and the role's only by who has the database's: so two parties never hold one each
//! and wait for the other.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::observed::{Database, DatabaseWorld, Lookup, Target, TenantWorld};
use super::step::{Operation, Step, StepName};
use crate::api::{Kind, names};

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    /// The database's name on the Instance.
    Database,
    /// The role's name on the Instance.
    Role,
}

impl ClaimKind {
    /// The word in the Lease's label and in the hash of its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Database => names::CLAIM_DATABASE,
            Self::Role => names::CLAIM_ROLE,
        }
    }
}

/// The names of a pair of claim Leases, in the controller's namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimNames {
    /// That of the database's claim.
    pub database: String,
    /// That of the role's claim.
    pub role: String,
}

impl ClaimNames {
    /// The names for a database and a role on the Instance with this UID.
    pub fn of(instance_uid: &str, database: &str, login_role: &str) -> Self {
        Self {
            database: lease_name(ClaimKind::Database, instance_uid, database),
            role: lease_name(ClaimKind::Role, instance_uid, login_role),
        }
    }
}

/// `covenant-claim-` and the first 40 hexadecimal digits of the SHA-256 of `v1\0<what>\0<Instance UID>\0<name>`.
fn lease_name(kind: ClaimKind, instance_uid: &str, name: &str) -> String {
    const BYTES: usize = 20;
    let digest = Sha256::digest(format!("v1\0{}\0{instance_uid}\0{name}", kind.as_str()));
    let mut lease = names::CLAIM_LEASE_PREFIX.to_owned();
    for byte in digest.iter().take(BYTES) {
        let _ = write!(lease, "{byte:02x}");
    }
    lease
}

/// A claim Lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
    /// Its version.
    pub resource_version: String,
    /// `holderIdentity`: the UID of the Database that holds it.
    pub holder: String,
    /// The UID of the Database at the name that the Lease's annotation gives, by a live read; `None` where it has no
    /// annotation, for then nobody can say that the holder is gone. Not needed where the holder is oneself.
    pub holder_lookup: Option<Lookup<String>>,
}

/// A pair of claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// The database's claim.
    pub database: Lookup<Claim>,
    /// The role's claim.
    pub role: Lookup<Claim>,
}

/// How a claim stands to somebody who wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing<'a> {
    Mine,
    Free,
    /// Its holder is gone.
    Stale(&'a Claim),
    /// Somebody else has it, or may have it.
    Taken,
    Unknown,
}

/// How a claim stands to the Database with this UID, or to one that does not exist yet.
fn standing<'a>(claim: &'a Lookup<Claim>, own_uid: Option<&str>) -> Standing<'a> {
    match claim {
        Lookup::Unknown => Standing::Unknown,
        Lookup::Absent => Standing::Free,
        Lookup::Found(claim) if own_uid == Some(claim.holder.as_str()) => Standing::Mine,
        Lookup::Found(claim) => match &claim.holder_lookup {
            Some(Lookup::Absent) => Standing::Stale(claim),
            Some(Lookup::Found(uid)) if *uid != claim.holder => Standing::Stale(claim),
            Some(Lookup::Unknown) => Standing::Unknown,
            // A holder that nobody can look up keeps its claim: a person has to look.
            Some(Lookup::Found(_)) | None => Standing::Taken,
        },
    }
}

/// What stands between a Database and its pair of claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// Both are held.
    Both,
    /// This is to be done first.
    Do(Step),
    /// Somebody else has one of them.
    Lost(ClaimKind),
    /// It is not known.
    Unknown,
}

impl Claims {
    /// What the holder-to-be has to do next.
    pub(super) fn hold(&self, names: &ClaimNames, database: &Database) -> Hold {
        let own = Some(database.metadata.uid.as_str());
        let pair = [
            (ClaimKind::Database, &self.database, &names.database),
            (ClaimKind::Role, &self.role, &names.role),
        ];
        for (kind, claim, name) in pair {
            match standing(claim, own) {
                Standing::Mine => {}
                Standing::Free => return Hold::Do(take(kind, name, database)),
                Standing::Stale(claim) => return Hold::Do(drop_stale(claim)),
                Standing::Taken => return Hold::Lost(kind),
                Standing::Unknown => return Hold::Unknown,
            }
        }
        Hold::Both
    }

    /// Which of the two somebody else has; `Err` where that is not known.
    pub(super) fn taken(&self, own_uid: Option<&str>) -> Result<Option<ClaimKind>, ()> {
        let database = standing(&self.database, own_uid);
        let role = standing(&self.role, own_uid);
        match (database, role) {
            (Standing::Taken, _) => Ok(Some(ClaimKind::Database)),
            (_, Standing::Taken) => Ok(Some(ClaimKind::Role)),
            (Standing::Unknown, _) | (_, Standing::Unknown) => Err(()),
            _ => Ok(None),
        }
    }

    /// Whether the Database holds both; `Err` where that is not known.
    pub(super) fn are_held_by(&self, uid: &str) -> Result<bool, ()> {
        let pair = [standing(&self.database, Some(uid)), standing(&self.role, Some(uid))];
        if pair.contains(&Standing::Unknown) { Err(()) } else { Ok(pair == [Standing::Mine, Standing::Mine]) }
    }
}

fn take(kind: ClaimKind, name: &str, database: &Database) -> Step {
    let operation = Operation::CreateLease { body: lease(kind, name, database) };
    Step::write(StepName::TakeClaim, operation)
}

/// The Lease that claims; its namespace is the controller's.
fn lease(kind: ClaimKind, name: &str, database: &Database) -> Value {
    let owner = Kind::PostgreSQLDatabase;
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": name,
            "labels": {names::MANAGED_BY_LABEL: names::MANAGED_BY, names::CLAIM_LABEL: kind.as_str()},
            "annotations": {names::DATABASE_NAME_ANNOTATION: database.metadata.name},
            "ownerReferences": [{
                "apiVersion": owner.api_version(),
                "kind": owner.as_str(),
                "name": database.metadata.name,
                "uid": database.metadata.uid,
            }],
        },
        "spec": {"holderIdentity": database.metadata.uid},
    })
}

fn drop_stale(claim: &Claim) -> Step {
    let operation = Operation::DeleteLease {
        name: claim.name.clone(),
        uid: claim.uid.clone(),
        resource_version: claim.resource_version.clone(),
    };
    Step::write(StepName::DropStaleClaim, operation)
}

impl TenantWorld {
    /// The Instance to read: the one that the Tenant names, or that of the Database it names.
    pub fn instance_name(&self) -> Option<&str> {
        match &self.tenant.found()?.target {
            Target::Provision { instance, .. } => Some(instance),
            Target::Existing { .. } => Some(&self.named.found()?.database.instance),
            Target::Invalid => None,
        }
    }

    /// The claims to read, once the Instance was found.
    pub fn claim_names(&self) -> Option<ClaimNames> {
        let instance = &self.instance.found()?.metadata.uid;
        match &self.tenant.found()?.target {
            Target::Provision { database, login_role, .. } => {
                Some(ClaimNames::of(instance, database, login_role))
            }
            Target::Existing { .. } => {
                let database = &self.named.found()?.database;
                Some(ClaimNames::of(instance, &database.database, &database.login_role))
            }
            Target::Invalid => None,
        }
    }
}

impl DatabaseWorld {
    /// The claims to read, once the Instance was found.
    pub fn claim_names(&self) -> Option<ClaimNames> {
        let database = &self.database.found()?.database;
        let instance = &self.instance.found()?.metadata.uid;
        Some(ClaimNames::of(instance, &database.database, &database.login_role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_hash_that_the_documentation_gives() {
        // printf 'v1\0database\0uid\0orders' | sha256sum
        let names = ClaimNames::of("uid", "orders", "orders");
        assert_eq!(names.database, "covenant-claim-943b921764ddd54836afdf4e577d932862442dd8");
        assert_ne!(names.database, names.role);
        assert_eq!(names.role.len(), "covenant-claim-".len() + 40);
    }

    #[test]
    fn nobody_is_gone_because_a_read_failed() {
        let claim = |lookup| {
            Lookup::Found(Claim {
                name: "l".into(),
                uid: "1".into(),
                resource_version: "1".into(),
                holder: "d".into(),
                holder_lookup: lookup,
            })
        };
        assert_eq!(standing(&claim(None), None), Standing::Taken);
        assert_eq!(standing(&claim(Some(Lookup::Unknown)), None), Standing::Unknown);
        assert_eq!(standing(&claim(Some(Lookup::Found("d".into()))), Some("e")), Standing::Taken);
        assert!(matches!(standing(&claim(Some(Lookup::Absent)), Some("e")), Standing::Stale(_)));
        assert!(matches!(standing(&claim(Some(Lookup::Found("f".into()))), Some("e")), Standing::Stale(_)));
        assert_eq!(standing(&claim(None), Some("d")), Standing::Mine);
        assert_eq!(standing(&Lookup::Unknown, None), Standing::Unknown);
    }
}
