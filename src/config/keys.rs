/// A setting: its name in the file, its type, its default, and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// `section.name` in TOML. The environment variable is `MENDIT_SECTION_NAME`.
    pub name: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The default in TOML syntax; empty when there is none.
    pub default: &'static str,
    /// One line for people.
    pub help: &'static str,
}

/// The type of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number, 0 or more.
    Integer,
    /// One of the given words.
    Word(&'static [&'static str]),
    /// A list of glob patterns; comma-separated in the environment.
    Globs,
    /// A list of `NAME MODULE [IMPORTED] LANGUAGE`; comma-separated in the environment.
    Names,
}

impl Kind {
    /// What a value must be, in words.
    #[must_use]
    pub fn expected(self) -> String {
        match self {
            Self::Integer => "a whole number".to_owned(),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Globs => "a list of patterns".to_owned(),
            Self::Names => "a list of `NAME MODULE py` or `NAME MODULE js`".to_owned(),
        }
    }
}

/// Every setting there is, in the order `config show` prints them.
pub const KEYS: &[Key] = &[
    Key {
        name: "context.profile",
        kind: Kind::Word(&["ranked", "spec"]),
        default: "\"ranked\"",
        help: "how the places of a level are given out",
    },
    Key {
        name: "context.max-files",
        kind: Kind::Integer,
        default: "",
        help: "files beyond targets and manifests (default: the level's own cap)",
    },
    Key {
        name: "context.max-file-bytes",
        kind: Kind::Integer,
        default: "",
        help: "bytes of one file (default: the level's own cap)",
    },
    Key {
        name: "context.max-total-bytes",
        kind: Kind::Integer,
        default: "",
        help: "bytes of all files (default: the level's own cap)",
    },
    Key {
        name: "context.max-tokens",
        kind: Kind::Integer,
        default: "",
        help: "estimated tokens of all files (default: no limit)",
    },
    Key {
        name: "context.max-log-bytes",
        kind: Kind::Integer,
        default: "32768",
        help: "bytes of the log in a packet; the middle is left out",
    },
    Key {
        name: "context.allow",
        kind: Kind::Globs,
        default: "[]",
        help: "only files that match one of these may be read; empty means all",
    },
    Key {
        name: "context.deny",
        kind: Kind::Globs,
        default: "[]",
        help: "files that are never read, besides the built-in list",
    },
    Key {
        name: "hint.known",
        kind: Kind::Names,
        default: "[]",
        help: "where names come from that nothing in the repository tells",
    },
];
