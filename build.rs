//! Tells the program which commit it was built from, as part of `MENDIT_VERSION`, when that is known, and turns the
//! tables of the sources into JSON, which each start reads in a fifth of the time.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let (Some(root), Some(out)) = (env::var_os("CARGO_MANIFEST_DIR"), env::var_os("OUT_DIR")) {
        let sources = Path::new(&root).join("src");
        // The folder with all below it: a table may be new.
        println!("cargo::rerun-if-changed={}", sources.display());
        tables(&sources, Path::new(&out));
    }
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // While one works on the program, a commit would rebuild it for a number nobody reads.
    let release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = if release { commit() } else { None };
    match commit {
        Some(commit) => println!("cargo::rustc-env=MENDIT_VERSION={version} ({commit})"),
        None => println!("cargo::rustc-env=MENDIT_VERSION={version}"),
    }
}

// Each table at its path below the sources.
fn tables(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            tables(&path, &to);
        } else if path.extension().is_some_and(|end| end == "toml") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let table = match text.parse::<toml::Table>() {
                Ok(table) => toml::Value::Table(table),
                Err(error) => panic!("{}: {error}", path.display()),
            };
            let mut json = String::new();
            write_json(&table, &mut json);
            let folder = to.parent().map(fs::create_dir_all);
            let written = fs::write(to.with_added_extension("json"), json);
            if let Err(error) = folder.unwrap_or(Ok(())).and(written) {
                panic!("{}: {error}", to.display());
            }
        }
    }
}

fn write_json(value: &toml::Value, json: &mut String) {
    match value {
        toml::Value::Table(rows) => {
            json.push('{');
            // Where a row was seen is for those who read the sources.
            let rows = rows.iter().filter(|(name, _)| *name != "seen");
            for (at, (name, value)) in rows.enumerate() {
                json.push_str(if at > 0 { "," } else { "" });
                write_text(name, json);
                json.push(':');
                write_json(value, json);
            }
            json.push('}');
        }
        toml::Value::Array(items) => {
            json.push('[');
            for (at, value) in items.iter().enumerate() {
                json.push_str(if at > 0 { "," } else { "" });
                write_json(value, json);
            }
            json.push(']');
        }
        toml::Value::Integer(number) => json.push_str(&number.to_string()),
        toml::Value::Float(number) => json.push_str(&number.to_string()),
        toml::Value::Boolean(truth) => json.push_str(&truth.to_string()),
        toml::Value::String(text) => write_text(text, json),
        toml::Value::Datetime(time) => write_text(&time.to_string(), json),
    }
}

fn write_text(text: &str, json: &mut String) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\0'..' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
}

// Its first twelve digits.
fn commit() -> Option<String> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let commit = checked_out(&root).or_else(|| packaged(&root))?;
    let whole = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| commit.chars().take(12).collect())
}

// The commit that HEAD stands for, in this checkout and no other above it.
fn checked_out(root: &Path) -> Option<String> {
    let dot_git = root.join(".git");
    let directory = if dot_git.is_file() {
        let text = fs::read_to_string(&dot_git).ok()?;
        root.join(text.strip_prefix("gitdir:")?.trim())
    } else {
        dot_git
    };
    let head = read(&directory.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else {
        return Some(head);
    };
    let shared = match fs::read_to_string(directory.join("commondir")) {
        Ok(text) => directory.join(text.trim()),
        Err(_) => directory.clone(),
    };
    if let Some(commit) = read(&directory.join(name)).or_else(|| read(&shared.join(name))) {
        return Some(commit);
    }
    let packed = read(&shared.join("packed-refs"))?;
    packed.lines().find_map(|line| {
        let (commit, reference) = line.split_once(' ')?;
        (reference == name).then(|| commit.to_owned())
    })
}

// Of a published package, which holds no `.git`.
fn packaged(root: &Path) -> Option<String> {
    let text = read(&root.join(".cargo_vcs_info.json"))?;
    let (_, after) = text.split_once("\"sha1\"")?;
    after.split('"').nth(1).map(str::to_owned)
}

fn read(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    println!("cargo::rerun-if-changed={}", path.display());
    Some(text.trim().to_owned())
}
