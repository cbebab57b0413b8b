use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Map, Value};

use super::settings::{AgentRow, SettingsChange, is_held, rows};
use crate::exec::Overlay;

/// Stands between an agent and its own settings while it works: it writes into private folders that lie
/// over its own. Afterwards logins, sessions and caches are taken over, and the rest is dropped and told.
#[derive(Default)]
pub struct SettingsGuard {
    covers: Vec<Cover>,
    mixed: Vec<(PathBuf, Value)>,
    started: Option<SystemTime>,
}

struct Cover {
    row: &'static AgentRow,
    home: PathBuf,
    at: PathBuf,
    slot: PathBuf,
}

impl SettingsGuard {
    /// Lays out private folders below `slot` for the agents that a command line names.
    ///
    /// # Errors
    /// What the system says of the folders.
    pub fn open(command: &str, home: &Path, slot: &Path) -> io::Result<Self> {
        let mut guard = Self {
            started: Some(SystemTime::now()),
            ..Self::default()
        };
        let home = home.canonicalize()?;
        for row in rows(command) {
            let folders = row.folders.iter().map(|it| home.join(it));
            // What an agent starts anew has nothing that could be guarded.
            for at in folders.filter(|it| it.symlink_metadata().is_ok_and(|it| it.is_dir())) {
                let slot = slot.join(guard.covers.len().to_string());
                for folder in ["upper", "work"] {
                    fs::create_dir_all(slot.join(folder))?;
                }
                fs::set_permissions(slot.join("upper"), fs::metadata(&at)?.permissions())?;
                let home = home.clone();
                guard.covers.push(Cover {
                    row,
                    home,
                    at,
                    slot,
                });
            }
            for path in row.mixed.iter().map(|it| home.join(it)) {
                let within = guard.covers.iter().any(|it| path.starts_with(&it.at));
                if let Some(value) = json(&path).filter(|_| !within) {
                    guard.mixed.push((path, value));
                }
            }
        }
        Ok(guard)
    }

    /// What is laid over the agent's folders.
    #[must_use]
    pub fn overlays(&self) -> Vec<Overlay> {
        let overlay = |cover: &Cover| Overlay {
            at: cover.at.clone(),
            layers: Vec::new(),
            upper: cover.slot.join("upper"),
            work: cover.slot.join("work"),
        };
        self.covers.iter().map(overlay).collect()
    }

    /// Takes over what passes; gives what was dropped, by path.
    ///
    /// # Errors
    /// What the system says of a file.
    pub fn close(self, home: &Path) -> io::Result<Vec<SettingsChange>> {
        let started = self.started.unwrap_or_else(SystemTime::now);
        let mut dropped = Vec::new();
        for cover in &self.covers {
            let mut open = vec![PathBuf::new()];
            while let Some(below) = open.pop() {
                let Ok(entries) = fs::read_dir(cover.slot.join("upper").join(&below)) else {
                    continue;
                };
                for entry in entries.flatten() {
                    let below = below.join(entry.file_name());
                    let metadata = entry.path().symlink_metadata()?;
                    if metadata.is_dir() {
                        open.push(below);
                    } else {
                        dropped.extend(cover.settle(&below, &metadata, started)?);
                    }
                }
            }
        }
        for (path, before) in &self.mixed {
            let Some(mut after) = json(path) else {
                continue;
            };
            let made = after.clone();
            if hold(Some(before), &mut after) {
                write(path, format!("{after:#}\n").as_bytes(), None)?;
                dropped.push(SettingsChange {
                    path: below(home, path),
                    before: Some(format!("{before:#}\n").into_bytes()),
                    after: Some(format!("{made:#}\n").into_bytes()),
                    steers: true,
                });
            }
        }
        dropped.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(dropped)
    }
}

impl Cover {
    // A changed file: taken over where it passes, and else told.
    fn settle(
        &self,
        below_folder: &Path,
        metadata: &fs::Metadata,
        started: SystemTime,
    ) -> io::Result<Option<SettingsChange>> {
        let (real, made) = (
            self.at.join(below_folder),
            self.slot.join("upper").join(below_folder),
        );
        let path = below(&self.home, &real);
        let gone = metadata.file_type().is_char_device() && metadata.rdev() == 0;
        let passes = self.row.passes(&path) && (gone || metadata.is_file());
        let read = |at: &Path| match at.symlink_metadata() {
            Ok(it) if it.is_file() && it.len() <= LARGEST => fs::read(at).ok(),
            Ok(it) if it.is_symlink() => fs::read_link(at)
                .ok()
                .map(|it| it.into_os_string().into_encoded_bytes()),
            Ok(_) => Some(Vec::new()),
            Err(_) => None,
        };
        if passes {
            // Somebody else's session may have written it meanwhile.
            let newer = real.metadata().and_then(|it| it.modified());
            if newer.is_ok_and(|it| it > started) {
                return Ok(None);
            }
            if gone {
                let _ = fs::remove_file(&real);
            } else {
                write(&real, &fs::read(&made)?, Some(metadata.permissions()))?;
            }
            return Ok(None);
        }
        let mut after = if gone { None } else { read(&made) };
        let before = read(&real);
        if self.row.mixed.contains(&path)
            && let Some(mut value) = json(&made)
        {
            let current = json(&real);
            let is_held = hold(current.as_ref(), &mut value);
            if current.as_ref() != Some(&value) {
                write(&real, format!("{value:#}\n").as_bytes(), None)?;
            }
            if !is_held {
                after.clone_from(&before);
            }
        }
        Ok((before != after).then(|| SettingsChange {
            steers: self.row.steers(&path) && !says_the_same(before.as_deref(), after.as_deref()),
            path,
            before,
            after,
        }))
    }
}

/// Files that are longer are told without their content.
const LARGEST: u64 = 1 << 20;

fn json(path: &Path) -> Option<Value> {
    let value: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    value.is_object().then_some(value)
}

// Gives members that steer what they had before; whether any differed.
fn hold(before: Option<&Value>, after: &mut Value) -> bool {
    let Value::Object(members) = after else {
        return false;
    };
    let earlier = before.and_then(Value::as_object);
    let mut differs = false;
    let mut names: Vec<String> = members.keys().cloned().collect();
    names.extend(earlier.into_iter().flat_map(|it| it.keys().cloned()));
    for name in names {
        let old = earlier.and_then(|it| it.get(&name));
        if !is_held(&name) {
            if let Some(now) = members.get_mut(&name) {
                differs |= hold(old, now);
            }
        } else if members.get(&name) != old {
            differs = true;
            match old {
                Some(old) => members.insert(name, old.clone()),
                None => members.remove(&name),
            };
        }
    }
    differs
}

fn below(home: &Path, path: &Path) -> String {
    let below = path.strip_prefix(home).unwrap_or(path);
    below.to_string_lossy().into_owned()
}

// A file of the user: whole or as it was, with its own rights.
fn write(path: &Path, bytes: &[u8], rights: Option<fs::Permissions>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let own = path.metadata().map(|it| it.permissions()).ok();
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    let usual = fs::Permissions::from_mode(0o600);
    file.as_file()
        .set_permissions(own.or(rights).unwrap_or(usual))?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

// Whether two texts of JSON differ in nothing but the address of their schema, which programs add themselves.
fn says_the_same(before: Option<&[u8]>, after: Option<&[u8]>) -> bool {
    let read = |text: Option<&[u8]>| {
        let mut value: Value = serde_json::from_slice(text?).ok()?;
        value.as_object_mut()?.remove("$schema");
        Some(value)
    };
    let (before, after) = (read(before), read(after));
    after.is_some()
        && (before == after || before.is_none() && after == Some(Value::Object(Map::new())))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::{SettingsGuard, hold, says_the_same};

    #[test]
    fn what_steers_stays_as_it_was_beside_a_login() {
        let before = json!({"oauthAccount": {"id": 1}, "mcpServers": {"a": {}}, "projects": {"/x": {"allowedTools": []}}});
        let mut after = json!({"oauthAccount": {"id": 2}, "mcpServers": {"a": {}, "evil": {}},
            "projects": {"/x": {"allowedTools": ["Bash"], "cost": 1}, "/y": {"allowedTools": ["Bash"], "cost": 2}}});
        assert!(hold(Some(&before), &mut after));
        for (before, after, same) in [
            (
                "{\"model\": \"m\"}",
                "{\n \"$schema\": \"u\", \"model\": \"m\"}",
                true,
            ),
            ("{}", "{\"$schema\": \"u\", \"mcp\": {}}", false),
            ("not JSON", "{\"mcp\": {}}", false),
            ("not JSON", "nor this", false),
        ] {
            let equal = says_the_same(Some(before.as_bytes()), Some(after.as_bytes()));
            assert_eq!(equal, same, "{after}");
        }
        assert!(says_the_same(None, Some(b"{\"$schema\": \"u\"}")));
        let kept = json!({"oauthAccount": {"id": 2}, "mcpServers": {"a": {}},
            "projects": {"/x": {"allowedTools": [], "cost": 1}, "/y": {"cost": 2}}});
        assert_eq!(after, kept);
        assert!(!hold(Some(&kept), &mut after));
    }

    #[test]
    fn sessions_are_taken_over_and_the_rest_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        fs::create_dir_all(home.join(".codex/sessions")).unwrap();
        fs::write(home.join(".codex/config.toml"), "a = 1\n").unwrap();
        let guard = SettingsGuard::open("codex exec -", &home, &home.join("slot")).unwrap();
        let overlays = guard.overlays();
        let upper = &overlays[0].upper;
        fs::create_dir_all(upper.join("sessions/2026")).unwrap();
        fs::write(upper.join("sessions/2026/x.jsonl"), "s\n").unwrap();
        fs::write(upper.join("auth.json"), "{}\n").unwrap();
        fs::write(upper.join("config.toml"), "a = 2\n").unwrap();
        fs::write(upper.join("odd"), "").unwrap();
        let changes = guard.close(&home).unwrap();
        let changes: Vec<_> = changes
            .iter()
            .map(|it| (it.path.as_str(), it.steers))
            .collect();
        assert_eq!(
            changes,
            [(".codex/config.toml", true), (".codex/odd", false)]
        );
        let text = |path: &str| fs::read_to_string(home.join(path)).unwrap_or_default();
        assert_eq!(text(".codex/config.toml"), "a = 1\n");
        assert_eq!(text(".codex/sessions/2026/x.jsonl"), "s\n");
        assert_eq!(text(".codex/auth.json"), "{}\n");
        assert!(!home.join(".codex/odd").exists());
    }
}
