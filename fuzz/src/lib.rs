//! What the fuzz targets do with bytes, and what has to hold beside "no panic and no endless work".

use std::collections::HashMap;

use mendit::documents::{RepoPath, Verdict};
use mendit::internals::ServerConfig;
use mendit::internals::graph::{Graph, Wanted, document};
use mendit::internals::languages::{facts, syntax_errors};
use mendit::internals::patch::{Body, JudgeOptions, Judged, judge, read};
use mendit::internals::policy::{Redactor, sanitize_log};
use mendit::internals::read_reply;
use mendit::internals::source::Memory;
use mendit::{LogOptions, diagnose_log};

/// Any bytes as a patch: every hunk has lines to show.
pub fn reader(bytes: &[u8]) {
    let _ = read(bytes, |set| {
        for file in &set.files {
            let Body::Hunks(hunks) = &file.body else {
                continue;
            };
            for hunk in hunks {
                assert!(hunk.line > 0 && hunk.loose_tail <= hunk.lines.len());
            }
        }
    });
}

/// Up to the first NUL a file, from there a patch for it, which is validated.
///
/// Nothing changes unless the verdict applies. The canonical patch of a result leads from the same
/// file to the same result, needs no mends, and is then already applied.
pub fn placer(bytes: &[u8]) {
    let Some((file, patch)) = halves(bytes) else {
        return;
    };
    let Ok(path) = RepoPath::new("f") else {
        return;
    };
    let source = Memory::new([(path, file.to_vec())]);
    let options = JudgeOptions::default();
    let judged = judge(patch, &source, &options);
    if !judged.verdict.verdict.applies() {
        assert!(judged.changes.is_empty());
        return;
    }
    let canonical = judged.canonical_patch();
    if canonical.is_empty() {
        // The patch changes nothing.
        assert!(judged.changes.iter().all(|it| it.after == it.standing));
        return;
    }
    let again = judge(&canonical, &source, &options);
    assert_eq!(again.verdict.verdict, Verdict::Applies);
    let after = |judged: &Judged| -> Vec<_> {
        let changes = judged.changes.iter();
        changes
            .map(|change| (change.path.clone(), change.after.clone()))
            .collect()
    };
    assert_eq!(after(&again), after(&judged));
}

/// A log as `diagnose` takes it: the lines it points at are lines of the log, a second reading says
/// the same, and a cleaned log stays as it is when cleaned again.
pub fn log(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let first = diagnose_log(&text, &LogOptions::default());
    let lines = text.split('\n').count() as u64;
    for evidence in &first.evidence {
        assert!((1..=lines).contains(&evidence.line));
    }
    assert_eq!(first, diagnose_log(&text, &LogOptions::default()));
    let clean = sanitize_log(bytes);
    assert_eq!(sanitize_log(clean.as_bytes()), clean);
}

/// Secrets masked: masking twice changes nothing more, and no line is lost.
pub fn secrets(bytes: &[u8]) {
    let redactor = Redactor::default();
    let masked = redactor.redact_bytes(bytes);
    let newlines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(newlines(&masked.bytes), newlines(bytes));
    assert_eq!(masked.findings.is_empty(), *masked.bytes == *bytes);
    let again = redactor.redact_bytes(&masked.bytes);
    assert_eq!(*again.bytes, *masked.bytes);
    for finding in &masked.findings {
        assert!(finding.start < finding.end && finding.end <= bytes.len());
    }
}

/// Source code of a language that the first byte chooses: every line number is one of the file.
pub fn code(bytes: &[u8]) {
    let Some((choice, text)) = bytes.split_first() else {
        return;
    };
    let names = [
        "a.py", "a.ts", "a.tsx", "a.js", "a.vue", "a.svelte", "a.astro",
    ];
    let Ok(path) = RepoPath::new(names[usize::from(*choice) % names.len()]) else {
        return;
    };
    let lines = text.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
    let read = facts(&path, text);
    for line in read.imports.iter().map(|import| import.line) {
        assert!((1..=lines).contains(&line));
    }
    for definition in &read.definitions {
        assert!(1 <= definition.line && definition.line <= definition.end_line);
        assert!(definition.end_line <= lines);
    }
    assert!(syntax_errors(&path, text).iter().all(|it| it.line <= lines));
}

/// Manifests apart by NUL, and the import graph of a small repository that they rule: every edge
/// leads to a file that is there.
pub fn manifests(bytes: &[u8]) {
    let names = [
        "tsconfig.json",
        "package.json",
        "pyproject.toml",
        "pkg/tsconfig.json",
        "pkg/package.json",
    ];
    let given = names.into_iter().zip(bytes.split(|byte| *byte == 0));
    let sources = [
        (
            "src/a.ts",
            "import '@/b'; import 'pkg'; import 'pkg/deep'; import '#own'; import './c.js'",
        ),
        (
            "src/b.ts",
            "export * from 'src/c'; import '~/a'; import 'pkg/src/d'",
        ),
        ("src/c.ts", "export const c = require('../pkg')"),
        ("pkg/src/d.ts", "import x from 'pkg'; import '../../src/a'"),
        ("pkg/src/index.ts", "export default 1"),
        ("lib/one/__init__.py", "from . import two\nimport one.two"),
        ("lib/one/two.py", "from one import *"),
    ];
    let files: HashMap<RepoPath, Vec<u8>> = given
        .chain(sources.map(|(name, text)| (name, text.as_bytes())))
        .filter_map(|(name, text)| Some((RepoPath::new(name).ok()?, text.to_vec())))
        .collect();
    let source = Memory::named(files.iter().map(|(path, text)| (path.as_str(), text.as_slice())));
    let document = document(&Graph::new(&source), &Wanted::Whole, false);
    let edges = document.files.iter().flat_map(|file| &file.imports);
    for path in edges.filter_map(|edge| edge.path.as_ref()) {
        assert!(files.contains_key(path));
    }
}

/// An agent's reply: a patch in it can be validated.
pub fn reply(bytes: &[u8]) {
    let reply = read_reply(&String::from_utf8_lossy(bytes));
    if let Some(patch) = reply.patch {
        let nothing = Memory::new([]);
        judge(&patch, &nothing, &JudgeOptions::default());
    }
}

/// A configuration of MCP servers: every server it names can be asked for, and putting one back
/// leaves a file that still names them all.
pub fn servers(bytes: &[u8]) {
    let Ok(mut config) = ServerConfig::parse("mcp.json", bytes) else {
        return;
    };
    let names: Vec<String> = config.names().map(str::to_owned).collect();
    for name in &names {
        let Ok(probe) = config.probe(name, std::time::Duration::ZERO) else {
            panic!("`{name}` was read and is not there");
        };
        config.replace(&probe);
    }
    let again = ServerConfig::parse("mcp.json", config.text().as_bytes());
    assert!(again.is_ok_and(|again| again.names().eq(names.iter().map(String::as_str))));
}

fn halves(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::{code, log, manifests, placer, reader, reply, secrets, servers};

    #[test]
    fn every_target_holds_for_a_seed() {
        let patch = b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n";
        reader(patch);
        placer(&[&b"a\n\0"[..], patch].concat());
        reply(patch);
        log(b"E   NameError: name 'x' is not defined\r\n\x1b[1mFAILED a.py::t\n");
        secrets(b"password = 'aW9pb2lvaW9pb2k0NTY3'\n");
        code(b"\0import a\ndef f(): pass\n");
        code(b"\x01import a from './a'\n");
        manifests(b"{\"compilerOptions\":{\"paths\":{\"@/*\":[\"./src/*\"]}}}\0{\"name\":\"pkg\"}");
        servers(b"{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}");
    }
}
