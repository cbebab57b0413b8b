//! What a command tries to get out of its sandbox, in each workplace, as the superuser and as
//! somebody who is nobody: refused, or without an effect outside.

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use super::world::eventually;
use crate::support::{git, program};

const NOBODY: u32 = 65_534;

/// A user, their repository, and files outside of it.
struct Ground {
    folder: tempfile::TempDir,
    user: u32,
    other: Child,
    _abstract: UnixListener,
}

impl Ground {
    // Not below a temporary folder, which is the command's own. `None` where this user gets no way
    // to the program.
    fn of(user: u32) -> Option<Self> {
        let build = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let temporary = ["/tmp", "/var/tmp", "/dev/shm"];
        if temporary.iter().any(|it| build.starts_with(it)) {
            crate::support::skip("the build's folder is a temporary one");
            return None;
        }
        let folder = tempfile::tempdir_in(build).unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["r", "home", "out", "out/empty", "tmp"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        std::fs::write(at("out/key"), "as it was").unwrap();
        std::fs::write(at("probes.py"), include_str!("walls.py")).unwrap();
        git(&at("r"), &["init", "-q"]);
        std::fs::write(at("r/file"), "x").unwrap();
        git(&at("r"), &["add", "-A"]);
        git(&at("r"), &["commit", "-q", "-m", "files"]);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let (cwd, pipe) = (rustix::fs::CWD, rustix::fs::FileType::Fifo);
        rustix::fs::mknodat(cwd, at("out/pipe"), pipe, mode, 0).unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).unwrap();
        let mut other = Command::new("sleep");
        other.arg("600").stdin(Stdio::null()).stdout(Stdio::null());
        if user != rustix::process::geteuid().as_raw() {
            own(folder.path(), user);
            other.uid(user).gid(user);
        }
        let other = other.spawn().unwrap();
        let name = format!("mendit-walls-{}", other.id());
        let address = SocketAddr::from_abstract_name(name).unwrap();
        let ground = Self {
            _abstract: UnixListener::bind_addr(&address).unwrap(),
            folder,
            user,
            other,
        };
        let reached = ground.mendit(&["--version"]);
        if !reached.is_ok_and(|it| it.status.success()) {
            crate::support::skip(&format!("user {user} gets no way to the program"));
            return None;
        }
        Some(ground)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn mendit(&self, arguments: &[&str]) -> std::io::Result<Output> {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.at("r"));
        command.env("HOME", self.at("home"));
        command.env("TMPDIR", self.at("tmp"));
        command.env_remove("XDG_STATE_HOME").env_remove("XDG_CACHE_HOME");
        command.stdin(Stdio::null());
        if self.user != rustix::process::geteuid().as_raw() {
            command.uid(self.user).gid(self.user);
        }
        command.output()
    }

    // What of the outside must stay as it is.
    fn outside(&self) -> Vec<String> {
        let mut told: Vec<String> = std::fs::read_dir(self.at("out"))
            .unwrap()
            .map(|it| it.unwrap().path())
            .chain([self.at("out"), PathBuf::from("/dev/null")])
            .map(|at| {
                let is = at.symlink_metadata().unwrap();
                let name = at.display();
                format!(
                    "{name} {:o} {} {} {}",
                    is.mode(),
                    is.uid(),
                    is.mtime(),
                    is.len()
                )
            })
            .filter(|it| !it.starts_with("/dev/null") || !it.is_empty())
            .collect();
        told.sort();
        // The time of a device changes whenever anybody writes to it.
        told.iter_mut()
            .filter(|it| it.starts_with("/dev/null"))
            .for_each(|it| it.truncate("/dev/null 20666".len()));
        told.push(std::fs::read_to_string(self.at("out/key")).unwrap());
        told.push(self.at("r/.git/hooks/pre-commit").exists().to_string());
        let shared = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
        told.push(format!("{}", shared.contains("1835363940")));
        for place in ["/tmp", "/dev/shm"] {
            let left = Path::new(place).join(format!("mendit-walls-{}", self.other.id()));
            told.push(format!("{}", left.exists()));
        }
        told
    }

    fn of_probes(&self) -> Vec<String> {
        let here = self.at("probes.py").display().to_string();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&line).contains(&here) {
                found.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        found
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = self.other.kill();
        let _ = self.other.wait();
    }
}

fn own(at: &Path, user: u32) {
    chown(at, Some(user), Some(user)).unwrap();
    if at.is_dir() && !at.is_symlink() {
        for entry in std::fs::read_dir(at).unwrap() {
            own(&entry.unwrap().path(), user);
        }
    }
}

// One that there is, if any.
fn block_device() -> String {
    use std::os::unix::fs::FileTypeExt as _;
    let mut all = std::fs::read_dir("/dev").unwrap().flatten();
    let found = all.find(|it| it.file_type().is_ok_and(|kind| kind.is_block_device()));
    found.map_or("/dev/loop0".to_owned(), |it| {
        it.path().display().to_string()
    })
}

fn users() -> Vec<u32> {
    match rustix::process::geteuid().as_raw() {
        0 => vec![0, NOBODY],
        user => vec![user],
    }
}

#[test]
fn refuses_escape_from_every_workplace() {
    for user in users() {
        let Some(ground) = Ground::of(user) else {
            continue;
        };
        let before = ground.outside();
        for place in ["overlay", "copy", "in-place"] {
            let (probes, out) = (ground.at("probes.py"), ground.at("out"));
            let (probes, out) = (probes.to_str().unwrap(), out.to_str().unwrap());
            let (pid, block) = (ground.other.id().to_string(), block_device());
            let mut arguments = vec!["run", "--sandbox", "require"];
            if place != "in-place" {
                arguments.extend(["--workplace", place]);
            }
            arguments.extend(["--", "python3", probes, out, &pid, &block]);
            let output = ground.mendit(&arguments).unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            let told = String::from_utf8_lossy(&output.stderr);
            if told.contains("R105") || told.contains("no overlay") {
                crate::support::skip(&format!("{place} of user {user}: {told}"));
                continue;
            }
            if output.status.code() == Some(2) {
                crate::support::skip(&format!("no python3 here: {told}"));
                return;
            }
            let (mut count, mut wrong) = (0, Vec::new());
            for row in said.lines() {
                let mut cells = row.split('\t');
                let (name, end) = (cells.next().unwrap(), cells.next().unwrap());
                // A repository of its own, or one that is gone with the command.
                let own = name == "git hook" && place != "in-place";
                let done = own || name.starts_with("works ");
                if end != if done { "done" } else { "refused" } {
                    wrong.push(row);
                }
                count += 1;
            }
            assert!(wrong.is_empty(), "{place}, user {user}: {wrong:#?}\n{told}");
            assert!(count > 70, "{count}: {said}{told}");
            assert_eq!(ground.outside(), before, "{place}, user {user}");
            assert!(told.contains("R210"), "{told}");
            eventually("what it left ends", || ground.of_probes().is_empty());
            assert!(Path::new(&format!("/proc/{pid}")).exists());
            let _ = std::fs::remove_dir_all(ground.at("r/d"));
            for made in ["link", "same", "taken"] {
                let _ = std::fs::remove_file(ground.at("r").join(made));
            }
        }
    }
}
