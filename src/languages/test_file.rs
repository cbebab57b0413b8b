use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use super::facts::Code;
use super::language::Language;
use super::literal::{Syntax, line_of, text_of};
use crate::model::RepoPath;

/// Longer files, and statements nested deeper, are not read.
const MAX_BYTES: usize = 1 << 20;
const MAX_DEPTH: usize = 100;

/// What a file of tests says, by its tree: comments, white space, quotes and trailing commas aside.
/// `None` for a file in no known language, and for one that does not parse or is too long.
#[must_use]
pub fn test_file(path: &RepoPath, bytes: &[u8]) -> Option<TestFile> {
    let code = Code::of(path, bytes).filter(|it| it.cut.is_none() && bytes.len() <= MAX_BYTES)?;
    let tree = code.tree().filter(|it| !it.root_node().has_error())?;
    let module = Scope {
        kind: ScopeKind::Function,
        name: String::new(),
        marks: Vec::new(),
        rows: Vec::new(),
        collects: true,
        parent: None,
        lines: 0..u32::MAX,
    };
    let mut reader = Reader {
        text: code.head(),
        language: code.language,
        file: TestFile {
            scopes: vec![module],
            ..TestFile::default()
        },
        is_whole: true,
    };
    reader.statements(tree.root_node(), 0, 0);
    reader.is_whole.then_some(reader.file)
}

/// A file of tests as nested scopes and the statements in them.
#[derive(Debug, Default)]
pub struct TestFile {
    /// The file itself first, each scope after the one around it.
    pub scopes: Vec<Scope>,
    /// In source order.
    pub statements: Vec<Statement>,
    /// The names that imports bind.
    pub imports: Vec<Imported>,
}

/// A name that an import binds, the name that the module has for it, and the module as it is written.
pub type Imported = (String, String, String);

/// What stands around statements.
#[derive(Debug)]
pub struct Scope {
    /// What it is.
    pub kind: ScopeKind,
    /// Its name or title; for a construct its code without its bodies.
    pub name: String,
    /// Decorators, modifiers and options.
    pub marks: Vec<Mark>,
    /// The rows of data that a case runs with.
    pub rows: Vec<String>,
    /// Whether a runner looks for cases in it.
    pub collects: bool,
    /// The place of the scope around it.
    pub parent: Option<usize>,
    /// 1-based lines.
    pub lines: Range<u32>,
}

/// The kinds of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScopeKind {
    /// A test.
    Case,
    /// A class of tests, or a block that describes some.
    Group,
    /// A function that is no test.
    Function,
    /// A condition, a loop and whatever else holds statements.
    Construct,
    /// A function without a name of its own, or an object or class of some.
    Callback,
}

/// What says how a case runs.
#[derive(Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its code.
    pub code: String,
    /// The name that it begins with.
    pub root: String,
    /// Whether less is run or asked with it.
    pub loosens: bool,
}

/// One statement; of a compound one its head.
#[derive(Debug, Default)]
pub struct Statement {
    /// The place of its scope.
    pub scope: usize,
    /// 1-based.
    pub line: u32,
    /// Its tree.
    pub code: String,
    /// Its text, the bodies in it aside.
    pub text: String,
    /// The names in it.
    pub names: BTreeSet<String>,
    /// The names that it binds or deletes, and whether to a literal.
    pub binds: Vec<(String, bool)>,
    /// Whether and how it ends what it stands in.
    pub ends: Option<Ends>,
}

/// How a statement ends its function or its loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// What follows is not run.
    Here,
    /// By an error.
    Raises,
    /// The whole is not run at all, as a generator that nobody asks.
    Whole,
}

/// What a statement is to a reader of tests.
pub(super) enum TestPart<'t> {
    /// A comment, a string that stands by itself, a type.
    Nothing,
    /// Names as in [`TestFile::imports`].
    Imports(Vec<Imported>),
    Scope(Opened<'t>),
    /// Bodies of its own; the code of `whole` belongs to what it says.
    Compound {
        bodies: Vec<Node<'t>>,
        whole: Vec<Node<'t>>,
        /// As for `Plain`.
        binds: Vec<(String, bool)>,
    },
    Plain {
        bodies: Vec<Node<'t>>,
        binds: Vec<(String, bool)>,
        ends: Option<Ends>,
    },
}

/// A scope that a statement opens.
pub(super) struct Opened<'t> {
    pub(super) kind: ScopeKind,
    pub(super) name: String,
    pub(super) marks: Vec<Mark>,
    pub(super) rows: Vec<String>,
    pub(super) collects: bool,
    pub(super) body: Node<'t>,
    /// Whether its name is a name of the file.
    pub(super) binds: bool,
    /// The names in its head.
    pub(super) names: BTreeSet<String>,
    /// The names that its parameters bind.
    pub(super) parameters: BTreeSet<String>,
}

struct Reader<'r> {
    text: &'r [u8],
    language: &'static Language,
    file: TestFile,
    is_whole: bool,
}

impl Reader<'_> {
    fn statements(&mut self, block: Node<'_>, scope: usize, depth: usize) {
        if depth > MAX_DEPTH {
            self.is_whole = false;
            return;
        }
        for node in block.named() {
            self.statement(node, scope, depth);
        }
    }

    fn statement(&mut self, node: Node<'_>, scope: usize, depth: usize) {
        let is_inside = self.is_in_function(scope);
        match (self.language.test_part)(node, self.text, is_inside) {
            TestPart::Nothing => {}
            TestPart::Imports(names) => self.file.imports.extend(names),
            TestPart::Scope(opened) => self.opened(node, opened, scope, depth),
            TestPart::Compound {
                bodies,
                whole,
                binds,
            } => {
                let mut head = code_without(node, self.text, &bodies);
                self.add(node, scope, head.clone(), &bodies, binds, None);
                for part in whole {
                    head.push_str(&code_of(part, self.text));
                }
                self.bodies(&bodies, ScopeKind::Construct, &head, scope, depth);
            }
            TestPart::Plain {
                bodies,
                binds,
                ends,
            } => {
                let code = code_of(node, self.text);
                self.add(node, scope, code, &bodies, binds, ends);
                if !bodies.is_empty() {
                    let head = code_without(node, self.text, &bodies);
                    self.bodies(&bodies, ScopeKind::Callback, &head, scope, depth);
                }
            }
        }
    }

    fn is_in_function(&self, scope: usize) -> bool {
        let mut at = scope;
        while let Some(one) = self.file.scopes.get(at) {
            let Some(parent) = one.parent else {
                return false;
            };
            if matches!(one.kind, ScopeKind::Case | ScopeKind::Function) {
                return true;
            }
            at = parent;
        }
        false
    }

    fn opened(&mut self, node: Node<'_>, opened: Opened<'_>, scope: usize, depth: usize) {
        if opened.binds || !opened.names.is_empty() {
            let binds = opened.binds.then(|| (opened.name.clone(), false));
            self.file.statements.push(Statement {
                scope,
                line: line_of(node),
                code: opened.name.clone(),
                names: opened.names,
                binds: binds.into_iter().collect(),
                ..Statement::default()
            });
        }
        let inner = self.open(Scope {
            kind: opened.kind,
            name: opened.name,
            marks: opened.marks,
            rows: opened.rows,
            collects: opened.collects,
            parent: Some(scope),
            lines: lines_of(node),
        });
        for name in opened.parameters {
            self.file.statements.push(Statement {
                scope: inner,
                line: line_of(node),
                code: format!("parameter {name}"),
                binds: vec![(name, false)],
                ..Statement::default()
            });
        }
        let is_block = self.language.test_blocks.contains(&opened.body.kind());
        if is_block {
            self.statements(opened.body, inner, depth + 1);
        } else {
            let code = code_of(opened.body, self.text);
            self.add(opened.body, inner, code, &[], Vec::new(), None);
        }
    }

    fn bodies(
        &mut self,
        bodies: &[Node<'_>],
        kind: ScopeKind,
        head: &str,
        scope: usize,
        depth: usize,
    ) {
        for (at, body) in bodies.iter().enumerate() {
            let inner = self.open(Scope {
                kind,
                name: format!("{at} {head}"),
                marks: Vec::new(),
                rows: Vec::new(),
                collects: false,
                parent: Some(scope),
                lines: lines_of(*body),
            });
            if self.language.test_blocks.contains(&body.kind()) {
                self.statements(*body, inner, depth + 1);
            } else if depth < MAX_DEPTH {
                self.statement(*body, inner, depth + 1);
            } else {
                self.is_whole = false;
            }
        }
    }

    fn open(&mut self, scope: Scope) -> usize {
        self.file.scopes.push(scope);
        self.file.scopes.len() - 1
    }

    fn add(
        &mut self,
        node: Node<'_>,
        scope: usize,
        code: String,
        bodies: &[Node<'_>],
        binds: Vec<(String, bool)>,
        ends: Option<Ends>,
    ) {
        let mut text = Vec::new();
        let mut from = node.start_byte();
        for body in bodies {
            text.extend_from_slice(self.text.get(from..body.start_byte()).unwrap_or_default());
            from = body.end_byte();
        }
        text.extend_from_slice(self.text.get(from..node.end_byte()).unwrap_or_default());
        self.file.statements.push(Statement {
            scope,
            line: line_of(node),
            code,
            text: String::from_utf8_lossy(&text).into_owned(),
            names: names_in(node, self.text),
            binds,
            ends,
        });
    }
}

fn lines_of(node: Node<'_>) -> Range<u32> {
    line_of(node)..node.end_position().row as u32 + 2
}

/// The bodies of statements in a node, outermost ones alone.
pub(super) fn bodies_in<'t>(node: Node<'t>, kinds: &[&str]) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut open: Vec<Node<'t>> = node.named().collect();
    open.reverse();
    while let Some(node) = open.pop() {
        if kinds.contains(&node.kind()) {
            found.push(node);
        } else {
            let at = open.len();
            open.extend(node.named());
            open[at..].reverse();
        }
    }
    found
}

/// The names in a node.
pub(super) fn names_in(node: Node<'_>, text: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if matches!(node.kind(), "identifier" | "shorthand_property_identifier") {
            found.insert(text_of(node, text));
        }
        open.extend(node.named());
    }
    found
}

/// The tree of a node as text: the same for the same code, however it is laid out.
pub(super) fn code_of(node: Node<'_>, text: &[u8]) -> String {
    code_without(node, text, &[])
}

fn code_without(node: Node<'_>, text: &[u8], without: &[Node<'_>]) -> String {
    let mut out = String::new();
    write_code(node, text, without, &mut out, 0);
    out
}

fn write_code(node: Node<'_>, text: &[u8], without: &[Node<'_>], out: &mut String, depth: usize) {
    const MAX_CODE_DEPTH: usize = 400;
    if without.contains(&node) {
        out.push_str("{}");
        return;
    }
    let kind = node.kind();
    if matches!(
        kind,
        "comment" | "line_continuation" | ";" | "empty_statement"
    ) {
        return;
    }
    let is_string = kind == "string" && node.named().all(|it| it.kind() != "interpolation");
    if node.child_count() == 0 || is_string || depth > MAX_CODE_DEPTH {
        let said = text_of(node, text);
        if is_string {
            out.push_str(&plain_string(&said));
        } else {
            out.push_str(&said);
        }
        out.push('\u{1f}');
        return;
    }
    // Brackets that only group say nothing: the tree does.
    let groups = kind == "parenthesized_expression";
    let is_bare = groups || kind == "expression_statement";
    if !is_bare {
        out.push_str(&format!("({}\u{1f}", node.kind_id()));
    }
    let children: Vec<Node<'_>> = node.all().collect();
    for (at, child) in children.iter().enumerate() {
        let next = children.get(at + 1).map(Node::kind);
        let closes = matches!(next, Some(")" | "]" | "}"));
        let is_group = groups && matches!(child.kind(), "(" | ")");
        if !(is_group || child.kind() == "," && closes) {
            write_code(*child, text, without, out, depth + 1);
        }
    }
    if !is_bare {
        out.push_str(")\u{1f}");
    }
}

// A string by what is in it, in whichever quotes.
fn plain_string(said: &str) -> String {
    let at = said.find(['"', '\'']).unwrap_or_default();
    let (prefix, quoted) = said.split_at(at);
    let inside = ["\"\"\"", "'''", "\"", "'"].iter().find_map(|quote| {
        let rest = quoted.strip_prefix(quote)?;
        rest.strip_suffix(quote)
    });
    let inside = inside.unwrap_or(quoted);
    let inside = if prefix.contains(['r', 'R']) {
        inside.to_owned()
    } else {
        inside.replace("\\'", "'").replace("\\\"", "\"")
    };
    let lines: Vec<&str> = inside.split('\n').map(str::trim_end).collect();
    format!("{}\"{}\"", prefix.to_ascii_lowercase(), lines.join("\n"))
}

// What gives for the same arguments the same value, by the last part of its name.
const MAKERS: &[&str] = &[
    "BigInt",
    "Date",
    "Decimal",
    "Fraction",
    "Map",
    "OrderedDict",
    "Set",
    "UUID",
    "date",
    "datetime",
    "dedent",
    "dict",
    "freeze",
    "frozenset",
    "list",
    "loads",
    "param",
    "set",
    "timedelta",
    "tuple",
];

// Whether a call does nothing but make a value of what is written down in it.
fn makes(call: Node<'_>, text: &[u8]) -> bool {
    let called = call.field("function").or_else(|| call.field("constructor"));
    let called = called.map(|it| text_of(it, text)).unwrap_or_default();
    MAKERS.contains(&called.rsplit('.').next().unwrap_or_default())
}

/// Whether a value is written down, not computed: literals, lists and maps of them and of names, and
/// what is made of these.
pub(super) fn is_literal(node: Node<'_>, text: &[u8]) -> bool {
    let mut open = vec![(node, 0)];
    while let Some((node, depth)) = open.pop() {
        let fits = match node.kind() {
            "integer" | "float" | "number" | "true" | "false" | "none" | "null" | "undefined"
            | "regex" | "comment" | "ellipsis" | "type_identifier" => true,
            "string" | "template_string" => node
                .named()
                .all(|it| !matches!(it.kind(), "interpolation" | "template_substitution")),
            "identifier"
            | "property_identifier"
            | "shorthand_property_identifier"
            | "attribute"
            | "member_expression" => depth > 0,
            "call" | "call_expression" | "new_expression" if makes(node, text) => {
                let arguments = node.field("arguments");
                open.extend(
                    arguments
                        .into_iter()
                        .flat_map(Syntax::named)
                        .map(|it| (it, depth + 1)),
                );
                true
            }
            "keyword_argument" => {
                open.extend(node.field("value").map(|it| (it, depth + 1)));
                true
            }
            "list"
            | "tuple"
            | "dictionary_splat"
            | "list_splat"
            | "spread_element"
            | "set"
            | "dictionary"
            | "pair"
            | "array"
            | "object"
            | "concatenated_string"
            | "parenthesized_expression"
            | "unary_operator"
            | "unary_expression"
            | "binary_operator"
            | "binary_expression"
            | "as_expression"
            | "satisfies_expression"
            | "expression_list"
            | "computed_property_name" => {
                open.extend(node.named().map(|it| (it, depth + 1)));
                true
            }
            _ => false,
        };
        if !fits {
            return false;
        }
    }
    true
}
