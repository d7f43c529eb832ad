//! The serving certificate: loaded from files, checked before it is used, replaced without a restart.
//!
//! Files are polled by content. A directory watch alone goes deaf when the kubelet swaps a mounted Secret; a poll
//! cannot. A pair that is worse than the one in use is never taken.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use jiff::Timestamp;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Why a certificate cannot be used. The texts never hold a byte of a key.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// No certificate where one is expected.
    #[error("{} holds no PEM certificate (BEGIN CERTIFICATE)", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// No key where one is expected.
    #[error("{} holds no PEM private key (PKCS#8, SEC1 or PKCS#1)", path.display())]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// A certificate that is no X.509 certificate.
    #[error("{} holds a certificate that is not valid X.509", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
    },
    /// A key of a kind that cannot sign here.
    #[error("the private key in {} is of a kind that is not supported (use ECDSA P-256 or RSA)", path.display())]
    UnsupportedKey {
        /// The file.
        path: PathBuf,
    },
    /// The key belongs to another certificate.
    #[error("the private key in {} does not belong to the certificate in {}", key.display(), certificate.display())]
    Mismatch {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
    },
    /// The certificate names another host.
    #[error("the certificate in {} does not name {name} (subjectAltName)", path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// The name that API servers ask for.
        name: String,
    },
    /// Outside its validity.
    #[error("the certificate in {} is valid from {not_before} to {not_after}, which is not now", path.display())]
    Validity {
        /// The file.
        path: PathBuf,
        /// The first valid instant.
        not_before: Timestamp,
        /// The last valid instant.
        not_after: Timestamp,
    },
}

impl CertificateError {
    /// Whether the pair could be served all the same: it is whole, but API servers will refuse it.
    pub const fn is_servable(&self) -> bool {
        matches!(self, Self::Name { .. } | Self::Validity { .. })
    }
}

/// A pair that can be served.
#[derive(Clone)]
pub struct Pair {
    key: Arc<CertifiedKey>,
    /// The first instant at which it is valid.
    pub not_before: Timestamp,
    /// The last instant at which it is valid.
    pub not_after: Timestamp,
}

impl Pair {
    /// Whether both present the same certificates.
    pub fn is_same(&self, other: &Self) -> bool {
        self.key.cert == other.key.cert
    }
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pair").field("not_after", &self.not_after).finish_non_exhaustive()
    }
}

/// Two PEM files, as a mounted Secret of type `kubernetes.io/tls` has them.
#[derive(Clone, Debug)]
pub struct Files {
    /// The certificate, with its chain.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

impl Files {
    /// Reads the pair and sees that key and certificate belong together.
    pub fn load(&self) -> Result<Pair, CertificateError> {
        let pem = read(&self.certificate)?;
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&pem)
            .collect::<Result<_, _>>()
            .map_err(|_| CertificateError::NoCertificate { path: self.certificate.clone() })?;
        let Some(leaf) = chain.first() else {
            return Err(CertificateError::NoCertificate { path: self.certificate.clone() });
        };
        let malformed = || CertificateError::Malformed { path: self.certificate.clone() };
        let (not_before, not_after) = {
            let (_, parsed) = X509Certificate::from_der(leaf).map_err(|_| malformed())?;
            let validity = parsed.validity();
            let instant = |time: &x509_parser::time::ASN1Time| Timestamp::from_second(time.timestamp());
            let not_before = instant(&validity.not_before).map_err(|_| malformed())?;
            (not_before, instant(&validity.not_after).map_err(|_| malformed())?)
        };
        let pem = zeroize::Zeroizing::new(read(&self.key)?);
        let key = PrivateKeyDer::from_pem_slice(&pem)
            .map_err(|_| CertificateError::NoKey { path: self.key.clone() })?;
        let signing = rustls::crypto::aws_lc_rs::sign::any_supported_type(&key)
            .map_err(|_| CertificateError::UnsupportedKey { path: self.key.clone() })?;
        let certified = CertifiedKey::new(chain, signing);
        certified.keys_match().map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => {
                CertificateError::Mismatch { certificate: self.certificate.clone(), key: self.key.clone() }
            }
            _ => malformed(),
        })?;
        Ok(Pair { key: Arc::new(certified), not_before, not_after })
    }

    /// Sees that an API server which asks for `name` accepts the pair `now`.
    pub fn check(&self, pair: &Pair, name: &str, now: Timestamp) -> Result<(), CertificateError> {
        let path = || self.certificate.clone();
        let wrong_name = || CertificateError::Name { path: path(), name: name.to_owned() };
        let leaf = pair.key.end_entity_cert().map_err(|_| CertificateError::Malformed { path: path() })?;
        let parsed =
            ParsedCertificate::try_from(leaf).map_err(|_| CertificateError::Malformed { path: path() })?;
        let server_name = ServerName::try_from(name).map_err(|_| wrong_name())?;
        rustls::client::verify_server_name(&parsed, &server_name).map_err(|_| wrong_name())?;
        if now < pair.not_before || now > pair.not_after {
            let (not_before, not_after) = (pair.not_before, pair.not_after);
            return Err(CertificateError::Validity { path: path(), not_before, not_after });
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    std::fs::read(path).map_err(|error| CertificateError::Read { path: path.to_owned(), error })
}

/// The pair in use, shared by every connection.
#[derive(Debug, Default)]
pub struct Current(ArcSwapOption<Pair>);

impl Current {
    /// Serves `pair` from the next handshake on.
    pub fn set(&self, pair: Pair) {
        self.0.store(Some(Arc::new(pair)));
    }

    /// The pair in use.
    pub fn get(&self) -> Option<Arc<Pair>> {
        self.0.load_full()
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.load().as_ref().map(|pair| pair.key.clone())
    }
}
