//! Links installed packages into a copy, and rewrites the paths in them that name the original.

use super::environments::lexical_path;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Rebuilds folders of installed packages in a copy of a worktree. Packages become links to the
/// originals, which no command in the copy may write; paths into the worktree are rewritten to
/// paths into the copy.
pub(super) struct Relink<'a> {
    /// The worktree, with links resolved.
    pub(super) original: &'a Path,
    /// The root of the copy.
    pub(super) copy: &'a Path,
    /// Environments outside the worktree, each with the path of its counterpart for the copy.
    pub(super) environments: &'a [(PathBuf, PathBuf)],
}

impl Relink<'_> {
    /// Rebuilds the folder `below` the root of the copy, which must not have it yet.
    pub(super) fn relink_folder(&self, below: &str) -> io::Result<()> {
        let (from, to) = (self.original.join(below), self.copy.join(below));
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        if from.symlink_metadata()?.is_symlink() {
            return self.relink_path(&from, &to);
        }
        let is_modules = from.file_name().is_some_and(|name| name == "node_modules");
        if is_modules || from.join("pyvenv.cfg").is_file() {
            self.relink_tree(&from, &to)
        } else {
            symlink(&from, &to)
        }
    }

    /// Rebuilds the environments outside the worktree; the views must not exist yet.
    pub(super) fn relink_outside(&self) -> io::Result<()> {
        for (from, to) in self.environments {
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            self.relink_tree(from, to)?;
        }
        Ok(())
    }

    // Pairs of an original root and its counterpart in the copy.
    fn root_pairs(&self) -> impl Iterator<Item = (&Path, &Path)> {
        let more = self.environments.iter().map(|(from, to)| (from.as_path(), to.as_path()));
        more.chain([(self.original, self.copy)])
    }

    /// Makes a link that leads where this one does, or into the copy if that was the worktree.
    pub(super) fn relink_path(&self, from: &Path, to: &Path) -> io::Result<()> {
        let target = fs::read_link(from)?;
        let at = from.parent().unwrap_or(from);
        let leads_to = lexical_path(&at.join(&target));
        let other = self
            .root_pairs()
            .find_map(|(from, to)| Some(to.join(leads_to.strip_prefix(from).ok()?)));
        match other {
            Some(other) if target.is_absolute() => symlink(other, to),
            Some(_) => symlink(target, to),
            // Made absolute, because a relative link depends on its place.
            None => symlink(at.join(&target), to),
        }
    }

    // Rebuilds a package folder or an environment: packages become links, files and links that name the worktree
    // are rewritten, caches start empty.
    fn relink_tree(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::create_dir(to)?;
        let is_environment = from.join("pyvenv.cfg").is_file();
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            let (from, to) = (entry.path(), to.join(&name));
            let name = name.to_string_lossy();
            if kind.is_symlink() {
                self.relink_path(&from, &to)?;
            } else if kind.is_dir() && is_opened(&name) {
                self.relink_tree(&from, &to)?;
            } else if kind.is_dir() && !is_cache(&name) {
                symlink(&from, &to)?;
            } else if kind.is_file() && is_environment {
                // Locks, logs and notes are written by every use.
                fs::copy(&from, &to)?;
            } else if kind.is_file() {
                self.relink_file(&from, &to)?;
            }
        }
        Ok(())
    }

    // A text that names the worktree is written with the copy's path; anything else is linked.
    fn relink_file(&self, from: &Path, to: &Path) -> io::Result<()> {
        let found = from.metadata()?;
        // A script or a list of paths is smaller.
        let bytes = if found.len() <= (4 << 20) { fs::read(from)? } else { Vec::new() };
        let is_text = !bytes.is_empty() && !bytes.contains(&0);
        let mut text = bytes.clone();
        for (from, to) in self.root_pairs().filter(|_| is_text) {
            let [from, to] = [from, to].map(|path| path.as_os_str().as_encoded_bytes());
            text = replace_bytes(&text, from, to);
        }
        if text == bytes {
            return symlink(from, to);
        }
        fs::write(to, text)?;
        allow_as(to, &found)
    }
}

fn is_opened(folder: &str) -> bool {
    let is_named = ["bin", "Scripts", "lib", "site-packages", ".bin"].contains(&folder);
    is_named
        || folder.starts_with(['@'])
        || folder.starts_with("python3.")
        || folder.ends_with(".dist-info")
}

fn is_cache(folder: &str) -> bool {
    folder == "__pycache__" || folder.starts_with('.') && folder != ".pnpm"
}

// Only whole names: `/w/r` in `/w/r/src` and `-I/w/r`, not in `/w/repo`, `./w/r` or `/srv/w/r`.
pub(super) fn replace_bytes(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(byte);
    // What begins with a slash may follow one, as in `file:///w/r`; what does not is part of a path then.
    let mut out = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for at in memchr::memmem::find_iter(bytes, from) {
        let (before, rest) = bytes.split_at(at);
        let after = rest.get(from.len()..).unwrap_or_default();
        let option = matches!(before, [.., b'-', letter] if letter.is_ascii_alphabetic());
        let inside = !option
            && before
                .last()
                .is_some_and(|byte| in_name(byte) || (*byte == b'/' && !from.starts_with(b"/")));
        if !inside && !after.first().is_some_and(in_name) {
            out.extend_from_slice(before.get(done..).unwrap_or_default());
            out.extend_from_slice(to);
            done = at + from.len();
        }
    }
    out.extend_from_slice(bytes.get(done..).unwrap_or_default());
    out
}

// Gives a file the rights of another; its owner may read and write it.
fn allow_as(at: &Path, model: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = model.permissions().mode() | 0o600;
    fs::set_permissions(at, fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::{Relink, replace_bytes};

    #[test]
    fn only_whole_names_are_replaced() {
        let text = b"/w/r/src\n/w/repo\n/w/r.old\n/srv/w/r\n./w/r\n-I/w/r\nfile:///w/r";
        assert_eq!(
            replace_bytes(text, b"/w/r", b"/c"),
            b"/c/src\n/w/repo\n/w/r.old\n/srv/w/r\n./w/r\n-I/c\nfile:///c"
        );
        let command = b"venv/bin/python /opt/venv/bin/python";
        assert_eq!(
            replace_bytes(command, b"venv", b"/c"),
            b"/c/bin/python /opt/venv/bin/python"
        );
    }

    #[test]
    fn relinks_worktree_paths_to_copy() {
        let home = tempfile::tempdir().unwrap();
        let (original, copy) = (home.path().join("r"), home.path().join("c"));
        let packages = original.join(".venv/lib/python3.12/site-packages");
        fs::create_dir_all(packages.join("dep")).unwrap();
        fs::create_dir_all(original.join("node_modules/@acme")).unwrap();
        fs::create_dir_all(original.join("node_modules/dep")).unwrap();
        fs::create_dir_all(original.join("node_modules/.vite")).unwrap();
        fs::create_dir_all(original.join(".venv/bin")).unwrap();
        fs::create_dir_all(&copy).unwrap();
        let root = original.display().to_string();
        fs::write(original.join(".venv/pyvenv.cfg"), "home = /usr/bin\n").unwrap();
        fs::write(packages.join("_pkg.pth"), format!("{root}/src\n")).unwrap();
        fs::write(
            original.join(".venv/bin/tool"),
            format!("#!{root}/.venv/bin/python\n"),
        )
        .unwrap();
        symlink(
            "../../packages/core",
            original.join("node_modules/@acme/core"),
        )
        .unwrap();
        symlink(
            format!("{root}/packages/x"),
            original.join("node_modules/x"),
        )
        .unwrap();
        let relink = Relink {
            original: &original,
            copy: &copy,
            environments: &[],
        };
        relink.relink_folder(".venv").unwrap();
        relink.relink_folder("node_modules").unwrap();
        let text = |path: &str| fs::read_to_string(copy.join(path)).unwrap();
        let link = |path: &str| fs::read_link(copy.join(path)).unwrap();
        let packages = ".venv/lib/python3.12/site-packages";
        assert_eq!(
            text(&format!("{packages}/_pkg.pth")),
            format!("{}/src\n", copy.display())
        );
        assert!(text(".venv/bin/tool").starts_with(&format!("#!{}/", copy.display())));
        assert_eq!(
            link(&format!("{packages}/dep")),
            original.join(packages).join("dep")
        );
        assert_eq!(
            link("node_modules/@acme/core").to_str(),
            Some("../../packages/core")
        );
        assert_eq!(link("node_modules/x"), copy.join("packages/x"));
        assert_eq!(link("node_modules/dep"), original.join("node_modules/dep"));
        assert!(!copy.join("node_modules/.vite").exists());
    }
}
