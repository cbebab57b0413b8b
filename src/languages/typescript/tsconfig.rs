use serde_json::{Value, json};

use super::glob;
use super::manifest::strings;
use super::packages::package_name;
use crate::languages::files::join;
use crate::model::RepoPath;

/// A `tsconfig.json` or `jsconfig.json` with its `extends` chain folded in.
///
/// What cannot be read of the chain is left out; the readable part counts.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the compiler"
)]
pub(super) struct Config {
    /// The directory of the file; `""` at the root.
    pub(super) directory: String,
    /// `compilerOptions.paths`, exact names first, then by length of the prefix.
    pub(super) paths: Vec<Alias>,
    pub(super) base_url: Option<String>,
    pub(super) out_dir: Option<String>,
    pub(super) root_dir: Option<String>,
    pub(super) conditions: Vec<String>,
    pub(super) references: Vec<String>,
    /// Imports may name `.ts` files.
    pub(super) source_extensions: bool,
    /// What is a type alone has to be imported as one.
    pub(super) explicit_types: bool,
    module: Option<String>,
    resolution: Option<String>,
    preserves_values: bool,
    is_isolated: bool,
    is_javascript: bool,
    include: Option<Vec<String>>,
    exclude: Vec<String>,
    files: Option<Vec<String>>,
}

/// One entry of `paths`.
pub(super) struct Alias {
    pub(super) pattern: String,
    /// Repository paths with their `*`.
    pub(super) targets: Vec<String>,
}

impl Alias {
    /// What `*` stands for, when the specifier matches.
    pub(super) fn star<'s>(&self, specifier: &'s str) -> Option<&'s str> {
        match self.pattern.split_once('*') {
            None => (self.pattern == specifier).then_some(""),
            Some((head, tail)) => {
                let rest = specifier.strip_prefix(head)?;
                rest.strip_suffix(tail)
            }
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
    let mut config = Config {
        directory: directory_of(path).to_owned(),
        is_javascript: path.ends_with("jsconfig.json"),
        ..Config::default()
    };
    let mut chain = Vec::new();
    let mut budget = 64;
    collect(path, load, locate, &mut chain, &mut Vec::new(), &mut budget)?;
    // Later links override; the file itself is last.
    for (link, value) in &chain {
        apply(&mut config, link, value);
    }
    if let Some((_, own)) = chain.last() {
        config.references = own
            .get("references")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|reference| reference.get("path")?.as_str())
            .filter_map(|path| join(&config.directory, path))
            .collect();
    }
    config.paths.sort_by_key(|alias| {
        let head = alias.pattern.split_once('*').map(|(head, _)| head.len());
        (head.is_some(), std::cmp::Reverse(head))
    });
    Some(config)
}

fn collect(
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
        many => strings(many),
    };
    for specifier in extends {
        if let Some(base) = locate(directory_of(path), &specifier) {
            collect(&base, load, locate, chain, open, budget);
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

fn apply(config: &mut Config, link: &str, value: &Value) {
    let directory = directory_of(link);
    let leaf = config.directory.clone();
    let place = |text: &str| match text.strip_prefix("${configDir}") {
        Some(rest) => join(&leaf, rest),
        None => join(directory, text),
    };
    let places = |field: Option<&Value>| -> Vec<String> {
        strings(field)
            .iter()
            .filter_map(|text| place(text))
            .collect()
    };
    let options = value.get("compilerOptions");
    let option = |name: &str| options.and_then(|options| options.get(name));
    if let Some(base) = option("baseUrl").and_then(Value::as_str) {
        config.base_url = place(base);
    }
    if let Some(paths) = option("paths").and_then(Value::as_object) {
        let own_base = option("baseUrl").and_then(Value::as_str).and_then(&place);
        let base = own_base.or(config.base_url.clone());
        let base = base.as_deref().unwrap_or(directory);
        config.paths = paths
            .iter()
            .map(|(pattern, targets)| Alias {
                pattern: pattern.clone(),
                targets: strings(Some(targets))
                    .iter()
                    .filter_map(|target| match target.strip_prefix("${configDir}") {
                        Some(rest) => join(&leaf, rest),
                        None => join(base, target),
                    })
                    .collect(),
            })
            .collect();
    }
    if let Some(out) = option("outDir").and_then(Value::as_str) {
        config.out_dir = place(out);
    }
    if let Some(root) = option("rootDir").and_then(Value::as_str) {
        config.root_dir = place(root);
    }
    if option("customConditions").is_some() {
        config.conditions = strings(option("customConditions"));
    }
    let word = |name: &str| option(name).and_then(Value::as_str).map(str::to_lowercase);
    let flag = |name: &str| option(name).and_then(Value::as_bool);
    config.module = word("module").or(config.module.take());
    config.resolution = word("moduleResolution").or(config.resolution.take());
    let either = flag("allowImportingTsExtensions").into_iter();
    if let Some(allows) = either
        .chain(flag("rewriteRelativeImportExtensions"))
        .reduce(|a, b| a || b)
    {
        config.source_extensions = allows;
    }
    config.preserves_values = flag("preserveValueImports").unwrap_or(config.preserves_values);
    config.is_isolated = flag("isolatedModules").unwrap_or(config.is_isolated);
    if let Some(verbatim) = flag("verbatimModuleSyntax") {
        config.explicit_types = verbatim;
    }
    config.explicit_types |= (config.preserves_values && config.is_isolated)
        || word("importsNotUsedAsValues").as_deref() == Some("error");
    if let Some(allow) = option("allowJs").and_then(Value::as_bool) {
        config.is_javascript = allow;
    }
    if value.get("include").is_some() {
        config.include = Some(places(value.get("include")));
    }
    if value.get("exclude").is_some() {
        config.exclude = places(value.get("exclude"));
    }
    if value.get("files").is_some() {
        config.files = Some(places(value.get("files")));
    }
}

impl Config {
    /// Whether modules are found as Node.js finds them.
    pub(super) fn is_node(&self) -> bool {
        let node = |word: &Option<String>| {
            word.as_deref().is_some_and(|word| {
                word == "nodenext"
                    || word
                        .strip_prefix("node")
                        .and_then(|it| it.parse::<u32>().ok())
                        .is_some_and(|it| it >= 16)
            })
        };
        match &self.resolution {
            Some(_) => node(&self.resolution),
            None => node(&self.module),
        }
    }

    /// Whether the compiler reads files like it: scripts without types only when it is told to.
    pub(super) fn takes(&self, file: &RepoPath) -> bool {
        self.is_javascript && self.includes(file)
    }

    /// Whether the project's own file list takes the file in.
    pub(super) fn includes(&self, file: &RepoPath) -> bool {
        let path = file.as_str();
        let listed = self
            .files
            .as_ref()
            .is_some_and(|files| files.iter().any(|f| f == path));
        if listed {
            return true;
        }
        let script = matches!(file.extension(), Some("js" | "jsx" | "mjs" | "cjs"));
        if script && !self.is_javascript {
            return false;
        }
        let included = match (&self.include, &self.files) {
            (Some(patterns), _) => patterns.iter().any(|pattern| covers(pattern, path)),
            (None, Some(_)) => false,
            (None, None) => file.is_below(&self.directory),
        };
        let excluded = |pattern: &String| covers(pattern, path);
        let out = self.out_dir.as_ref().filter(|out| !out.is_empty());
        included
            && !self.exclude.iter().any(excluded)
            && !out.is_some_and(|out| file.is_below(out) && *out != self.directory)
    }
}

// A pattern names files, or a directory and everything in it.
fn covers(pattern: &str, path: &str) -> bool {
    if pattern.is_empty() {
        return true;
    }
    if !pattern.contains(['*', '?']) {
        return path == pattern
            || path
                .strip_prefix(pattern)
                .is_some_and(|rest| rest.starts_with('/'));
    }
    let last = pattern.rsplit('/').next().unwrap_or_default();
    glob::matches(pattern, path)
        || (last == "**" && glob::matches(&format!("{pattern}/*"), path))
        || (!last.contains(['*', '?', '.']) && glob::matches(&format!("{pattern}/**"), path))
}

/// The directory part of a repository path; `""` at the root.
pub(super) fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}
