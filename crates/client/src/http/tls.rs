//! Trusted certificates and offered HTTP versions.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct Tls {
    pub trust: Trust,
    pub versions: Versions,
}

/// The trusted certificates.
#[derive(Clone, Debug, Default)]
pub enum Trust {
    /// Those that this machine trusts.
    #[default]
    System,
    /// Only these authorities or servers.
    These(Vec<CertificateDer<'static>>),
    /// Any certificate; for this machine only.
    Anything,
}

/// Versions of HTTP; without TLS it is HTTP/1.1, unless HTTP/2 alone is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// HTTP/2 if the server supports it.
    #[default]
    Any,
    Http1,
    Http2,
}

/// The certificates of a PEM file.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|error| format!("this is no PEM file: {error}"))?;
    if found.is_empty() { Err("there is no certificate in it".to_owned()) } else { Ok(found) }
}

impl Tls {
    /// The settings for a connection made elsewhere.
    pub fn config(&self) -> Result<Arc<ClientConfig>, String> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS cannot be used: {error}"))?;
        let mut config = match &self.trust {
            Trust::System => builder.with_root_certificates(system_roots()?).with_no_client_auth(),
            Trust::These(certificates) => {
                builder.with_root_certificates(roots(certificates)?).with_no_client_auth()
            }
            Trust::Anything => builder
                .dangerous()
                .with_custom_certificate_verifier(Arc::new(Believe(provider)))
                .with_no_client_auth(),
        };
        config.alpn_protocols = match self.versions {
            Versions::Any => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
            Versions::Http1 => vec![b"http/1.1".to_vec()],
            Versions::Http2 => vec![b"h2".to_vec()],
        };
        Ok(Arc::new(config))
    }
}

fn system_roots() -> Result<RootCertStore, String> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map_or_else(|| "there is none".to_owned(), ToString::to_string);
        return Err(format!("no certificate authority is trusted on this machine: {why}"));
    }
    Ok(roots)
}

fn roots(certificates: &[CertificateDer<'static>]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots
            .add(certificate.clone())
            .map_err(|error| format!("a certificate cannot be trusted: {error}"))?;
    }
    Ok(roots)
}

/// Checks neither name nor authority; still checks that the server holds the key of its certificate.
#[derive(Debug)]
struct Believe(Arc<CryptoProvider>);

impl ServerCertVerifier for Believe {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
