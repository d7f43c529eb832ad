//! The rules of a `PostgreSQLInstance`: all of them judge one field.

use kube::core::Rule;

use super::rule;

/// `spec.endpoint.host` is a DNS name: lower case, labels of at most 63 characters.
pub fn host_is_a_dns_name() -> Rule {
    const LABEL: &str = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
    rule(
        format!("self.matches('^{LABEL}([.]{LABEL})*$')"),
        "must be a DNS name in lower case: labels of at most 63 letters, digits and '-', joined by '.', without a dot \
         at the end (e.g. 'db.example.com')",
    )
}

/// `spec.endpoint.host` is not an address.
pub fn host_is_not_an_address() -> Rule {
    rule(
        "!self.matches('(^|[.])[0-9]+$')",
        "must be a DNS name whose last label is not all digits; an address belongs in hostaddr",
    )
}

/// `spec.endpoint.hostaddr` is an IP address. `isIP` refuses IPv4-mapped IPv6, which is legal here; the exact parse is
/// the webhook's.
pub fn hostaddr_is_an_address() -> Rule {
    rule(
        "isIP(self) || self.lowerAscii().matches('^[0:]*:ffff:[0-9a-f:.]+$')",
        "must be one IPv4 or IPv6 address, without brackets, port or zone (e.g. '192.0.2.10' or '2001:db8::10')",
    )
}

/// `spec.endpoint.database` is a name that the server can have: it cuts longer ones silently.
pub fn database_fits_the_server() -> Rule {
    rule(
        "size(bytes(self)) <= 63 && !self.contains('\\u0000')",
        "must have at most 63 bytes, none of them zero",
    )
}
