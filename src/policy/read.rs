//! Files that may be read at all. Asked before any content is opened.

use globset::GlobSet;

use super::globs::compile_globs;
use super::guards::read_denial;
#[cfg(feature = "program")]
use crate::config::Context;
use crate::model::{Code, Profile, RepoPath};

/// Decides which files of a repository may be read.
///
/// The first rule that speaks decides, compared without regard to case:
/// 1. built-in denials of credentials and of version-control internals: nothing opens them;
/// 2. the user's deny globs;
/// 3. the rest of the built-in deny list;
/// 4. the user's allow list, when there is one: a file it does not name is refused;
/// 5. otherwise, with profile `spec`, that profile's allow list.
///
/// Everything else may be read.
#[derive(Debug, Clone, Default)]
pub struct ReadPolicy {
    allow: Option<GlobSet>,
    deny: GlobSet,
    profile_allow: Option<GlobSet>,
}

/// The user's globs of files to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadRules<'g> {
    /// When there are any, only files that match one are read.
    pub allow: &'g [String],
    /// Never read.
    pub deny: &'g [String],
}

#[cfg(feature = "program")]
impl<'g> ReadRules<'g> {
    /// Returns those of the settings.
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

/// An allow or deny glob that is malformed.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` is not a glob: {problem}")]
pub struct PolicyError {
    glob: String,
    problem: String,
}

impl PolicyError {
    /// The stable code of the error.
    pub fn code(&self) -> Code {
        Code::U101
    }
}

/// How firm a built-in denial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DenyClass {
    /// Holds credentials by its nature: never read, whatever the user allows.
    Credentials,
    /// Internals of git and other version control: never read.
    Internals,
    /// Not worth sending, or often private.
    Policy,
}

// The fixed list of the profile `spec`, and `pnpm-lock.yaml`, which level 1 adds.
const SPEC_ALLOW: [&str; 5] = [
    "client/", "server/", "/tsconfig.json", "/package.json", "/pnpm-lock.yaml",
];

impl ReadPolicy {
    /// Builds the policy from the user's globs. A glob without `/` matches a name at any depth, one
    /// that ends in `/` a whole folder.
    ///
    /// # Errors
    /// [`PolicyError`] names the first glob that is malformed.
    pub fn new(rules: &ReadRules<'_>, profile: Profile) -> Result<Self, PolicyError> {
        let profile_allow = match profile {
            Profile::Ranked => None,
            Profile::Spec => Some(compile(&SPEC_ALLOW.map(str::to_owned))?),
        };
        let allow = (!rules.allow.is_empty()).then(|| compile(rules.allow));
        Ok(Self {
            allow: allow.transpose()?,
            deny: compile(rules.deny)?,
            profile_allow,
        })
    }

    /// Returns the reason why this file must not be read; `None` when it may be.
    pub fn refuse(&self, path: &RepoPath) -> Option<Refusal> {
        let lower = path.as_str().to_lowercase();
        let denial = read_denial(&lower);
        let (code, reason) = match denial {
            Some(row) if (row.read != Some(DenyClass::Policy)) => {
                (Code::C201, format!("is not read: {}", row.reason))
            }
            _ if self.deny.is_match(&lower) => (Code::C204, "is on your deny list".to_owned()),
            Some(row) => (Code::C203, format!("is not read: {}", row.reason)),
            None if self.allow.is_some() => match is_allowed(self.allow.as_ref(), &lower) {
                true => return None,
                false => (Code::C205, "is not on your allow list".to_owned()),
            },
            None if is_allowed(self.profile_allow.as_ref(), &lower) => return None,
            None => {
                let reason = "is not on the allow list of the profile `spec`";
                (Code::C205, reason.to_owned())
            }
        };
        Some(Refusal {
            code,
            reason: format!("`{path}` {reason}"),
        })
    }

    /// Whether a file of this name holds credentials by its nature, wherever it lies. `path` may be
    /// absolute or relative, with `/` or `\` between components.
    pub fn is_credential_file(&self, path: &str) -> bool {
        let path = path.replace('\\', "/");
        let relative = path.trim_start_matches(['/', '.']);
        let name = path.rsplit('/').next().unwrap_or_default();
        let mut rows = [relative, name].into_iter().filter_map(read_denial);
        rows.any(|row| row.read == Some(DenyClass::Credentials))
    }
}

fn is_allowed(globs: Option<&GlobSet>, lower: &str) -> bool {
    globs.is_none_or(|globs| globs.is_match(lower))
}

fn compile(globs: &[String]) -> Result<GlobSet, PolicyError> {
    compile_globs(globs).map_err(|(glob, problem)| PolicyError { glob, problem })
}

#[cfg(test)]
mod tests {
    use super::{ReadPolicy, ReadRules};
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
    fn refuses_credential_files_in_any_case() {
        let policy = policy(&[], &[], Profile::Ranked);
        for path in [
            ".env", "app/.env", ".ENV", ".env.production", ".env.local", "prod.env", ".npmrc",
            "a/.netrc", ".aws/credentials", "deep/x.PEM", "id_rsa", "ssh/id_ed25519",
            ".ssh/config", ".git-credentials", "config/master.key", "infra/terraform.tfstate",
            "config/secrets.yml", ".docker/config.json",
        ] {
            assert_eq!(code(&policy, path), Some("C201"), "{path}");
        }
        for path in [".git/config", "sub/.git/hooks/x", ".Git/config", "lib/.git"] {
            assert_eq!(code(&policy, path), Some("C201"), "{path}");
        }
        for path in [
            "secrets/x.py", "node_modules/a/index.js", "pkg/node_modules/a.js",
            "drizzle/0001_x.sql", ".mendit/runs/1/run.json", "deploy/secrets/prod.yaml",
        ] {
            assert_eq!(code(&policy, path), Some("C203"), "{path}");
        }
    }

    #[test]
    fn ordinary_files_may_be_read() {
        let policy = policy(&[], &[], Profile::Ranked);
        for path in [
            ".env.example", "a/.env.sample", ".env.template", "id_rsa.pub", "src/id_map.py",
            "src/env.ts", "gitkeep", ".gitignore", ".github/workflows/ci.yml",
            "src/db/drizzle/schema.ts", "drizzle.config.ts", "src/secrets/mod.rs",
            "src/secrets.rs", "environment.ts", "keys.ts", "tests/test_credentials.py",
            "lib/secrets.py", "package.json", "locale/tr/messages.json", "docs/.envoy",
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
    fn spec_profile_has_allowlist() {
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
    fn allowlist_excludes_rest_and_keeps_denials() {
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
    fn names_malformed_glob() {
        let rules = ReadRules {
            allow: &["a[".to_owned()],
            ..ReadRules::default()
        };
        let error = ReadPolicy::new(&rules, Profile::Ranked).unwrap_err();
        assert!(error.to_string().contains("a["), "{error}");
        assert_eq!(error.code().as_str(), "U101");
    }

    #[test]
    fn knows_credential_files_by_absolute_path() {
        let policy = policy(&[], &[], Profile::Ranked);
        assert!(policy.is_credential_file("/home/u/.aws/credentials"));
        assert!(policy.is_credential_file("../.env") && policy.is_credential_file("C:\\x\\.npmrc"));
        assert!(!policy.is_credential_file("/tmp/build.log") && !policy.is_credential_file("-"));
    }
}
