//! Makes certificate authorities and the leaves they sign. No file, no network and no clock here: bounds of validity
//! are arguments, results are PEM texts.
//!
//! Every key is ECDSA on P-256: small, quick to make, and accepted by every client of Kubernetes.
//!
//! ```
//! use covenant::pki::{Authority, LeafRequest};
//! use std::net::Ipv4Addr;
//!
//! let now: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
//! let tomorrow = now + jiff::SignedDuration::from_hours(24);
//! let authority = Authority::new("covenant-webhook-ca", now, tomorrow)?;
//! let pair = authority.issue(
//!     LeafRequest::serving("covenant-webhook.covenant-system.svc", now, tomorrow)
//!         .dns_name("covenant-webhook.covenant-system.svc")
//!         .ip_address(Ipv4Addr::LOCALHOST),
//! )?;
//! assert!(pair.cert_pem.starts_with("-----BEGIN CERTIFICATE-----"));
//! # Ok::<(), covenant::pki::Error>(())
//! ```

use std::net::IpAddr;
use std::time::SystemTime;

use jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, SanType,
};
use zeroize::Zeroizing;

/// Why a certificate could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bounds of validity leave no instant in between.
    #[error("certificate {common_name:?}: not_after {not_after} is not later than not_before {not_before}")]
    NeverValid {
        /// The subject's common name.
        common_name: String,
        /// The first instant asked for.
        not_before: Timestamp,
        /// The last instant asked for.
        not_after: Timestamp,
    },
    /// A DNS name holds characters that a certificate cannot carry.
    #[error("certificate {common_name:?}: {name:?} is not a DNS name in ASCII")]
    DnsName {
        /// The subject's common name.
        common_name: String,
        /// The refused name.
        name: String,
    },
    /// The cryptographic library refused to make a key or a signature.
    #[error("certificate {common_name:?}: {source}")]
    Crypto {
        /// The subject's common name.
        common_name: String,
        /// What the library says; it never quotes key material.
        source: rcgen::Error,
    },
}

/// A private key in PEM (PKCS #8). It has no `Debug` and is wiped from memory when it is dropped.
pub struct PrivateKey(Zeroizing<String>);

impl PrivateKey {
    /// The PEM text, to be written where only its owner can read it.
    pub fn pem(&self) -> &str {
        &self.0
    }

    fn of(key: &KeyPair) -> Self {
        Self(Zeroizing::new(key.serialize_pem()))
    }
}

/// A certificate with its private key.
pub struct Pair {
    /// The certificate in PEM.
    pub cert_pem: String,
    /// Its private key in PEM.
    pub key_pem: PrivateKey,
}

/// A key without a certificate, for example to sign service-account tokens.
pub struct SigningKey {
    /// The public key in PEM (`SubjectPublicKeyInfo`): what verifies signatures.
    pub public_pem: String,
    /// The private key in PEM.
    pub key_pem: PrivateKey,
}

impl SigningKey {
    /// Makes a new ECDSA P-256 key.
    pub fn generate() -> Result<Self, Error> {
        let key = generate("signing key")?;
        Ok(Self { public_pem: key.public_key_pem(), key_pem: PrivateKey::of(&key) })
    }
}

/// What a leaf is for; it sets the extended key usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Usage {
    Serving,
    Client,
}

/// What a leaf certificate shall say.
#[derive(Clone, Debug)]
pub struct LeafRequest {
    common_name: String,
    organizations: Vec<String>,
    usage: Usage,
    dns_names: Vec<String>,
    ip_addresses: Vec<IpAddr>,
    not_before: Timestamp,
    not_after: Timestamp,
}

impl LeafRequest {
    /// A certificate that a server shows. Clients look at the names and addresses added with
    /// [`Self::dns_name`] and [`Self::ip_address`], never at the common name.
    pub fn serving(common_name: &str, not_before: Timestamp, not_after: Timestamp) -> Self {
        Self::new(common_name, Usage::Serving, not_before, not_after)
    }

    /// A certificate that a client shows. To Kubernetes the common name is the user, each
    /// [`Self::organization`] a group.
    pub fn client(common_name: &str, not_before: Timestamp, not_after: Timestamp) -> Self {
        Self::new(common_name, Usage::Client, not_before, not_after)
    }

    fn new(common_name: &str, usage: Usage, not_before: Timestamp, not_after: Timestamp) -> Self {
        Self {
            common_name: common_name.to_owned(),
            organizations: Vec::new(),
            usage,
            dns_names: Vec::new(),
            ip_addresses: Vec::new(),
            not_before,
            not_after,
        }
    }

    /// Adds an organization to the subject.
    #[must_use]
    pub fn organization(mut self, name: &str) -> Self {
        self.organizations.push(name.to_owned());
        self
    }

    /// Adds a DNS name, of a server that clients reach by that name.
    #[must_use]
    pub fn dns_name(mut self, name: &str) -> Self {
        self.dns_names.push(name.to_owned());
        self
    }

    /// Adds an address, of a server that clients reach by that address.
    #[must_use]
    pub fn ip_address(mut self, address: impl Into<IpAddr>) -> Self {
        self.ip_addresses.push(address.into());
        self
    }
}

/// A certificate authority that holds its own key.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    /// Makes a self-signed authority with a new key. It signs leaves only, no further authorities.
    pub fn new(common_name: &str, not_before: Timestamp, not_after: Timestamp) -> Result<Self, Error> {
        let mut params = parameters(common_name, &[], not_before, not_after)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let issuer = CertifiedIssuer::self_signed(params, generate(common_name)?)
            .map_err(|source| Error::Crypto { common_name: common_name.to_owned(), source })?;
        Ok(Self { issuer })
    }

    /// The authority's own certificate in PEM: what clients put into their bundle of trusted authorities.
    pub fn cert_pem(&self) -> String {
        self.issuer.pem()
    }

    /// The authority's private key, for whoever keeps the authority beyond this process.
    pub fn key_pem(&self) -> PrivateKey {
        PrivateKey::of(self.issuer.key())
    }

    /// Makes a key and signs a certificate for it.
    pub fn issue(&self, request: LeafRequest) -> Result<Pair, Error> {
        let LeafRequest { common_name, organizations, usage, dns_names, ip_addresses, not_before, not_after } =
            request;
        let mut params = parameters(&common_name, &organizations, not_before, not_after)?;
        params.use_authority_key_identifier_extension = true;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![match usage {
            Usage::Serving => ExtendedKeyUsagePurpose::ServerAuth,
            Usage::Client => ExtendedKeyUsagePurpose::ClientAuth,
        }];
        for name in dns_names {
            let ascii = name
                .clone()
                .try_into()
                .map_err(|_| Error::DnsName { common_name: common_name.clone(), name: name.clone() })?;
            params.subject_alt_names.push(SanType::DnsName(ascii));
        }
        params.subject_alt_names.extend(ip_addresses.into_iter().map(SanType::IpAddress));
        let key = generate(&common_name)?;
        let certificate = params
            .signed_by(&key, &self.issuer)
            .map_err(|source| Error::Crypto { common_name: common_name.clone(), source })?;
        Ok(Pair { cert_pem: certificate.pem(), key_pem: PrivateKey::of(&key) })
    }
}

/// The parts that authorities and leaves have in common.
fn parameters(
    common_name: &str,
    organizations: &[String],
    not_before: Timestamp,
    not_after: Timestamp,
) -> Result<CertificateParams, Error> {
    if not_after <= not_before {
        return Err(Error::NeverValid { common_name: common_name.to_owned(), not_before, not_after });
    }
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, common_name);
    for organization in organizations {
        subject.push(DnType::OrganizationName, organization.as_str());
    }
    let mut params = CertificateParams::default();
    params.distinguished_name = subject;
    params.not_before = SystemTime::from(not_before).into();
    params.not_after = SystemTime::from(not_after).into();
    Ok(params)
}

fn generate(common_name: &str) -> Result<KeyPair, Error> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)
        .map_err(|source| Error::Crypto { common_name: common_name.to_owned(), source })
}

#[cfg(test)]
mod tests;
