//! The authority, keys and token of one cluster, made anew each time.

use std::fs;
use std::io::Read;
use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

use super::error::RigError;

/// What clients of a cluster need. The files lie in its folder: `ca.crt`, `server.crt`, `server.key`, `accounts.key`,
/// `accounts.pub`, `tokens.csv`.
#[derive(Debug)]
pub(super) struct Identity {
    /// The authority's certificate, DER.
    pub authority: Vec<u8>,
    /// The token of an administrator: the harness, and the programs of the cluster itself.
    pub token: String,
    /// The token of user [`TESTED`], an administrator as well.
    pub tested_token: String,
}

/// The user that what is tested is known as to the API server, which writes down all its requests.
pub(super) const TESTED: &str = "tested";

/// Makes and writes all of it. EC P-256 throughout: Kubernetes signs service accounts' tokens with it as well (ES256).
pub(super) fn write(folder: &Path) -> Result<Identity, RigError> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name.push(DnType::CommonName, "fleetwright tests");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;

    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()])?;
    params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.signed_by(&key, &authority)?;

    let accounts = KeyPair::generate()?;
    let (token, tested_token) = (random_token()?, random_token()?);
    let tokens =
        format!("{token},admin,admin,\"system:masters\"\n{tested_token},{TESTED},{TESTED},\"system:masters\"\n");
    for (name, text) in [
        ("ca.crt", authority.pem()),
        ("server.crt", certificate.pem()),
        ("server.key", key.serialize_pem()),
        ("accounts.key", accounts.serialize_pem()),
        ("accounts.pub", accounts.public_key_pem()),
        ("tokens.csv", tokens),
    ] {
        fs::write(folder.join(name), text).map_err(RigError::io(format!("writing {name}")))?;
    }
    Ok(Identity { authority: authority.der().to_vec(), token, tested_token })
}

/// 128 random bits: other users of the machine reach the port, too.
fn random_token() -> Result<String, RigError> {
    let mut bytes = [0_u8; 16];
    fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(RigError::io("reading /dev/urandom"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
