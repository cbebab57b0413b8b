//! Reads `tsconfig.json` with its `extends` chain.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::manifest::list_strings;
use super::packages::package_name;
use crate::languages::files::join_path;
use crate::model::RepoPath;

/// A `tsconfig.json` or `jsconfig.json` with its `extends` chain folded in.
///
/// What cannot be read of the chain is left out; the readable part counts.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Config {
    /// The directory of the file; `""` at the root.
    #[serde(skip)]
    pub(super) directory: String,
    /// `compilerOptions.paths`, exact names first, then by length of the prefix.
    #[serde(skip)]
    pub(super) paths: Vec<Alias>,
    #[serde(rename = "compilerOptions")]
    pub(super) options: Options,
    pub(super) references: Vec<String>,
    include: Option<Patterns>,
    exclude: Patterns,
    files: Option<Vec<String>>,
}

/// The patterns of `include` or `exclude`, compiled when a file is asked for.
#[derive(Default, Deserialize)]
#[serde(from = "Vec<String>")]
struct Patterns {
    patterns: Vec<String>,
    set: OnceLock<GlobSet>,
}

/// Options of the compiler; their paths are those of the repository.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Options {
    pub(super) base_url: Option<String>,
    out_dir: Option<String>,
    pub(super) custom_conditions: Vec<String>,
    /// What is a type alone has to be imported as one.
    pub(super) verbatim_module_syntax: bool,
    allow_importing_ts_extensions: bool,
    rewrite_relative_import_extensions: bool,
    allow_js: bool,
    module: Option<String>,
    module_resolution: Option<String>,
    paths: BTreeMap<String, Vec<String>>,
}

/// One entry of `paths`.
pub(super) struct Alias {
    pub(super) pattern: String,
    /// Repository paths with their `*`.
    pub(super) targets: Vec<String>,
}

impl Alias {
    /// What `*` represents, when the specifier matches.
    pub(super) fn star<'s>(&self, specifier: &'s str) -> Option<&'s str> {
        match self.pattern.split_once('*') {
            None => (self.pattern == specifier).then_some(""),
            Some((head, tail)) => specifier.strip_prefix(head)?.strip_suffix(tail),
        }
    }
}

/// Reads a config through `load`, which gives the bytes of a repository path, and `locate`, which
/// finds the file an `extends` entry names.
pub(super) fn read(
    path: &str,
    load: &dyn Fn(&str) -> Option<Value>,
    locate: &dyn Fn(&str, &str) -> Option<String>,
) -> Option<Config> {
    let mut chain = Vec::new();
    // Bounded, because an `extends` chain can be a cycle.
    let mut budget = 64;
    collect_chain(path, load, locate, &mut chain, &mut Vec::new(), &mut budget)?;
    let directory = directory_of(path);
    let mut config: Config =
        serde_json::from_value(fold_all(directory, &chain)).unwrap_or_default();
    directory.clone_into(&mut config.directory);
    let paths = std::mem::take(&mut config.options.paths).into_iter();
    config.paths = paths.map(|(pattern, targets)| Alias { pattern, targets }).collect();
    config.paths.sort_by_key(|alias| {
        let head = alias.pattern.split_once('*').map(|(head, _)| head.len());
        (head.is_some(), std::cmp::Reverse(head))
    });
    Some(config)
}

fn collect_chain(
    path: &str,
    load: &dyn Fn(&str) -> Option<Value>,
    locate: &dyn Fn(&str, &str) -> Option<String>,
    chain: &mut Vec<(String, Value)>,
    open: &mut Vec<String>,
    budget: &mut usize,
) -> Option<()> {
    if *budget == 0 || open.iter().any(|above| above == path) {
        return None;
    }
    *budget -= 1;
    let value = load(path)?;
    open.push(path.to_owned());
    let extends = match value.get("extends") {
        Some(Value::String(one)) => vec![one.clone()],
        many => list_strings(many),
    };
    for specifier in extends {
        if let Some(base) = locate(directory_of(path), &specifier) {
            collect_chain(&base, load, locate, chain, open, budget);
        } else if let Some(options) = published_options(&specifier) {
            chain.push((path.to_owned(), options));
        }
    }
    open.pop();
    chain.push((path.to_owned(), value));
    Some(())
}

// The module setting of https://github.com/tsconfig/bases for Node.js, which is installed and not read.
fn published_options(specifier: &str) -> Option<Value> {
    let (name, _) = package_name(specifier)?;
    let version = name.strip_prefix("@tsconfig/node")?;
    let is_modern = version == "-lts" || version.parse::<u32>().is_ok_and(|version| version >= 16);
    is_modern.then(|| json!({ "compilerOptions": { "module": "node16" } }))
}

// One object of all links: later ones override, the file itself is last.
fn fold_all(directory: &str, chain: &[(String, Value)]) -> Value {
    let mut fields = Map::new();
    let mut options = Map::new();
    for (link, value) in chain {
        let base = directory_of(link);
        for field in ["include", "exclude", "files"] {
            if let Some(own) = value.get(field) {
                fields.insert(
                    field.to_owned(),
                    place_in(own, &|text| place_text(text, base, directory)),
                );
            }
        }
        if link.ends_with("jsconfig.json") {
            options.insert("allowJs".to_owned(), Value::Bool(true));
        }
        let own = value.get("compilerOptions").and_then(Value::as_object);
        for (name, value) in own.into_iter().flatten() {
            let value = match name.as_str() {
                "baseUrl" | "outDir" => place_in(value, &|text| place_text(text, base, directory)),
                _ => value.clone(),
            };
            options.insert(name.clone(), value);
        }
        if let Some(paths) = own.and_then(|own| own.get("paths")) {
            let base = options.get("baseUrl").and_then(Value::as_str);
            let base = base.unwrap_or(directory_of(link)).to_owned();
            let paths = place_in(paths, &|text| place_text(text, &base, directory));
            options.insert("paths".to_owned(), paths);
        }
    }
    let own = chain.last().and_then(|(_, own)| own.get("references"));
    let own = own.and_then(Value::as_array).into_iter().flatten();
    let references = own.filter_map(|one| join_path(directory, one.get("path")?.as_str()?));
    fields.insert("references".to_owned(), references.collect());
    fields.insert("compilerOptions".to_owned(), Value::Object(options));
    Value::Object(fields)
}

// What templates name belongs to the file itself, not to the one that it extends.
fn place_text(text: &str, base: &str, directory: &str) -> Option<String> {
    match text.strip_prefix("${configDir}") {
        Some(rest) => join_path(directory, rest),
        None => join_path(base, text),
    }
}

// The texts of a value as paths of the repository.
fn place_in(value: &Value, place: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::String(text) => place(text).map_or(Value::Null, Value::String),
        Value::Array(items) => {
            let items = items.iter().map(|item| place_in(item, place));
            items.filter(Value::is_string).collect()
        }
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), place_in(value, place))).collect()
        }
        other => other.clone(),
    }
}

impl Config {
    /// Whether modules are found as Node.js finds them.
    pub(super) fn is_node(&self) -> bool {
        let word = self.options.module_resolution.as_ref().or(self.options.module.as_ref());
        let word = word.map(|word| word.to_lowercase()).unwrap_or_default();
        let version = word.strip_prefix("node").map(str::parse::<u32>);
        word == "nodenext" || matches!(version, Some(Ok(16..)))
    }

    /// Whether imports may name `.ts` files.
    pub(super) fn takes_source_extensions(&self) -> bool {
        self.options.allow_importing_ts_extensions
            || self.options.rewrite_relative_import_extensions
    }

    /// Whether the compiler reads files like it: scripts without types only with `allowJs`.
    pub(super) fn takes(&self, file: &RepoPath) -> bool {
        self.options.allow_js && self.includes(file)
    }

    /// Whether the project's own file list takes the file in.
    pub(super) fn includes(&self, file: &RepoPath) -> bool {
        let path = file.as_str();
        let listed = self.files.as_ref().is_some_and(|files| files.iter().any(|f| f == path));
        if listed {
            return true;
        }
        let script = matches!(file.extension(), Some("js" | "jsx" | "mjs" | "cjs"));
        if script && !self.options.allow_js {
            return false;
        }
        let included = match (&self.include, &self.files) {
            (Some(patterns), _) => patterns.covers(path),
            (None, Some(_)) => false,
            (None, None) => file.is_below(&self.directory),
        };
        let out = self.options.out_dir.as_ref().filter(|out| !out.is_empty());
        included
            && !self.exclude.covers(path)
            && !out.is_some_and(|out| file.is_below(out) && *out != self.directory)
    }
}

// A pattern names files, or a directory and everything in it.
impl From<Vec<String>> for Patterns {
    fn from(patterns: Vec<String>) -> Self {
        let patterns = patterns.into_iter().flat_map(|pattern| {
            let last = pattern.rsplit('/').next().unwrap_or_default();
            let is_directory = last == "**" || !last.contains(['*', '?', '.']);
            let is_plain = !pattern.contains(['*', '?']);
            let below = (is_plain || is_directory).then(|| format!("{pattern}/**"));
            [Some(pattern), below]
        });
        Self {
            patterns: patterns.flatten().collect(),
            set: OnceLock::new(),
        }
    }
}

impl Patterns {
    fn covers(&self, path: &str) -> bool {
        self.set
            .get_or_init(|| compile_globs(&self.patterns))
            .is_match(plain_path(path))
    }
}

/// The directory part of a repository path; `""` at the root.
pub(super) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Compiles globs: `*` and `?` stay inside a component, `**` spans components. What is no glob matches nothing.
pub(super) fn compile_globs(globs: &[String]) -> GlobSet {
    // Brackets are letters here, as in the names of routes.
    let globs = globs.iter().map(|glob| plain_path(glob).replace('[', "\\["));
    let globs =
        globs.filter_map(|glob| GlobBuilder::new(&glob).literal_separator(true).build().ok());
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(glob);
    }
    set.build().unwrap_or_default()
}

// Without components that say nothing.
fn plain_path(path: &str) -> String {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::compile_globs;

    #[test]
    fn stars_know_components() {
        for (pattern, path, expected) in [
            ("packages/*", "packages/a", true),
            ("packages/*", "packages/a/b", false),
            ("packages/**", "packages/a/b", true),
            ("**/*.ts", "a.ts", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/*.spec.?s", "a/x.spec.ts", true),
            ("./a/*", "a/x", true),
            ("a", "b", false),
            ("p/{a,b}/{c,d}", "p/b/c", true),
            ("p/{a,b}", "p/c", false),
        ] {
            let globs = compile_globs(&[pattern.to_owned()]);
            assert_eq!(globs.is_match(path), expected, "{pattern} {path}");
        }
    }
}
