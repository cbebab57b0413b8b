use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use tree_sitter::Node;

use super::facts::Code;
use super::language::Language;
use super::literal::{Syntax, line_of, text_of};
use super::normal_form::{code_of, code_without, is_plain_string, way_to};
use super::test_literals::{Literal, literals_in};
use crate::model::RepoPath;

/// Longer files, and statements nested deeper, are not read.
const MAX_BYTES: usize = 1 << 20;
const MAX_DEPTH: usize = 100;
// Of the code that names what stands around a body, more is told by its hash.
const MAX_HEAD: usize = 400;
// Longer statements, each body counted, do not tell their bodies by the ways to them.
const MAX_WAY_BYTES: usize = 1 << 19;

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
        called: String::new(),
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
    reader.computes_from_the_project();
    reader.is_whole.then_some(reader.file)
}

/// A file of tests as nested scopes and the statements in them.
#[derive(Debug, Default)]
pub struct TestFile {
    /// The file itself first, each scope after the one around it.
    pub scopes: Vec<Scope>,
    /// In source order.
    pub statements: Vec<Statement>,
    /// What imports bind.
    pub imports: Vec<Imported>,
}

/// A name that an import binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// In the file.
    pub name: String,
    /// That which the module has for it.
    pub original: String,
    /// As it is written.
    pub module: String,
}

/// What stands around statements.
#[derive(Debug)]
pub struct Scope {
    /// What it is.
    pub kind: ScopeKind,
    /// Its name or title; for a construct its code without its bodies.
    pub name: String,
    /// Decorators, modifiers and options.
    pub marks: Vec<Mark>,
    /// The rows of data that a case runs with, before those of each table a row that begins with `=`.
    pub rows: Vec<String>,
    /// Whether a runner looks for cases in it.
    pub collects: bool,
    /// The name by which the file can call it; empty without one.
    pub called: String,
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
    /// The names that it binds or deletes.
    pub binds: Vec<(String, Bound)>,
    /// Of a list that it binds to a name each element, of anything else nothing.
    pub rows: Vec<String>,
    /// The code of the literal that it returns or yields.
    pub gives: Option<String>,
    /// The numbers, strings and truth values in it, the bodies in it aside.
    pub literals: Vec<Literal>,
    /// Whether and how it ends what it stands in.
    pub ends: Option<Ends>,
    // What the literals in it are made by.
    makers: BTreeSet<String>,
}

/// What a statement does to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Binds it to a value that is written down, or made of such a value by no code of the project.
    Literal,
    /// Binds it to anything else, or deletes it.
    Value,
    /// Changes an attribute of it; the name may be that of a module, with dots.
    Part,
    /// Changes an element of it.
    Element,
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
    Imports(Vec<Imported>),
    Scope(Opened<'t>),
    /// Bodies of its own; the code of `whole` belongs to what it says.
    Compound {
        bodies: Vec<Node<'t>>,
        whole: Vec<Node<'t>>,
        binds: Vec<(String, Bound)>,
    },
    Plain {
        bodies: Vec<Node<'t>>,
        binds: Vec<(String, Bound)>,
        /// The value that it binds, returns or yields.
        value: Option<Node<'t>>,
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
    /// Each parameter with the names that it binds.
    pub(super) parameters: Vec<(Node<'t>, BTreeSet<String>)>,
    /// Decorators.
    pub(super) decorators: Vec<Node<'t>>,
    /// Whether its name is a name of the file.
    pub(super) binds: bool,
    /// The names in its head.
    pub(super) names: BTreeSet<String>,
}

impl Statement {
    /// Whether it binds a name, or a part of it.
    #[must_use]
    pub fn binds_name(&self, name: &str) -> bool {
        self.binds.iter().any(|it| it.0 == name)
    }
}

struct Reader<'r> {
    text: &'r [u8],
    language: &'static Language,
    file: TestFile,
    is_whole: bool,
}

impl<'t> Opened<'t> {
    /// One of which nothing but its body is known.
    pub(super) fn new(kind: ScopeKind, name: String, body: Node<'t>) -> Self {
        Self {
            kind,
            name,
            marks: Vec::new(),
            rows: Vec::new(),
            collects: false,
            body,
            parameters: Vec::new(),
            decorators: Vec::new(),
            binds: false,
            names: BTreeSet::new(),
        }
    }
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
                let one = self.read(node, scope, head.clone(), &bodies);
                self.file.statements.push(Statement { binds, ..one });
                for part in whole {
                    head.push_str(&code_of(part, self.text));
                }
                let heads = heads_of(&head, bodies.len());
                self.bodies(&bodies, (ScopeKind::Construct, ""), heads, scope, depth);
            }
            TestPart::Plain {
                bodies,
                binds,
                value,
                ends,
            } => {
                let code = code_of(node, self.text);
                let mut one = Statement {
                    binds,
                    ends,
                    ..self.read(node, scope, code, &bodies)
                };
                if let Some(value) = value {
                    self.valued(value, &mut one);
                }
                let called = match one.binds.as_slice() {
                    [(name, Bound::Value)] => name.clone(),
                    _ => String::new(),
                };
                self.file.statements.push(one);
                if !bodies.is_empty() {
                    let bytes = node.byte_range().len().saturating_mul(bodies.len());
                    let heads = if bytes <= MAX_WAY_BYTES {
                        let ways = bodies
                            .iter()
                            .map(|it| way_to(*it, node, self.text, &bodies));
                        ways.collect()
                    } else {
                        heads_of(&code_without(node, self.text, &bodies), bodies.len())
                    };
                    let what = (ScopeKind::Callback, called.as_str());
                    self.bodies(&bodies, what, heads, scope, depth);
                }
            }
        }
    }

    // What a statement gives or binds, when that is written down.
    fn valued(&self, value: Node<'_>, one: &mut Statement) {
        let Some(makers) = makers_of(value, self.text) else {
            return;
        };
        one.makers = makers;
        one.gives = one.binds.is_empty().then(|| code_of(value, self.text));
        for (_, bound) in &mut one.binds {
            if *bound == Bound::Value {
                *bound = Bound::Literal;
            }
        }
        if matches!(value.kind(), "list" | "tuple" | "set" | "array") {
            let rows = value.named().filter(|it| it.kind() != "comment");
            one.rows = rows.map(|it| code_of(it, self.text)).collect();
        }
    }

    // What code of the project makes of a literal is no literal.
    fn computes_from_the_project(&mut self) {
        let is_foreign = |it: &&Imported| {
            let top = it.module.split(['.', '/']).next().unwrap_or_default();
            self.language.is_standard(&it.module)
                || self.language.is_standard(top)
                || top == "pytest"
        };
        let imported = self.file.imports.iter().filter(is_foreign);
        let foreign: HashSet<String> = imported.map(|it| it.name.clone()).collect();
        let bound = self.file.statements.iter().flat_map(|it| &it.binds);
        let bound = bound
            .filter(|it| it.1 == Bound::Value)
            .map(|it| it.0.clone());
        let own: HashSet<String> = bound.collect();
        let language = self.language;
        let is_own = |name: &String| {
            own.contains(name) || !foreign.contains(name) && !language.is_global(name)
        };
        for one in &mut self.file.statements {
            if one.makers.iter().any(is_own) {
                one.gives = None;
                one.rows.clear();
                for (_, bound) in &mut one.binds {
                    if *bound == Bound::Literal {
                        *bound = Bound::Value;
                    }
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
            let binds = opened.binds.then(|| (opened.name.clone(), Bound::Value));
            self.file.statements.push(Statement {
                scope,
                line: line_of(node),
                code: opened.name.clone(),
                names: opened.names,
                binds: binds.into_iter().collect(),
                ..Statement::default()
            });
        }
        let is_called = opened.kind == ScopeKind::Function;
        let inner = self.open(Scope {
            kind: opened.kind,
            called: opened
                .name
                .clone()
                .split_off(if is_called { 0 } else { opened.name.len() }),
            name: opened.name,
            marks: opened.marks,
            rows: opened.rows,
            collects: opened.collects,
            parent: Some(scope),
            lines: lines_of(node),
        });
        for decorator in opened.decorators {
            let code = code_of(decorator, self.text);
            let one = self.read(decorator, inner, code, &[]);
            self.file.statements.push(one);
        }
        for (parameter, names) in opened.parameters {
            let code = code_of(parameter, self.text);
            let mut one = self.read(parameter, inner, code, &[]);
            one.binds = names.into_iter().map(|it| (it, Bound::Value)).collect();
            self.file.statements.push(one);
        }
        let is_block = self.language.test_blocks.contains(&opened.body.kind());
        if is_block {
            self.statements(opened.body, inner, depth + 1);
        } else {
            let code = code_of(opened.body, self.text);
            let one = self.read(opened.body, inner, code, &[]);
            self.file.statements.push(one);
        }
    }

    fn bodies(
        &mut self,
        bodies: &[Node<'_>],
        (kind, called): (ScopeKind, &str),
        heads: Vec<String>,
        scope: usize,
        depth: usize,
    ) {
        for (head, body) in heads.into_iter().zip(bodies) {
            let inner = self.open(Scope {
                kind,
                name: shortened(head),
                marks: Vec::new(),
                rows: Vec::new(),
                collects: false,
                called: called.to_owned(),
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

    // A statement by its code and its text.
    fn read(&self, node: Node<'_>, scope: usize, code: String, bodies: &[Node<'_>]) -> Statement {
        let mut text = Vec::new();
        let mut from = node.start_byte();
        for body in bodies {
            text.extend_from_slice(self.text.get(from..body.start_byte()).unwrap_or_default());
            from = body.end_byte();
        }
        text.extend_from_slice(self.text.get(from..node.end_byte()).unwrap_or_default());
        Statement {
            scope,
            line: line_of(node),
            code,
            text: String::from_utf8_lossy(&text).into_owned(),
            names: names_in(node, self.text),
            literals: literals_in(node, self.text, bodies),
            ..Statement::default()
        }
    }
}

// Each body's place, with the code around them all.
fn heads_of(head: &str, count: usize) -> Vec<String> {
    let head = shortened(head.to_owned());
    (0..count).map(|at| format!("{at} {head}")).collect()
}

// A statement may hold thousands of bodies.
fn shortened(head: String) -> String {
    if head.len() <= MAX_HEAD + 50 {
        return head;
    }
    let mut hasher = DefaultHasher::new();
    head.hash(&mut hasher);
    let start = head.floor_char_boundary(MAX_HEAD);
    format!("{}{}", &head[..start], hasher.finish())
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
        if matches!(
            node.kind(),
            "identifier"
                | "shorthand_property_identifier"
                | "shorthand_property_identifier_pattern"
        ) {
            found.insert(text_of(node, text));
        }
        open.extend(node.named());
    }
    found
}

/// Whether a value is written down, not computed: literals, and lists and maps of them and of names.
pub(super) fn is_literal(node: Node<'_>) -> bool {
    makers_of(node, b"").is_some_and(|it| it.is_empty())
}

// The names of what makes a value of literals; `None` for what is made otherwise.
fn makers_of(node: Node<'_>, text: &[u8]) -> Option<BTreeSet<String>> {
    let mut makers = BTreeSet::new();
    let mut holds = false;
    let mut open = vec![(node, 0)];
    while let Some((node, depth)) = open.pop() {
        match node.kind() {
            "integer" | "float" | "number" | "true" | "false" | "none" | "null" | "undefined"
            | "regex" | "ellipsis" => holds = true,
            "string" | "template_string" if is_plain_string(node) => holds = true,
            "comment" | "type_identifier" | "predefined_type" => {}
            "identifier" | "property_identifier" | "shorthand_property_identifier" if depth > 0 => {
            }
            "call" | "call_expression" | "new_expression" => {
                let called = node
                    .field("function")
                    .or_else(|| node.field("constructor"))?;
                makers.insert(root_of(called, text)?);
                let arguments = node.field("arguments")?;
                open.extend(arguments.named().map(|it| (it, depth + 1)));
            }
            "keyword_argument" => open.push((node.field("value")?, depth + 1)),
            "arrow_function" => open.push((node.field("body")?, depth + 1)),
            "list" | "tuple" | "set" | "dictionary" | "array" | "object" => {
                holds = true;
                open.extend(node.named().map(|it| (it, depth + 1)));
            }
            "pair"
            | "concatenated_string"
            | "parenthesized_expression"
            | "unary_operator"
            | "not_operator"
            | "unary_expression"
            | "binary_operator"
            | "binary_expression"
            | "comparison_operator"
            | "boolean_operator"
            | "as_expression"
            | "satisfies_expression"
            | "expression_list"
            | "dictionary_splat"
            | "list_splat"
            | "spread_element"
            | "computed_property_name" => open.extend(node.named().map(|it| (it, depth + 1))),
            _ => return None,
        }
    }
    holds.then_some(makers)
}

/// The name that an expression of attributes and elements begins with.
pub(super) fn root_of(node: Node<'_>, text: &[u8]) -> Option<String> {
    let mut at = node;
    loop {
        at = match at.kind() {
            "identifier" => return Some(text_of(at, text)),
            "attribute" | "member_expression" | "subscript_expression" => at.field("object")?,
            "subscript" => at.field("value")?,
            _ => return None,
        }
    }
}
