//! Recognizes caches and logs that tools leave behind, so that they never enter a patch.

use std::path::Path;

/// Whether a path that was not there before is something that agents, runners and interpreters
/// leave beside their work, and no part of it.
pub(super) fn is_litter(path: &str) -> bool {
    let mut parts = path.split('/');
    let first = parts.clone().next().unwrap_or_default();
    first.starts_with(".aider")
        || AGENTS.contains(&first)
        || parts.any(|part| CACHES.contains(&part))
        || Path::new(path).extension().is_some_and(|e| e == "pyc")
}

// Notes, histories and indices of agents, at the root.
#[rustfmt::skip]
const AGENTS: &[&str] = &[
    ".claude", ".codex", ".gemini", ".opencode", ".goose", ".crush", ".qwen", ".cursor",
    ".continue", ".specstory", ".cline", ".amp", ".kilocode", ".roo",
];

#[rustfmt::skip]
const CACHES: &[&str] = &[
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".coverage",
    ".nyc_output", ".tox", ".nox", ".eslintcache", ".tsbuildinfo", ".DS_Store",
];

#[cfg(test)]
mod tests {
    use super::is_litter;

    #[test]
    fn caches_and_notes_are_litter_and_sources_are_not() {
        for path in [
            ".aider.tags.cache.v4/cache.db",
            ".aider.chat.history.md",
            ".claude/settings.local.json",
            "src/__pycache__/a.cpython-312.pyc",
            "pkg/.pytest_cache/v/lastfailed",
        ] {
            assert!(is_litter(path), "{path}");
        }
        for path in ["src/a.py", "docs/.aider.md", "aider.py", ".github/x.yml"] {
            assert!(!is_litter(path), "{path}");
        }
    }
}
