use std::collections::{HashMap, HashSet};

use tree_sitter::{Node, Tree};

use crate::languages::facts::Code;
use crate::languages::language::Grammar;
use crate::languages::literal::{Syntax, line_of, text_of};
use crate::languages::parse::parse;
use crate::model::RepoPath;

/// Nodes inside nodes that are looked into.
pub(in crate::languages) const MAX_DEPTH: usize = 300;
/// Literals put together that are read as one.
const MAX_PARTS: usize = 10_000;
/// Code in strings inside code in strings.
const MAX_QUOTED: usize = 3;
/// Characters of code that a finding shows.
const SHOWN: usize = 80;

/// The places of a file that meddle with its process or with its test runner, in source order.
///
/// Never fails; a file in no known language has none. Code that only runs when it is called by
/// others may end the process in the ordinary way; what runs as the file is loaded may not.
#[must_use]
pub fn meddling(path: &RepoPath, bytes: &[u8]) -> Vec<Meddling> {
    let Some(code) = Code::of(path, bytes) else {
        return Vec::new();
    };
    let head = code.head();
    let mut found = Findings {
        is_entry: is_entry(path.as_str(), head),
        ..Findings::default()
    };
    source(code.grammar, code.language.meddling, head, &mut found);
    let mut found = found.all;
    found.sort_by_key(|finding| finding.line);
    found
}

/// What is found, and what is known of the file as a whole.
#[derive(Default)]
pub(in crate::languages) struct Findings {
    all: Vec<Meddling>,
    /// Whether the file is made to be started, not imported.
    pub(in crate::languages) is_entry: bool,
    // The line that holds the code, for code in a string.
    line: Option<u32>,
    quoted: usize,
}

impl Findings {
    pub(in crate::languages) fn add(&mut self, what: Meddles, node: Node<'_>, text: &[u8]) {
        let code = text_of(node, text);
        let folded: Vec<&str> = code.split_whitespace().collect();
        self.all.push(Meddling {
            what,
            line: self.line.unwrap_or_else(|| line_of(node)),
            text: folded.join(" ").chars().take(SHOWN).collect(),
        });
    }

    /// Looks into code that stands in a string.
    pub(in crate::languages) fn quoted(
        &mut self,
        grammar: &'static Grammar,
        read: fn(&Tree, &[u8], &mut Self),
        code: &str,
        at: Node<'_>,
    ) {
        if self.quoted >= MAX_QUOTED {
            return;
        }
        let line = self.line;
        self.line = Some(line.unwrap_or_else(|| line_of(at)));
        self.quoted += 1;
        source(grammar, read, code.as_bytes(), self);
        self.quoted -= 1;
        self.line = line;
    }
}

fn source(
    grammar: &'static Grammar,
    read: fn(&Tree, &[u8], &mut Findings),
    text: &[u8],
    found: &mut Findings,
) {
    if let Some(tree) = parse(grammar, text) {
        read(&tree, text, found);
    }
}

// Made to be started: by its first line, its name or where programs stand.
fn is_entry(path: &str, text: &[u8]) -> bool {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    text.starts_with(b"#!")
        || name == "__main__.py"
        || directory
            .split('/')
            .any(|part| matches!(part, "bin" | "scripts" | "script" | "tools"))
}

/// Where a walk stands.
#[derive(Clone, Copy)]
pub(in crate::languages) struct At {
    /// Whether this runs as the file is loaded.
    pub(in crate::languages) loads: bool,
    /// Whether nothing but the file stands around it.
    pub(in crate::languages) top: bool,
    pub(in crate::languages) depth: usize,
}

impl At {
    /// The file's own statements.
    pub(in crate::languages) const LOADED: Self = Self {
        loads: true,
        top: true,
        depth: 0,
    };

    /// One node further down in the same statement.
    pub(in crate::languages) fn below(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }

    /// Inside of something.
    pub(in crate::languages) fn inside(self) -> Self {
        Self {
            top: false,
            ..self.below()
        }
    }

    /// Inside of what runs when it is called.
    pub(in crate::languages) fn later(self) -> Self {
        Self {
            loads: false,
            ..self.inside()
        }
    }
}

/// What a node means for the calls that a file makes as it is loaded.
pub(in crate::languages) enum Part<'t> {
    /// A function under this name: what it calls is called when it is.
    Function(String, Node<'t>),
    /// What runs later or never.
    Later,
    /// What is called here, if it has a name, and more below.
    Calls(Option<Node<'t>>),
}

/// The functions that a file's own statements call as it is loaded, and what these call in turn.
pub(in crate::languages) fn called<'t>(
    root: Node<'t>,
    text: &[u8],
    part: &impl Fn(Node<'t>) -> Part<'t>,
) -> HashSet<String> {
    let (mut now, mut bodies) = (HashSet::new(), HashMap::new());
    collect_calls((root, 0), text, part, &mut now, &mut bodies);
    let mut called = HashSet::new();
    let mut open: Vec<String> = now.into_iter().collect();
    while let Some(name) = open.pop() {
        if called.insert(name.clone()) {
            open.extend(bodies.remove(&name).into_iter().flatten());
        }
    }
    called
}

fn collect_calls<'t>(
    (node, depth): (Node<'t>, usize),
    text: &[u8],
    part: &impl Fn(Node<'t>) -> Part<'t>,
    into: &mut HashSet<String>,
    bodies: &mut HashMap<String, HashSet<String>>,
) {
    if depth > MAX_DEPTH {
        return;
    }
    for child in node.named() {
        match part(child) {
            Part::Function(name, function) => {
                let mut inner = bodies.remove(&name).unwrap_or_default();
                collect_calls((function, depth + 1), text, part, &mut inner, bodies);
                bodies.insert(name, inner);
            }
            Part::Later => {}
            Part::Calls(callee) => {
                let named = callee.filter(|callee| callee.kind() == "identifier");
                into.extend(named.map(|callee| text_of(callee, text)));
                collect_calls((child, depth + 1), text, part, into, bodies);
            }
        }
    }
}

/// The text of literals that are put together with `+`, which nests to the left.
pub(in crate::languages) fn sum<'t>(
    mut node: Node<'t>,
    value: impl Fn(Node<'t>) -> Option<String>,
) -> Option<String> {
    let mut parts = Vec::new();
    while matches!(node.kind(), "binary_operator" | "binary_expression") {
        let is_sum = node.field("operator")?.kind() == "+";
        (is_sum && parts.len() < MAX_PARTS).then_some(())?;
        parts.push(value(node.field("right")?)?);
        node = node.field("left")?;
    }
    parts.push(value(node)?);
    parts.reverse();
    Some(parts.concat())
}

/// One place where code meddles with its process or with its test runner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Meddling {
    /// What it does.
    pub what: Meddles,
    /// 1-based line.
    pub line: u32,
    /// The code, white space folded, at most 80 characters.
    pub text: String,
}

/// The ways to meddle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Meddles {
    /// Ends the process as it is loaded, or in a way that nothing can stop.
    EndsProcess,
    /// Decides how the process ends when it ends by itself.
    AtExit,
    /// Skips the test that calls it.
    Skips,
    /// Uses a test runner.
    UsesRunner,
    /// Changes a test runner, or what it stands on.
    Patches,
    /// Changes which module an import gives.
    ReplacesModule,
    /// Watches or stops other code as it runs.
    Traces,
    /// Looks at who calls it.
    LooksAtCallers,
    /// Asks whether a test runs.
    DetectsTests,
    /// Is equal to anything.
    EqualsAnything,
    /// Runs code that is not to be read.
    RunsHiddenCode,
}

impl Meddles {
    /// What the code does, after "it".
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EndsProcess => "ends the process",
            Self::AtExit => "decides how the process ends",
            Self::Skips => "skips the test that runs it",
            Self::UsesRunner => "uses a test runner",
            Self::Patches => "changes a test runner or what it stands on",
            Self::ReplacesModule => "changes which module an import gives",
            Self::Traces => "watches other code as it runs",
            Self::LooksAtCallers => "looks at who calls it",
            Self::DetectsTests => "asks whether a test runs",
            Self::EqualsAnything => "is equal to anything",
            Self::RunsHiddenCode => "runs code that is not to be read",
        }
    }
}
