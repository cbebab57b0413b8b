//! Checks a repository before it is opened. Its files may be links to devices, or set a worktree
//! elsewhere, so that opening it would hang or write outside.

use std::collections::HashSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::GitError;

/// Looks at the files of a repository that are read whole as soon as it is opened, before that is
/// done: what a repository brings may be a link to a device, which never ends.
///
/// # Errors
/// [`GitError::Unreadable`] when one is no file, is too large, or points outside of the repository.
pub(super) fn look_before_opening(directory: &Path) -> Result<(), GitError> {
    let Ok(directory) = std::path::absolute(directory) else {
        return Ok(());
    };
    for above in directory.ancestors() {
        let dot = above.join(".git");
        if let Ok(found) = dot.symlink_metadata() {
            let git = if dot.is_dir() {
                Some(dot)
            } else {
                look_at(&dot, above, MAX_POINTER)?;
                found.is_file().then(|| pointed_at(&dot, "gitdir:")).flatten()
            };
            return git.map_or(Ok(()), |git| look_into(&git));
        }
        if above.join("objects").is_dir() && above.join("HEAD").symlink_metadata().is_ok() {
            return look_into(above);
        }
    }
    Ok(())
}

/// Looks whether the worktree is where the repository was found: its configuration may put it anywhere,
/// and what is applied would be written there.
///
/// # Errors
/// [`GitError::Unreadable`] when it is elsewhere.
pub(super) fn look_at_worktree(directory: &Path, worktree: Option<&Path>) -> Result<(), GitError> {
    let Some(worktree) = worktree else {
        return Ok(());
    };
    let directory = real_path(directory);
    let found = directory
        .ancestors()
        .find(|above: &&Path| above.join(".git").symlink_metadata().is_ok());
    if found.is_some_and(|found| found == real_path(worktree)) {
        return Ok(());
    }
    let message = format!(
        "its configuration sets another worktree, `{}`; work there, or remove \
         `core.worktree` from the configuration",
        worktree.display()
    );
    Err(GitError::Unreadable(message))
}

fn real_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn look_into(git: &Path) -> Result<(), GitError> {
    let common = git.join("commondir");
    look_at(&common, git, MAX_POINTER)?;
    let common = pointed_at(&common, "").map(|folder| git.join(folder));
    for home in common.iter().map(PathBuf::as_path).chain([git]) {
        for (name, most) in READ_WHOLE {
            look_at(&home.join(name), home, *most)?;
        }
        look_at_included(home)?;
        if let Some(head) = pointed_at(&home.join("HEAD"), "ref:") {
            look_at(&home.join(head), home, MAX_POINTER)?;
        }
    }
    Ok(())
}

// What a configuration includes is read with it, each file once however often it is named.
fn look_at_included(home: &Path) -> Result<(), GitError> {
    let mut open = vec![home.join("config")];
    let mut seen = HashSet::new();
    while let Some(config) = open.pop() {
        let real = config.canonicalize().unwrap_or_else(|_| config.clone());
        if !seen.insert(real) {
            continue;
        }
        if seen.len() > 100 {
            return Err(refused(&config, "exceeds the number of included files"));
        }
        let text = fs::read(&config).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut inside = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                inside = line.to_ascii_lowercase().starts_with("[include");
            }
            let path = line.rsplit(']').next().unwrap_or(line).split_once('=');
            let path = path.filter(|(key, _)| inside && key.trim().eq_ignore_ascii_case("path"));
            if let Some((_, value)) = path {
                let value = value.trim().trim_matches('"');
                let at = config.parent().unwrap_or(home).join(value);
                // It may be anywhere, since its place is the user's choice, as with `~/.gitconfig`.
                look_at_anywhere(&at, MAX_CONFIG)?;
                open.push(at);
            }
        }
    }
    Ok(())
}

const MAX_POINTER: u64 = 64 << 10;
const MAX_CONFIG: u64 = 8 << 20;

const READ_WHOLE: &[(&str, u64)] = &[
    ("HEAD", MAX_POINTER),
    ("config", MAX_CONFIG),
    ("config.worktree", MAX_CONFIG),
    ("shallow", 1 << 30),
    ("packed-refs", 1 << 30),
    ("index", u64::MAX),
    ("info/exclude", MAX_CONFIG),
    ("info/attributes", MAX_CONFIG),
    ("objects/info/alternates", MAX_CONFIG),
];

fn look_at(path: &Path, home: &Path, most: u64) -> Result<(), GitError> {
    let Ok(found) = path.symlink_metadata() else {
        return Ok(());
    };
    if found.is_symlink() {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
        let inside = path.canonicalize().is_ok_and(|real| real.starts_with(home));
        if !inside {
            return Err(refused(
                path,
                "is a link that points outside the repository",
            ));
        }
    }
    look_at_anywhere(path, most)
}

fn look_at_anywhere(path: &Path, most: u64) -> Result<(), GitError> {
    match path.metadata() {
        Ok(found) if !found.is_file() => Err(refused(path, "is not a regular file")),
        Ok(found) if found.len() > most => Err(refused(path, "is too large")),
        _ => Ok(()),
    }
}

fn refused(path: &Path, why: &str) -> GitError {
    GitError::Unreadable(format!("`{}` {why}", path.display()))
}

fn pointed_at(file: &Path, after: &str) -> Option<PathBuf> {
    let mut text = String::new();
    fs::File::open(file).ok()?.take(MAX_POINTER).read_to_string(&mut text).ok()?;
    let path = Path::new(text.trim().strip_prefix(after)?.trim());
    let base = file.parent().unwrap_or(file);
    (!path.as_os_str().is_empty()).then(|| base.join(path))
}

/// Finds the `.git` of every repository inside a worktree, whose hooks and settings git runs there.
/// Installed packages are passed over.
pub(super) fn nested_repositories(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    let mut seen = 0;
    // Folders of a worktree that are searched for repositories inside it.
    while let Some(folder) = open.pop().filter(|_| seen < 20_000) {
        seen += 1;
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match entry.file_name().to_str() {
                Some(".git") if folder == root => {}
                Some(".git") => found.push(entry.path()),
                Some("node_modules" | ".venv" | "target" | ".mendit") => {}
                _ if is_folder => open.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::look_before_opening;

    #[test]
    fn rejects_endless_repository_files() {
        for (name, target, expected) in [
            ("config", "/dev/zero", Some("points outside")),
            ("HEAD", "/dev/zero", Some("points outside")),
            ("info/exclude", "/etc/passwd", Some("points outside")),
            ("packed-refs", "refs", Some("not a regular file")),
            ("config", "config.real", None),
        ] {
            let home = tempfile::tempdir().unwrap();
            let git = home.path().join(".git");
            fs::create_dir_all(git.join("info")).unwrap();
            fs::create_dir_all(git.join("refs")).unwrap();
            fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(git.join("config.real"), "[core]\n").unwrap();
            let _ = fs::remove_file(git.join(name));
            symlink(target, git.join(name)).unwrap();
            let below = home.path().join("a");
            fs::create_dir(&below).unwrap();
            let error = look_before_opening(&below).err().map(|error| error.to_string());
            match expected {
                Some(expected) => assert!(error.unwrap().contains(expected), "{name}"),
                None => assert_eq!(error, None, "{name}"),
            }
        }
    }

    #[test]
    fn checks_included_configuration() {
        let home = tempfile::tempdir().unwrap();
        let git = home.path().join(".git");
        fs::create_dir_all(&git).unwrap();
        fs::write(git.join("config"), "[include]\n\tpath = /dev/zero\n").unwrap();
        let error = look_before_opening(home.path()).unwrap_err().to_string();
        assert!(
            error.contains("`/dev/zero` is not a regular file"),
            "{error}"
        );
    }
    #[test]
    fn checks_recursive_include_once() {
        let home = tempfile::tempdir().unwrap();
        let git = home.path().join(".git");
        fs::create_dir_all(&git).unwrap();
        fs::write(
            git.join("config"),
            "[include]\n\tpath = config\n".repeat(40),
        )
        .unwrap();
        look_before_opening(home.path()).unwrap();
    }
}
