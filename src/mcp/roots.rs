use std::path::{Path, PathBuf};
use std::time::Duration;

use rmcp::service::Peer;
use rmcp::{ErrorData, RoleServer};
use tokio::sync::Mutex;

use super::ServerOptions;

/// The roots that a client named, asked for once and again when it says that they changed.
#[derive(Debug, Default)]
pub(super) struct Roots {
    named: Mutex<Option<Vec<PathBuf>>>,
}

impl Roots {
    pub(super) async fn forget(&self) {
        *self.named.lock().await = None;
    }

    /// Where a session works: in the directory the user named, else where the server was started.
    /// A client may narrow that to one of its roots below it, and never leave it.
    pub(super) async fn directory(
        &self,
        options: &ServerOptions,
        peer: &Peer<RoleServer>,
    ) -> Result<PathBuf, ErrorData> {
        if options.named {
            return Ok(options.directory.clone());
        }
        let mut named = self.named.lock().await;
        let roots = match &*named {
            Some(roots) => roots,
            None => named.insert(ask(peer).await?),
        };
        let below = |root: &&PathBuf| root.starts_with(&options.directory);
        let narrowed = roots.iter().find(below).unwrap_or(&options.directory);
        Ok(narrowed.clone())
    }
}

// Clients that speak a protocol without roots name none.
#[expect(
    deprecated,
    reason = "roots leave the protocol; clients in use name them"
)]
async fn ask(peer: &Peer<RoleServer>) -> Result<Vec<PathBuf>, ErrorData> {
    let client = peer.peer_info();
    if client.is_none_or(|client| client.capabilities.roots.is_none()) {
        return Ok(Vec::new());
    }
    // A client that does not answer is as one that names none.
    let Ok(Ok(answer)) = tokio::time::timeout(PATIENCE, peer.list_roots()).await else {
        return Ok(Vec::new());
    };
    let roots: Vec<PathBuf> = answer
        .roots
        .iter()
        .filter_map(|root| path_of(&root.uri)?.canonicalize().ok())
        .filter(|path| path.is_dir())
        .collect();
    if roots.is_empty() && !answer.roots.is_empty() {
        let message = "none of the client's roots is a directory of this machine";
        return Err(ErrorData::invalid_params(message, None));
    }
    Ok(roots)
}

const PATIENCE: Duration = Duration::from_secs(3);

// The path of a `file:` URI of this machine, its percent signs read.
fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(left.next()?).to_digit(16);
        bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
    }
    let path = PathBuf::from(String::from_utf8(bytes).ok()?);
    Path::new(&path).is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_files_of_this_machine() {
        for (uri, path) in [
            ("file:///a/b%20c", Some("/a/b c")),
            ("file://localhost/a", Some("/a")),
            ("file:///%C3%A9", Some("/é")),
            ("file://host/a", None),
            ("file:///a%2", None),
            ("file:///a%zz", None),
            ("file:///a%+f", None),
            ("file:///%ff", None),
            ("https://a/b", None),
            ("/a", None),
            ("", None),
        ] {
            assert_eq!(path_of(uri).as_deref(), path.map(Path::new), "{uri}");
        }
    }
}
