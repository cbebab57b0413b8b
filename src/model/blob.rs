use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// The git blob id (SHA-1) of a file's bytes; 40 lowercase hex digits when written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, JsonSchema)]
#[schemars(with = "String", extend("pattern" = "^[0-9a-f]{40}$"))]
pub struct BlobId([u8; 20]);

impl BlobId {
    /// Wraps the 20 raw bytes of an id.
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// Hashes a file's bytes as git does: SHA-1 over `blob <length>\0<bytes>`.
    pub fn from_content(bytes: &[u8]) -> Self {
        use sha1::Digest;
        let header = format!("blob {}\0", bytes.len());
        let hash = sha1::Sha1::new().chain_update(header).chain_update(bytes);
        Self(hash.finalize().into())
    }

    /// The 20 raw bytes.
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }
}

/// Bytes as lowercase hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl std::str::FromStr for BlobId {
    type Err = ();

    /// Reads 40 hex digits.
    fn from_str(text: &str) -> Result<Self, ()> {
        if text.len() != 40 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(());
        }
        let mut bytes = [0; 20];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = digits
                .iter()
                .filter_map(|digit| char::from(*digit).to_digit(16));
            *byte = digits.fold(0, |byte, digit| byte << 4 | digit as u8);
        }
        Ok(Self(bytes))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for BlobId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::BlobId;

    #[test]
    fn hashes_as_git_does() {
        let id = BlobId::from_content(b"hello\n").to_string();
        assert_eq!(id, "ce013625030ba8dba906f756967f9e9ca394464a");
    }
}
