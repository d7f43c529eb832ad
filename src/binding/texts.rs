//! What the plans say to a person. A Tenant's text never names another Tenant, and says the same of a Database that does
//! not exist, is not verified or is not free; a Database's text, which only administrators read, may name Tenants. No text
//! holds a time, a count that changes by itself, or anything secret, or it would be written again and again.

use super::claims::ClaimKind;
use super::observed::Referrer;
use crate::api::refs::TenantRef;
use crate::rules::text;

/// How much of a server's text is taken over, in bytes.
const FOREIGN_BYTES: usize = 512;
/// How many names are listed.
const NAMES: usize = 5;

/// The four parts that every conflict tells a person.
pub(super) struct Conflict<'a> {
    /// What it is about.
    pub(super) target: &'a str,
    /// Which step cannot be taken.
    pub(super) step: &'a str,
    /// What is known.
    pub(super) sure: &'a str,
    /// What is not.
    pub(super) unsure: &'a str,
    /// What a person can look at.
    pub(super) check: &'a str,
}

impl Conflict<'_> {
    pub(super) fn text(&self) -> String {
        let Self { target, step, sure, unsure, check } = self;
        format!("Target: {target}. Step: {step}. Sure: {sure}. Not sure: {unsure}. To check: {check}.")
    }
}

/// A text from elsewhere: without control characters, and cut.
pub(super) fn foreign(message: &str) -> String {
    let plain: String =
        message.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    text::cut(plain, FOREIGN_BYTES)
}

fn database(name: &str) -> String {
    format!("PostgreSQLDatabase \"{name}\"")
}

fn tenant(tenant: &TenantRef) -> String {
    format!("PostgreSQLTenant \"{}/{}\" (UID {})", tenant.namespace, tenant.name, tenant.uid)
}

// What a Tenant reads.

/// The one text for a Database that cannot be bound, whatever the cause.
pub(super) fn not_bindable(name: &str) -> String {
    format!(
        "{0} cannot be bound now: it does not exist, is not verified, or is not free. Target: {0}. Step: judging whether it \
         can be bound. Sure: this tenant has no right to it and nothing was written to it. Not sure: which of these it is; \
         tenants are not told. To check: the name in spec.databaseRef, which can still be changed; else ask the platform's \
         administrators, who can see the PostgreSQLDatabase. The tenant is bound by itself once that is possible.",
        database(name)
    )
}

pub(super) fn instance_not_found(name: &str) -> String {
    format!(
        "PostgreSQLInstance \"{name}\" does not exist. Correct spec.provision.instanceRef.name, or ask the platform's \
         administrators for the name of an Instance."
    )
}

pub(super) fn instance_gone(name: &str) -> String {
    format!(
        "PostgreSQLInstance \"{name}\" of the database does not exist any more; ask the platform's administrators."
    )
}

pub(super) fn instance_deleting(name: &str) -> String {
    format!("PostgreSQLInstance \"{name}\" is being deleted and takes no new claims; name another one.")
}

pub(super) fn name_is_taken(kind: ClaimKind, name: &str, instance: &str) -> String {
    let what = kind.as_str();
    Conflict {
        target: &format!("{what} \"{name}\" on PostgreSQLInstance \"{instance}\""),
        step: &format!("claiming the name of the {what} before anything is made on the server"),
        sure: "another PostgreSQLDatabase has claimed this name, and this tenant has no right to it",
        unsure: "whether that one is still needed; a database that was kept when its tenant went holds its name too",
        check: &format!(
            "choose another name in spec.provision (spec.provision.{}), or ask the platform's administrators who has it",
            match kind {
                ClaimKind::Database => "database",
                ClaimKind::Role => "loginRole",
            }
        ),
    }
    .text()
}

/// The Database of the Tenant's own name has other content.
pub(super) fn made_otherwise(name: &str, fields: &[&str]) -> String {
    Conflict {
        target: &database(name),
        step: "taking over the PostgreSQLDatabase that is to be made for this tenant",
        sure: &format!("it exists and differs in {}; it was left as it is", fields.join(", ")),
        unsure: "who made it, and whether it stands for a database that somebody uses",
        check: "ask the platform's administrators to look at this PostgreSQLDatabase and, if nobody needs it, to delete it",
    }
    .text()
}

/// A Database carries this Tenant's identity, and the Tenant asks for something else.
pub(super) fn asks_otherwise(name: &str, fields: &[&str]) -> String {
    Conflict {
        target: &database(name),
        step: "comparing the tenant with the database that is recorded for it",
        sure: &format!(
            "the database is recorded for this tenant, but the two differ in {}; nothing is bound anew",
            fields.join(", ")
        ),
        unsure: "whether the spec was changed after binding had begun",
        check: "put spec back to what the tenant was made with; for another database make a new tenant",
    }
    .text()
}

pub(super) fn several_databases(mut names: Vec<&str>) -> String {
    names.sort_unstable();
    let listed = text::listed(names.iter().copied(), NAMES);
    Conflict {
        target: &format!("PostgreSQLDatabases {listed}"),
        step: "finding the one database of this tenant",
        sure: "each of them is recorded for this tenant; none was chosen and none was changed",
        unsure: "which of them was meant",
        check: "ask the platform's administrators which one is right; deleting the tenant releases all of them and drops \
                none that the tenant was not bound to",
    }
    .text()
}

/// The Database's records contradict each other, seen from a Tenant.
pub(super) fn contested(name: &str) -> String {
    Conflict {
        target: &database(name),
        step: "recording the binding on the side of the tenant",
        sure: "the records of this database contradict each other; nothing is delivered",
        unsure: "which record is right",
        check: "ask the platform's administrators to look at the PostgreSQLDatabase",
    }
    .text()
}

/// The Tenant says that it is bound, and the Database does not.
pub(super) fn not_agreed(name: &str) -> String {
    Conflict {
        target: &database(name),
        step: "comparing the records of both sides",
        sure: "status.databaseRef names this database, but the database is not recorded for this tenant, so the tenant has \
               no right to it; nothing was changed",
        unsure: "whether spec.tenantRef was removed from the database, or the status of the tenant was written by somebody \
                 else",
        check: "ask the platform's administrators to look at the PostgreSQLDatabase; if it was never this tenant's, delete \
                the tenant and make a new one",
    }
    .text()
}

pub(super) fn lost(name: &str) -> String {
    format!(
        "{} that this tenant was bound to is gone, for good: nothing is made anew, and a new one of the same name is not \
         taken. What was delivered was left. Once you need it no more, delete this tenant and make a new one.",
        database(name)
    )
}

pub(super) fn database_deleting(name: &str) -> String {
    format!("{} is being deleted. Ask the platform's administrators.", database(name))
}

pub(super) fn identity_changed(instance: &str) -> String {
    format!(
        "PostgreSQLInstance \"{instance}\" is not the one that the database was bound on: it was deleted and made anew. \
         Nothing on it is trusted or changed until an administrator has decided."
    )
}

pub(super) fn refused(message: &str) -> String {
    format!("The binding was refused: {}. It is tried again; the spec can be changed.", foreign(message))
}

pub(super) fn refused_when_bound(message: &str) -> String {
    format!("A step of the binding was refused: {}. It is tried again.", foreign(message))
}

pub(super) const UNAVAILABLE: &str = "Admission is unavailable: whether the binding is admitted could not be found out. It is tried again by itself.";

pub(super) fn binding(name: &str) -> String {
    format!("The binding to {} has begun; the target is fixed from now on.", database(name))
}

pub(super) fn binding_complete(name: &str) -> String {
    format!(
        "Bound to {}. Provisioning and delivery are still to come: no database was made and no Secret delivered yet.",
        database(name)
    )
}

pub(super) const RELEASING: &str =
    "The tenant is being deleted: what was delivered is removed, then its database is released.";

// What an administrator reads at a Database.

pub(super) fn instance_missing(name: &str) -> String {
    format!(
        "PostgreSQLInstance \"{name}\" does not exist. Create it; spec.instanceRef cannot be changed afterwards."
    )
}

pub(super) const UNVERIFIED: &str =
    "The database has not been verified and cannot be bound: no server has been asked about it.";
pub(super) const BOUND_UNVERIFIED: &str =
    "The binding is recorded. The database has not been verified: no server has been asked about it.";
pub(super) const AVAILABLE: &str = "The database was verified and is free to be bound.";
pub(super) const BOUND: &str = "The database is bound and was verified.";

pub(super) fn failed(message: &str) -> String {
    format!("The database could not be verified: {}", foreign(message))
}

pub(super) fn claim_lost(kind: ClaimKind, name: &str, instance: &str) -> String {
    let what = kind.as_str();
    Conflict {
        target: &format!("{what} \"{name}\" on PostgreSQLInstance \"{instance}\""),
        step: &format!("claiming the name of the {what}"),
        sure: "another PostgreSQLDatabase has claimed it; this one may neither make nor drop anything on the server",
        unsure: "which of the two stands for what is on the server",
        check: "the holder of the claim: the Lease with label database.ayatori.ddupan.top/claim whose annotation \
                database.ayatori.ddupan.top/database-name names it; delete the PostgreSQLDatabase that is wrong",
    }
    .text()
}

pub(super) fn removed_binding(name: &str, record: Option<&TenantRef>) -> String {
    let record = record.map_or_else(|| "a tenant".to_owned(), tenant);
    Conflict {
        target: &database(name),
        step: "judging whether it is free",
        sure: &format!("it is on record as bound to {record}, was never released, and spec.tenantRef is gone; it is not free"),
        unsure: "who removed spec.tenantRef, and whether the tenant still uses the database",
        check: "put spec.tenantRef back as recorded (needs the verb bind); to give the database back, delete the tenant \
                afterwards",
    }
    .text()
}

pub(super) fn other_binding(name: &str, bound: &TenantRef, record: &str) -> String {
    Conflict {
        target: &database(name),
        step: "comparing spec.tenantRef with what is on record",
        sure: &format!("spec.tenantRef names {}, and {record}; neither is served", tenant(bound)),
        unsure: "who changed it, and whose the database is",
        check: "the audit log for who wrote spec.tenantRef; then put it back as recorded, or delete the tenant that is wrong",
    }
    .text()
}

/// The end of a sentence about a record on the Database itself.
pub(super) fn on_record(record: &TenantRef) -> String {
    format!("status.tenantRef has {} on record", tenant(record))
}

/// The end of a sentence about Tenants that say they are bound.
pub(super) fn claimed_by(referrers: &[&Referrer]) -> String {
    let mut names: Vec<String> =
        referrers.iter().map(|referrer| format!("{}/{}", referrer.namespace, referrer.name)).collect();
    names.sort_unstable();
    format!(
        "status.databaseRef of PostgreSQLTenant {} names this database",
        text::listed(names.iter().map(String::as_str), NAMES)
    )
}

pub(super) fn unbound_but_claimed(name: &str, claimed: &str) -> String {
    Conflict {
        target: &database(name),
        step: "judging whether it is free",
        sure: &format!("it has no spec.tenantRef, but {claimed}; it is not free"),
        unsure: "whether the binding was removed here or the tenant's status was written by somebody else",
        check: "the tenant; put spec.tenantRef back (needs the verb bind) if the database is its own, else delete the tenant",
    }
    .text()
}

pub(super) fn siblings(name: &str, bound: &TenantRef, others: &[String]) -> String {
    let mut others: Vec<&str> = others.iter().map(String::as_str).collect();
    others.sort_unstable();
    Conflict {
        target: &database(name),
        step: "finding the one database of a tenant",
        sure: &format!(
            "{} is recorded here and in {} too; none was chosen and nothing is dropped",
            tenant(bound),
            text::listed(others.into_iter(), NAMES)
        ),
        unsure: "which of them was meant",
        check: "the tenant's status.databaseRef; deleting the tenant releases all of them",
    }
    .text()
}

pub(super) fn reopened_too_early(name: &str, why: &str) -> String {
    Conflict {
        target: &database(name),
        step: "re-opening it",
        sure: &format!("spec.tenantRef was removed, but {why}; the database is not free"),
        unsure: "whether the tenant still uses the database",
        check: "put spec.tenantRef back as status.release.tenantRef has it (needs the verb bind), wait until that tenant is \
                gone, and re-open then",
    }
    .text()
}

pub(super) fn releasing(bound: &TenantRef) -> String {
    format!("{} is going; the release is recorded and ends when the tenant is gone.", tenant(bound))
}

pub(super) fn released(name: &str, bound: &TenantRef) -> String {
    format!(
        "{} is gone and the database was kept. To re-open it, once its old accesses are dealt with: kubectl patch \
         postgresqldatabases.database.ayatori.ddupan.top {name} --type=json -p \
         '[{{\"op\":\"test\",\"path\":\"/spec/tenantRef/uid\",\"value\":\"{}\"}},{{\"op\":\"remove\",\"path\":\"/spec/tenantRef\"}}]' \
         (needs the verb reopen; \"the server rejected our request\" means that the UID has changed).",
        tenant(bound),
        bound.uid
    )
}

pub(super) fn in_use(claimed: &str) -> String {
    format!(
        "The database is to be deleted, but is in use: {claimed}. Delete the tenant first; nothing is cut off before."
    )
}

pub(super) fn waits_for_tenant(bound: &TenantRef) -> String {
    format!(
        "The database is to be deleted, but work for {} was begun. Delete the tenant first.",
        tenant(bound)
    )
}

pub(super) fn cannot_drop(name: &str) -> String {
    Conflict {
        target: &database(name),
        step: "dropping what was made on the server",
        sure: "work outside Kubernetes was begun, and the policy is Delete; nothing was dropped",
        unsure: "what exists on the server and in the credential store: nothing has looked",
        check: "the server; with reclaim policy Retain from the start the object goes without a drop. To keep the data and \
                let the object go, remove its finalizer by hand once you have noted what is kept",
    }
    .text()
}

pub(super) fn retained(database: &str, login_role: &str, instance: &str) -> String {
    format!(
        "The object is gone. Database \"{database}\" and role \"{login_role}\" on PostgreSQLInstance \"{instance}\" were \
         left as they are, with their credential."
    )
}

// What an administrator reads at an Instance.

pub(super) const SERVER_UNOBSERVED: &str = "The server has not been contacted.";

pub(super) fn server_ready(note: Option<&str>) -> String {
    with_note("The server was reached, identified, and grants the rights that are needed.", note)
}

pub(super) fn with_note(message: &str, note: Option<&str>) -> String {
    note.map_or_else(|| message.to_owned(), |note| format!("{message} Note: {note}."))
}

pub(super) fn instance_in_use(databases: &[String], tenants: &[String]) -> String {
    let part = |kind: &str, names: &[String]| {
        let listed = text::listed(names.iter().map(String::as_str), NAMES);
        (!names.is_empty()).then(|| format!("{} ({listed})", text::counted(names.len(), kind)))
    };
    let parts: Vec<String> =
        [part("PostgreSQLDatabase", databases), part("unbound PostgreSQLTenant", tenants)]
            .into_iter()
            .flatten()
            .collect();
    format!(
        "The Instance is to be deleted, but is still referred to by {}. Delete these first; a released database counts too.",
        parts.join(" and ")
    )
}
