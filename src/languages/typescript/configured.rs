use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::tsconfig::Alias;
use crate::languages::files::{child, join};

// Settings of bundlers and test runners that name aliases, read as text: nothing of them is run.
const SCRIPTS: &[&str] = &[
    "vite.config.ts",
    "vite.config.js",
    "vite.config.mts",
    "vite.config.mjs",
    "vitest.config.ts",
    "vitest.config.js",
    "vitest.config.mts",
    "vitest.config.mjs",
    "webpack.config.js",
    "webpack.config.ts",
    "webpack.config.cjs",
    "rspack.config.js",
    "rspack.config.ts",
    "astro.config.mjs",
    "astro.config.ts",
    "svelte.config.js",
    "jest.config.js",
    "jest.config.ts",
    "jest.config.cjs",
    "jest.config.mjs",
    "babel.config.js",
    "babel.config.cjs",
    ".babelrc.js",
];

// `'@': path.resolve(__dirname, './src')`, `$lib: 'src/lib'`, `'^@/(.*)$': '<rootDir>/src/$1'`: a key
// and, in its value, string literals.
static PAIR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let key = r#"(?:['"]([^'"\n]{1,80})['"]|([@~$A-Za-z_][\w$]*))"#;
    let call = r"(?:(?:path\.|\w+\.)?(?:resolve|join|fileURLToPath|URL|dirname|pathname)\b|new\b|__dirname|import\.meta\.\w+|process\.cwd\(\)|[\w.]*(?:[Rr]oot|ROOT|Dir|dir)\b|[\s(,])*";
    Regex::new(&format!(
        r#"(?:find\s*:\s*(?:['"]([^'"\n]{{1,80}})['"]|/\^?([^/\n]{{1,80}})/)\s*,\s*replacement\s*:|{key}\s*:)\s*\[?\s*{call}((?:['"][^'"\n]{{0,200}}['"][\s,]*)+)"#
    ))
    .ok()
});

// Where the objects that hold aliases start.
const MARKS: &[&str] = &["alias", "moduleNameMapper"];

/// The aliases that the settings in a directory name, as patterns with their targets.
pub(super) fn aliases(directory: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<Alias> {
    let mut found = Vec::new();
    for name in SCRIPTS {
        if let Some(text) = read(&child(directory, name)) {
            for mark in MARKS {
                for (at, _) in text.match_indices(mark).take(8) {
                    let block = block(text.get(at + mark.len()..).unwrap_or_default());
                    found.extend(in_script(directory, block));
                }
            }
            if *name == "svelte.config.js" {
                found.extend(alias(directory, "$lib", "src/lib"));
            }
        }
    }
    for name in ["nuxt.config.ts", "nuxt.config.js", "nuxt.config.mjs"] {
        if let Some(text) = read(&child(directory, name)) {
            let sources = ["app", "src"].map(|folder| format!("srcDir: '{folder}"));
            let folder = ["app", "src"]
                .iter()
                .zip(&sources)
                .find(|(_, mark)| text.replace('"', "'").contains(mark.as_str()));
            for (key, target) in [("~~", "."), ("@@", "."), ("~", ""), ("@", "")] {
                let target = if target.is_empty() {
                    folder.map_or(".", |(folder, _)| folder)
                } else {
                    target
                };
                found.extend(alias(directory, key, target));
            }
        }
    }
    for (name, keys) in [
        ("package.json", &["jest", "moduleNameMapper"][..]),
        ("jest.config.json", &["moduleNameMapper"]),
        ("deno.json", &["imports"]),
        ("deno.jsonc", &["imports"]),
        ("import_map.json", &["imports"]),
    ] {
        let Some(text) = read(&child(directory, name)) else {
            continue;
        };
        let Some(value) = json(&text) else { continue };
        let table = keys.iter().try_fold(&value, |value, key| value.get(key));
        for (key, target) in table.and_then(Value::as_object).into_iter().flatten() {
            let target = target.as_str().or_else(|| target.get(0)?.as_str());
            found.extend(target.and_then(|target| alias(directory, key, target)));
        }
    }
    for name in [".babelrc", ".babelrc.json", "babel.config.json"] {
        let text = read(&child(directory, name));
        let Some(value) = text.and_then(|text| json(&text)) else {
            continue;
        };
        let plugins = value.get("plugins").and_then(Value::as_array);
        for plugin in plugins.into_iter().flatten() {
            let is_resolver = plugin
                .get(0)
                .and_then(Value::as_str)
                .is_some_and(|name| name.ends_with("module-resolver"));
            let table = plugin.get(1).and_then(|options| options.get("alias"));
            for (key, target) in table
                .filter(|_| is_resolver)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                found.extend(target.as_str().and_then(|it| alias(directory, key, it)));
            }
        }
    }
    found
}

fn json(text: &str) -> Option<Value> {
    let mut text = text.to_owned();
    json_strip_comments::strip(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

// Up to where the brackets after the mark close.
fn block(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate().take(8_000) {
        match byte {
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' if depth <= 1 => return text.get(..at).unwrap_or_default(),
            b'}' | b']' | b')' => depth -= 1,
            b',' | b';' if depth == 0 => return "",
            _ => {}
        }
    }
    ""
}

fn in_script(directory: &str, block: &str) -> Vec<Alias> {
    let Some(pattern) = &*PAIR else {
        return Vec::new();
    };
    pattern
        .captures_iter(block)
        .filter_map(|found| {
            let key = (1..=4).find_map(|at| found.get(at))?.as_str();
            let parts = found.get(5)?.as_str().split(['"', '\'']);
            let parts: Vec<&str> = parts.skip(1).step_by(2).collect();
            alias(directory, key, &parts.join("/"))
        })
        .collect()
}

// A key with what it stands for; `None` when that is no place in the repository.
fn alias(directory: &str, key: &str, target: &str) -> Option<Alias> {
    let mut target = target
        .replace("<rootDir>", ".")
        .replace("$1", "*")
        .replace("//", "/");
    if target.contains(':') || key.contains("node_modules") {
        return None;
    }
    if target.starts_with('/') {
        target.insert(0, '.');
    }
    if !target.starts_with('.') && !target.contains('/') && !target.is_empty() {
        // A name may be another package's.
        let folder = ["src", "lib", "app", "source", "test", "tests"].contains(&target.as_str());
        folder.then_some(())?;
    }
    let mut pattern = key
        .trim_start_matches('^')
        .trim_end_matches('$')
        .replace("\\/", "/")
        .replace("\\.", ".")
        .replace("(.*)", "*")
        .replace("(.+)", "*");
    if key.starts_with('$') && !key.contains('(') {
        key.clone_into(&mut pattern);
    }
    if pattern.is_empty()
        || pattern.starts_with(['*', '.', '/'])
        || pattern.contains(['(', '[', '\\', '|'])
    {
        return None;
    }
    if !pattern.contains('*') {
        if pattern.ends_with('/') {
            pattern.push('*');
            target = format!("{}/*", target.trim_end_matches('/'));
        } else if target
            .rsplit('/')
            .next()
            .is_none_or(|name| !name.contains('.') || name == "." || name == "..")
        {
            // A folder stands for itself and for what is below it.
            pattern.push_str("/*");
            target = format!("{}/*", target.trim_end_matches('/'));
        }
    }
    let (head, tail) = match target.split_once('*') {
        Some((head, tail)) => (head, Some(tail)),
        None => (target.as_str(), None),
    };
    let place = join(directory, if head.is_empty() { "." } else { head })?;
    let place = match tail {
        Some(tail) => format!("{}{tail}", child(&place, "*")),
        None => place,
    };
    Some(Alias {
        pattern,
        targets: vec![place],
    })
}

#[cfg(test)]
mod tests {
    use super::aliases;

    // A file, the first alias that it sets, its text.
    const SETTINGS: &str = r#"
app/vite.config.ts  @/* -> app/src/*
    export default { resolve: { alias: { '@': path.resolve(__dirname, './src') } } }
app/vite.config.ts  @/* -> app/src/*
    export default { resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } } }
app/vite.config.mts  ~/* -> app/src/*
    export default { resolve: { alias: [{ find: '~', replacement: '/src' }] } }
app/webpack.config.js  Utilities/* -> app/src/utilities/*
    module.exports = { resolve: { alias: { Utilities: path.join(__dirname, 'src', 'utilities/') } } }
app/package.json  @app/* -> app/src/*
    {"jest": {"moduleNameMapper": {"^@app/(.*)$": "<rootDir>/src/$1"}}}
app/jest.config.js  @/* -> app/lib/*
    module.exports = { moduleNameMapper: { '^@/(.*)$': '<rootDir>/lib/$1' } }
app/.babelrc  @app/* -> app/src/*
    {"plugins": [["module-resolver", {"alias": {"@app": "./src"}}]]}
app/deno.json  $lib/* -> app/lib/*
    {"imports": {"$lib/": "./lib/", "std": "jsr:@std/std"}}
app/svelte.config.js  $lib/* -> app/src/lib/*
    export default {}
app/nuxt.config.ts  ~~/* -> app/*
    export default {}
"#;

    #[test]
    fn aliases_are_read_from_the_settings_of_many_tools() {
        let lines: Vec<&str> = SETTINGS.trim().lines().map(str::trim).collect();
        for row in lines.chunks(2) {
            let (name, alias) = row[0].split_once("  ").unwrap();
            let (pattern, target) = alias.split_once(" -> ").unwrap();
            let text = row[1];
            let read = |path: &str| (path == name).then(|| text.to_owned());
            let found = aliases("app", &read);
            let first = found
                .first()
                .map(|it| (it.pattern.as_str(), it.targets[0].as_str()));
            assert_eq!(first, Some((pattern, target)), "{name} {text}");
        }
        let none = |_: &str| Some("alias: { react: 'preact/compat', vue: 'npm:vue' }".to_owned());
        assert!(aliases("", &none).iter().all(|it| it.pattern != "vue"));
    }
}
