use std::path::Path;
use std::process::Output;

use crate::support::{command, git};

const FILES: &[(&str, &str)] = &[
    (
        "src/app.ts",
        "import { make, type Shape } from './parts';\nimport * as all from './parts';\nimport react from 'react';\nimport './gone';\nall.round();\n",
    ),
    (
        "src/parts/index.ts",
        "export { make } from './make';\nexport * from './shape';\n",
    ),
    (
        "src/parts/make.ts",
        "import { round } from './shape';\nexport const make = () => round();\n",
    ),
    (
        "src/parts/shape.ts",
        "import { make } from './make';\nexport type Shape = string;\nexport function round() { return make; }\n",
    ),
    (
        "tool/pkg/__init__.py",
        "from .core import Thing as Public\n",
    ),
    ("tool/pkg/core.py", "class Thing: pass\n"),
    (
        "tool/run.py",
        "from pkg import Public, core\nimport pkg as p\nHOOK = 'pkg.core.Thing'\nimport os\n",
    ),
];

fn mendit(directory: &Path, arguments: &[&str]) -> Output {
    command(directory, arguments)
        .env("XDG_STATE_HOME", directory.join(".state"))
        .output()
        .unwrap()
}

fn shown(arguments: &[&str]) -> String {
    let directory = repository();
    let output = mendit(directory.path(), arguments);
    let said = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!(
        "{}{}exit {}",
        said(&output.stdout),
        said(&output.stderr),
        output.status.code().unwrap()
    )
}

fn repository() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(at.join("web")).unwrap();
    let component = "<script setup>\nimport { make } from '../src/parts'\n</script>\n";
    std::fs::write(at.join("web/One.vue"), component).unwrap();
    let document = printed(at, &["imports", "--graph", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let edges: Vec<String> = document["files"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|file| file["path"].as_str().unwrap().starts_with("web/"))
        .flat_map(|file| {
            let imports = file["imports"].as_array().unwrap().iter();
            imports.map(|edge| format!("{} {}", file["path"], edge["path"]).replace('"', ""))
        })
        .collect();
    assert_eq!(edges, ["web/One.vue src/parts/index.ts",]);
    assert!(document.get("components").is_none());
}
