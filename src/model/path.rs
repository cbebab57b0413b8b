//! A path inside the repository. Its rules hold by construction, so that joining it to a root stays
//! below the root.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// A path inside the repository: UTF-8, `/` between components, relative to the root.
///
/// Never empty, never absolute, without empty, `.` or `..` components, so joining it to a root
/// stays below that root (symlinks aside, which are the reader's business). Ordered by bytes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("minLength" = 1))]
pub struct RepoPath(Arc<str>);

/// Why a text is not a [`RepoPath`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// The text is empty, or names the root itself.
    #[error("the path is empty")]
    Empty,
    /// The text starts at a file-system root or with a drive letter.
    #[error("the path is absolute")]
    Absolute,
    /// The text climbs above the repository's root.
    #[error("the path leaves the repository")]
    Escapes,
    /// The text holds a NUL byte.
    #[error("the path contains a NUL byte")]
    Nul,
}

/// A path on disk that the system refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}`: {}", path.display(), refusal_words(*kind))]
pub struct PathError {
    /// The path.
    pub path: PathBuf,
    /// What the system said.
    pub kind: io::ErrorKind,
}

fn refusal_words(kind: io::ErrorKind) -> String {
    match kind {
        io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        io::ErrorKind::NotADirectory => "a folder is expected, but it is a file".to_owned(),
        kind => kind.to_string(),
    }
}

/// Adds the path to an error of the system.
pub trait AtPath<T> {
    /// Names the path that was refused.
    ///
    /// # Errors
    /// [`PathError`] for an error of the system.
    fn at(self, path: impl AsRef<Path>) -> Result<T, PathError>;
}

impl<T, E: Into<io::Error>> AtPath<T> for Result<T, E> {
    fn at(self, path: impl AsRef<Path>) -> Result<T, PathError> {
        self.map_err(|error| PathError {
            path: path.as_ref().to_owned(),
            kind: error.into().kind(),
        })
    }
}

impl RepoPath {
    /// Takes the quotes, a remark and a line number off a path that somebody wrote: `**src/a.py** (original)`,
    /// `src/a.py:12`, `src\a.py`.
    pub fn without_dress(name: &str) -> String {
        let mut rest = name.trim_matches(is_dress);
        if let Some((before, remark)) = rest.rsplit_once(" (")
            && remark.ends_with(')')
        {
            rest = before.trim_matches(is_dress);
        }
        if let Some((before, line)) = rest.rsplit_once(':')
            && line.bytes().all(|byte| byte.is_ascii_digit())
        {
            rest = before;
        }
        rest.replace('\\', "/")
    }

    /// Takes a path as a person or tool writes it and normalises `./`, `a/../b` and `//`.
    ///
    /// # Errors
    /// A [`PathProblem`] when the text is not a path inside the repository.
    pub fn new(text: &str) -> Result<Self, PathProblem> {
        if text.contains('\0') {
            return Err(PathProblem::Nul);
        }
        let bytes = text.as_bytes();
        let drive = bytes.len() > 1 && bytes[1] == b':' && bytes[0].is_ascii_alphabetic();
        if text.starts_with('/') || text.starts_with('\\') || drive {
            return Err(PathProblem::Absolute);
        }
        Self::resolve("", text)
    }

    /// Resolves `relative` against the directory `directory` (`""` is the root).
    ///
    /// # Errors
    /// [`PathProblem::Escapes`] when `..` climbs above the root, [`PathProblem::Empty`] when the
    /// result is the root itself.
    pub fn resolve(directory: &str, relative: &str) -> Result<Self, PathProblem> {
        if directory.is_empty() && relative.split('/').all(|part| !matches!(part, "" | "." | ".."))
        {
            return Ok(Self(relative.into()));
        }
        let above = directory.split('/').filter(|part| !part.is_empty());
        let mut parts: Vec<&str> = above.collect();
        for part in relative.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or(PathProblem::Escapes)?;
                }
                part => parts.push(part),
            }
        }
        if parts.is_empty() {
            return Err(PathProblem::Empty);
        }
        Ok(Self(parts.join("/").into()))
    }

    /// The whole path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The directory that holds the file; `""` for the root.
    pub fn directory(&self) -> &str {
        parent_path(&self.0)
    }

    /// The last component.
    pub fn file_name(&self) -> &str {
        file_name(&self.0)
    }

    /// The file name up to its last dot; the whole name of a dotfile.
    pub fn stem(&self) -> &str {
        let stem = self.file_name().rsplit_once('.').map_or("", |(stem, _)| stem);
        if stem.is_empty() { self.file_name() } else { stem }
    }

    /// The extension of the file name.
    pub fn extension(&self) -> Option<&str> {
        let (stem, extension) = self.file_name().rsplit_once('.')?;
        (!stem.is_empty()).then_some(extension)
    }

    /// The directories above the file, innermost first, ending with the root `""`.
    pub fn ancestors(&self) -> impl Iterator<Item = &str> {
        std::iter::successors(Some(self.directory()), |directory| {
            (!directory.is_empty()).then(|| parent_path(directory))
        })
    }

    /// Steps from the directory of one file to that of another.
    pub fn steps_to(&self, other: &Self) -> usize {
        let both = self.directory().split('/').zip(other.directory().split('/'));
        let shared = both.take_while(|(a, b)| a == b && !a.is_empty()).count();
        self.depth() + other.depth() - 2 * shared
    }

    /// Directories above the file, the root not counted.
    pub fn depth(&self) -> usize {
        self.0.matches('/').count()
    }

    /// Whether the file lies in `directory` or below it (`""` holds everything).
    pub fn is_below(&self, directory: &str) -> bool {
        let rest = self.0.strip_prefix(directory);
        directory.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
    }
}

fn is_dress(letter: char) -> bool {
    matches!(letter, '`' | '"' | '\'' | '*' | ' ' | '@' | ':')
}

fn parent_path(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The last component of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl AsRef<str> for RepoPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl TryFrom<String> for RepoPath {
    type Error = PathProblem;

    fn try_from(text: String) -> Result<Self, PathProblem> {
        Self::new(&text)
    }
}

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
        let mut hasher = sha1dc::Hasher::new();
        hasher.update(format!("blob {}\0", bytes.len()).as_bytes());
        hasher.update(bytes);
        Self(hasher.finalize().unwrap_or_else(|collision| collision.digest()).into())
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

#[cfg(test)]
mod tests {
    use super::BlobId;
    use super::{PathProblem, RepoPath};

    #[test]
    fn normalizes_inner_paths() {
        for (text, expected) in [
            ("a/b.ts", "a/b.ts"),
            ("./a//b.ts", "a/b.ts"),
            ("a/x/../b.ts", "a/b.ts"),
        ] {
            assert_eq!(RepoPath::new(text).unwrap().as_str(), expected);
        }
    }

    #[test]
    fn rejects_outer_paths() {
        for (text, problem) in [
            ("", PathProblem::Empty),
            (".", PathProblem::Empty),
            ("/etc/passwd", PathProblem::Absolute),
            ("C:/x", PathProblem::Absolute),
            ("a/../../x", PathProblem::Escapes),
            ("a\0b", PathProblem::Nul),
        ] {
            assert_eq!(RepoPath::new(text).unwrap_err(), problem, "{text:?}");
        }
    }

    #[test]
    fn names_its_parts() {
        let path = RepoPath::new("src/lib/a.test.ts").unwrap();
        assert_eq!(path.directory(), "src/lib");
        assert_eq!(path.file_name(), "a.test.ts");
        assert_eq!(path.stem(), "a.test");
        assert_eq!(path.extension(), Some("ts"));
        assert_eq!(path.ancestors().collect::<Vec<_>>(), ["src/lib", "src", ""]);
        assert!(path.is_below("src") && path.is_below("") && !path.is_below("sr"));
        assert_eq!(RepoPath::new(".env").unwrap().extension(), None);
    }

    #[test]
    fn hashes_as_git_does() {
        let id = BlobId::from_content(b"hello\n").to_string();
        assert_eq!(id, "ce013625030ba8dba906f756967f9e9ca394464a");
    }
}
