//! The default certificate of a server: self-signed, made once, kept in a folder.
//!
//! `key.pem` is written first and `cert.pem` for it second, each through a rename, so a crash leaves at most a
//! key without a certificate, for which the next start makes one. Any other inconsistency is an error and
//! changes nothing: clients may have been configured to trust these files.
//!
//! Another pair under the same names in the folder is used instead.

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const CERTIFICATE_FILE: &str = "cert.pem";
const KEY_FILE: &str = "key.pem";

#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("cannot use {path}: {source}", path = .path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} is damaged: {reason}; repair it, or remove {CERTIFICATE_FILE} and {KEY_FILE} for new ones",
        path = .path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("{path} has no {KEY_FILE} beside it; put the key back, or remove the certificate for a new one",
        path = .path.display())]
    KeyMissing { path: PathBuf },
    #[error("cannot make a certificate: {0}")]
    Make(#[from] rcgen::Error),
}

/// The TLS settings with the folder's certificate, which is made if missing. Offers HTTP/2, then HTTP/1.1.
pub fn load_or_make(folder: &Path) -> Result<Arc<ServerConfig>, CertificateError> {
    let certificate_path = folder.join(CERTIFICATE_FILE);
    let key_path = folder.join(KEY_FILE);
    let (certificate, key) = match (read(&certificate_path)?, read(&key_path)?) {
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(_), None) => return Err(CertificateError::KeyMissing { path: certificate_path }),
        (None, Some(key)) => (make_certificate(&certificate_path, &parse_pair(&key_path, &key)?)?, key),
        (None, None) => {
            let pair = KeyPair::generate()?;
            let key = pair.serialize_pem();
            write(&key_path, &key, Readers::Owner)?;
            (make_certificate(&certificate_path, &pair)?, key)
        }
    };
    let chain = parse_chain(&certificate_path, &certificate)?;
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| damaged(&key_path, error))?;
    server_config(chain, key).map_err(|error| damaged(&certificate_path, error))
}

fn server_config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<ServerConfig>, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn parse_chain(path: &Path, pem: &str) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let chain = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| damaged(path, error))?;
    if chain.is_empty() { Err(damaged(path, "there is no certificate in it")) } else { Ok(chain) }
}

fn parse_pair(path: &Path, pem: &str) -> Result<KeyPair, CertificateError> {
    KeyPair::from_pem(pem).map_err(|error| damaged(path, error))
}

fn make_certificate(path: &Path, pair: &KeyPair) -> Result<String, CertificateError> {
    let pem = certificate_params()?.self_signed(pair)?.pem();
    write(path, &pem, Readers::Everyone)?;
    Ok(pem)
}

fn certificate_params() -> Result<CertificateParams, rcgen::Error> {
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into_iter().chain(host_name());
    let mut params = CertificateParams::new(names.collect::<Vec<_>>())?;
    params.distinguished_name.push(DnType::CommonName, "Orrery");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    // It is replaced by removing it; an expiry date would strike in the middle of a day.
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2060, 1, 1);
    Ok(params)
}

/// The machine's name, if the system has it in a file and it is valid in a certificate.
fn host_name() -> Option<String> {
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() <= 253
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.'))
    };
    ["/proc/sys/kernel/hostname", "/etc/hostname"]
        .into_iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .map(|text| text.trim().to_owned())
        .find(|name| is_name(name) && name != "localhost")
}

/// `None` if there is no such file.
fn read(path: &Path) -> Result<Option<String>, CertificateError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(damaged(path, "it is not text")),
        Err(source) => Err(CertificateError::Io { path: path.to_owned(), source }),
    }
}

fn damaged(path: &Path, reason: impl ToString) -> CertificateError {
    CertificateError::Damaged { path: path.to_owned(), reason: reason.to_string() }
}

#[derive(Clone, Copy)]
enum Readers {
    Owner,
    Everyone,
}

/// Writes the file atomically, and returns when it is durable.
fn write(path: &Path, text: &str, readers: Readers) -> Result<(), CertificateError> {
    let new = path.with_extension("pem.new");
    write_and_rename(path, &new, text, readers)
        .map_err(|source| CertificateError::Io { path: path.to_owned(), source })
}

fn write_and_rename(path: &Path, new: &Path, text: &str, readers: Readers) -> io::Result<()> {
    // A file left by an earlier crash may have other permissions, so it is not overwritten.
    match fs::remove_file(new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = create(new, readers)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(new, path)?;
    sync_folder(path)
}

fn create(path: &Path, readers: Readers) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(
        &mut options,
        match readers {
            Readers::Owner => 0o600,
            Readers::Everyone => 0o644,
        },
    );
    #[cfg(not(unix))]
    let _ = readers;
    options.open(path)
}

#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    struct Files(TempDir);

    impl Files {
        fn made() -> Self {
            let files = Self(tempfile::tempdir().expect("a folder"));
            files.load().expect("a certificate is made");
            files
        }

        fn load(&self) -> Result<Arc<ServerConfig>, CertificateError> {
            load_or_make(self.0.path())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn text(&self, name: &str) -> String {
            fs::read_to_string(self.path(name)).expect("the file is there")
        }

        fn both(&self) -> (String, String) {
            (self.text(CERTIFICATE_FILE), self.text(KEY_FILE))
        }
    }

    #[test]
    fn a_certificate_is_made_once() {
        let files = Files::made();
        let before = files.both();
        let config = files.load().expect("the same certificate is loaded");
        assert_eq!(files.both(), before);
        assert_eq!(config.alpn_protocols, [b"h2".to_vec(), b"http/1.1".to_vec()]);
        let names = fs::read_dir(files.0.path()).expect("the folder").count();
        assert_eq!(names, 2, "no file is left over");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_the_key_even_after_a_crash_while_writing_it() {
        use std::os::unix::fs::PermissionsExt;
        let files = Files(tempfile::tempdir().expect("a folder"));
        fs::write(files.path("key.pem.new"), "half a k").expect("written");
        fs::set_permissions(files.path("key.pem.new"), fs::Permissions::from_mode(0o666)).expect("set");
        files.load().expect("a certificate is made");
        let mode = fs::metadata(files.path(KEY_FILE)).expect("the key").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_key_without_a_certificate_gets_one() {
        let files = Files::made();
        let key = files.text(KEY_FILE);
        fs::remove_file(files.path(CERTIFICATE_FILE)).expect("removed");
        files.load().expect("a certificate for the key");
        assert_eq!(files.text(KEY_FILE), key);
        files.load().expect("they fit");
    }

    #[test]
    fn a_certificate_without_its_key_is_an_error() {
        let files = Files::made();
        fs::remove_file(files.path(KEY_FILE)).expect("removed");
        assert!(matches!(files.load(), Err(CertificateError::KeyMissing { .. })));
        assert!(!files.path(KEY_FILE).exists());
    }

    #[test]
    fn a_damaged_file_is_an_error_and_stays_as_it_is() {
        for name in [CERTIFICATE_FILE, KEY_FILE] {
            let whole = Files::made().text(name);
            let damages = [
                Vec::new(),
                b"\xff\xfe".to_vec(),
                whole[..whole.len() / 2].into(),
                whole.replace("MI", "MA").into(),
            ];
            for damage in damages {
                let files = Files::made();
                fs::write(files.path(name), &damage).expect("written");
                let error = files.load().expect_err("damage is noticed");
                assert!(matches!(error, CertificateError::Damaged { .. }), "{error}");
                assert_eq!(fs::read(files.path(name)).expect("still there"), damage);
            }
        }
    }

    #[test]
    fn a_certificate_of_another_key_is_an_error() {
        let files = Files::made();
        fs::write(files.path(KEY_FILE), Files::made().text(KEY_FILE)).expect("written");
        let error = files.load().expect_err("the two do not fit");
        assert!(error.to_string().contains("cert.pem is damaged"), "{error}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let files = Files::made();
        let error = load_or_make(&files.path("elsewhere")).expect_err("no folder");
        assert!(matches!(error, CertificateError::Io { .. }), "{error}");
    }
}
