//! What the certificates say, read back by a parser that did not make them.

use std::sync::Arc;

use jiff::SignedDuration;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::pki_types::{ServerName, UnixTime};
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate, parse_x509_pem};

use super::*;

fn noon() -> Timestamp {
    "2026-06-01T12:00:00Z".parse().unwrap()
}

fn later() -> Timestamp {
    noon() + SignedDuration::from_hours(24)
}

fn der(pem: &str) -> rustls::pki_types::CertificateDer<'static> {
    parse_x509_pem(pem.as_bytes()).unwrap().1.contents.into()
}

/// What a TLS client that trusts the authority says of a server's certificate.
fn verify(authority: &Authority, pair: &Pair, name: &str, at: Timestamp) -> Result<(), rustls::Error> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(der(&authority.cert_pem())).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
    let at = UnixTime::since_unix_epoch(std::time::Duration::from_secs(at.as_second().unsigned_abs()));
    let name = ServerName::try_from(name.to_owned()).unwrap();
    verifier.verify_server_cert(&der(&pair.cert_pem), &[], &name, &[], at).map(|_| ())
}

fn with_certificate(pem: &str, look: impl FnOnce(&X509Certificate<'_>)) {
    let (_, block) = parse_x509_pem(pem.as_bytes()).unwrap();
    let (_, certificate) = X509Certificate::from_der(&block.contents).unwrap();
    look(&certificate);
}

#[test]
fn a_serving_leaf_names_its_addresses_and_is_signed_by_its_authority() {
    let authority = Authority::new("test-authority", noon(), later()).unwrap();
    let pair = authority
        .issue(
            LeafRequest::serving("server", noon(), later())
                .dns_name("covenant-webhook.covenant-system.svc")
                .dns_name("*.example.test")
                .ip_address([127, 0, 0, 1])
                .ip_address(std::net::Ipv6Addr::LOCALHOST),
        )
        .unwrap();
    assert!(pair.key_pem.pem().starts_with("-----BEGIN PRIVATE KEY-----"));
    with_certificate(&authority.cert_pem(), |root| {
        assert!(root.is_ca());
        with_certificate(&pair.cert_pem, |leaf| {
            assert!(!leaf.is_ca());
            let usage = leaf.extended_key_usage().unwrap().unwrap().value;
            assert!(usage.server_auth && !usage.client_auth);
            assert_eq!(leaf.validity().not_before.timestamp(), noon().as_second());
            assert_eq!(leaf.validity().not_after.timestamp(), later().as_second());
            let names = &leaf.subject_alternative_name().unwrap().unwrap().value.general_names;
            let localhost6 = std::net::Ipv6Addr::LOCALHOST.octets();
            assert_eq!(
                names,
                &[
                    GeneralName::DNSName("covenant-webhook.covenant-system.svc"),
                    GeneralName::DNSName("*.example.test"),
                    GeneralName::IPAddress(&[127, 0, 0, 1]),
                    GeneralName::IPAddress(&localhost6),
                ]
            );
        });
    });
}

#[test]
fn clients_accept_a_leaf_for_its_names_and_its_time_only() {
    let authority = Authority::new("test-authority", noon(), later()).unwrap();
    let end = noon() + SignedDuration::from_hours(1);
    let request =
        LeafRequest::serving("server", noon(), end).dns_name("localhost").ip_address([127, 0, 0, 1]);
    let pair = authority.issue(request).unwrap();
    verify(&authority, &pair, "localhost", noon()).unwrap();
    verify(&authority, &pair, "127.0.0.1", end).unwrap();
    assert!(verify(&authority, &pair, "server", noon()).is_err(), "the common name is no name to a client");
    assert!(verify(&authority, &pair, "localhost", noon() - SignedDuration::from_secs(1)).is_err());
    assert!(verify(&authority, &pair, "localhost", end + SignedDuration::from_secs(1)).is_err());
    let other = Authority::new("test-authority", noon(), later()).unwrap();
    assert!(
        verify(&other, &pair, "localhost", noon()).is_err(),
        "an authority of the same name is another one"
    );
}

#[test]
fn a_client_leaf_carries_user_and_groups() {
    let authority = Authority::new("test-authority", noon(), later()).unwrap();
    let request = LeafRequest::client("kubernetes-admin", noon(), later()).organization("system:masters");
    let pair = authority.issue(request).unwrap();
    with_certificate(&pair.cert_pem, |leaf| {
        let usage = leaf.extended_key_usage().unwrap().unwrap().value;
        assert!(usage.client_auth && !usage.server_auth);
        let text = leaf.subject().to_string();
        assert!(text.contains("CN=kubernetes-admin") && text.contains("O=system:masters"), "{text}");
    });
}

#[test]
fn two_keys_and_serials_are_never_the_same() {
    let authority = Authority::new("test-authority", noon(), later()).unwrap();
    let issue = || authority.issue(LeafRequest::client("same", noon(), later())).unwrap();
    let (one, two) = (issue(), issue());
    assert_ne!(one.key_pem.pem(), two.key_pem.pem());
    with_certificate(&one.cert_pem, |one| {
        with_certificate(&two.cert_pem, |two| assert_ne!(one.raw_serial(), two.raw_serial()));
    });
}

#[test]
fn bounds_that_hold_no_instant_and_names_that_are_not_ascii_are_refused() {
    assert!(matches!(Authority::new("a", noon(), noon()), Err(Error::NeverValid { .. })));
    let authority = Authority::new("test-authority", noon(), later()).unwrap();
    let refused = authority.issue(LeafRequest::serving("s", noon(), later()).dns_name("böse.test"));
    let Err(error) = refused else { panic!("a name outside ASCII was accepted") };
    assert_eq!(error.to_string(), "certificate \"s\": \"böse.test\" is not a DNS name in ASCII");
}
