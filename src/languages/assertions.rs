use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use tree_sitter::Node;

/// What a node is, whatever the grammar of its language calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Role {
    /// A literal.
    Value,
    /// A text.
    Text,
    /// What is put into a text.
    Hole,
    /// A collection, of which each member is exchanged; what stands in parentheses.
    List,
    /// A key and its value.
    Pair,
    /// What says what its parts say.
    Same,
    /// What is computed of its parts.
    Computed,
    /// A name.
    Name,
    /// What is taken out of something.
    Member,
    /// A call, also of what makes something new.
    Call,
    /// A function, which may be a test.
    Function,
    /// What has tests in it, by its name.
    Group,
    /// What gives a value to a name.
    Binding,
    /// What gives another to one.
    Rebinding,
    /// An assertion that is no call.
    Statement,
    /// What is not looked into.
    Apart,
}

/// How a call asserts something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Asserts {
    /// Two of its arguments are the same.
    Pair,
    /// The same, where it is asked whether that is true.
    Agrees,
    /// Its argument is what is expected.
    Value,
    /// The same, and it must stay one of a length.
    Length,
    /// Only a text says what is expected.
    Text,
    /// A type of errors, or their text.
    Raises,
    /// A text that the runner wrote.
    Snapshot,
    /// Its argument is true.
    Truth,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    language: String,
    names: Vec<String>,
    asserts: Asserts,
    /// The place of the argument that counts, from 0.
    #[serde(default)]
    at: usize,
    #[serde(rename = "seen")]
    _seen: String,
}

/// How a language writes tests and what they expect.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shape {
    language: String,
    /// Functions that make values of values, and names of values.
    pub(super) makes: Vec<String>,
    /// Calls that stand around what is expected.
    pub(super) around: Vec<String>,
    /// A function that gives a value far from another, of the same kind where that is known.
    pub(super) other: String,
    /// A type of errors that nothing raises.
    pub(super) other_error: String,
    /// An expression that raises an error.
    pub(super) raises: String,
    kinds: HashMap<Role, Vec<String>>,
    #[serde(rename = "seen")]
    _seen: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    assertion: Vec<Row>,
    shape: Vec<Shape>,
}

#[expect(clippy::expect_used, reason = "embedded and tested")]
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    crate::model::read_table(embedded!("languages/assertions.toml"))
        .expect("assertions.toml parses")
});

// Roles by language and kind.
static ROLES: LazyLock<HashMap<(&str, &str), Role>> = LazyLock::new(|| {
    let kinds = TABLE.shape.iter().flat_map(|shape| {
        let roles = shape.kinds.iter();
        roles.flat_map(|(role, kinds)| kinds.iter().map(|it| ((&*shape.language, &**it), *role)))
    });
    kinds.collect()
});

impl Shape {
    /// That of a language by its name.
    pub(super) fn for_language(language: &str) -> Option<&'static Self> {
        TABLE.shape.iter().find(|it| it.language == language)
    }

    /// What a node is in this language; `None` for what is nothing of interest.
    pub(super) fn role(&self, node: Node<'_>) -> Option<Role> {
        ROLES.get(&(&*self.language, node.kind())).copied()
    }

    /// What a call of this name asserts, and by which argument.
    pub(super) fn asserts(&self, name: &str) -> Option<(Asserts, usize)> {
        let matches_row =
            |row: &&Row| row.language == self.language && row.names.iter().any(|it| it == name);
        let row = TABLE.assertion.iter().find(matches_row)?;
        Some((row.asserts, row.at))
    }
}
