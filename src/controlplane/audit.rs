//! Reads the API server's audit log: who asked for what, when, and what came of it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::Error;

/// One finished request, as kube-apiserver logs it (`audit.k8s.io/v1`, `Event`).
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// The request's own id.
    #[serde(rename = "auditID")]
    pub audit_id: String,
    /// `ResponseComplete`; for a watch also `ResponseStarted`; `Panic`.
    pub stage: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, or an HTTP method.
    pub verb: String,
    /// Path and query.
    #[serde(rename = "requestURI")]
    pub request_uri: String,
    /// Who asked.
    #[serde(default)]
    pub user: AuditUser,
    /// The client's name for itself.
    #[serde(default)]
    pub user_agent: String,
    /// What it was about; none for paths that are no resources.
    pub object_ref: Option<AuditObject>,
    /// How it was answered.
    pub response_status: Option<AuditStatus>,
    /// When it came, RFC 3339.
    pub request_received_timestamp: String,
    /// When it was answered, RFC 3339.
    pub stage_timestamp: String,
    /// What admission and authorization noted.
    #[serde(default)]
    pub annotations: BTreeMap<String, String>,
    /// The request's body, for writes to Covenant's own kinds.
    pub request_object: Option<serde_json::Value>,
    /// The answer's body, for writes to Covenant's own kinds.
    pub response_object: Option<serde_json::Value>,
}

/// Who asked; empty where the API server did not believe the request's credentials.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AuditUser {
    /// The user, for example `system:serviceaccount:covenant-system:covenant-webhook`.
    pub username: String,
    /// The groups.
    pub groups: Vec<String>,
}

/// What a request was about.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuditObject {
    /// The plural resource.
    pub resource: String,
    /// The namespace; empty for cluster-scoped resources.
    pub namespace: String,
    /// The name; empty for lists and for creations under a generated name.
    pub name: String,
    /// The API group; empty for the core group.
    pub api_group: String,
    /// The version.
    pub api_version: String,
    /// `status`, `token` and so on; empty for the object itself.
    pub subresource: String,
}

/// How a request was answered.
#[derive(Clone, Debug, Deserialize)]
pub struct AuditStatus {
    /// The HTTP status code.
    pub code: u16,
}

impl AuditEvent {
    /// Whether the request was sent with dry run.
    pub fn is_dry_run(&self) -> bool {
        self.request_uri.contains("dryRun=All")
    }

    /// Whether the request was answered with success and may have changed something in the store. Reviews and token
    /// requests are created without being stored, so they do not count.
    pub fn is_write(&self) -> bool {
        let verb =
            matches!(self.verb.as_str(), "create" | "update" | "patch" | "delete" | "deletecollection");
        let stored = self.object_ref.as_ref().is_some_and(|object| {
            !matches!(object.api_group.as_str(), "authentication.k8s.io" | "authorization.k8s.io")
                && object.subresource != "token"
        });
        let success = self.response_status.as_ref().is_some_and(|status| (200..300).contains(&status.code));
        verb && stored && success && !self.is_dry_run()
    }
}

/// Reads all events that are in the log so far, in the order they were finished.
pub(super) fn read(path: &Path) -> Result<Vec<AuditEvent>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        // Nothing was asked yet.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::File { path: path.to_owned(), source }),
    };
    // The last line may be half-written.
    let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
    let parse = |(index, line)| {
        serde_json::from_str(line).map_err(|source| Error::Audit {
            path: path.to_owned(),
            line: index + 1,
            source,
        })
    };
    complete.lines().enumerate().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(verb: &str, uri: &str, group: &str, subresource: &str, code: u16) -> AuditEvent {
        let value = serde_json::json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "1",
            "stage": "ResponseComplete", "requestURI": uri, "verb": verb,
            "user": {"username": "u", "groups": ["g"]}, "sourceIPs": ["127.0.0.1"],
            "objectRef": {"resource": "secrets", "apiGroup": group, "subresource": subresource},
            "responseStatus": {"metadata": {}, "code": code},
            "requestReceivedTimestamp": "2026-01-01T00:00:00.000000Z",
            "stageTimestamp": "2026-01-01T00:00:00.000000Z",
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn only_a_stored_change_is_a_write() {
        assert!(event("create", "/x", "", "", 201).is_write());
        assert!(event("patch", "/x?fieldManager=a", "", "status", 200).is_write());
        assert!(!event("patch", "/x?dryRun=All", "", "", 200).is_write());
        assert!(!event("update", "/x", "", "", 409).is_write());
        assert!(!event("get", "/x", "", "", 200).is_write());
        assert!(!event("create", "/x", "authorization.k8s.io", "", 201).is_write());
        assert!(!event("create", "/x", "", "token", 201).is_write());
    }
}
