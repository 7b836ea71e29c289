//! Certificates made on the spot.

use std::time::{Duration, SystemTime};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use taquin::config::{LimitsConfig, SecurityConfig, Sweep};
use taquin::service::{Embedded, Security, embedded_secured};

use crate::folder::Folder;

/// Who issues certificates.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
pub(crate) struct Pair {
    pub(crate) chain: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for the loopback interface.
    pub(crate) fn issue(&self) -> Pair {
        self.issue_for(&["localhost", "127.0.0.1"], Duration::from_hours(24))
    }

    pub(crate) fn issue_for(&self, names: &[&str], valid: Duration) -> Pair {
        self.issue_until(names, SystemTime::now() + valid)
    }

    pub(crate) fn issue_until(&self, names: &[&str], end: SystemTime) -> Pair {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_after = end.into();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Pair { chain: certificate.pem(), key: key.serialize_pem() }
    }
}

/// A folder with an authority `ca.pem`, and of it `server.pem` and `server.key`.
pub(crate) fn folder() -> (Folder, Authority) {
    let (folder, authority) = (Folder::new(), Authority::new("ours"));
    folder.write("ca.pem", authority.pem());
    write_pair(&folder, "server", &authority.issue());
    (folder, authority)
}

pub(crate) fn write_pair(folder: &Folder, name: &str, pair: &Pair) {
    folder.write(&format!("{name}.pem"), &pair.chain);
    folder.write(&format!("{name}.key"), &pair.key);
}

/// The settings of a server with the certificate of such a folder.
pub(crate) fn secured(folder: &Folder) -> SecurityConfig {
    SecurityConfig {
        tls_cert: Some(folder.path("server.pem").into()),
        tls_key: Some(folder.path("server.key").into()),
        ..SecurityConfig::default()
    }
}

/// A server without tables, for those whom the settings let in.
pub(crate) async fn serve_secured(limits: LimitsConfig, security: &SecurityConfig) -> Embedded {
    embedded_secured(limits, 2, Sweep::Off, Security::load(security).unwrap()).await.unwrap()
}
