//! The rules of a `PostgreSQLInstance`: all of them judge one field.

use kube::core::Rule;

use super::rule;
use crate::api::texts;

/// `spec.endpoint.host` is a DNS name: lower case, labels of at most 63 characters.
pub fn host_is_a_dns_name() -> Rule {
    const LABEL: &str = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";
    rule(format!("self.matches('^{LABEL}([.]{LABEL})*$')"), texts::HOST_IS_A_DNS_NAME)
}

/// `spec.endpoint.host` is not an address.
pub fn host_is_not_an_address() -> Rule {
    rule("!self.matches('(^|[.])[0-9]+$')", texts::HOST_IS_NOT_AN_ADDRESS)
}

/// `spec.endpoint.hostaddr` is an IP address. `isIP` refuses IPv4-mapped IPv6, which is legal here; the exact parse is
/// the webhook's.
pub fn hostaddr_is_an_address() -> Rule {
    rule("isIP(self) || self.lowerAscii().matches('^[0:]*:ffff:[0-9a-f:.]+$')", texts::HOSTADDR_IS_AN_ADDRESS)
}

/// `spec.endpoint.database` is a name that the server can have: it cuts longer ones silently.
pub fn database_fits_the_server() -> Rule {
    rule("size(bytes(self)) <= 63 && !self.contains('\\u0000')", texts::FITS_THE_SERVER)
}
