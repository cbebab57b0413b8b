use std::path::Path;

use crate::app::{self, App, AppError, AppOptions, ContextRequest, Input, LevelChoice, Silent};
use crate::diagnose::{LogFacts, diagnose};
use crate::graph::{Graph, Wanted, cycles, document};
use crate::model::{Diagnosis, FailurePacket, ImportsDocument, Level, RepoPath};
use crate::source::{Memory, ReadError, Source, Untracked, Worktree};

/// The import graph of a repository, computed where it is asked for.
///
/// It follows TypeScript and JavaScript (`tsconfig.json` paths, workspaces, `exports`, barrels) and
/// Python (packages, source roots, `conftest.py`).
///
/// ```
/// use mendit::ImportGraph;
///
/// let graph = ImportGraph::from_files([
///     ("tsconfig.json", r#"{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}"#),
///     ("src/cart.test.ts", "import { total } from '@/index';\n"),
///     ("src/index.ts", "export * from './total';\n"),
///     ("src/total.ts", "export const total = (rows: number[]) => rows.length;\n"),
/// ]);
///
/// // What a test imports, over two hops.
/// let closure = graph.closure(&["src/cart.test.ts"], 2);
/// let reached: Vec<(&str, u32)> = closure
///     .closure
///     .iter()
///     .map(|entry| (entry.path.as_str(), entry.hops))
///     .collect();
/// assert_eq!(
///     reached,
///     [("src/cart.test.ts", 0), ("src/index.ts", 1), ("src/total.ts", 2)]
/// );
///
/// // Where a name is defined, behind the barrel.
/// let file = graph.defining_file("src/index.ts", "total").unwrap();
/// assert_eq!(file.as_str(), "src/total.ts");
///
/// // Which files a change of `total.ts` can break.
/// let importers = graph.importers(&["src/total.ts"], 8);
/// assert!(importers.closure.iter().any(|entry| entry.path.as_str() == "src/cart.test.ts"));
/// assert!(graph.cycles().is_empty());
/// ```
pub struct ImportGraph {
    source: Box<dyn Source>,
}

impl ImportGraph {
    /// Takes files in memory, by path relative to the root. Names that are no such path are left out.
    pub fn from_files<P: AsRef<str>, B: Into<Vec<u8>>>(
        files: impl IntoIterator<Item = (P, B)>,
    ) -> Self {
        Self {
            source: Box::new(Memory::named(files)),
        }
    }

    /// Takes the files below a directory that `.gitignore` does not ignore.
    ///
    /// # Errors
    /// A directory that cannot be listed.
    pub fn from_directory(root: &Path) -> Result<Self, ReadError> {
        let worktree = Worktree::open(root, Box::new(Untracked), 0)?;
        Ok(Self {
            source: Box::new(worktree),
        })
    }

    /// Lists what every source file imports: the document of `mendit imports --graph`.
    pub fn document(&self) -> ImportsDocument {
        self.answer(&Wanted::Whole)
    }

    /// Follows the imports of some files, each name to the file that defines it.
    pub fn closure(&self, paths: &[&str], max_hops: u32) -> ImportsDocument {
        self.answer(&Wanted::Imports(repo_paths(paths), max_hops))
    }

    /// Follows imports backwards: which files import these, directly or through others.
    pub fn importers(&self, paths: &[&str], max_hops: u32) -> ImportsDocument {
        self.answer(&Wanted::Importers(repo_paths(paths), max_hops))
    }

    /// Finds the file that defines what `path` exports or imports as `name`.
    pub fn defining_file(&self, path: &str, name: &str) -> Option<RepoPath> {
        let path = RepoPath::new(path).ok()?;
        Graph::new(self.source.as_ref()).defining(&path, name)
    }

    /// Lists the import cycles, each with its files in order.
    pub fn cycles(&self) -> Vec<Vec<RepoPath>> {
        cycles(&Graph::new(self.source.as_ref()).whole())
    }

    fn answer(&self, wanted: &Wanted) -> ImportsDocument {
        document(&Graph::new(self.source.as_ref()), wanted, false)
    }
}

fn repo_paths(paths: &[&str]) -> Vec<RepoPath> {
    let valid = paths.iter().filter_map(|path| RepoPath::new(path).ok());
    valid.collect()
}

/// Facts about a log that its text does not hold.
#[derive(Debug, Clone, Default)]
pub struct LogOptions {
    /// Exit code of the command; a negative number is a signal.
    pub exit_code: Option<i32>,
    /// The command line that wrote the log.
    pub command: Option<String>,
    /// Whether a time limit ended the command.
    pub timed_out: bool,
    /// Paths of the repository's files: paths in the log are mapped to these.
    pub files: Vec<String>,
}

/// Classifies the failure that a log shows.
///
/// The text may hold terminal escapes and the prefixes of CI services. An unknown log gives the kind
/// `unknown`; no log is an error.
///
/// ```
/// use mendit::documents::FailureKind;
/// use mendit::{LogOptions, diagnose_log};
///
/// let log = "\
/// $ pytest
/// =================================== FAILURES ===================================
/// _________________________________ test_total ___________________________________
///
///     def test_total():
/// >       assert total([1, 2]) == 3
/// E       assert 2 == 3
///
/// tests/test_cart.py:5: AssertionError
/// =========================== short test summary info ============================
/// FAILED tests/test_cart.py::test_total - assert 2 == 3
/// ============================== 1 failed in 0.01s ===============================
/// ";
/// let options = LogOptions {
///     exit_code: Some(1),
///     command: Some("pytest".to_owned()),
///     timed_out: false,
///     files: vec!["tests/test_cart.py".to_owned(), "cart.py".to_owned()],
/// };
/// let diagnosis = diagnose_log(log, &options);
/// assert_eq!(diagnosis.kind, FailureKind::TestFailure);
/// assert_eq!(diagnosis.failing_tests, ["tests/test_cart.py::test_total"]);
/// assert_eq!(diagnosis.files[0].path.as_str(), "tests/test_cart.py");
/// ```
pub fn diagnose_log(log: &str, options: &LogOptions) -> Diagnosis {
    let facts = LogFacts {
        exit_code: options.exit_code,
        command: options.command.clone(),
        timed_out: options.timed_out,
    };
    let files = Memory::named(options.files.iter().map(|path| (path, "")));
    let listing = (!options.files.is_empty()).then(|| files.listing());
    diagnose(log, &facts, listing)
}

/// Builds the packet that a model or a person needs to repair a failure.
///
/// The repository's own settings and history are read, nothing is written, and secrets are masked.
///
/// ```
/// use mendit::PacketBuilder;
/// use mendit::documents::Level;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let repository = tempfile::tempdir()?;
/// let write = |name: &str, text: &str| std::fs::write(repository.path().join(name), text);
/// write("cart.py", "def total(rows):\n    return len(rows)\n")?;
/// write("test_cart.py", "from cart import total\n\ndef test_total():\n    assert total([1, 2]) == 3\n")?;
///
/// let log = "\
/// >       assert total([1, 2]) == 3
/// E       assert 2 == 3
/// test_cart.py:4: AssertionError
/// FAILED test_cart.py::test_total - assert 2 == 3
/// ";
/// let packet = PacketBuilder::new(repository.path())
///     .log(log)
///     .test_command("pytest -q")
///     .level(Level::OneHop)
///     .max_tokens(8_000)
///     .build()?;
/// let paths: Vec<&str> = packet
///     .file_snapshots
///     .iter()
///     .map(|file| file.path.as_str())
///     .collect();
/// assert_eq!(paths, ["test_cart.py", "cart.py"]);
/// # Ok(())
/// # }
/// ```
pub struct PacketBuilder {
    options: AppOptions,
    request: ContextRequest,
    max_tokens: Option<u64>,
}

impl PacketBuilder {
    /// Takes the directory that the failing command ran in.
    pub fn new(directory: impl AsRef<Path>) -> Self {
        Self {
            options: AppOptions {
                directory: directory.as_ref().to_owned(),
                ..AppOptions::default()
            },
            request: ContextRequest {
                no_cache: true,
                ..ContextRequest::default()
            },
            max_tokens: None,
        }
    }

    /// Sets the log of the failing command.
    #[must_use]
    pub fn log(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.request.log = Some(Input::held("log", text));
        self
    }

    /// Sets the text of an issue, in place of a log.
    #[must_use]
    pub fn issue(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.request.issue = Some(Input::held("issue", text));
        self
    }

    /// Adds a file or folder that the failure is about.
    #[must_use]
    pub fn target(mut self, path: impl Into<String>) -> Self {
        self.request.targets.push(path.into());
        self
    }

    /// Adds a command that shows the failure. It is not run.
    #[must_use]
    pub fn test_command(mut self, command: impl Into<String>) -> Self {
        self.request.test_commands.push(command.into());
        self
    }

    /// Sets how far to go from the targets; without it the evidence decides.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.request.level = LevelChoice::Exactly(level);
        self
    }

    /// Sets the budget of all files and the log, in estimated tokens.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Chooses the files and packs them.
    ///
    /// # Errors
    /// A directory or target that does not exist, wrong settings, or an empty log.
    pub fn build(&self) -> Result<FailurePacket, AppError> {
        let app = App::open(&self.options, &Silent, |settings| {
            if let Some(tokens) = self.max_tokens {
                settings.context.max_tokens = Some(tokens);
            }
        })?;
        let packed = app::build_context(&app, &self.request)?;
        Ok(packed.packet)
    }
}
