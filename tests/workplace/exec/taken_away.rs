//! What holds, and what is said, where the system refuses what the sandbox is made of.

use std::process::Output;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};

use crate::support::command;

const UNSHARE: i64 = if cfg!(target_arch = "x86_64") { 272 } else { 97 };
const MOUNT_SETATTR: i64 = 442;
const LANDLOCK: [i64; 3] = [444, 445, 446];
const NEWPID: u64 = 0x2000_0000;

struct Taken {
    what: &'static str,
    calls: Vec<(i64, Vec<SeccompRule>)>,
    /// `sandbox` of the record, and the walls that it says are missing; of the superuser alone
    /// those after the sign.
    state: &'static str,
    missing: &'static str,
    /// Whether a file outside could be written, and its mode changed.
    written: bool,
    changed: bool,
}

fn all(calls: &[i64]) -> Vec<(i64, Vec<SeccompRule>)> {
    calls.iter().map(|it| (*it, Vec::new())).collect()
}

fn cases() -> Vec<Taken> {
    let asked = SeccompCmpOp::MaskedEq(NEWPID);
    let one = SeccompCondition::new(0, SeccompCmpArgLen::Qword, asked, NEWPID).unwrap();
    let processes = vec![(UNSHARE, vec![SeccompRule::new(vec![one]).unwrap()])];
    let both = [&LANDLOCK[..], &[UNSHARE]].concat();
    vec![
        Taken {
            what: "namespaces",
            calls: all(&[UNSHARE]),
            state: "partial",
            missing: "closed metadata devices shared_memory",
            written: false,
            changed: true,
        },
        Taken {
            what: "Landlock",
            calls: all(&LANDLOCK),
            state: "partial",
            missing: "pipes",
            written: false,
            changed: false,
        },
        Taken {
            what: "both",
            calls: all(&both),
            state: "none",
            missing: "files closed metadata devices shared_memory processes",
            written: true,
            changed: true,
        },
        Taken {
            what: "attributes of mounts",
            calls: all(&[MOUNT_SETATTR]),
            state: "partial",
            missing: "closed metadata devices",
            written: false,
            changed: true,
        },
        Taken {
            what: "namespaces of processes",
            calls: processes,
            state: "enforced",
            missing: "",
            written: false,
            changed: false,
        },
    ]
}

#[test]
fn refuses_unavailable_required_confinement() {
    let build = env!("CARGO_TARGET_TMPDIR");
    if ["/tmp", "/var/tmp"].iter().any(|it| build.starts_with(it)) {
        crate::support::skip("the build's folder is a temporary one");
        return;
    }
    let (whole, _) = taken_away(&[], "auto");
    if whole["sandbox"] != "enforced" {
        crate::support::skip(&format!("not all of it is here: {whole}"));
        return;
    }
    for case in cases() {
        let (record, (written, changed)) = taken_away(&case.calls, "auto");
        let mut expected: Vec<&str> = case.missing.split_whitespace().collect();
        expected.sort_unstable();
        let said = record["notConfined"].as_array().unwrap();
        let mut walls: Vec<&str> = said.iter().map(|it| it["wall"].as_str().unwrap()).collect();
        walls.sort_unstable();
        assert_eq!(walls, expected, "{}: {record}", case.what);
        assert!(
            said.iter().all(|it| it["why"] != ""),
            "{}: {record}",
            case.what
        );
        assert_eq!(record["sandbox"], case.state, "{}: {record}", case.what);
        assert_eq!(
            (written, changed),
            (case.written, case.changed),
            "{}",
            case.what
        );
        let (record, done) = taken_away(&case.calls, "require");
        if walls.is_empty() {
            assert_eq!(record["sandbox"], "enforced", "{}", case.what);
        } else {
            assert!(record.is_null(), "{}: {record}", case.what);
            assert_eq!(done, (false, false), "{}", case.what);
        }
    }
}

// Runs a command that reaches out where these calls are refused: the record of the run, null when
// nothing was run, and whether the file outside was written and its mode changed.
fn taken_away(
    calls: &[(i64, Vec<SeccompRule>)],
    sandbox: &str,
) -> (serde_json::Value, (bool, bool)) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = folder.path().join("r");
    std::fs::create_dir(&root).unwrap();
    crate::support::git(&root, &["init", "-q"]);
    let key = folder.path().join("key");
    std::fs::write(&key, "as it was").unwrap();
    let mode = || {
        let about = key.metadata().unwrap();
        std::os::unix::fs::MetadataExt::mode(&about)
    };
    let before = mode();
    let line = format!("chmod 777 {0}; echo out > {0}; exit 0", key.display());
    let arguments = [
        "run", "--sandbox", sandbox, "--format", "json", "--", "sh", "-c", &line,
    ];
    let output = without(calls, || command(&root, &arguments).output().unwrap());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let record = match output.status.code() {
        Some(0) => serde_json::from_slice(&output.stdout).unwrap(),
        code => {
            assert!(code == Some(2) && told.contains("R105"), "{code:?} {told}");
            serde_json::Value::Null
        }
    };
    if record["sandbox"] == "partial" || record["sandbox"] == "none" {
        assert!(
            told.contains("R211") && told.contains("not confined: "),
            "{told}"
        );
    }
    let written = std::fs::read(&key).unwrap() != b"as it was";
    (record, (written, mode() != before))
}

// In a thread of its own: what is taken away stays so.
fn without(calls: &[(i64, Vec<SeccompRule>)], act: impl FnOnce() -> Output + Send) -> Output {
    std::thread::scope(|scope| {
        let acting = scope.spawn(|| {
            if !calls.is_empty() {
                let arch = std::env::consts::ARCH.try_into().unwrap();
                let refuse = SeccompAction::Errno(1);
                let rules = calls.iter().cloned().collect();
                let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch);
                let filter: BpfProgram = filter.unwrap().try_into().unwrap();
                seccompiler::apply_filter(&filter).unwrap();
            }
            act()
        });
        acting.join().unwrap()
    })
}
