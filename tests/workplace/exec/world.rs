use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mendit::internals::exec::{
    CommandLine, Discard, Job, Limits, Outcome, Stop, run, set_supervisor,
};

/// A directory, and a mark that every process of the test carries in its environment.
pub(crate) struct World {
    directory: tempfile::TempDir,
    pub(crate) mark: String,
}

impl World {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        set_supervisor(crate::support::program());
        let count = COUNT.fetch_add(1, Ordering::SeqCst);
        Self {
            directory: tempfile::tempdir().unwrap(),
            mark: format!("MENDIT_MARK={}-{count}-", std::process::id()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A job for the shell that carries the mark and has a short grace.
    pub(crate) fn job(&self, line: &str) -> Job {
        let mut job = Job::new(CommandLine::Shell(line.to_owned()), self.path());
        job.environment.allow.push(self.mark.clone());
        job.limits = Limits {
            timeout: Some(Duration::from_mins(1)),
            grace: Duration::from_millis(200),
            ..Limits::default()
        };
        job
    }

    pub(crate) fn run(&self, line: &str) -> Outcome {
        run(&self.job(line), &Stop::new(), &mut Discard).unwrap()
    }

    /// Living processes that carry the mark.
    pub(crate) fn alive(&self) -> Vec<String> {
        let marked = |pid: &str| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut variables = environment.split(|byte| *byte == 0);
            variables.any(|variable| variable == self.mark.as_bytes())
        };
        std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && marked(name))
            .collect()
    }
}

/// Waits until it holds; fails the test when it never does.
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
