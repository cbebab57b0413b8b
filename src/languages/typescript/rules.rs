//! What compiler and loader demand of an import: extensions, `type`, module kind.

use super::language::{TYPESCRIPT, is_node};
use super::packages::{self, package_name};
use super::tsconfig::Config;
use crate::languages::Language;
use crate::languages::resolver::Resolver;
use crate::model::{Import, RepoPath};

/// What the compiler and the loader of a file demand of its imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ModuleRules {
    /// Relative specifiers carry their extension and name index files in full, as Node.js wants it
    /// of modules.
    pub full_paths: bool,
    /// They may carry the extension of the source (`.ts`).
    pub source_extensions: bool,
    /// What is a type alone has to be imported by `import type`.
    pub explicit_types: bool,
    /// Node.js loads it by `require`, or does so unless its text shows a module: its name or its
    /// manifest does not say that it is one.
    pub common: bool,
}

// What finds files by specifiers without extension, whatever Node.js says.
const BUNDLERS: &str = include_str!("bundlers.txt");

impl Resolver<'_> {
    /// What is demanded of the imports of a script: by the config that governs it and by the kind
    /// of its package.
    pub fn module_rules(&self, file: &RepoPath) -> ModuleRules {
        if Language::of_path(file.as_str()) != Some(&TYPESCRIPT) {
            return ModuleRules::default();
        }
        let config = self.owner(file);
        let config = config.as_deref();
        let typed = matches!(file.extension(), Some("ts" | "tsx" | "mts" | "cts"));
        let full_paths = match file.extension() {
            Some("mts" | "mjs" | "ts" | "tsx" | "js" | "jsx") => {
                self.is_module(file)
                    && if typed || config.is_some_and(|config| config.takes(file)) {
                        config.is_some_and(Config::is_node)
                    } else {
                        !self.is_bundled(file)
                    }
            }
            _ => false,
        };
        let common = match file.extension() {
            Some("cjs") => true,
            Some("js") => {
                packages::nearest(self, file).is_some()
                    && !self.is_module(file)
                    && !self.is_bundled(file)
                    && !config.is_some_and(|config| config.takes(file))
            }
            _ => false,
        };
        ModuleRules {
            common,
            full_paths,
            // Without settings the neighbors decide, because Node.js runs only specifiers that end in `.ts`.
            source_extensions: config.is_none_or(Config::takes_source_extensions),
            explicit_types: config.is_some_and(|config| config.options.verbatim_module_syntax)
                && !matches!(file.extension(), Some("js" | "jsx" | "mjs" | "cjs")),
        }
    }

    // Whether Node.js loads the file as a module.
    fn is_module(&self, file: &RepoPath) -> bool {
        match file.extension() {
            Some("mts" | "mjs") => true,
            Some("cts" | "cjs") => false,
            _ => packages::nearest(self, file).is_some_and(|manifest| manifest.is_module()),
        }
    }

    fn is_bundled(&self, file: &RepoPath) -> bool {
        BUNDLERS.lines().any(|name| self.declares(file, name))
    }

    /// Whether a specifier is one that the compiler and the loader of the file take for `target`,
    /// by what `rules` demand. That it leads there is another question: see
    /// [`Resolver::resolve`].
    pub fn is_spelled(&self, rules: ModuleRules, specifier: &str, target: &RepoPath) -> bool {
        if !specifier.starts_with('.') || !rules.full_paths {
            return true;
        }
        let name = specifier.rsplit('/').next().unwrap_or_default();
        let Some((_, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())
        else {
            return false;
        };
        match extension {
            "js" | "mjs" | "cjs" | "jsx" => true,
            "ts" | "tsx" | "mts" | "cts" => {
                rules.source_extensions || target.extension() == Some(extension)
            }
            other => target.extension() == Some(other),
        }
    }

    /// Whether the manifests at or above the file say that the module of a bare specifier is
    /// there: declared, of the workspace, built in, behind an alias, or nothing says what is.
    pub fn is_at_hand(&self, file: &RepoPath, specifier: &str) -> bool {
        if specifier.starts_with(['.', '#', '/']) || is_node(specifier) {
            return true;
        }
        let Some((name, _)) = package_name(specifier) else {
            return false;
        };
        let types = format!("@types/{}", name.trim_start_matches('@').replace('/', "__"));
        let mut manifests =
            file.ancestors().filter_map(|directory| self.manifest(directory)).peekable();
        if manifests.peek().is_none() {
            return true;
        }
        if manifests.any(|one| {
            one.declares(name) || one.declares(&types) || one.name.as_deref() == Some(name)
        }) {
            return true;
        }
        // An alias of a config leads into the repository.
        let found = self.resolve(file, &Import::from_specifier(specifier));
        !found.files.is_empty() && self.workspace().directory(name, file).is_none()
    }
}
