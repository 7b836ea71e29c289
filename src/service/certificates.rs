//! Certificates and private keys in PEM, held against each other and against the clock
//! before they are used. It knows neither servers nor clients.

use std::sync::Arc;

use tokio_rustls::rustls::client::verify_server_cert_signed_by_trust_anchor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{CertificateError, Error, InconsistentKeys, RootCertStore};

use super::files::{FileError, NamedFile};

/// The one protocol that is spoken inside TLS: HTTP/2.
pub(super) const ALPN: &[u8] = b"h2";

/// The cryptography of all connections.
pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// The certificate authorities of a file.
///
/// # Errors
/// When it holds none, or something else under their name.
pub(super) fn authorities(file: &NamedFile) -> Result<RootCertStore, FileError> {
    let mut authorities = RootCertStore::empty();
    for certificate in certificates(file)? {
        authorities.add(certificate).map_err(|_| file.wrong("holds a certificate that is none"))?;
    }
    Ok(authorities)
}

/// A chain of certificates and the key of its first, which fit together and are valid now.
///
/// # Errors
/// When they don't or aren't, with the file that is to blame.
pub(super) fn certified_key(chain: &NamedFile, key: &NamedFile) -> Result<CertifiedKey, FileError> {
    let certificates = certificates(chain)?;
    for certificate in &certificates {
        check(certificate).map_err(|why| chain.wrong(why))?;
    }
    let read = PrivateKeyDer::from_pem_slice(&key.read()?);
    let read = read.map_err(|_| key.wrong("holds no private key in PEM, or an encrypted one"))?;
    let signer = provider().key_provider.load_private_key(read);
    let signer = signer.map_err(|_| key.wrong("holds a private key of a kind that is not known"))?;
    let certified = CertifiedKey::new(certificates, signer);
    match certified.keys_match() {
        // A key that does not tell its public half shows what it is when it signs.
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(certified),
        Err(_) => Err(key.wrong(format!("is not the key of the certificate of {}", chain.flag))),
    }
}

fn certificates(file: &NamedFile) -> Result<Vec<CertificateDer<'static>>, FileError> {
    let bytes = file.read()?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        Ok(_) => Err(file.wrong("holds no certificate in PEM")),
        Err(_) => Err(file.wrong("is not sound PEM")),
    }
}

/// Whether it is a certificate, and valid now.
fn check(certificate: &CertificateDer) -> Result<(), &'static str> {
    let none = "holds a certificate that is none";
    let parsed = ParsedCertificate::try_from(certificate).map_err(|_| none)?;
    let algorithms = provider().signature_verification_algorithms;
    // Its dates are looked at first; that nobody vouches for it here is no fault.
    let verified = verify_server_cert_signed_by_trust_anchor(
        &parsed,
        &RootCertStore::empty(),
        &[],
        UnixTime::now(),
        algorithms.all,
    );
    match verified {
        Err(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => Err("holds a certificate that has expired"),
        Err(Error::InvalidCertificate(
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
        )) => Err("holds a certificate that is not valid yet"),
        _ => Ok(()),
    }
}
