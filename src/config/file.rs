//! Finds configuration files, records how far each is trusted, and says why one cannot be used.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::model::Code;

/// The names of a configuration file, best first.
pub const FILE_NAMES: [&str; 2] = ["mendit.toml", ".mendit.toml"];

/// A configuration file, and how far it is to be believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum File {
    /// A person named it, or said that it is to be trusted.
    Trusted(PathBuf),
    /// It came with the repository that has this root.
    Repository {
        /// The file.
        path: PathBuf,
        /// The root.
        root: PathBuf,
    },
}

impl File {
    /// Where it is.
    pub fn path(&self) -> &Path {
        match self {
            Self::Trusted(path) | Self::Repository { path, .. } => path,
        }
    }

    /// All of its text.
    pub(super) fn read(&self) -> Result<String, ConfigError> {
        let path = self.path();
        let shown = printable_text(&path.display().to_string());
        let unreadable = |reason: &str| ConfigError::unreadable(&shown, reason);
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => unreadable("no such file"),
            kind => unreadable(&kind.to_string()),
        };
        // Not followed, because a link in a repository leads where its author wants.
        let found = match self {
            Self::Trusted(_) => path.metadata(),
            Self::Repository { .. } => path.symlink_metadata(),
        };
        if !found.map_err(failed)?.is_file() {
            return Err(unreadable("it is not a regular file"));
        }
        let file = std::fs::File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        // The largest file that is read, in bytes.
        let max_bytes = 1 << 20;
        file.take(max_bytes + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > max_bytes {
            return Err(unreadable("it is larger than 1 MB"));
        }
        String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8"))
    }
}

/// Finds the nearest configuration file from `directory` upward. What is no regular file counts too,
/// so that it is refused and not passed over.
pub fn find(directory: &Path) -> Option<PathBuf> {
    directory
        .ancestors()
        .flat_map(|ancestor| FILE_NAMES.map(|name| ancestor.join(name)))
        .find(|path| path.symlink_metadata().is_ok())
}

/// The user's own file, where the environment says that it is; it need not be there.
pub(super) fn user_file(environment: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name| {
        let path = PathBuf::from(environment(name)?);
        path.is_absolute().then_some(path)
    };
    let settings =
        absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(settings.join("mendit").join("config.toml"))
}

/// Text of a foreign file, fit for a message: no control characters, and not endless.
pub(super) fn printable_text(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(200)
        .flat_map(|letter| {
            if letter.is_control() {
                letter.escape_default().collect::<Vec<_>>()
            } else {
                vec![letter]
            }
        })
        .collect();
    if text.chars().nth(200).is_some() {
        shown.push('…');
    }
    shown
}

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConfigError {
    /// The problem and its place.
    pub message: String,
    /// The stable code of the error.
    pub code: Code,
    /// What to do about it; empty where the message says it.
    pub hint: String,
}

impl ConfigError {
    pub(super) fn new(message: String, hint: impl Into<String>) -> Self {
        Self {
            message,
            code: Code::U103,
            hint: hint.into(),
        }
    }

    /// A file that cannot be read.
    pub fn unreadable(file: &str, reason: &str) -> Self {
        let hint = "`--config FILE` needs an existing file; `mendit config show` prints the source of each setting";
        Self::new(format!("cannot read `{file}`: {reason}"), hint)
    }

    /// A setting that a file of the repository may not change so.
    pub(super) fn untrusted(key: &str, place: &str, why: &str) -> Self {
        let message =
            format!("`{key}` is not allowed in {place}, which belongs to the repository: it {why}");
        Self {
            code: Code::U106,
            ..Self::new(
                message,
                "set it in your own configuration or with a flag, or pass `--trust-config`",
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{File, find, printable_text, user_file};

    #[test]
    fn finds_user_file_from_environment() {
        let at = |rows: &[(&str, &str)]| {
            user_file(|name| {
                let row = rows.iter().find(|(known, _)| *known == name);
                row.map(|(_, value)| (*value).to_owned())
            })
        };
        let is = |path: &str| Some(Path::new(path).to_owned());
        let both = [("XDG_CONFIG_HOME", "/x"), ("HOME", "/h")];
        assert_eq!(at(&both), is("/x/mendit/config.toml"));
        let relative = [("XDG_CONFIG_HOME", "x"), ("HOME", "/h")];
        assert_eq!(at(&relative), is("/h/.config/mendit/config.toml"));
        assert_eq!(at(&[]), None);
    }

    #[test]
    fn repository_file_is_plain() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let below = root.join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        assert_eq!(find(&below), None);
        std::fs::write(root.join("real"), "x = 1").unwrap();
        let link = root.join("mendit.toml");
        std::os::unix::fs::symlink(root.join("real"), &link).unwrap();
        assert_eq!(find(&below), Some(link.clone()));
        let file = |path: &Path| File::Repository {
            path: path.to_owned(),
            root: root.to_owned(),
        };
        let said = file(&link).read().unwrap_err().to_string();
        assert!(said.contains("not a regular file"), "{said}");
        assert_eq!(File::Trusted(link).read().unwrap(), "x = 1");
        assert!(file(&below).read().is_err());
        std::fs::write(root.join("a/large"), vec![b'#'; (1 << 20) + 1]).unwrap();
        let said = file(&root.join("a/large")).read().unwrap_err().to_string();
        assert!(said.contains("1 MB"), "{said}");
    }

    #[test]
    fn foreign_text_keeps_to_its_line() {
        assert_eq!(printable_text("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(printable_text(&"x".repeat(5000)).chars().count(), 201);
    }
}
