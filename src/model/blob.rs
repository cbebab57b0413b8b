#[cfg(feature = "program")]
use std::borrow::Cow;
use std::fmt;

#[cfg(feature = "program")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// The git blob id (SHA-1) of a file's bytes; 40 lowercase hex digits when written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId([u8; 20]);

impl BlobId {
    /// Wraps the 20 raw bytes of an id.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// Hashes a file's bytes as git does: SHA-1 over `blob <length>\0<bytes>`.
    #[must_use]
    pub fn from_content(bytes: &[u8]) -> Self {
        let header = format!("blob {}\0", bytes.len());
        Self(sha1(header.as_bytes(), bytes))
    }

    /// The 20 raw bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }
}

/// Bytes as lowercase hex digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |it: u8| char::from_digit(u32::from(it), 16).unwrap_or('0');
    let digits = bytes.iter().flat_map(|it| [digit(it >> 4), digit(it & 15)]);
    digits.collect()
}

fn sha1(header: &[u8], bytes: &[u8]) -> [u8; 20] {
    use sha1::Digest;
    let hash = sha1::Sha1::new().chain_update(header).chain_update(bytes);
    hash.finalize().into()
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
        if text.len() != 40 || !text.is_ascii() {
            return Err(());
        }
        let mut bytes = [0; 20];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * at..2 * at + 2).ok_or(())?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| ())?;
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

#[cfg(feature = "program")]
impl JsonSchema for BlobId {
    fn schema_name() -> Cow<'static, str> {
        "BlobId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A git blob id.",
            "type": "string",
            "pattern": "^[0-9a-f]{40}$",
        })
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
