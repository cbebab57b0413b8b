//! The table of all settings: name, type, default and who may set it.

use std::num::NonZeroU16;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::values::{Bytes, Color, CommandLines, Dollars, Seconds, SecretRule};
use crate::model::{AgentProtocol, Profile, SandboxMode, TestChanges, WorkplaceMode};

/// A setting: its name, its type, and who may say it.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    path: &'static str,
    /// Whether a list extends the lists of weaker sources instead of replacing them.
    pub adds: bool,
    /// How far the repository's own file may set it.
    pub trust: Trust,
}

/// How far the repository's own file may set a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Anything.
    Free,
    /// Nothing, for this reason: the end of "it ...".
    Person(&'static str),
    /// Paths inside the repository.
    Inside,
    /// No word further left than the one in force.
    Stricter(&'static [&'static str]),
    /// Nothing beyond what a list in force has.
    Narrower,
}

impl Key {
    /// `section.name`, as in the file.
    pub fn name(&self) -> String {
        self.path.replace('_', "-")
    }

    /// The environment variable: `context.max-files` is set by `MENDIT_CONTEXT_MAX_FILES`.
    pub fn variable(&self) -> String {
        format!(
            "MENDIT_{}",
            self.path.replace('.', "_").to_ascii_uppercase()
        )
    }
}

const fn is_said(word: &str) -> bool {
    !word.is_empty()
}

macro_rules! settings {
    ($(
        #[doc = $about:literal]
        $section:ident: $Section:ident {
            $(
                #[doc = $help:literal]
                $key:ident: $type:ty = $default:expr, $trust:expr $(, $adds:ident)?;
            )*
        }
    )*) => {
        $(
            #[doc = $about]
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
            pub struct $Section {
                $(#[doc = $help] pub $key: $type,)*
            }

            impl Default for $Section {
                fn default() -> Self {
                    Self { $($key: $default,)* }
                }
            }
        )*

        /// The value of every setting, by section. As serde reads it, this is one whole file.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
        pub struct Sections {
            $(#[doc = $about] pub $section: $Section,)*
        }

        /// Every setting there is, in the order `config show` prints them.
        pub const KEYS: &[Key] = &[
            $($(
                Key {
                    path: concat!(stringify!($section), ".", stringify!($key)),
                    adds: is_said(concat!($(stringify!($adds))?)),
                    trust: $trust,
                },
            )*)*
        ];
    };
}

const COMMAND: Trust = Trust::Person("names a command to run");
const PASSED_ON: Trust = Trust::Person("passes your variables on");
const LOOSENS: Trust = Trust::Person("loosens a rule that protects you");
const YOURS: Trust = Trust::Person("is a personal preference");
const SPENDING: Trust = Trust::Person("spends your money");
const CONFINED: Trust = Trust::Stricter(&["off", "auto", "require"]);
const SWITCH: Trust = Trust::Stricter(&["false", "true"]);

// To add a setting: a row here. The environment's names, `config show` come from it;
// docs/configuration.md and the flag's help are held by tests.
settings! {
    /// The commands that must pass.
    test: Test {
        /// commands that must pass, in order
        command: CommandLines = CommandLines::default(), COMMAND;
        /// run once in a fresh isolated copy
        setup: Option<String> = None, COMMAND;
        /// variables for the commands: NAME or NAME=VALUE
        env: Vec<String> = Vec::new(), PASSED_ON, adds;
        /// search for the culprit after a failed run
        why: bool = true, Trust::Free;
    }
    /// What commands may do, and where they run.
    sandbox: Sandbox {
        /// how strictly to confine writing
        mode: SandboxMode = SandboxMode::Auto, CONFINED;
        /// refuse the network, loopback included
        no_net: bool = false, SWITCH;
        /// paths that commands and agents may write
        allow_write: Vec<PathBuf> = Vec::new(), LOOSENS, adds;
        /// where commands run (default: `run` and `doctor` in place, all others in an isolated copy)
        workplace: Option<WorkplaceMode> = None, LOOSENS;
        /// ignored folders that a copy links to, besides `node_modules` and `.venv`
        share: Vec<String> = Vec::new(), Trust::Inside;
    }
    /// Budgets.
    limits: Limits {
        /// one run of a command (default: no limit for `run`, measured for `fix`, 30 s for `doctor`)
        timeout: Option<Seconds> = None, Trust::Free;
        /// bytes of output before a command is ended
        max_output: Bytes = Bytes(256 << 20), Trust::Free;
        /// agent replies to try
        max_attempts: u32 = 5, Trust::Free;
        /// all of `fix`
        budget_seconds: Seconds = Seconds::whole(1800), Trust::Free;
        /// reported cost at which to stop (default: no limit)
        budget_usd: Option<Dollars> = None, SPENDING;
    }
    /// What goes into a packet.
    context: Context {
        /// how files are chosen: by rank, or in import order
        profile: Profile = Profile::Ranked, Trust::Free;
        /// files beyond targets and manifests (default: the level's)
        max_files: Option<u64> = None, Trust::Free;
        /// bytes per file (default: the level's)
        max_file_bytes: Option<Bytes> = None, Trust::Free;
        /// bytes in total (default: the level's)
        max_total_bytes: Option<Bytes> = None, Trust::Free;
        /// estimated tokens in total (default: no limit)
        max_tokens: Option<u64> = None, Trust::Free;
        /// trace failing tests before building a packet
        trace: bool = true, Trust::Free;
        /// read only matching files; empty means all
        allow: Vec<String> = Vec::new(), Trust::Narrower;
        /// never read these, besides the built-in list
        deny: Vec<String> = Vec::new(), Trust::Free, adds;
    }
    /// How patches are validated.
    patch: Patch {
        /// correct nothing in a patch
        strict: bool = false, SWITCH;
        /// how to treat changed assertions beside a product change
        tests: TestChanges = TestChanges::Warn, Trust::Stricter(&["warn", "deny"]);
        /// protected files that patches may change
        allow_protected: Vec<String> = Vec::new(), LOOSENS, adds;
        /// more protected files, besides the built-in list
        protected: Vec<String> = Vec::new(), Trust::Free, adds;
    }
    /// Who writes patches.
    agent: Agent {
        /// the agent's name or command line
        command: Option<String> = None, COMMAND;
        /// the protocol of the agent
        protocol: AgentProtocol = AgentProtocol::Json, Trust::Person("belongs to your agent");
        /// one call of the agent
        timeout: Seconds = Seconds::whole(300), Trust::Free;
        /// variables for the agent: NAME or NAME=VALUE
        env: Vec<String> = Vec::new(), PASSED_ON, adds;
        /// paths that the agent may write, besides the isolated copy
        write: Vec<PathBuf> = Vec::new(), LOOSENS, adds;
    }
    /// Output and threads.
    output: Output {
        /// when to use color
        color: Color = Color::Auto, YOURS;
        /// threads to use (default: one per processor)
        threads: Option<NonZeroU16> = None, YOURS;
        /// secret formats besides the built-in ones: id, pattern; why
        secret: Vec<SecretRule> = Vec::new(), Trust::Free, adds;
    }
}
