use std::num::NonZeroU16;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::values::{
    Bytes, Color, CommandLines, Described, DiagnoseRule, Dollars, KnownNames, Seconds, SecretRule,
};
use crate::model::{
    AgentProtocol, SandboxMode, TestChanges, WorkplaceMode, {Profile, forget_widths},
};

/// A setting: its name, its type, and who may say it.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    path: &'static str,
    help: &'static str,
    expected: fn() -> &'static str,
    /// Whether a list adds to what weaker sources say, instead of standing in its place.
    pub adds: bool,
    /// What the repository's own file may say.
    pub trust: Trust,
    /// The value in TOML; `None` when it is not set.
    pub(super) get: fn(&Sections) -> Option<toml::Value>,
    /// Sets the value; `false` when it is of another type.
    pub(super) put: fn(&mut Sections, toml::Value) -> bool,
}

/// What the repository's own file may say of a setting.
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
    #[must_use]
    pub fn name(&self) -> String {
        self.path.replace('_', "-")
    }

    /// The environment variable: `context.max-files` is set by `MENDIT_CONTEXT_MAX_FILES`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!(
            "MENDIT_{}",
            self.path.replace('.', "_").to_ascii_uppercase()
        )
    }

    /// One line for people.
    #[must_use]
    pub fn help(&self) -> &'static str {
        self.help.trim()
    }

    /// What a value must be, in words.
    #[must_use]
    pub fn expected(&self) -> &'static str {
        (self.expected)()
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
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
        pub struct Sections {
            $(#[doc = $about] pub $section: $Section,)*
        }

        /// Every setting there is, in the order `config show` prints them.
        pub const KEYS: &[Key] = &[
            $($(
                Key {
                    path: concat!(stringify!($section), ".", stringify!($key)),
                    help: $help,
                    expected: <$type as Described>::expected,
                    adds: is_said(concat!($(stringify!($adds))?)),
                    trust: $trust,
                    get: |all| toml::Value::try_from(&all.$section.$key).ok(),
                    put: |all, value| match value.try_into::<$type>() {
                        Ok(value) => {
                            all.$section.$key = value;
                            true
                        }
                        Err(_) => false,
                    },
                },
            )*)*
        ];
    };
}

const COMMAND: Trust = Trust::Person("is a command to run");
const PASSED_ON: Trust = Trust::Person("hands variables of yours on");
const LOOSENS: Trust = Trust::Person("loosens a rule that protects you");
const YOURS: Trust = Trust::Person("is the taste of who reads");
const SPENDING: Trust = Trust::Person("spends your money");
const CONFINED: Trust = Trust::Stricter(&["off", "auto", "require"]);
const SWITCH: Trust = Trust::Stricter(&["false", "true"]);

/// The JSON Schema of a configuration file.
#[must_use]
pub fn file_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Sections).to_value();
    forget_widths(&mut schema);
    schema
}

// To add a setting: a row here. The environment's names, `config show` and the schema come from it;
// docs/configuration.md and the flag's help are held by tests.
settings! {
    /// The commands that must pass.
    test: Test {
        /// what must pass; several run in order
        command: CommandLines = CommandLines::default(), COMMAND;
        /// run once in the fresh copy before anything else
        setup: Option<String> = None, COMMAND;
        /// variables passed on to the commands: NAME or NAME=VALUE
        env: Vec<String> = Vec::new(), PASSED_ON, adds;
        /// after a failed run, look for the change that broke it, in about the time that the run took
        why: bool = true, Trust::Free;
        /// rules for logs, asked before the built-in ones: id, kind, pattern; subkind, tool, weight, example, why
        rule: Vec<DiagnoseRule> = Vec::new(), Trust::Free, adds;
    }
    /// What commands may do, and where they run.
    sandbox: Sandbox {
        /// how far writing is confined
        mode: SandboxMode = SandboxMode::Auto, CONFINED;
        /// refuse the network, loopback included
        no_net: bool = false, SWITCH;
        /// where commands and the agent may write too
        allow_write: Vec<PathBuf> = Vec::new(), LOOSENS, adds;
        /// where commands run (without: `run` and `doctor` in place, all others in an isolated copy)
        workplace: Option<WorkplaceMode> = None, LOOSENS;
        /// ignored folders that a copy needs, besides `node_modules` and `.venv`
        share: Vec<String> = Vec::new(), Trust::Inside;
    }
    /// What may be spent.
    limits: Limits {
        /// for one run of a command (without: no limit for `run`, measured for `fix`, 30 s for `doctor`)
        timeout: Option<Seconds> = None, Trust::Free;
        /// bytes of output until a command is ended
        max_output: Bytes = Bytes(256 << 20), Trust::Free;
        /// replies of the agent to try
        max_attempts: u32 = 5, Trust::Free;
        /// for all of `fix`
        budget_seconds: Seconds = Seconds::whole(1800), Trust::Free;
        /// stop when the agent reports that it has cost so much (without: no limit)
        budget_usd: Option<Dollars> = None, SPENDING;
    }
    /// What goes into a packet.
    context: Context {
        /// how the places of a level are given out
        profile: Profile = Profile::Ranked, Trust::Free;
        /// files beyond targets and manifests (without: the level's own cap)
        max_files: Option<u64> = None, Trust::Free;
        /// bytes of one file (without: the level's own cap)
        max_file_bytes: Option<Bytes> = None, Trust::Free;
        /// bytes of all files (without: the level's own cap)
        max_total_bytes: Option<Bytes> = None, Trust::Free;
        /// estimated tokens of all files (without: no limit)
        max_tokens: Option<u64> = None, Trust::Free;
        /// run failing tests once more to see what they enter, before a packet is made of their run
        trace: bool = true, Trust::Free;
        /// only files that match one of these are read; an empty list means all
        allow: Vec<String> = Vec::new(), Trust::Narrower;
        /// files that are never read, besides the built-in list
        deny: Vec<String> = Vec::new(), Trust::Free, adds;
        /// where names come from that the repository does not tell
        known: KnownNames = KnownNames::default(), Trust::Free;
    }
    /// How patches are validated.
    patch: Patch {
        /// repair nothing that is wrong in a patch
        strict: bool = false, SWITCH;
        /// what becomes of assertions that change beside the product
        tests: TestChanges = TestChanges::Told, Trust::Stricter(&["told", "refused"]);
        /// protected files that patches may change
        allow_protected: Vec<String> = Vec::new(), LOOSENS, adds;
        /// files that patches may not change, besides the built-in list
        protected: Vec<String> = Vec::new(), Trust::Free, adds;
    }
    /// Who writes patches.
    agent: Agent {
        /// the command that writes a patch
        command: Option<String> = None, COMMAND;
        /// how it is spoken to
        protocol: AgentProtocol = AgentProtocol::Json, Trust::Person("belongs to your agent");
        /// for one call
        timeout: Seconds = Seconds::whole(300), Trust::Free;
        /// variables passed on to it: NAME or NAME=VALUE
        env: Vec<String> = Vec::new(), PASSED_ON, adds;
        /// where it may write too, besides the workplace
        write: Vec<PathBuf> = Vec::new(), LOOSENS, adds;
    }
    /// What is printed, and how hard this machine works.
    output: Output {
        /// when to use color
        color: Color = Color::Auto, YOURS;
        /// threads to use (without: one for each processor)
        threads: Option<NonZeroU16> = None, YOURS;
        /// formats masked besides the built-in ones: id, pattern; keywords, why
        secret: Vec<SecretRule> = Vec::new(), Trust::Free, adds;
    }
}
