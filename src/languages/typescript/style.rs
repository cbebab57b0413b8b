//! Reads the import style of a file: quotes, semicolons, extensions.

use super::ModuleRules;
use super::language::is_node;
use super::probe::without_extension;
use crate::languages::files::split_path;
use crate::languages::insert::Page;
use crate::model::{FileFacts, ImportKind, RepoPath, Suggestion};

/// How a TypeScript or JavaScript file writes its imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScriptStyle {
    /// `'` or `"`.
    pub(crate) quote: char,
    /// Statements end with `;`.
    pub(crate) semicolons: bool,
    /// `require` instead of `import`.
    pub(crate) require: bool,
    /// The file, or what is near one that shows nothing, has import statements alone.
    pub(crate) modules: bool,
    /// What specifiers of TypeScript files end with: nothing, `.js`, `.ts`.
    pub(crate) extension: Extension,
    /// Files above and aside of the own package are named by an alias rather than relatively.
    pub(crate) aliases: bool,
    /// `node:fs` rather than `fs`.
    pub(crate) node_prefix: bool,
    /// `import type` or inline `type` is in use.
    pub(crate) types: bool,
    /// What is demanded, where the file's own imports do not show that it is not.
    pub(crate) rules: ModuleRules,
}

/// The extension that specifiers of source files carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extension {
    None,
    /// The extension of the emitted file.
    Emitted,
    /// The extension of the source file.
    Source,
}

impl ScriptStyle {
    /// Reads the style from the file's own imports, then from `rules`, then from the imports of
    /// `others`, nearest first.
    pub(crate) fn detect<'f>(
        text: &[u8],
        facts: &'f FileFacts,
        others: impl Iterator<Item = &'f FileFacts>,
        rules: ModuleRules,
    ) -> Self {
        let own = [facts];
        let mut all = own.to_vec();
        all.extend(others.take(32));
        let near = if rules.common { &all[..] } else { &own[..] };
        let requires = uses_require(near);
        let shown = first_extension(&own);
        let rules = ModuleRules {
            full_paths: rules.full_paths && shown != Some(Extension::None),
            ..rules
        };
        let near = shown.or_else(|| first_extension(&all));
        Self {
            quote: first_quote(text, facts),
            semicolons: has_semicolons(text, facts),
            require: requires == Some(true),
            modules: requires == Some(false),
            extension: match near {
                Some(Extension::Source) if shown.is_some() || rules.source_extensions => {
                    Extension::Source
                }
                _ if rules.full_paths => Extension::Emitted,
                near => near.unwrap_or(Extension::None),
            },
            aliases: prefers_alias(&all),
            node_prefix: has_node_prefix(&all),
            rules,
            types: rules.explicit_types
                || all.iter().any(|facts| {
                    let mut imports = facts.imports.iter();
                    imports.any(|import| import.type_only && import.kind == ImportKind::Import)
                }),
        }
    }

    /// The statement that binds `name`, on one line and without a semicolon.
    pub(crate) fn statement(
        &self,
        name: &str,
        module: &str,
        imported: &str,
        type_only: bool,
    ) -> String {
        let q = self.quote;
        if self.require {
            return match imported {
                "*" | "default" => format!("const {name} = require({q}{module}{q})"),
                same if same == name => format!("const {{ {name} }} = require({q}{module}{q})"),
                other => format!("const {{ {other}: {name} }} = require({q}{module}{q})"),
            };
        }
        let word = if type_only { "import type" } else { "import" };
        match imported {
            "*" => format!("{word} * as {name} from {q}{module}{q}"),
            "default" => format!("{word} {name} from {q}{module}{q}"),
            same if same == name => format!("{word} {{ {name} }} from {q}{module}{q}"),
            other => format!("{word} {{ {other} as {name} }} from {q}{module}{q}"),
        }
    }

    /// The alias of a file with the ending that such specifiers carry.
    pub(crate) fn ended(&self, alias: &str, to: &RepoPath) -> String {
        let (stem, extension) = split_extension(to.as_str());
        let Some(ending) = find_ending(extension, self.extension) else {
            return alias.to_owned();
        };
        let index = stem.rsplit('/').next() == Some("index") && !alias.ends_with("/index");
        format!("{alias}{}{ending}", if index { "/index" } else { "" })
    }

    /// The style with the extension that a specifier shows, when `rules` allow it and neither the file nor those beside
    /// it show one.
    pub(crate) fn like(&self, specifier: &str) -> Self {
        let extension = match extension_of(specifier) {
            _ if self.extension != Extension::None => self.extension,
            Some(Extension::None) | None if self.rules.full_paths => self.extension,
            shown => shown.unwrap_or(Extension::None),
        };
        Self {
            extension,
            ..self.clone()
        }
    }

    /// A relative specifier from `from` to `to`. `like` is how another file named it: that an
    /// index file was named in full is kept.
    pub(crate) fn relative(&self, from: &RepoPath, to: &RepoPath, like: &str) -> String {
        let (stem, extension) = split_extension(to.as_str());
        let bare = like.rsplit('/').next().unwrap_or_default();
        let names_index = bare == "index" || bare.starts_with("index.");
        let ending = find_ending(extension, self.extension).unwrap_or_default();
        let (target, folder) = match stem.strip_suffix("/index") {
            Some(directory) if ending.is_empty() && !names_index => (directory.to_owned(), true),
            _ if stem == "index" && ending.is_empty() && !names_index => (String::new(), true),
            _ => (format!("{stem}{ending}"), false),
        };
        path_between(from.directory(), &target, folder)
    }
}

fn find_ending(extension: Option<&str>, style: Extension) -> Option<String> {
    let own = extension?;
    // Some files are found under no name but that of their emitted form.
    let full = matches!(own, "mjs" | "cjs" | "mts" | "cts");
    match style {
        Extension::Source => Some(format!(".{own}")),
        Extension::None if !full => None,
        _ => Some(
            match own {
                "mts" | "d.mts" | "mjs" => ".mjs",
                "cts" | "d.cts" | "cjs" => ".cjs",
                _ => ".js",
            }
            .to_owned(),
        ),
    }
}

// A file keeps its name beside a folder of the same name.
fn path_between(directory: &str, target: &str, folder: bool) -> String {
    let (own, parts) = (split_path(directory), split_path(target));
    let above = parts.len().saturating_sub(usize::from(!folder));
    let shared = own.iter().zip(parts.iter().take(above)).take_while(|(a, b)| a == b).count();
    let mut steps = vec![".."; own.len() - shared];
    if steps.is_empty() {
        steps.push(".");
    }
    steps.extend(parts.iter().skip(shared));
    steps.join("/")
}

// The path without a source extension, and that extension; other files keep theirs.
fn split_extension(path: &str) -> (&str, Option<&str>) {
    let stem = without_extension(path);
    (stem, path.get(stem.len() + 1..))
}

// Whether the first import of the files with one is a call of `require`.
fn uses_require(files: &[&FileFacts]) -> Option<bool> {
    const KINDS: &[ImportKind] = &[
        ImportKind::Require,
        ImportKind::Import,
        ImportKind::ImportEquals,
    ];
    let mut kinds = files.iter().filter_map(|facts| {
        facts
            .imports
            .iter()
            .find(|import| !import.nested && KINDS.contains(&import.kind))
    });
    kinds.next().map(|import| import.kind == ImportKind::Require)
}

fn is_alias(specifier: &str) -> bool {
    ["@/", "~/", "#", "$lib/"].iter().any(|mark| specifier.starts_with(mark))
}

// The extension of the first specifier of a source file.
fn first_extension(files: &[&FileFacts]) -> Option<Extension> {
    let imports = files.iter().flat_map(|facts| &facts.imports);
    let mut specifiers = imports.map(|import| import.specifier.as_str());
    specifiers.find_map(|specifier| {
        let is_path = specifier.starts_with('.') || is_alias(specifier);
        extension_of(specifier).filter(|_| is_path)
    })
}

// `None` when the specifier does not name a source file.
fn extension_of(specifier: &str) -> Option<Extension> {
    let last = specifier.rsplit('/').next().unwrap_or_default();
    match last.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js" | "mjs" | "cjs" | "jsx") => Some(Extension::Emitted),
        Some("ts" | "tsx" | "mts" | "cts") => Some(Extension::Source),
        Some("json" | "css" | "vue" | "svelte" | "svg" | "scss") => None,
        _ => Some(Extension::None),
    }
}

fn has_node_prefix(files: &[&FileFacts]) -> bool {
    let mut all = files.iter().flat_map(|facts| &facts.imports);
    let first = all.find(|import| is_node(&import.specifier));
    first.is_none_or(|import| import.specifier.starts_with("node:"))
}

// Whether the first file that names others by aliases or by `../` begins with an alias.
fn prefers_alias(files: &[&FileFacts]) -> bool {
    let imports = files.iter().flat_map(|facts| &facts.imports);
    let mut specifiers = imports.map(|import| import.specifier.as_str());
    specifiers
        .find(|specifier| is_alias(specifier) || specifier.starts_with("../"))
        .is_some_and(is_alias)
}

// The quoted specifier of the first import at the top level: its quote, and the text behind it.
fn first_specifier<'t>(text: &'t [u8], facts: &FileFacts) -> Option<(char, &'t [u8])> {
    let mut imports = facts.imports.iter().filter(|import| !import.nested);
    imports.find_map(|import| {
        let specifier = import.specifier.as_bytes();
        memchr::memmem::find_iter(text, specifier).find_map(|at| {
            let quote = *text.get(at.checked_sub(1)?)?;
            let rest = text.get(at + specifier.len()..)?;
            let is_quoted = matches!(quote, b'\'' | b'"') && rest.first() == Some(&quote);
            is_quoted.then_some((char::from(quote), rest))
        })
    })
}

// The quote of the first import statement, else the more frequent one of the text.
fn first_quote(text: &[u8], facts: &FileFacts) -> char {
    if let Some((quote, _)) = first_specifier(text, facts) {
        return quote;
    }
    let [double, single] = [b'"', b'\''].map(|quote| memchr::memchr_iter(quote, text).count());
    if double > single { '"' } else { '\'' }
}

// Whether the first import statement ends with a semicolon, else whether any line does.
fn has_semicolons(text: &[u8], facts: &FileFacts) -> bool {
    let specifier = first_specifier(text, facts);
    let rest = specifier.as_ref().map_or(text, |(_, rest)| rest);
    let lines = rest.split(|byte| *byte == b'\n');
    // The line of an import decides; without one any line does.
    lines.take(if specifier.is_some() { 1 } else { usize::MAX }).any(ends_statement)
}

fn ends_statement(line: &[u8]) -> bool {
    line.trim_ascii_end().ends_with(b";")
}

/// Writes an import as the file writes its own.
pub(super) fn import_line(page: &Page<'_>, one: &Suggestion) -> String {
    let rules = page.resolver.module_rules(page.file);
    let neighbors = std::iter::empty();
    let style = ScriptStyle::detect(page.text.as_bytes(), page.facts, neighbors, rules);
    let line = style.statement(&one.name, &one.module, &one.imported, one.type_only);
    let end = if style.semicolons { ";" } else { "" };
    format!("{line}{end}")
}

#[cfg(test)]
mod tests {
    use super::{Extension, ModuleRules, ScriptStyle};
    use crate::languages::facts;
    use crate::model::RepoPath;

    fn style(text: &str) -> ScriptStyle {
        let facts = facts(&RepoPath::new("a.ts").unwrap(), text.as_bytes());
        let rules = ModuleRules::default();
        ScriptStyle::detect(text.as_bytes(), &facts, std::iter::empty(), rules)
    }

    #[test]
    fn styles_are_read_from_the_file() {
        let one = style("import a from \"./a.js\";\nimport b from \"./b.js\";\nf();\n");
        assert_eq!((one.quote, one.semicolons), ('"', true));
        assert_eq!(one.extension, Extension::Emitted);
        let two = style("import a from '@/a'\nimport { type B } from '@/b'\nf()\n");
        assert_eq!((two.quote, two.semicolons), ('\'', false));
        assert!(two.aliases && two.types && !two.require);
        let path = RepoPath::new("src/db/index.ts").unwrap();
        assert_eq!(two.ended("@/db", &path), "@/db");
        let three = style("import a from '~/a.ts'\nimport b from './b.ts'\n");
        assert!(three.aliases);
        assert_eq!(three.ended("~/db", &path), "~/db/index.ts");
        let text = "import a from 'a'\nconst code = `import \"b\"; import \"c\"`\n";
        assert_eq!(style(text).quote, '\'');
        assert!(style("const a = require('a')\n").require);
        assert_eq!(style("import a from './a.ts'").extension, Extension::Source);
    }

    #[test]
    fn relative_specifiers_follow_the_style() {
        let path = |text| RepoPath::new(text).unwrap();
        let plain = style("");
        let emitted = style("import './x.js'");
        let from = path("src/a/x.ts");
        for (to, like, bare, full) in [
            ("src/a/y.ts", "", "./y", "./y.js"),
            ("src/b/z.tsx", "", "../b/z", "../b/z.js"),
            ("src/b/index.ts", "", "../b", "../b/index.js"),
            ("src/b/index.ts", "./b/index", "../b/index", "../b/index.js"),
            ("src/a/index.ts", "", ".", "./index.js"),
            ("src/index.ts", "", "..", "../index.js"),
            ("src/a.ts", "", "../a", "../a.js"),
            ("src/a/d.json", "", "./d.json", "./d.json"),
            ("src/a/m.mts", "", "./m.mjs", "./m.mjs"),
        ] {
            assert_eq!(plain.relative(&from, &path(to), like), bare, "{to}");
            assert_eq!(emitted.relative(&from, &path(to), like), full, "{to}");
        }
    }
}
