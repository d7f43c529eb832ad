//! What the PostgreSQL kinds' rules say to a person. The CEL of the definitions and the rules of webhook and command line
//! speak with these words, so that a fault reads the same wherever it is found.

/// What names of databases and roles on the server look like.
pub const IDENTIFIER: &str = "^[a-z][a-z0-9_]{0,62}$";
/// Databases that every server has for itself.
pub const RESERVED_DATABASES: &[&str] = &["postgres", "template0", "template1"];
/// Role names that PostgreSQL keeps for itself, besides all that begin with `pg_`.
pub const RESERVED_ROLES: &[&str] = &["none", "public"];

/// Both sources of a Tenant are set.
pub const NOT_BOTH_SOURCES: &str = "may not be set together with provision; keep provision for a new database, or databaseRef for an existing one";
/// No source of a Tenant is set.
pub const ONE_SOURCE: &str = "must have provision for a new database, or databaseRef for an existing one";
/// The names of Instance and Tenant are too long together.
pub const DELIVERED_NAME: &str = "must have at most 241 characters together with the name of the Tenant, because the delivered object is named '<instance>-<tenant>-postgresql'; use a shorter name for one of them";
/// A text is no name of an extension.
pub const EXTENSION_NAME: &str = "must be the name of an extension: letters, digits and '_', with single '-' between them (e.g. 'pg_trgm', 'uuid-ossp')";
/// An import has no credential.
pub const IMPORT_NEEDS_A_CREDENTIAL: &str =
    "source Import needs the place of the existing credential: set mount and path";
/// A database that Covenant makes has a credential of its own.
pub const PROVISION_FORBIDS_A_CREDENTIAL: &str = "may not be set with source Provision, which makes its own credential; remove it, or use source Import for a database that exists";
/// A mount or path has segments that are empty or climb.
pub const PLAIN_SEGMENTS: &str = "must not begin or end with '/', nor hold an empty segment, '.' or '..'";
/// A mount or path holds characters that mean something in a URL.
pub const PLAIN_CHARACTERS: &str = "must not hold '%', '?', '#', a backslash or a control character: it is written as it is, without escapes";
/// A path begins with the store's own prefix.
pub const LOGICAL_PATH: &str = "must be the path inside the mount as people write it, without the store's own 'data/' or 'metadata/' in front";
/// A host is no DNS name.
pub const HOST_IS_A_DNS_NAME: &str = "must be a DNS name in lower case: labels of at most 63 letters, digits and '-', joined by '.', without a dot at the end (e.g. 'db.example.com')";
/// A host is an address.
pub const HOST_IS_NOT_AN_ADDRESS: &str =
    "must be a DNS name whose last label is not all digits; an address belongs in hostaddr";
/// An address is none.
pub const HOSTADDR_IS_AN_ADDRESS: &str =
    "must be one IPv4 or IPv6 address, without brackets, port or zone (e.g. '192.0.2.10' or '2001:db8::10')";
/// A database's name is longer than a server holds.
pub const FITS_THE_SERVER: &str = "must have at most 63 bytes, none of them zero";
/// A name is no namespace's.
pub const NAMESPACE_NAME: &str = "must be the name of a namespace: lower-case letters, digits and '-', beginning and ending with a letter or digit";
/// A text is no key of a Secret.
pub const SECRET_KEY: &str =
    "must be a key of a Secret: letters, digits, '-', '_' and '.', neither '.' nor beginning with '..'";

/// An update would move a Tenant to another database.
pub const FROZEN_TARGET: &str = "cannot be changed once binding has begun: a Tenant never moves to another database; make a new Tenant instead";
/// An update would move what is delivered to a Tenant.
pub const FROZEN_SECRET_NAME: &str =
    "cannot be changed once binding has begun: workloads would lose the Secret; make a new Tenant instead";
/// An update removes installed extensions; their list follows.
pub const EXTENSIONS_STAY: &str = "extensions that are installed cannot be removed; put back";
/// An update would move a Database to another Instance.
pub const INSTANCE_IS_IMMUTABLE: &str = "is immutable: a Database never moves to another Instance";
/// An update changes a binding.
pub const TENANT_COMES_AND_GOES_WHOLE: &str =
    "may be set where there is none and removed as a whole, but never changed";
/// An update would let a Database mean another database.
pub const FROZEN_DATABASE: &str = "cannot be changed once the database was observed on its server or bound; make a new PostgreSQLDatabase for another database";
/// An update changes what is fixed for a database that is known.
pub const FROZEN_FIELD: &str = "cannot be changed once the database was observed on its server or bound";
/// An update would move the credential.
pub const FROZEN_CREDENTIAL: &str = "cannot be changed once the database was observed on its server or bound; rotate the credential in its place";
/// An update changes the reclaim policy too late.
pub const FROZEN_POLICY: &str =
    "cannot be changed while the database is being released; it can be once it was re-opened";
/// A database on the server is somebody else's. This and the next ones are short enough for a warning with its field.
pub const DATABASE_IS_TAKEN: &str = "is taken on this Instance by another claim; choose another name";
/// A role on the server is somebody else's.
pub const ROLE_IS_TAKEN: &str = "is taken on this Instance by another claim; choose another role";
/// A credential's place is somebody else's.
pub const CREDENTIAL_IS_TAKEN: &str = "is the place of another Database's credential; each needs its own";
/// A Secret is delivered to somebody else.
pub const SECRET_IS_TAKEN: &str = "is delivered to another Tenant in this namespace; set another secretName";
/// Instance and Tenant give a name that two others already give.
pub const DELIVERY_IS_TAKEN: &str = "is taken in this namespace by another Tenant; rename this one";
/// The database that an Instance is to connect to is somebody's.
pub const OWN_DATABASE_IS_TAKEN: &str = "is the database of a claim on this Instance; connect to another one";
/// A name is the database that the administrator connects to.
pub const INSTANCE_OWN_DATABASE: &str =
    "must not be the database that the Instance itself connects to (its endpoint.database)";

/// A Database is missing, unverified, bound or released: one text for all, so that names cannot be probed.
pub fn cannot_be_bound(name: &str) -> String {
    format!(
        "PostgreSQLDatabase {name:?} cannot be bound now: it does not exist, is not verified, or is not free"
    )
}

/// A name on the server does not fit; a proposal may follow.
pub fn identifier() -> String {
    format!("must match {IDENTIFIER}")
}

/// The name of the Tenant cannot stand in for a name on the server; a proposal may follow.
pub fn default_name() -> String {
    format!(
        "the default, the name of the Tenant, cannot be used; set a name that matches {IDENTIFIER} and is not reserved"
    )
}

/// A text is no name of an object of `kind`.
pub fn dns_subdomain(kind: &str) -> String {
    format!(
        "must be the name of a {kind}: lower-case letters, digits, '-' and '.', beginning and ending with a letter or \
         digit"
    )
}

/// A database's name is one of [`RESERVED_DATABASES`].
pub fn database_not_reserved() -> String {
    format!("must not be a database that the server has for itself: {}", quoted(RESERVED_DATABASES))
}

/// A role's name is reserved.
pub fn role_not_reserved() -> String {
    format!(
        "must not be a role name that PostgreSQL keeps for itself: {}, or one that begins with 'pg_'",
        quoted(RESERVED_ROLES)
    )
}

/// The words as a person reads them.
fn quoted(words: &[&str]) -> String {
    format!("'{}'", words.join("', '"))
}
