//! Parses with tree-sitter under a bound of effort, since some inputs take quadratic time.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::time::Instant;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

use super::language::Grammar;
use super::literal::{line_of, next};
use crate::model::ParseProblem;

thread_local! {
    // By the address of the grammar.
    static PARSERS: RefCell<Vec<(*const Grammar, Parser)>> = const { RefCell::new(Vec::new()) };
    // The last texts and their trees, newest last: one answer asks several questions of a text.
    static LAST: RefCell<Vec<Parsed>> = const { RefCell::new(Vec::new()) };
}

struct Parsed {
    grammar: *const Grammar,
    text: Vec<u8>,
    tree: Tree,
}

/// Parses the text; `None` when the effort leaves all proportion to its length.
pub(super) fn parse(grammar: &'static Grammar, text: &[u8]) -> Option<Tree> {
    let own = std::ptr::from_ref(grammar);
    let cached = LAST.with_borrow(|last| {
        let mut same = last.iter().filter(|parsed| parsed.grammar == own && parsed.text == text);
        same.next().map(|parsed| parsed.tree.clone())
    });
    if cached.is_some() {
        return cached;
    }
    let tree = parse_once(grammar, text)?;
    let mended = grammar.mended.filter(|_| tree.root_node().has_error());
    let tree = mended.and_then(|mended| mended(text)).unwrap_or(tree);
    // Longer texts are not cached, to save memory.
    if text.len() <= 512 * 1024 {
        LAST.with_borrow_mut(|last| {
            if last.len() == 3 {
                last.remove(0);
            }
            last.push(Parsed {
                grammar: own,
                text: text.to_vec(),
                tree: tree.clone(),
            });
        });
    }
    Some(tree)
}

/// The same without another attempt.
pub(super) fn parse_once(grammar: &'static Grammar, text: &[u8]) -> Option<Tree> {
    let own = std::ptr::from_ref(grammar);
    PARSERS.with_borrow_mut(|parsers| {
        let found = parsers.iter().position(|(grammar, _)| *grammar == own);
        let slot = found.unwrap_or(parsers.len());
        if found.is_none() {
            let mut parser = Parser::new();
            parser.set_language(&(grammar.of)()).ok()?;
            parsers.push((own, parser));
        }
        let (_, parser) = parsers.get_mut(slot)?;
        // The parser reports every hundred operations; ordinary code needs at most one report for forty bytes.
        // Reports are counted, not time, so that every machine gives the same answer.
        let budget = 2_000 + text.len() / 10;
        // What slips through the count, because single operations become slow, is ended by the clock.
        let seconds = 2.0 + text.len() as f64 / 1e6 * 2.0;
        let start = Instant::now();
        let mut reports = 0;
        let mut watch = |_: &tree_sitter::ParseState| {
            reports += 1;
            let late = reports % 64 == 0 && start.elapsed().as_secs_f64() > seconds;
            if reports > budget || late {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut watch);
        let mut read = |offset: usize, _| text.get(offset..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        tree
    })
}

/// The ERROR and MISSING nodes, outermost first, at most `limit` of them.
pub(super) fn find_errors(tree: &Tree, text: &[u8], limit: usize) -> Vec<ParseProblem> {
    let mut problems = Vec::new();
    let mut cursor = tree.walk();
    // When nothing in the text can be parsed, the root itself is the error.
    loop {
        let within = inspect_node(cursor.node(), text, &mut problems);
        if problems.len() >= limit || !next(&mut cursor, within, &mut Vec::new(), ()) {
            return problems;
        }
    }
}

// Notes what is wrong with a node; whether something in it may be.
fn inspect_node(node: Node<'_>, text: &[u8], problems: &mut Vec<ParseProblem>) -> bool {
    if node.is_missing() {
        problems.push(ParseProblem::new(
            line_of(node),
            format!("`{}` is missing", node.kind()),
        ));
        return false;
    }
    if node.is_error() {
        let near = String::from_utf8_lossy(text.get(node.byte_range()).unwrap_or_default());
        // An error may begin with the end of the line above.
        let blank = &near[..near.len() - near.trim_start().len()];
        let line = line_of(node) + blank.matches('\n').count() as u32;
        let near: String = near.trim().lines().next().unwrap_or("").chars().take(60).collect();
        let message = match near.trim_end() {
            // Python: an indentation that no line above explains.
            "" => "unexpected indentation".to_owned(),
            near => format!("unexpected `{near}`"),
        };
        problems.push(ParseProblem::new(line, message));
        return false;
    }
    node.has_error()
}
