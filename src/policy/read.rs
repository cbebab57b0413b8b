use std::fmt;
use std::sync::LazyLock;

use super::globs::GlobList;
use super::protected::{DenyClass, DenyRow, deny_table};
#[cfg(feature = "program")]
use crate::config::Context;
use crate::model::{Code, Profile, RepoPath};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Which files of a repository may be read at all. Asked before any content is opened.
///
/// The first rule that speaks decides, compared without regard to case:
/// 1. built-in denials of credentials and of version-control internals: nothing opens them;
/// 2. the user's deny globs;
/// 3. the rest of the built-in deny list;
/// 4. the user's allow list, when there is one: what it does not name is refused;
/// 5. otherwise, with profile `spec`, that profile's allow list.
///
/// Everything else may be read.
#[derive(Debug, Clone, Default)]
pub struct ReadPolicy {
    allow: Globs,
    deny: Globs,
    profile_allow: Option<GlobSet>,
}

/// What the user says of files to read: globs of each kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadRules<'g> {
    /// When there are any, only what matches one is read.
    pub allow: &'g [String],
    /// Never read.
    pub deny: &'g [String],
}

#[cfg(feature = "program")]
impl<'g> ReadRules<'g> {
    /// Those of the settings.
    #[must_use]
    pub fn from_settings(settings: &'g Context) -> Self {
        Self {
            allow: &settings.allow,
            deny: &settings.deny,
        }
    }
}

/// Why a file is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The stable reason, one of C201 to C205.
    pub code: Code,
    /// The reason in one sentence.
    pub reason: String,
}

/// A policy that cannot be built.
#[derive(Debug)]
pub enum PolicyError {
    /// An allow or deny glob is malformed.
    Glob {
        /// The text as given.
        glob: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Glob { glob, problem } = self;
        write!(f, "`{glob}` is not a glob: {problem}")
    }
}

impl std::error::Error for PolicyError {}

impl PolicyError {
    /// The stable code of the error.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Glob { .. } => Code::U101,
        }
    }
}

/// The row of the built-in deny list that a path falls under; case does not count.
pub(super) fn built_in_denial(path: &str) -> Option<&'static DenyRow> {
    BUILT_IN.denial(&path.to_lowercase())
}

/// The policy without anything of the user's.
pub(super) fn built_in() -> &'static ReadPolicy {
    static DEFAULT: LazyLock<ReadPolicy> = LazyLock::new(ReadPolicy::default);
    &DEFAULT
}

static BUILT_IN: LazyLock<BuiltIn> = LazyLock::new(BuiltIn::new);

// The built-in deny list.
struct BuiltIn {
    rows: Vec<BuiltRow>,
    denied: GlobList,
    excepted: GlobList,
}

// Where a row's globs stand in the two lists.
struct BuiltRow {
    row: &'static DenyRow,
    globs: std::ops::Range<usize>,
    except: std::ops::Range<usize>,
}

impl BuiltIn {
    fn new() -> Self {
        let (mut denied, mut excepted, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for row in deny_table() {
            rows.push(BuiltRow {
                row,
                globs: denied.len()..denied.len() + row.globs.len(),
                except: excepted.len()..excepted.len() + row.except.len(),
            });
            denied.extend(row.globs.iter().cloned());
            excepted.extend(row.except.iter().cloned());
        }
        Self {
            rows,
            denied: GlobList::new(denied),
            excepted: GlobList::new(excepted),
        }
    }

    fn denial(&self, lower: &str) -> Option<&'static DenyRow> {
        let hits = self.denied.matches(lower);
        if hits.is_empty() {
            return None;
        }
        let exceptions = self.excepted.matches(lower);
        hits.iter().find_map(|hit| {
            let row = self.rows.iter().find(|row| row.globs.contains(hit))?;
            let excepted = exceptions.iter().any(|at| row.except.contains(at));
            (!excepted).then_some(row.row)
        })
    }
}

#[derive(Debug, Clone, Default)]
struct Globs {
    texts: Vec<String>,
    set: GlobSet,
}

// The fixed list of the profile `spec`, and `pnpm-lock.yaml`, which level 1 adds.
const SPEC_ALLOW: &[&str] = &[
    "client/**",
    "server/**",
    "tsconfig.json",
    "package.json",
    "pnpm-lock.yaml",
];

impl ReadPolicy {
    /// Builds the policy from the user's globs. A glob without `/` matches a name at any depth, one
    /// that ends in `/` a whole folder.
    ///
    /// # Errors
    /// [`PolicyError::Glob`] names the first glob that is malformed.
    pub fn new(rules: &ReadRules<'_>, profile: Profile) -> Result<Self, PolicyError> {
        let profile_allow = match profile {
            Profile::Ranked => None,
            Profile::Spec => {
                let mut builder = GlobSetBuilder::new();
                for glob in SPEC_ALLOW {
                    builder.add(compile(glob)?);
                }
                Some(build(&builder)?)
            }
        };
        Ok(Self {
            allow: Globs::new(rules.allow)?,
            deny: Globs::new(rules.deny)?,
            profile_allow,
        })
    }

    /// The reason why this file must not be read; `None` when it may be.
    #[must_use]
    pub fn refuse(&self, path: &RepoPath) -> Option<Refusal> {
        let lower = path.as_str().to_lowercase();
        let built_in = BUILT_IN.denial(&lower);
        let firm = |class| matches!(class, DenyClass::Credentials | DenyClass::Internals);
        if let Some(row) = built_in.filter(|row| firm(row.class)) {
            return Some(refusal(path, row));
        }
        if let Some(glob) = self.deny.matched(&lower) {
            return Some(Refusal {
                code: Code::C204,
                reason: format!("`{path}` is denied by `{glob}`"),
            });
        }
        if let Some(row) = built_in {
            return Some(refusal(path, row));
        }
        if !self.allow.texts.is_empty() {
            let refused = self.allow.matched(&lower).is_none();
            return refused.then(|| Refusal {
                code: Code::C205,
                reason: format!("`{path}` is not on your allow list"),
            });
        }
        let allowed = self.profile_allow.as_ref();
        if allowed.is_some_and(|set| !set.is_match(&lower)) {
            return Some(Refusal {
                code: Code::C205,
                reason: format!("`{path}` is not on the allow list of the profile `spec`"),
            });
        }
        None
    }

    /// Whether a file of this name holds credentials by its nature, wherever it lies. `path` may be
    /// absolute or relative, with `/` or `\` between components.
    #[must_use]
    pub fn is_credential_file(&self, path: &str) -> bool {
        let lower = path.replace('\\', "/").to_lowercase();
        let lower = lower.trim_start_matches(['/', '.']);
        let dotted = path
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or(path)
            .to_lowercase();
        [lower, &dotted].into_iter().any(|path| {
            (BUILT_IN.denial(path)).is_some_and(|row| row.class == DenyClass::Credentials)
        })
    }
}

impl Globs {
    fn new(globs: &[String]) -> Result<Self, PolicyError> {
        let mut builder = GlobSetBuilder::new();
        for glob in globs {
            builder.add(compile(&anywhere(glob))?);
        }
        Ok(Self {
            texts: globs.to_vec(),
            set: build(&builder)?,
        })
    }

    fn matched(&self, lower: &str) -> Option<&str> {
        let at = *self.set.matches(lower).first()?;
        self.texts.get(at).map(String::as_str)
    }
}

// The user's shorthands, as in a .gitignore: a bare name means any depth, `x/` all below x.
fn anywhere(glob: &str) -> String {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    if let Some(folder) = glob.strip_suffix('/') {
        let anchored = folder.strip_prefix('/').unwrap_or(folder);
        return format!("{anchored}/**");
    }
    match glob.strip_prefix('/') {
        Some(anchored) => anchored.to_owned(),
        None if glob.contains('/') => glob.to_owned(),
        None => format!("**/{glob}"),
    }
}

// Lower-casing both sides keeps globset's fast literal matching, which its own option gives up.
fn compile(glob: &str) -> Result<globset::Glob, PolicyError> {
    GlobBuilder::new(&glob.to_lowercase())
        .literal_separator(true)
        .build()
        .map_err(|problem| PolicyError::Glob {
            glob: glob.to_owned(),
            problem: problem.kind().to_string(),
        })
}

fn build(builder: &GlobSetBuilder) -> Result<GlobSet, PolicyError> {
    builder.build().map_err(|problem| PolicyError::Glob {
        glob: problem.glob().unwrap_or_default().to_owned(),
        problem: problem.kind().to_string(),
    })
}

fn refusal(path: &RepoPath, row: &DenyRow) -> Refusal {
    Refusal {
        code: row.class.code(),
        reason: format!("`{path}` is not read: {}", row.reason),
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, ReadPolicy, ReadRules};
    use crate::model::{Profile, RepoPath};

    fn policy(allow: &[&str], deny: &[&str], profile: Profile) -> ReadPolicy {
        let own = |globs: &[&str]| globs.iter().map(ToString::to_string).collect::<Vec<_>>();
        let rules = ReadRules {
            allow: &own(allow),
            deny: &own(deny),
        };
        ReadPolicy::new(&rules, profile).unwrap()
    }

    fn code(policy: &ReadPolicy, path: &str) -> Option<&'static str> {
        policy
            .refuse(&RepoPath::new(path).unwrap())
            .map(|refusal| refusal.code.as_str())
    }

    #[test]
    fn every_glob_is_asked_alike_for_few_paths_and_for_many() {
        for list in [&BUILT_IN.denied, &BUILT_IN.excepted] {
            let paths = list.examples();
            assert!(paths.len() > 100);
            for path in paths {
                assert!(list.agrees(&path), "{path}");
            }
        }
    }

    #[test]
    fn credentials_are_refused_by_name_in_any_case() {
        let policy = policy(&[], &[], Profile::Ranked);
        for path in [
            ".env",
            "app/.env",
            ".ENV",
            ".env.production",
            ".env.local",
            "prod.env",
            ".npmrc",
            "a/.netrc",
            ".aws/credentials",
            "deep/x.PEM",
            "id_rsa",
            "ssh/id_ed25519",
            ".ssh/config",
            ".git-credentials",
            "config/master.key",
            "infra/terraform.tfstate",
            "config/secrets.yml",
            ".docker/config.json",
        ] {
            assert_eq!(code(&policy, path), Some("C201"), "{path}");
        }
        for path in [".git/config", "sub/.git/hooks/x", ".Git/config", "lib/.git"] {
            assert_eq!(code(&policy, path), Some("C201"), "{path}");
        }
        for path in [
            "secrets/x.py",
            "node_modules/a/index.js",
            "pkg/node_modules/a.js",
            "drizzle/0001_x.sql",
            ".mendit/runs/1/run.json",
            "deploy/secrets/prod.yaml",
        ] {
            assert_eq!(code(&policy, path), Some("C203"), "{path}");
        }
    }

    #[test]
    fn ordinary_files_may_be_read() {
        let policy = policy(&[], &[], Profile::Ranked);
        for path in [
            ".env.example",
            "a/.env.sample",
            ".env.template",
            "id_rsa.pub",
            "src/id_map.py",
            "src/env.ts",
            "gitkeep",
            ".gitignore",
            ".github/workflows/ci.yml",
            "src/db/drizzle/schema.ts",
            "drizzle.config.ts",
            "src/secrets/mod.rs",
            "src/secrets.rs",
            "environment.ts",
            "keys.ts",
            "tests/test_credentials.py",
            "lib/secrets.py",
            "package.json",
            "locale/tr/messages.json",
            "docs/.envoy",
        ] {
            assert_eq!(code(&policy, path), None, "{path}");
        }
    }

    #[test]
    fn user_globs_rank_between_firm_and_soft_list() {
        let policy = policy(&[], &["*.snap", "drizzle/private/**"], Profile::Ranked);
        assert_eq!(code(&policy, "drizzle/0001.sql"), Some("C203"));
        assert_eq!(code(&policy, "secrets/other.txt"), Some("C203"));
        assert_eq!(code(&policy, ".env"), Some("C201"));
        assert_eq!(code(&policy, "a/b/c.snap"), Some("C204"));
        assert_eq!(code(&policy, ".git/config"), Some("C201"));
        assert_eq!(code(&policy, "drizzle/private/x.sql"), Some("C204"));
        assert_eq!(code(&policy, "src/other.ts"), None);
    }

    #[test]
    fn the_spec_profile_has_an_allow_list() {
        let spec = policy(&[], &[], Profile::Spec);
        assert_eq!(code(&spec, "client/src/a.tsx"), None);
        assert_eq!(code(&spec, "package.json"), None);
        assert_eq!(code(&spec, "lib/a.ts"), Some("C205"));
        assert_eq!(code(&spec, "client/.env"), Some("C201"));
        let own = policy(&["shared/**"], &[], Profile::Spec);
        assert_eq!(code(&own, "shared/schema.ts"), None);
        assert_eq!(code(&own, "client/src/a.tsx"), Some("C205"));
    }

    #[test]
    fn an_allow_list_admits_nothing_else_and_opens_nothing_that_is_closed() {
        for profile in [Profile::Ranked, Profile::Spec] {
            let policy = policy(
                &["src/**", ".env", "drizzle/**", "pkg/"],
                &["*.snap"],
                profile,
            );
            for (path, expected) in [
                ("src/a.ts", None),
                ("SRC/deep/a.ts", None),
                ("pkg/x/y.py", None),
                ("package.json", Some("C205")),
                ("lib/src/a.ts", Some("C205")),
                ("src/a.snap", Some("C204")),
                (".env", Some("C201")),
                ("src/.env", Some("C201")),
                ("src/.git/config", Some("C201")),
                ("drizzle/0001.sql", Some("C203")),
            ] {
                assert_eq!(code(&policy, path), expected, "{path}");
            }
        }
    }

    #[test]
    fn a_malformed_glob_is_named() {
        let rules = ReadRules {
            allow: &["a[".to_owned()],
            ..ReadRules::default()
        };
        let error = ReadPolicy::new(&rules, Profile::Ranked).unwrap_err();
        assert!(error.to_string().contains("a["), "{error}");
        assert_eq!(error.code().as_str(), "U101");
    }

    #[test]
    fn credential_files_are_known_by_absolute_paths_too() {
        let policy = policy(&[], &[], Profile::Ranked);
        assert!(policy.is_credential_file("/home/u/.aws/credentials"));
        assert!(policy.is_credential_file("../.env") && policy.is_credential_file("C:\\x\\.npmrc"));
        assert!(!policy.is_credential_file("/tmp/build.log") && !policy.is_credential_file("-"));
    }
}
