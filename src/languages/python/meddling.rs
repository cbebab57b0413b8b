use tree_sitter::{Node, Tree};

use super::language::GRAMMAR;
use super::meddling_names::{Names, asks_for_runner, is_main_block, names_program};
use crate::languages::literal::{Syntax, text_of};
use crate::languages::meddling::Meddles;
use crate::languages::meddling::read::{At, Findings, MAX_DEPTH};
use crate::languages::meddling::words::{is_mark, is_test_runner};

/// Reads a Python tree.
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

const WATCHES: &[&str] = &[
    "sys.settrace",
    "sys.setprofile",
    "sys.monitoring",
    "threading.settrace",
    "threading.setprofile",
];

const CALLERS: &[&str] = &[
    "builtins.object.__subclasses__",
    "faulthandler.dump_traceback",
    "gc.get_objects",
    "gc.get_referrers",
    "inspect.currentframe",
    "inspect.getouterframes",
    "inspect.stack",
    "sys._current_frames",
    "sys._getframe",
    "traceback.StackSummary.extract",
    "traceback.extract_stack",
    "traceback.format_stack",
    "traceback.print_stack",
    "traceback.walk_stack",
];

// Members by which a frame leads to the one that called it.
const FRAMES: &[&str] = &["cr_frame", "f_back", "findCaller", "gi_frame", "tb_frame"];

// Where Linux tells a process how it was started.
const OWN_PROCESS: &[&str] = &[
    "/proc/self/cmdline",
    "/proc/self/environ",
    "/proc/self/maps",
];

// What reads all of what it is given.
const READERS: &[&str] = &[
    "all", "any", "filter", "list", "map", "repr", "set", "sorted", "str", "tuple",
];

// Methods that run when an instance or a subclass is made.
const MAKERS: &[&str] = &["__init__", "__init_subclass__", "__new__", "__set_name__"];

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
            "comment" => {}
            "import_statement" | "import_from_statement" => self.import(node),
            "function_definition" => self.function(node, at, None),
            "class_definition" => self.class(node, at),
            "lambda" => self.children(node, at.later()),
            "if_statement" if is_main_block(node, self.text) => self.children(node, at.later()),
            "if_statement" if self.is_type_checking(node) => {
                if let Some(otherwise) = node.field("alternative") {
                    self.children(otherwise, at.inside());
                }
            }
            "expression_statement" => self.children(node, at.below()),
            "call" => self.call(node, at),
            "raise_statement" => self.raise(node, at),
            "assignment" | "augmented_assignment" => {
                self.assignment(node, at);
                self.children(node, at.inside());
            }
            "delete_statement" => {
                for target in node.named() {
                    self.target(target, node, at);
                }
                self.children(node, at.inside());
            }
            "attribute" | "identifier" => self.reference(node, at),
            "comparison_operator" => {
                self.comparison(node);
                self.children(node, at.inside());
            }
            "subscript" => {
                self.lookup(node);
                self.children(node, at.inside());
            }
            "pair" | "keyword_argument" => {
                self.always_equal_entry(node);
                self.children(node, at.inside());
            }
            "for_statement" | "for_in_clause" => {
                if node
                    .field("right")
                    .is_some_and(|it| self.is_surroundings(it))
                {
                    self.found.add(Meddles::DetectsTests, node, self.text);
                }
                self.children(node, at.inside());
            }
            "string" | "concatenated_string" | "binary_operator" => self.word(node, at),
            _ => self.children(node, at.inside()),
        }
    }

    // A string, also of parts; where its parts say nothing together, each is looked at.
    fn word(&mut self, node: Node<'_>, at: At) {
        let said = self.names.string(node);
        let asks = said.is_some_and(|it| is_mark(&it) || OWN_PROCESS.contains(&it.as_str()));
        if asks {
            self.found.add(Meddles::DetectsTests, node, self.text);
        } else {
            self.children(node, at.inside());
        }
    }

    // All variables of the environment, or all modules that are loaded: in these a runner shows.
    fn is_surroundings(&self, node: Node<'_>) -> bool {
        let method = node.field("function").filter(|_| node.kind() == "call");
        let object = method.filter(|it| it.kind() == "attribute");
        let member = object.map_or_else(String::new, |it| it.field_text("attribute", self.text));
        let node = match member.as_str() {
            "items" | "keys" | "values" | "copy" => object.and_then(|it| it.field("object")),
            _ => Some(node),
        };
        let name = node.and_then(|it| self.names.resolve(it));
        matches!(
            name.as_deref(),
            Some("os.environ" | "os.environb" | "sys.modules")
        )
    }

    // `str(os.environ)`, `any(map(f, sys.modules))`, `sys.argv[0].endswith('x')`.
    fn asks_around(&mut self, node: Node<'_>, function: Node<'_>, arguments: Node<'_>) {
        let callee = text_of(function, self.text);
        let reads = READERS.contains(&callee.as_str())
            || function.field_text("attribute", self.text) == "join";
        let shown = reads && arguments.named().any(|it| self.is_surroundings(it));
        let compares = ["startswith", "endswith", "find", "count"]
            .contains(&function.field_text("attribute", self.text).as_str());
        if shown || compares && !self.found.is_entry && names_program(&callee) {
            self.found.add(Meddles::DetectsTests, node, self.text);
        }
    }

    fn import(&mut self, node: Node<'_>) {
        let modules: Vec<Node<'_>> = match node.field("module_name") {
            Some(module) => vec![module],
            None => node
                .fields("name")
                .map(|name| name.field("name").unwrap_or(name))
                .collect(),
        };
        for module in modules {
            if is_test_runner(&text_of(module, self.text)) {
                self.found.add(Meddles::UsesRunner, node, self.text);
            }
        }
        let ends = node.field("module_name").is_some_and(|module| {
            matches!(text_of(module, self.text).as_str(), "os" | "posix" | "nt")
                && node
                    .fields("name")
                    .any(|name| text_of(name.field("name").unwrap_or(name), self.text) == "_exit")
        });
        if ends {
            self.found.add(Meddles::EndsProcess, node, self.text);
        }
    }

    fn function(&mut self, node: Node<'_>, at: At, class: Option<bool>) {
        let name = node.field_text("name", self.text);
        let runs = match class {
            Some(is_made) => {
                is_made && MAKERS.contains(&name.as_str())
                    || name == "__init_subclass__" && at.loads
            }
            None => at.loads && self.names.called.contains(&name),
        };
        if let Some(body) = node.field("body") {
            if name == "__eq__" && returns_only_true(body, self.text) {
                self.found.add(Meddles::EqualsAnything, node, self.text);
            }
            let inside = if runs { at.inside() } else { at.later() };
            self.children(body, inside);
        }
        if let Some(parameters) = node.field("parameters") {
            self.children(parameters, at.inside());
        }
    }

    fn class(&mut self, node: Node<'_>, at: At) {
        let name = node.field_text("name", self.text);
        let is_made = at.loads && self.names.called.contains(&name);
        if let Some(above) = node.field("superclasses") {
            self.children(above, at.inside());
        }
        let Some(body) = node.field("body") else {
            return;
        };
        for child in body.named() {
            let method = match child.kind() {
                "function_definition" => Some(child),
                "decorated_definition" => child.field("definition"),
                _ => None,
            };
            match method.filter(|method| method.kind() == "function_definition") {
                Some(method) => self.function(method, at.inside(), Some(is_made)),
                None => self.node(child, at.inside()),
            }
        }
    }

    fn is_type_checking(&self, node: Node<'_>) -> bool {
        node.field("condition").is_some_and(|condition| {
            let condition = text_of(condition, self.text);
            condition == "TYPE_CHECKING" || condition.ends_with(".TYPE_CHECKING")
        })
    }

    fn call(&mut self, node: Node<'_>, at: At) {
        let (Some(function), Some(arguments)) = (node.field("function"), node.field("arguments"))
        else {
            return self.children(node, at.inside());
        };
        let name = self.names.resolve(function).unwrap_or_default();
        let first = arguments.named_child(0);
        match name.as_str() {
            "sys.exit" | "builtins.exit" | "builtins.quit" => {
                if self.ends(at, first) {
                    self.found.add(Meddles::EndsProcess, node, self.text);
                }
            }
            "os.kill" | "signal.raise_signal" | "os.killpg" => {
                let own = text_of(arguments, self.text);
                if name == "signal.raise_signal"
                    || own.contains("getpid")
                    || own.contains("getppid")
                    || own.contains("getpgrp")
                {
                    self.found.add(Meddles::EndsProcess, node, self.text);
                }
            }
            "os.execv" | "os.execve" | "os.execl" | "os.execle" | "os.execlp" | "os.execvp"
            | "os.execvpe" | "os.execlpe"
                if at.loads =>
            {
                self.found.add(Meddles::EndsProcess, node, self.text);
            }
            "atexit.register" if at.loads => self.found.add(Meddles::AtExit, node, self.text),
            "builtins.setattr" | "builtins.delattr" => {
                let object = first.and_then(|it| self.names.resolve(it));
                let key = arguments
                    .named_child(1)
                    .and_then(|it| self.names.string(it));
                if let Some(object) = object
                    && is_patched(&format!("{object}.{}", key.unwrap_or_default()), at)
                {
                    self.found.add(Meddles::Patches, node, self.text);
                }
            }
            "builtins.type.__setattr__" => self.found.add(Meddles::Patches, node, self.text),
            "builtins.exec" | "builtins.eval" | "builtins.compile" => self.quoted(node, first),
            "builtins.__import__" | "importlib.import_module" => {
                let module = first.and_then(|it| self.names.string(it));
                if module.is_some_and(|module| is_test_runner(&module)) {
                    self.found.add(Meddles::UsesRunner, node, self.text);
                }
            }
            _ if names_way_in(&name) => self.found.add(Meddles::ReplacesModule, node, self.text),
            _ => self.lookup(node),
        }
        self.asks_around(node, function, arguments);
        if self.names.string(node).is_some_and(|it| is_mark(&it)) {
            self.found.add(Meddles::DetectsTests, node, self.text);
        }
        if let Some(inner) = unwrapped_lambda(function) {
            self.children(inner, at.inside());
        } else {
            self.node(function, at.inside());
        }
        self.children(arguments, at.inside());
    }

    // Whether a call or raise with this status ends the process well as the file is loaded.
    fn ends(&self, at: At, status: Option<Node<'_>>) -> bool {
        let entry_may = self.found.is_entry
            && (!at.top || status.is_some_and(|status| status.kind() == "call"));
        at.loads && !entry_may && !is_failure(status, self.text)
    }

    fn raise(&mut self, node: Node<'_>, at: At) {
        if let Some(raised) = node.named_child(0) {
            let (class, status) = match raised.kind() {
                "call" => (
                    raised.field("function"),
                    raised
                        .field("arguments")
                        .and_then(|arguments| arguments.named_child(0)),
                ),
                _ => (Some(raised), None),
            };
            let class = class
                .and_then(|class| self.names.resolve(class))
                .unwrap_or_default();
            if class == "builtins.SystemExit" && self.ends(at, status) {
                self.found.add(Meddles::EndsProcess, node, self.text);
            }
            if is_test_runner(&class) {
                self.found.add(Meddles::Skips, node, self.text);
            }
        }
        self.children(node, at.inside());
    }

    fn assignment(&mut self, node: Node<'_>, at: At) {
        let Some(left) = node.field("left") else {
            return;
        };
        if matches!(
            left.kind(),
            "pattern_list" | "tuple_pattern" | "list_pattern"
        ) {
            for target in left.named() {
                self.target(target, node, at);
            }
        } else {
            self.target(left, node, at);
        }
        let is_eq = text_of(left, self.text).ends_with("__eq__");
        if is_eq
            && node
                .field("right")
                .is_some_and(|it| is_true_lambda(it, self.text))
        {
            self.found.add(Meddles::EqualsAnything, node, self.text);
        }
    }

    fn target(&mut self, target: Node<'_>, whole: Node<'_>, at: At) {
        if target.kind() == "subscript" {
            let object = target.field("value");
            let object = object.and_then(|object| self.names.resolve(object));
            let key = target.field("subscript");
            let own = key.is_some_and(|key| text_of(key, self.text).contains("__name__"));
            match object.as_deref() {
                Some("sys.modules") if !own => {
                    self.found.add(Meddles::ReplacesModule, whole, self.text);
                }
                Some(object)
                    if is_patched(&format!("{object}."), at) && object != "sys.modules" =>
                {
                    self.found.add(Meddles::Patches, whole, self.text);
                }
                _ => {}
            }
        } else if target.kind() == "attribute"
            && self
                .names
                .resolve(target)
                .is_some_and(|name| is_patched(&name, at))
        {
            self.found.add(Meddles::Patches, whole, self.text);
        }
    }

    fn reference(&mut self, node: Node<'_>, at: At) {
        let name = self.names.resolve(node).unwrap_or_default();
        let what = match name.as_str() {
            "os._exit" | "posix._exit" | "nt._exit" => Some(Meddles::EndsProcess),
            "os.abort" if at.loads => Some(Meddles::EndsProcess),
            name if WATCHES.iter().any(|it| name.starts_with(it)) => Some(Meddles::Traces),
            name if CALLERS.contains(&name) => Some(Meddles::LooksAtCallers),
            _ if node.kind() == "attribute"
                && FRAMES.contains(&node.field_text("attribute", self.text).as_str()) =>
            {
                Some(Meddles::LooksAtCallers)
            }
            name if name.starts_with("ctypes.") && name.ends_with("._exit") => {
                Some(Meddles::EndsProcess)
            }
            _ => None,
        };
        match what {
            Some(what) => self.found.add(what, node, self.text),
            None => self.children(node, at.inside()),
        }
    }

    // `'pytest' in sys.modules`, `'pytest' in sys.argv[0]`.
    fn comparison(&mut self, node: Node<'_>) {
        let said = text_of(node, self.text);
        let has_text = node.named().any(|it| self.names.string(it).is_some());
        let by_name = !self.found.is_entry && has_text && names_program(&said);
        if by_name || asks_for_runner(&said) {
            self.found.add(Meddles::DetectsTests, node, self.text);
        }
    }

    // `sys.modules['pytest']`, `sys.modules.get('pytest')`, a member by its name.
    fn lookup(&mut self, node: Node<'_>) {
        let object = match node.kind() {
            "subscript" => node.field("value"),
            _ => node
                .field("function")
                .and_then(|function| function.field("object")),
        };
        let object = object.and_then(|object| self.names.resolve(object));
        let name = self.names.resolve(node).unwrap_or_default();
        if object.as_deref() == Some("sys.modules") && is_test_runner(&name) {
            self.found.add(Meddles::DetectsTests, node, self.text);
        }
        if matches!(name.as_str(), "os._exit" | "posix._exit") {
            self.found.add(Meddles::EndsProcess, node, self.text);
        }
    }

    fn always_equal_entry(&mut self, node: Node<'_>) {
        let key = node
            .field("key")
            .and_then(|key| self.names.string(key))
            .or_else(|| node.field("name").map(|name| text_of(name, self.text)));
        let value = node.field("value");
        if key.as_deref() == Some("__eq__") && value.is_some_and(|it| is_true_lambda(it, self.text))
        {
            self.found.add(Meddles::EqualsAnything, node, self.text);
        }
    }

    fn quoted(&mut self, node: Node<'_>, code: Option<Node<'_>>) {
        let Some(code) = code else {
            return;
        };
        if let Some(text) = self.names.string(code) {
            self.found.quoted(&GRAMMAR, read, &text, node);
            return;
        }
        let said = text_of(code, self.text);
        let decodes = [
            "b64decode",
            "fromhex",
            "unhexlify",
            "decompress",
            "rot13",
            "rot_13",
            "chr(",
        ];
        if decodes.iter().any(|word| said.contains(word)) {
            self.found.add(Meddles::RunsHiddenCode, node, self.text);
        }
    }
}

// What tests rely on: their runner, built-in names, how Python itself ends and reports.
fn is_patched(name: &str, at: At) -> bool {
    match name {
        "sys.exit" | "os._exit" | "sys.excepthook" | "sys.unraisablehook" => true,
        "sys.stdout" | "sys.stderr" | "sys.argv" | "sys.modules" => at.loads,
        "builtins._" => false,
        _ => name.starts_with("builtins.") || name.contains('.') && is_test_runner(name),
    }
}

fn names_way_in(name: &str) -> bool {
    let (object, method) = name.rsplit_once('.').unwrap_or(("", name));
    matches!(object, "sys.meta_path" | "sys.path_hooks" | "sys.modules")
        && matches!(
            method,
            "append"
                | "insert"
                | "extend"
                | "update"
                | "setdefault"
                | "__setitem__"
                | "pop"
                | "clear"
        )
}

fn unwrapped_lambda(function: Node<'_>) -> Option<Node<'_>> {
    let inner =
        (function.kind() == "parenthesized_expression").then(|| function.named_child(0))??;
    (inner.kind() == "lambda").then_some(inner)
}

// A status that no caller takes for success.
fn is_failure(status: Option<Node<'_>>, text: &[u8]) -> bool {
    let Some(status) = status else {
        return false;
    };
    match status.kind() {
        "integer" => {
            let digits = text_of(status, text).replace('_', "");
            digits.parse::<u64>().is_ok_and(|code| code % 256 != 0)
        }
        "string" | "concatenated_string" | "true" => true,
        // Of `--1` nobody knows without counting.
        "unary_operator" => status
            .field("argument")
            .is_some_and(|it| it.kind() == "integer" && is_failure(Some(it), text)),
        _ => false,
    }
}

fn is_true_lambda(node: Node<'_>, text: &[u8]) -> bool {
    node.kind() == "lambda" && node.field("body").is_some_and(|body| is_true(body, text))
}

fn is_true(node: Node<'_>, text: &[u8]) -> bool {
    match node.kind() {
        "true" => true,
        "integer" => text_of(node, text) != "0",
        "parenthesized_expression" => node
            .named_child(0)
            .is_some_and(|inner| is_true(inner, text)),
        "not_operator" => node
            .field("argument")
            .is_some_and(|inner| matches!(inner.kind(), "false" | "none")),
        // `1 == 1`, `other == other`
        "comparison_operator" => {
            let operand = |at| node.named_child(at).map(|side| text_of(side, text));
            node.named_child_count() == 2
                && operand(0) == operand(1)
                && !text_of(node, text).contains("!=")
        }
        "call" => {
            let name = node.field("function").map(|it| text_of(it, text));
            let arguments = node.field("arguments");
            let argument = |at| arguments.and_then(|arguments| arguments.named_child(at));
            match name.as_deref() {
                Some("bool") => argument(0).is_some_and(|it| is_true(it, text)),
                Some("isinstance") => argument(1).is_some_and(|it| text_of(it, text) == "object"),
                _ => false,
            }
        }
        _ => false,
    }
}

// Whether every return of a body, and there is one, gives a literal truth.
fn returns_only_true(body: Node<'_>, text: &[u8]) -> bool {
    let mut open = vec![body];
    let mut seen = false;
    while let Some(node) = open.pop() {
        if matches!(
            node.kind(),
            "function_definition" | "lambda" | "class_definition"
        ) {
            continue;
        }
        if node.kind() == "return_statement" {
            if !node
                .named_child(0)
                .is_some_and(|value| is_true(value, text))
            {
                return false;
            }
            seen = true;
        }
        open.extend(node.named());
    }
    seen
}
