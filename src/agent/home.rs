//! Gives an agent a private home folder for one call, so that nothing it writes to its settings can run
//! later.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::settings::{AgentRow, matching_rows};

/// A home of an agent's own for one call: its settings and logins are copied in, everything else is linked. Afterwards
/// logins and sessions are copied out, and what else it wrote there is dropped.
pub struct AgentHome {
    real: PathBuf,
    own: PathBuf,
    rows: Vec<&'static AgentRow>,
    /// Folders of sessions that are written where they are.
    linked: Vec<PathBuf>,
    started: SystemTime,
}

/// Variables that lead to a home, and where each leads to.
const VARIABLES: [(&str, &str); 4] = [
    ("HOME", ""),
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];

impl AgentHome {
    /// Lays out a home at `own` for the agents that a command line names.
    ///
    /// # Errors
    /// What the system says of a file.
    pub fn prepare(command: &str, real: &Path, own: &Path) -> io::Result<Self> {
        if own.symlink_metadata().is_ok() {
            fs::remove_dir_all(own)?;
        }
        let mut home = Self {
            real: real.canonicalize()?,
            own: own.to_owned(),
            rows: matching_rows(command),
            linked: Vec::new(),
            started: SystemTime::now(),
        };
        home.lay_folder(Path::new(""), false)?;
        Ok(home)
    }

    /// Returns the variables that lead an agent there.
    pub fn variables(&self) -> Vec<String> {
        let pairs = VARIABLES.iter().map(|(name, below)| {
            let value = self.own.join(below).display().to_string();
            format!("{name}={}", value.trim_end_matches('/'))
        });
        pairs.collect()
    }

    /// Returns the folders outside it that an agent may write.
    pub fn writable(&self) -> Vec<PathBuf> {
        let folders = self.linked.iter().map(|below| self.real.join(below));
        folders.chain([self.own.clone()]).collect()
    }

    // `is_own`: whether the folder is one of the agent's settings, which is copied rather than linked.
    fn lay_folder(&mut self, folder: &Path, is_own: bool) -> io::Result<()> {
        fs::create_dir_all(self.own.join(folder))?;
        let Ok(entries) = fs::read_dir(self.real.join(folder)) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            let below = folder.join(entry.file_name());
            let paths = self.rows.iter().flat_map(|row| row.paths()).map(Path::new);
            let paths: Vec<&Path> = paths.collect();
            let is_own = is_own || paths.contains(&&*below);
            let leads_to_own = paths.iter().any(|path| path.starts_with(&below));
            let (from, to) = (self.real.join(&below), self.own.join(&below));
            let metadata = from.symlink_metadata()?;
            let is_session = is_own && self.passes_path(&below.join("any"));
            if metadata.is_dir() && !is_session && (is_own || leads_to_own) {
                self.lay_folder(&below, is_own)?;
            } else if metadata.is_file() && is_own && metadata.len() <= (4 << 20) {
                // A longer file is linked rather than copied.
                fs::copy(&from, &to)?;
            } else {
                symlink(&from, &to)?;
                if is_session {
                    self.linked.push(below);
                }
            }
        }
        Ok(())
    }

    fn passes_path(&self, below: &Path) -> bool {
        let below = below.to_string_lossy();
        self.rows.iter().any(|row| row.passes(&below))
    }

    /// Copies out what passes; returns what was dropped, by path.
    ///
    /// # Errors
    /// What the system says of a file.
    pub fn close(self) -> io::Result<Vec<String>> {
        let mut dropped = Vec::new();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(self.own.join(&folder))?.flatten() {
                let below = folder.join(entry.file_name());
                let metadata = entry.path().symlink_metadata()?;
                if metadata.is_dir() {
                    open.push(below);
                } else if metadata.is_file() {
                    dropped.extend(self.settle_path(&below)?);
                }
            }
        }
        fs::remove_dir_all(&self.own)?;
        dropped.sort();
        Ok(dropped)
    }

    // Returns the path of a file that is dropped.
    fn settle_path(&self, below: &Path) -> io::Result<Option<String>> {
        let (made, real) = (self.own.join(below), self.real.join(below));
        let after = fs::read(&made)?;
        if fs::read(&real).is_ok_and(|before| before == after) {
            return Ok(None);
        }
        let path = below.to_string_lossy().into_owned();
        if !self.passes_path(below) {
            // A login beside settings: what changes there each time is no news.
            let is_mixed = self.rows.iter().any(|row| row.is_mixed(&path));
            return Ok((!is_mixed).then_some(path));
        }
        // Another session may have written it meanwhile.
        let changed = real.metadata().and_then(|metadata| metadata.modified());
        if !changed.is_ok_and(|changed| changed > self.started) {
            let rights = made.metadata()?.permissions();
            write_file(&real, &after, rights)?;
        }
        Ok(None)
    }
}

// A file of the user: whole or as it was, with its own rights.
fn write_file(path: &Path, bytes: &[u8], rights: fs::Permissions) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let own = path.metadata().map(|metadata| metadata.permissions());
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(own.unwrap_or(rights))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::AgentHome;

    #[test]
    fn copies_sessions_only() {
        for fresh in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let real = folder.path().canonicalize().unwrap().join("real");
            fs::create_dir_all(real.join(".config/other")).unwrap();
            fs::write(real.join(".gitconfig"), "[user]\n").unwrap();
            if !fresh {
                fs::create_dir_all(real.join(".codex/sessions")).unwrap();
                fs::write(real.join(".codex/config.toml"), "a = 1\n").unwrap();
            }
            let own = folder.path().join("own");
            let home = AgentHome::prepare("codex exec -", &real, &own).unwrap();
            assert!(own.join(".config/other").is_dir());
            let codex = own.join(".codex");
            fs::create_dir_all(codex.join("sessions/2026")).unwrap();
            fs::write(codex.join("sessions/2026/x.jsonl"), "s\n").unwrap();
            fs::write(codex.join("auth.json"), "{}\n").unwrap();
            fs::write(codex.join("config.toml"), "a = 2\n").unwrap();
            fs::write(own.join("odd"), "x").unwrap();
            let dropped = home.close().unwrap();
            assert_eq!(dropped, [".codex/config.toml", "odd"]);
            let text = |path: &str| fs::read_to_string(real.join(path)).unwrap_or_default();
            assert_eq!(
                text(".codex/config.toml"),
                ["a = 1\n", ""][usize::from(fresh)]
            );
            assert_eq!(text(".codex/sessions/2026/x.jsonl"), "s\n");
            assert_eq!(text(".codex/auth.json"), "{}\n");
            assert!(!real.join("odd").exists() && !own.exists());
        }
    }
}
