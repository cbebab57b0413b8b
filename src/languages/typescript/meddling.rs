use tree_sitter::{Node, Tree};

use super::imports::script_string;
use super::language::TSX;
use super::meddling_names::{
    LISTENS, Names, callee_property, is_called_at_once, is_function, runs_soon,
};
use crate::languages::literal::{Syntax, text_of};
use crate::languages::meddling::Meddles;
use crate::languages::meddling::read::{At, Findings, MAX_DEPTH};
use crate::languages::meddling::words::{RUNNER_GLOBALS, is_mark, is_test_runner, names_runner};

/// Reads a TypeScript or JavaScript tree.
pub(super) fn read(tree: &Tree, text: &[u8], found: &mut Findings) {
    let root = tree.root_node();
    let names = Names::read(root, text);
    let mut reader = Reader { text, names, found };
    reader.children(root, At::LOADED);
}

struct Reader<'r, 's> {
    text: &'s [u8],
    names: Names<'s>,
    found: &'r mut Findings,
}

impl Reader<'_, '_> {
    fn children(&mut self, node: Node<'_>, at: At) {
        if at.depth > MAX_DEPTH {
            return;
        }
        for child in node.named() {
            self.node(child, at);
        }
    }

    fn node(&mut self, node: Node<'_>, at: At) {
        match node.kind() {
            "comment" | "interface_declaration" | "type_alias_declaration" | "type_annotation" => {}
            "import_statement" => self.import(node),
            "export_statement" | "expression_statement" => self.children(node, at.below()),
            "call_expression" => self.call(node, at),
            "new_expression" => {
                let made = node.field("constructor");
                if made.and_then(|made| self.names.resolve(made)).as_deref() == Some("Function") {
                    self.quoted(node);
                }
                self.children(node, at.inside());
            }
            "assignment_expression" | "augmented_assignment_expression" => {
                self.assignment(node, at);
                self.children(node, at.inside());
            }
            "member_expression" | "subscript_expression" => self.member(node, at),
            "identifier" => self.reference(node),
            "unary_expression" => {
                self.unary(node);
                self.children(node, at.inside());
            }
            "binary_expression" => {
                self.binary(node);
                self.children(node, at.inside());
            }
            "property_identifier"
            | "shorthand_property_identifier"
            | "shorthand_property_identifier_pattern"
            | "string_fragment" => self.word(node),
            _ if is_function(node) => self.function(node, at),
            _ => self.children(node, at.inside()),
        }
    }

    fn import(&mut self, node: Node<'_>) {
        if node.all().any(|child| child.kind() == "type") {
            return;
        }
        let source = node.field("source");
        let module = source.and_then(|source| script_string(source, self.text));
        match module {
            Some(module) if is_test_runner(&module) => {
                self.found.add(Meddles::UsesRunner, node, self.text);
            }
            Some(module) if module.starts_with("data:") => {
                self.found.add(Meddles::RunsHiddenCode, node, self.text);
            }
            _ => {}
        }
    }

    fn function(&mut self, node: Node<'_>, at: At) {
        let name = node.field("name").or_else(|| {
            let above = node.parent()?;
            (above.kind() == "variable_declarator").then(|| above.field("name"))?
        });
        let name = name
            .map(|name| text_of(name, self.text))
            .unwrap_or_default();
        if name == "asymmetricMatch" {
            self.found.add(Meddles::EqualsAnything, node, self.text);
        }
        let runs = node.kind() != "method_definition" && self.names.called.contains(&name)
            || is_called_at_once(node)
            || runs_soon(node, self.text);
        let inside = if runs { at.inside() } else { at.later() };
        self.children(node, inside);
    }

    fn call(&mut self, node: Node<'_>, at: At) {
        let (Some(callee), Some(arguments)) = (node.field("function"), node.field("arguments"))
        else {
            return self.children(node, at.inside());
        };
        let mut name = self.names.resolve(callee).unwrap_or_default();
        let mut status = arguments.named_child(0);
        if callee_property(callee, self.text).is_some_and(|it| it == "call") {
            status = arguments.named_child(1);
        }
        if matches!(name.as_str(), "Reflect.apply") {
            name = status
                .and_then(|it| self.names.resolve(it))
                .unwrap_or_default();
            status = None;
        }
        let first = arguments.named_child(0);
        let key = || {
            arguments
                .named_child(1)
                .and_then(|it| self.names.string(it))
        };
        let object = || first.and_then(|it| self.names.resolve(it));
        match name.as_str() {
            "process.exit" => {
                if self.ends(at, status) {
                    self.found.add(Meddles::EndsProcess, node, self.text);
                }
            }
            "process.kill" => {
                let said = text_of(arguments, self.text);
                if said.contains("process.pid") || said.contains("process.ppid") {
                    self.found.add(Meddles::EndsProcess, node, self.text);
                }
            }
            "Object.defineProperty" | "Reflect.set" | "Reflect.defineProperty" => {
                let target =
                    object().map(|object| format!("{object}.{}", key().unwrap_or_default()));
                if let Some(target) = target
                    && !fills_gap(node, &target, self.text)
                    && (is_patched(target.trim_start_matches('.'), at)
                        || target == "process.exitCode")
                {
                    self.found.add(Meddles::Patches, node, self.text);
                }
            }
            "Object.assign" | "Object.defineProperties" | "Object.setPrototypeOf" => {
                if let Some(target) = object()
                    && is_patched(&format!("{target}.any"), at)
                {
                    self.found.add(Meddles::Patches, node, self.text);
                }
            }
            "Object.keys"
            | "Object.values"
            | "Object.entries"
            | "Object.getOwnPropertyNames"
            | "Object.getOwnPropertySymbols"
            | "Reflect.ownKeys"
            | "JSON.stringify"
                if first.is_some_and(|it| self.is_surroundings(it)) =>
            {
                self.found.add(Meddles::DetectsTests, node, self.text);
            }
            "module.register" | "module.registerHooks" => {
                self.found.add(Meddles::ReplacesModule, node, self.text);
            }
            "eval" | "vm.runInThisContext" | "vm.runInNewContext" | "Function" | "setTimeout" => {
                self.quoted(node);
            }
            "require" | "module.require" => self.module(node, first),
            _ if callee.kind() == "import" => self.module(node, first),
            // `(() => {}).constructor('…')` makes a function of a text.
            _ if callee_property(callee, self.text).is_some_and(|it| it == "constructor") => {
                self.quoted(node);
            }
            _ => self.listener(node, &name, arguments, at),
        }
        if callee_property(callee, self.text).is_some()
            && asks_for_runner(&text_of(node, self.text))
        {
            self.found.add(Meddles::DetectsTests, node, self.text);
        }
        self.node(callee, at.inside());
        self.children(arguments, at.inside());
    }

    // All variables of the environment, or all of the global scope: in these a runner shows.
    fn is_surroundings(&self, node: Node<'_>) -> bool {
        let said = text_of(node, self.text);
        let name = self.names.resolve(node);
        name.as_deref() == Some("process.env")
            || name.as_deref() == Some("")
            || matches!(said.as_str(), "globalThis" | "global" | "import.meta.env")
    }

    fn module(&mut self, node: Node<'_>, name: Option<Node<'_>>) {
        let name = name.and_then(|name| self.names.string(name));
        match name {
            Some(name) if is_test_runner(&name) => {
                self.found.add(Meddles::UsesRunner, node, self.text);
            }
            Some(name) if name.starts_with("data:") => {
                self.found.add(Meddles::RunsHiddenCode, node, self.text);
            }
            _ => {}
        }
    }

    // A listener that swallows what would have made the process fail.
    fn listener(&mut self, node: Node<'_>, name: &str, arguments: Node<'_>, at: At) {
        let Some(("process", method)) = name.rsplit_once('.') else {
            return;
        };
        let event = arguments
            .named_child(0)
            .and_then(|it| self.names.string(it));
        let swallows = matches!(
            event.as_deref(),
            Some("uncaughtException" | "unhandledRejection" | "multipleResolves")
        );
        let said = text_of(arguments, self.text);
        let fails = ["exit", "throw", "abort"]
            .iter()
            .any(|word| said.contains(word));
        if at.loads && LISTENS.contains(&method) && swallows && !fails {
            self.found.add(Meddles::AtExit, node, self.text);
        }
    }

    // Whether a call with this status ends the process well as the file is loaded.
    fn ends(&self, at: At, status: Option<Node<'_>>) -> bool {
        at.loads && (at.top || !self.found.is_entry) && !is_failure(status, self.text)
    }

    fn assignment(&mut self, node: Node<'_>, at: At) {
        let Some(left) = node.field("left") else {
            return;
        };
        let right = node.field("right");
        if left.kind() == "identifier" {
            let name = text_of(left, self.text);
            if RUNNER_GLOBALS.contains(&name.as_str())
                && !self.names.is_own(&name)
                && self.names.resolve(left).is_none()
            {
                self.found.add(Meddles::Patches, node, self.text);
            }
            return;
        }
        let Some(target) = self.names.resolve(left) else {
            return;
        };
        if target == "process.exitCode" {
            let said = right.filter(|right| !is_failure(Some(*right), self.text));
            let literal = said.is_some_and(|right| is_nothing(right, self.text));
            if literal || said.is_some() && at.loads && !self.found.is_entry {
                self.found.add(Meddles::EndsProcess, node, self.text);
            }
        } else if is_patched(&target, at) && !fills_gap(node, &target, self.text) {
            self.found.add(Meddles::Patches, node, self.text);
        }
    }

    fn member(&mut self, node: Node<'_>, at: At) {
        let name = self.names.resolve(node).unwrap_or_default();
        let what = match name.as_str() {
            "process.reallyExit" => Some(Meddles::EndsProcess),
            "process.binding" | "process._linkedBinding" => Some(Meddles::RunsHiddenCode),
            "require.cache"
            | "require.extensions"
            | "module._cache"
            | "module._extensions"
            | "module._load"
            | "module._resolveFilename"
            | "module._compile"
            | "module.prototype" => Some(Meddles::ReplacesModule),
            _ => None,
        };
        if let Some(what) = what {
            self.found.add(what, node, self.text);
            return;
        }
        let root = node.field("object");
        let root = root.filter(|root| root.kind() == "identifier");
        let root = root
            .map(|root| text_of(root, self.text))
            .unwrap_or_default();
        if matches!(root.as_str(), "jest" | "vi")
            && !self.names.is_own(&root)
            && self.names.resolve(node).is_none()
        {
            self.found.add(Meddles::UsesRunner, node, self.text);
        }
        self.children(node, at.inside());
    }

    fn reference(&mut self, node: Node<'_>) {
        let name = self.names.resolve(node).unwrap_or_default();
        if name == "process.reallyExit" {
            self.found.add(Meddles::EndsProcess, node, self.text);
        }
        self.handed_on(node, &name);
    }

    // `for (const each of [assert])`: an assertion is called; who hands all of them on changes them.
    fn handed_on(&mut self, node: Node<'_>, name: &str) {
        if !matches!(name, "assert" | "assert.strict") {
            return;
        }
        let is_used = node.parent().is_some_and(|above| {
            let first = above.named_child(0) == Some(node);
            match above.kind() {
                "call_expression" | "member_expression" | "subscript_expression" => first,
                kind => matches!(
                    kind,
                    "export_specifier" | "export_statement" | "variable_declarator"
                ),
            }
        });
        if !is_used {
            self.found.add(Meddles::Patches, node, self.text);
        }
    }

    // `typeof expect`
    fn unary(&mut self, node: Node<'_>) {
        let operator = node.field("operator");
        let operand = node.field("argument");
        if let (Some(operator), Some(operand)) = (operator, operand)
            && operator.kind() == "typeof"
        {
            let name = text_of(operand, self.text);
            let name = name.trim_start_matches("globalThis.");
            if RUNNER_GLOBALS.contains(&name) && !self.names.is_own(name) {
                self.found.add(Meddles::DetectsTests, node, self.text);
            }
        }
    }

    // `process.env.NODE_ENV === 'test'`, `'expect' in globalThis`, a runner in `process.argv`.
    fn binary(&mut self, node: Node<'_>) {
        let (Some(left), Some(right), Some(operator)) = (
            node.field("left"),
            node.field("right"),
            node.field("operator"),
        ) else {
            return;
        };
        let mode = |side| {
            matches!(
                self.names.resolve(side).as_deref(),
                Some("process.env.NODE_ENV" | "process.env.BABEL_ENV")
            ) || matches!(
                plain(&text_of(side, self.text)).as_str(),
                "import.meta.env.MODE" | "import.meta.env.NODE_ENV"
            )
        };
        let is_test = |side| self.names.string(side).as_deref() == Some("test");
        let by_mode = mode(left) && is_test(right) || mode(right) && is_test(left);
        let by_global = operator.kind() == "in"
            && self.names.resolve(right).is_some_and(|it| it.is_empty())
            && self
                .names
                .string(left)
                .is_some_and(|name| RUNNER_GLOBALS.contains(&name.as_str()));
        let compares = matches!(operator.kind(), "==" | "===" | "!=" | "!==" | "in");
        if by_mode || by_global || compares && asks_for_runner(&text_of(node, self.text)) {
            self.found.add(Meddles::DetectsTests, node, self.text);
        }
    }

    fn word(&mut self, node: Node<'_>) {
        let word = text_of(node, self.text);
        if is_mark(&word) {
            self.found.add(Meddles::DetectsTests, node, self.text);
        } else if word == "jest.asymmetricMatcher" || word == "asymmetricMatch" {
            self.found.add(Meddles::EqualsAnything, node, self.text);
        }
    }

    fn quoted(&mut self, node: Node<'_>) {
        let Some(code) = node
            .field("arguments")
            .and_then(|arguments| arguments.named_children(&mut arguments.walk()).last())
        else {
            return;
        };
        let callee = node.field("function");
        let is_timer = callee.is_some_and(|it| text_of(it, self.text) == "setTimeout");
        let code = if is_timer {
            node.field("arguments")
                .and_then(|arguments| arguments.named_child(0))
                .unwrap_or(code)
        } else {
            code
        };
        if let Some(text) = self.names.string(code) {
            self.found.quoted(&TSX, read, &text, node);
            return;
        }
        let said = text_of(code, self.text);
        let decodes = [
            "atob",
            "base64",
            "'hex'",
            "\"hex\"",
            "fromCharCode",
            "decodeURI",
            "unescape",
        ];
        if decodes.iter().any(|word| said.contains(word)) {
            self.found.add(Meddles::RunsHiddenCode, node, self.text);
        }
    }
}

// `(import.meta as any).env?.MODE` without what says nothing.
fn plain(expression: &str) -> String {
    expression
        .replace(" as any", "")
        .replace(['(', ')', '?', '!'], "")
}

fn asks_for_runner(expression: &str) -> bool {
    let by_place = [".test.", ".spec.", "__tests__"].iter();
    if expression.len() < 400
        && expression.contains(".stack")
        && by_place.clone().any(|it| expression.contains(it))
    {
        return true;
    }
    expression.len() < 400
        && [
            ".stack",
            "argv",
            "process.title",
            "require.cache",
            "require.main",
            "execArgv",
            "env.",
        ]
        .iter()
        .any(|word| expression.contains(word))
        && names_runner(expression)
}

// Whether a change only adds what the language lacks: below `if (!Array.prototype.at)`.
fn fills_gap(node: Node<'_>, target: &str, text: &[u8]) -> bool {
    if !target.contains(".prototype.") {
        return false;
    }
    let mut inner = node;
    while let Some(above) = inner.parent() {
        if above.kind() == "if_statement"
            && above.field("consequence") == Some(inner)
            && let Some(condition) = above.field("condition")
        {
            let mut condition = text_of(condition, text);
            condition.retain(|it| !it.is_whitespace() && it != '(' && it != ')');
            let lacks = [
                format!("!{target}"),
                format!("typeof{target}!==\"function\""),
                format!("typeof{target}!=='function'"),
            ];
            if lacks.contains(&condition) {
                return true;
            }
        }
        inner = above;
    }
    false
}

// What tests rely on: their runner, its globals, the language's own objects, how Node.js ends.
fn is_patched(name: &str, at: At) -> bool {
    let (root, rest) = name.split_once('.').unwrap_or((name, ""));
    match root {
        "process" => {
            matches!(
                rest,
                "exit" | "emit" | "kill" | "abort" | "reallyExit" | "on" | "once" | "hrtime"
            ) || rest.starts_with("stdout.")
                || rest.starts_with("stderr.")
        }
        "console" | "JSON" => at.loads && !rest.is_empty(),
        "Object" if !rest.starts_with("prototype.") => matches!(
            rest,
            "is" | "keys"
                | "entries"
                | "values"
                | "getPrototypeOf"
                | "getOwnPropertyNames"
                | "prototype"
        ),
        "Reflect" => !rest.is_empty(),
        "Array" | "Date" | "Error" | "Function" | "Map" | "Number" | "Object" | "Promise"
        | "RegExp" | "Set" | "String" => rest.starts_with("prototype"),
        "assert" => true,
        _ if RUNNER_GLOBALS.contains(&root) => true,
        _ => !rest.is_empty() && is_test_runner(name),
    }
}

// A status that no caller takes for success.
fn is_failure(status: Option<Node<'_>>, text: &[u8]) -> bool {
    let Some(status) = status else {
        return false;
    };
    match status.kind() {
        "number" => text_of(status, text)
            .parse::<u64>()
            .is_ok_and(|code| code % 256 != 0),
        "true" => true,
        "unary_expression" => status
            .field("argument")
            .is_some_and(|it| it.kind() == "number" && is_failure(Some(it), text)),
        "ternary_expression" => ["consequence", "alternative"].iter().any(|side| {
            let side = status.field(side);
            let one = side.filter(|it| it.kind() != "ternary_expression");
            is_failure(one, text)
        }),
        _ => false,
    }
}

fn is_nothing(status: Node<'_>, text: &[u8]) -> bool {
    matches!(
        status.kind(),
        "number" | "null" | "undefined" | "false" | "string"
    ) || text_of(status, text) == "void 0"
}
