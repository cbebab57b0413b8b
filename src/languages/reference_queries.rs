//! The queries of `grammars/` against the cursor reader: what a query finds, the reader finds.

use tree_sitter::{Query, QueryCursor, StreamingIterator};

use super::facts;
use super::language::Language;
use super::parse::parse;
use crate::model::RepoPath;

fn by_query(path: &str, text: &[u8]) -> Vec<String> {
    let (language, kind) = Language::of_kind(path).unwrap();
    let query = match language.name {
        "python" => include_str!("../../grammars/python/imports.scm"),
        _ => include_str!("../../grammars/typescript/imports.scm"),
    };
    let query = Query::new(&(kind.grammar.of)(), query).unwrap();
    let specifier = query.capture_index_for_name("specifier").unwrap();
    let tree = parse(kind.grammar, text).unwrap();
    let mut cursor = QueryCursor::new();
    let mut found = Vec::new();
    let mut matches = cursor.matches(&query, tree.root_node(), text);
    while let Some(one) = matches.next() {
        for capture in one.captures().iter().filter(|it| it.index == specifier) {
            let text = capture.node.utf8_text(text).unwrap();
            let bare: String = text.chars().filter(|it| !it.is_whitespace()).collect();
            found.push(bare.trim_matches(['"', '\'']).to_owned());
        }
    }
    found
}

fn the_reader_finds_all(path: &str, text: &str) {
    let read = facts(&RepoPath::new(path).unwrap(), text.as_bytes());
    let wanted = by_query(path, text.as_bytes());
    assert!(!wanted.is_empty(), "the query finds nothing in {path}");
    for specifier in wanted.iter().filter(|it| *it != "__future__") {
        let found = read
            .imports
            .iter()
            .any(|import| import.specifier == *specifier);
        assert!(found, "{path}: `{specifier}` was not read");
    }
}

#[test]
fn script_forms() {
    let text = r#"
        import a, { b as c } from './a';
        import './side-effect';
        import type { T } from "./types";
        import json from './data.json' with { type: 'json' };
        import x = require('./x');
        export { y } from './y';
        export * from './star';
        export * as ns from './ns';
        const z = require('./z');
        const where = require.resolve('./where');
        type Z = import('./type-position').Z;
        vi.mock('./mocked');
        jest.requireActual('./actual');
        class K { async load() { if (true) { return import('./dynamic'); } } }
        function broken( { import('./after-an-error');
    "#;
    the_reader_finds_all("src/forms.ts", text);
    the_reader_finds_all("src/forms.mjs", &text.replace("import type", "import"));
}

#[test]
fn python_forms() {
    let text = "import os.path, sys as system\n\
        from . import sibling\nfrom .. import parent\nfrom ..pkg.mod import (a, b as c)\n\
        from star import *\nfrom __future__ import annotations\n\
        if TYPE_CHECKING:\n    from types_only import T\n\
        try:\n    import fast\nexcept ImportError:\n    import slow as fast\n\
        def f():\n    from lazy.module import g\n    with x:\n        import deep\n\
        class K:\n    import inside\n\
        match x:\n    case 1:\n        import matched\n\
        def broken(:\nimport after_an_error\n";
    the_reader_finds_all("pkg/forms.py", text);
    the_reader_finds_all("pkg/forms.pyi", text);
}

#[test]
fn the_fixtures() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut open = vec![root];
    let mut read = 0;
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if let Some(name) = path.file_name().and_then(|name| name.to_str())
                && Language::of_path(name).is_some()
                && let Ok(text) = std::fs::read_to_string(&path)
                && text.contains("import ")
            {
                the_reader_finds_all(name, &text);
                read += 1;
            }
        }
    }
    assert!(read > 1);
}
