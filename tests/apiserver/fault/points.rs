//! The names of the writes: which step of the binding protocol a request is, by its method, path and body.

use std::fmt;

use serde_json::Value;

/// One request that changes something.
pub struct Write {
    /// `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The body; null where there is none.
    pub body: Value,
}

impl Write {
    /// The path's parts from the resource on: `postgresqltenants`, its name, `status`.
    pub fn resource(&self) -> Vec<&str> {
        let path = self.target.split('?').next().unwrap_or_default();
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        // api/v1/… or apis/GROUP/VERSION/…, then perhaps namespaces/NAME.
        let rest = if parts.first() == Some(&"api") { 2 } else { 3 };
        let rest = parts.get(rest..).unwrap_or_default();
        match rest {
            ["namespaces", _, below @ ..] if !below.is_empty() => below.to_vec(),
            other => other.to_vec(),
        }
    }

    fn finalizers(&self) -> usize {
        let list = self.body.pointer("/metadata/finalizers").and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .filter(|one| one.as_str().is_some_and(|one| one.starts_with("database.ayatori")))
            .count()
    }
}

impl fmt::Display for Write {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", point(self), self.method, self.target)
    }
}

/// The step's name as in the table of the protocol: `W0` … `W4`, `X3` … `X5`; `claim-database` and `claim-role` for the
/// Leases; `other` for what is no step of it.
pub fn point(write: &Write) -> &'static str {
    let phase = write.body.pointer("/status/phase").and_then(Value::as_str);
    let bound = write.body.pointer("/spec/tenantRef").is_some_and(|reference| !reference.is_null());
    match (write.method.as_str(), write.resource().as_slice()) {
        ("PUT", ["postgresqltenants", _]) if write.finalizers() > 0 => "W0",
        ("PUT", ["postgresqltenants", _]) => "X4",
        ("PUT", ["postgresqltenants", _, "status"]) => match phase {
            Some("Binding") => "W1",
            Some("Bound") => "W4",
            _ => "tenant-status",
        },
        ("POST", ["postgresqldatabases"]) | ("PUT", ["postgresqldatabases", _])
            if write.target.contains("dryRun") =>
        {
            "W2-dry"
        }
        ("POST", ["postgresqldatabases"]) => "W2",
        ("PUT", ["postgresqldatabases", _]) if write.finalizers() == 0 => "database-finalizer-off",
        ("PUT", ["postgresqldatabases", _]) if bound => "W2",
        ("PUT", ["postgresqldatabases", _]) => "database-finalizer",
        ("PUT", ["postgresqldatabases", _, "status"]) => match phase {
            Some("Bound") => "W3",
            Some("Releasing") => "X3",
            Some("Released") => "released",
            _ => "database-status",
        },
        ("DELETE", ["postgresqldatabases", _]) => "X5",
        ("POST", ["leases"]) => {
            match write
                .body
                .pointer("/metadata/labels/database.ayatori.ddupan.top~1claim")
                .and_then(Value::as_str)
            {
                Some("database") => "claim-database",
                Some("role") => "claim-role",
                _ => "other",
            }
        }
        _ => "other",
    }
}
