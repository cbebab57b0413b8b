//! What is called certain is proven: everyday projects in which a near answer is wrong.

use super::{agrees, best, cases, fixed, hints, told, written};
use crate::support::{Repo, has_program};

// What a log leads to: the best statement, with `!` when it is certain, and the text for people.
fn of_log(files: &[(&str, &str)], log: &str) -> (String, String) {
    let repo = Repo::with(&[files, &[("log", log)]].concat());
    let found = told(&repo, &["--log", "log"]);
    let text = repo.mendit(&["hint", "--log", "log"]);
    let first = found.into_iter().next().unwrap_or_default();
    (first, String::from_utf8(text.stdout).unwrap())
}

#[test]
fn misspelled_module_keeps_package() {
    let manifests = [
        ("pyproject.toml", "[project]\nname = \"pkg\"\n"),
        (
            "pyproject.toml",
            "[project]\nname = \"pkg\"\n[tool.setuptools.packages.find]\nwhere = [\"src\"]\n",
        ),
        (
            "pyproject.toml",
            "[project]\nname = \"pkg\"\n[tool.hatch.build.targets.wheel]\npackages = [\"src/pkg\"]\n",
        ),
        ("setup.cfg", "[options]\npackage_dir =\n    = src\n"),
    ];
    for manifest in manifests {
        let files = [
            manifest,
            ("src/pkg/__init__.py", ""),
            ("src/pkg/helpers.py", "def tidy(): pass\n"),
            ("src/pkg/core.py", "from pkg.helprs import tidy\n\ntidy()\n"),
        ];
        let log = "Traceback (most recent call last):\n  File \"src/pkg/core.py\", line 1, in <module>\n    from pkg.helprs import tidy\nModuleNotFoundError: No module named 'pkg.helprs'\n";
        let (said, text) = of_log(&files, log);
        assert_eq!(said, "from pkg.helpers import tidy !", "{}", manifest.1);
        assert!(!text.contains("no import is known"), "{text}");
        let missing = [
            &files[..3],
            &[("src/pkg/core.py", "import os\n\ntidy(os)\n")],
        ]
        .concat();
        let said = best(&missing, "src/pkg/core.py", "tidy");
        assert_eq!(said, "from pkg.helpers import tidy !", "{}", manifest.1);
    }
}

#[test]
fn name_that_only_all_lacks_is_added_there() {
    let log = "  File \"tests/test_a.py\", line 3, in test_a\n    pkg.quantify(1)\nAttributeError: module 'pkg' has no attribute 'quantify'\n";
    let recipes = "__all__ = [\n    'first',\n    'take',\n]\n\n\ndef quantify(x):\n    return x\n";
    for (init, recipes, is_offered) in [
        ("from .recipes import *\n", recipes.to_owned(), true),
        (
            "from .recipes import *\n",
            recipes.replace("first", "quantify"),
            false,
        ),
    ] {
        let files = [
            ("pkg/__init__.py", init),
            ("pkg/recipes.py", recipes.as_str()),
            (
                "tests/test_a.py",
                "import pkg\ndef test_a():\n    pkg.quantify(1)\n",
            ),
        ];
        let (_, text) = of_log(&files, log);
        let line = "- add `quantify`, which line 7 defines, to `__all__` in pkg/recipes.py: `mendit fix` tries it\n";
        assert_eq!(text == line, is_offered, "{text}");
    }
}

#[test]
fn declared_package_precedes_standard_library() {
    let text = "export const id = hash('x')\n";
    let sum = [
        ("package.json", "{\"dependencies\": {\"hash-sum\": \"2\"}}"),
        ("src/a.ts", text),
    ];
    let found = hints(&sum, "src/a.ts", "hash");
    assert!(found.iter().all(|one| !one.certain), "{found:?}");
    assert!(
        found.iter().any(|one| one.module == "hash-sum"),
        "{found:?}"
    );
}

#[test]
fn python_library_exports_public_names() {
    for (text, name, expected) in [
        ("join('a', 'b')\n", "join", "from os.path import join"),
        ("escape('a')\n", "escape", "from re import escape"),
        ("exists('a')\n", "exists", "from os.path import exists !"),
        ("isfile('a')\n", "isfile", "from os.path import isfile !"),
        ("dirname('a')\n", "dirname", "from os.path import dirname !"),
        (
            "splitext('a')\n",
            "splitext",
            "from os.path import splitext !",
        ),
        ("re.match('a', 'b')\n", "re", "import re !"),
        ("io.StringIO()\n", "io", "import io !"),
        ("json.dumps(1)\n", "json", "import json !"),
        ("Path('a')\n", "Path", "from pathlib import Path !"),
    ] {
        assert_eq!(best(&[("a.py", text)], "a.py", name), expected);
    }
    for (text, name) in [
        ("compile('a', 'b', 'exec')\n", "compile"),
        ("exit(1)\n", "exit"),
    ] {
        let found = hints(&[("a.py", text)], "a.py", name);
        assert!(found.iter().all(|one| !one.certain), "{found:?}");
    }
}

#[test]
fn global_name_is_never_certain() {
    let files = [
        ("package.json", "{\"name\": \"p\"}"),
        (
            "src/dom.ts",
            "export class Response {}\nexport class Event {}\nexport class URL {}\n",
        ),
        (
            "src/a.ts",
            "import { Response } from './dom'\nnew Response()\n",
        ),
        (
            "src/b.ts",
            "export const x = [new Response(), new Event('a'), new URL('b'), setTimeout(c), Buffer.from('')]\n",
        ),
    ];
    for name in ["Response", "Event", "URL", "setTimeout", "Buffer"] {
        let found = hints(&files, "src/b.ts", name);
        assert!(found.iter().all(|one| !one.certain), "{name} {found:?}");
    }
}

#[test]
fn text_json_and_patch_agree() {
    let files = [
        ("pkg/__init__.py", ""),
        ("pkg/utils.py", "def tidy(): pass\n"),
        ("pkg/core.py", "from .utilz import tidy\n\ntidy()\n"),
    ];
    let log = "Traceback (most recent call last):\n  File \"pkg/core.py\", line 1, in <module>\n    from .utilz import tidy\nModuleNotFoundError: No module named 'pkg.utilz'\n";
    let (best, text) = of_log(&files, log);
    assert_eq!(best, "from .utils import tidy !");
    assert!(
        text.contains("from .utils import tidy") && !text.contains("no import is known"),
        "{text}"
    );
}

#[test]
fn offers_rename_for_typo_in_export() {
    let python = [
        (
            "pkg/__init__.py",
            "from .ctx import get_current_context as get_current_context\n",
        ),
        ("pkg/ctx.py", "def get_current_context(): pass\n"),
        (
            "app.py",
            "from pkg import get_current_contxt\n\nget_current_contxt()\n",
        ),
    ];
    for log in [
        "Traceback (most recent call last):\n  File \"app.py\", line 1, in <module>\n    from pkg import get_current_contxt\nImportError: cannot import name 'get_current_contxt' from 'pkg' (/app/pkg/__init__.py)\n",
        "Traceback (most recent call last):\n  File \"app.py\", line 1, in <module>\n    from pkg import get_current_contxt\nImportError: cannot import name 'get_current_contxt' from 'pkg' (/app/pkg/__init__.py). Did you mean: 'get_current_context'?\n",
        "app.py:1: error: Module \"pkg\" has no attribute \"get_current_contxt\"; maybe \"get_current_context\"?  [attr-defined]\n",
    ] {
        let (best, text) = of_log(&python, log);
        assert_eq!(best, "from pkg import get_current_context", "{log}");
        assert!(text.contains("did you mean get_current_context"), "{text}");
    }
    let script = [
        ("package.json", "{\"name\": \"p\"}"),
        ("src/money.ts", "export function formatMoney() {}\n"),
        (
            "src/use.ts",
            "import { formatMony } from './money'\nformatMony()\n",
        ),
    ];
    for log in [
        "src/use.ts(1,10): error TS2305: Module '\"./money\"' has no exported member 'formatMony'.\n",
        "src/use.ts(1,10): error TS2724: '\"./money\"' has no exported member named 'formatMony'. Did you mean 'formatMoney'?\n",
    ] {
        assert_eq!(
            of_log(&script, log).0,
            "import { formatMoney } from './money'",
            "{log}"
        );
    }
}

#[test]
fn fixes_imports_inside_component_script() {
    let lib = ("src/lib/money.ts", "export function formatMoney() {}\n");
    let manifest = ("package.json", "{\"name\": \"p\"}");
    for (file, before, after) in [
        (
            "src/Price.vue",
            "<template>\n  <b>{{ formatMoney(1) }}</b>\n</template>\n\n<script setup lang=\"ts\">\nimport one from './one'\n\nconst a = one\n</script>\n",
            "<script setup lang=\"ts\">\nimport one from './one'\nimport { formatMoney } from './lib/money'\n\nconst a",
        ),
        (
            "src/Price.svelte",
            "<script>\n\timport y from './y';\n\timport x from './x';\n\ty(x);\n</script>\n\n<b>{formatMoney(1)}</b>\n",
            "\timport x from './x';\n\timport { formatMoney } from './lib/money';\n",
        ),
    ] {
        let files = [manifest, lib, (file, before)];
        let text = fixed(&files, file, &["formatMoney"]).expect(file);
        assert!(text.contains(after), "{text}");
    }
}

#[test]
fn reads_exports_of_installed_packages() {
    let repo = Repo::with(&[
        (".gitignore", "node_modules\n.venv\n"),
        (
            "package.json",
            r#"{"name": "p", "dependencies": {"kit": "1", "other": "1", "react": "1"}}"#,
        ),
        ("src/a.ts", "export const a = makeWidget(useThing())\n"),
        ("src/b.ts", "export const b: WidgetShape = useState(1)\n"),
        (
            "pyproject.toml",
            "[project]\nname = 'p'\ndependencies = ['Wid-gets>=1', 'typer']\n",
        ),
        ("app.py", "Gadget()\nHidden()\nCliRunner()\n"),
    ]);
    let kit = "node_modules/.pnpm/kit@1/node_modules/kit";
    let venv = ".venv/lib/python3.12/site-packages";
    for (path, text) in [
        (
            format!("{kit}/package.json"),
            r#"{"name": "kit", "exports": {".": {"import": {"types": "./dist/index.d.ts"}}}}"#,
        ),
        (
            format!("{kit}/dist/index.d.ts"),
            "export * from './widget.js';\n",
        ),
        (
            format!("{kit}/dist/widget.d.ts"),
            "export declare function makeWidget(x: unknown): WidgetShape;\nexport interface WidgetShape {}\n",
        ),
        (
            "node_modules/react/package.json".into(),
            r#"{"types": "index.d.ts"}"#,
        ),
        (
            "node_modules/react/index.d.ts".into(),
            "export declare function useMemo(): void;\n",
        ),
        (
            "node_modules/undeclared/index.d.ts".into(),
            "export declare function useThing(): void;\n",
        ),
        ("node_modules/undeclared/package.json".into(), "{}"),
        (".venv/pyvenv.cfg".into(), "home = /usr/bin\n"),
        (
            format!("{venv}/wid_gets-1.0.dist-info/RECORD"),
            "widgets/__init__.py,,\nwidgets/core.py,,\n",
        ),
        (
            format!("{venv}/widgets/__init__.py"),
            "from .core import *\n",
        ),
        (
            format!("{venv}/widgets/core.py"),
            "class Gadget:\n    pass\n",
        ),
        (format!("{venv}/hid-1.0.dist-info/RECORD"), "hid.py,,\n"),
        (format!("{venv}/hid.py"), "class Hidden:\n    pass\n"),
        (format!("{venv}/typer/__init__.py"), ""),
        (
            format!("{venv}/typer/testing.py"),
            "class Runner:\n    pass\n",
        ),
    ] {
        repo.write(&path, text);
    }
    {
        let modules = repo.root().join("node_modules");
        std::os::unix::fs::symlink(".pnpm/kit@1/node_modules/kit", modules.join("kit")).unwrap();
        // What a link outside the worktree leads to is not read.
        let away = repo.outside().join("other");
        std::fs::create_dir_all(&away).unwrap();
        std::fs::write(away.join("package.json"), "{}").unwrap();
        let text = "export declare function useThing(): void;\n";
        std::fs::write(away.join("index.d.ts"), text).unwrap();
        std::os::unix::fs::symlink(&away, modules.join("other")).unwrap();
    }
    let best = |file: &str, name: &str| {
        let found = told(&repo, &[name, "--file", file]).into_iter();
        found.take(1).collect::<String>()
    };
    if cfg!(unix) {
        assert_eq!(
            best("src/a.ts", "makeWidget"),
            "import { makeWidget } from 'kit' !"
        );
        assert!(best("src/b.ts", "WidgetShape").ends_with("{ WidgetShape } from 'kit' !"));
    }
    assert_eq!(
        best("src/a.ts", "useThing"),
        "",
        "not declared, or not of this worktree"
    );
    assert_eq!(
        best("src/b.ts", "useState"),
        "import { useState } from 'react'"
    );
    assert_eq!(best("app.py", "Gadget"), "from widgets import Gadget !");
    assert_eq!(best("app.py", "Hidden"), "", "not declared");
    assert_eq!(
        best("app.py", "CliRunner"),
        "from typer.testing import CliRunner"
    );
}

#[test]
fn settings_of_another_tool_and_built_files_prove_nothing() {
    let manifest = (
        "package.json",
        r#"{"type": "module", "devDependencies": {"eslint": "*", "vitest": "*"}}"#,
    );
    let define =
        |module: &str| format!("import {{ defineConfig }} from '{module}';\ndefineConfig({{}});\n");
    let (eslint, vitest) = (define("eslint/config"), define("vitest/config"));
    let asks = ("vitest.config.ts", "export default defineConfig({});\n");
    let mut files = vec![manifest, asks, ("eslint.config.ts", &eslint)];
    let found = hints(&files, asks.0, "defineConfig");
    assert!(found.iter().all(|one| !one.certain), "{found:?}");
    files.push(("vitest.config.build.ts", &vitest));
    assert!(best(&files, asks.0, "defineConfig").contains("'vitest/config'"));

    let tested = [
        ("src/kit/has.ts", "export function has() {}\n"),
        ("src/all/has.ts", "export function has() {}\n"),
        (
            "src/all/a.ts",
            "import { has } from '../kit/has';\nhas();\n",
        ),
        (
            "src/all/b.ts",
            "import { has } from '../kit/has';\nhas();\n",
        ),
        (
            "src/all/has.spec.ts",
            "import { it } from 'vitest';\nit('a', () => has());\n",
        ),
    ];
    assert!(best(&tested, "src/all/has.spec.ts", "has").contains("'./has'"));

    let built = [
        (".gitignore", "lib/\n"),
        (
            "src/own.ts",
            "export function parse() {}\nexport function lex() {}\n",
        ),
        (
            "test/a.test.js",
            "import { parse } from '../lib/own.js';\nparse();\n",
        ),
        (
            "test/b.test.js",
            "import { other } from '../lib/own.js';\nother(parse(), lex());\n",
        ),
    ];
    let found = hints(&built, "test/b.test.js", "parse");
    assert!(
        found[0].import_statement.contains("'../lib/own.js'"),
        "{found:?}"
    );
    for name in ["parse", "lex"] {
        let found = hints(&built, "test/b.test.js", name);
        assert!(found.iter().all(|one| !one.certain), "{found:?}");
    }
}

#[test]
fn extension_of_file_itself_beats_that_of_another() {
    let files = [
        ("src/defaults.ts", "export default {};\n"),
        ("src/version.ts", "export const VERSION = '1';\n"),
        (
            "src/index.ts",
            "import { VERSION } from './version.js';\nexport const x = [VERSION, defaults];\n",
        ),
        (
            "test/a.test.ts",
            "import defaults from '../src/defaults.ts';\ndefaults;\n",
        ),
    ];
    let found = best(&files, "src/index.ts", "defaults");
    assert!(
        found.starts_with("import defaults from './defaults.js'"),
        "{found}"
    );
}

#[test]
fn optional_package_is_never_certain() {
    for text in [
        "def build_it():\n    pass\ndel build_it\n",
        "if __name__ == \"__main__\":\n    def build_it():\n        pass\n",
        "import sys\nif sys.platform == \"win32\":\n    def build_it():\n        pass\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    def build_it(): pass\n",
        "try:\n    def build_it(): pass\nexcept ImportError:\n    pass\n",
    ] {
        let files = [("b.py", text), ("a.py", "x = build_it()\n")];
        assert!(!best(&files, "a.py", "build_it").ends_with('!'), "{text}");
    }
}

// crashtest: the module that the file takes from has the name for type checkers alone.
#[test]
fn type_checking_binds_nothing_at_run_time() {
    let frames = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pkg.frame import Frame\n\nclass Frames: pass\n";
    let lazy = format!("{frames}\ndef __getattr__(name): ...\n");
    for (frames, module) in [(frames, "pkg.frame"), (&lazy, "pkg.frames")] {
        let files = [
            ("pkg/__init__.py", ""),
            ("pkg/frame.py", "class Frame: pass\n"),
            ("pkg/frames.py", frames),
            (
                "pkg/look.py",
                "from pkg.frames import Frames\n\nx = Frames(Frame())\n",
            ),
        ];
        let found = best(&files, "pkg/look.py", "Frame");
        assert!(
            found.starts_with(&format!("from {module} import Frame")),
            "{found}"
        );
    }
}

#[test]
fn written_import_runs() {
    let fixed = |text: &str, path: &str, other: (&str, &str)| {
        let repo = Repo::with(&[
            (path, text),
            other,
            ("package.json", "{\"type\": \"module\"}"),
        ]);
        let output = repo.mendit(&["hint", "Bee", "--file", path, "--apply"]);
        assert!(output.status.code().is_some());
        std::fs::read_to_string(repo.root().join(path)).unwrap()
    };
    let module = ("b.py", "class Bee: pass\nclass Cee: pass\n");
    let marked = fixed("\u{feff}import os\n\nx = Bee()\n", "a.py", module);
    assert_eq!(
        marked,
        "\u{feff}import os\nfrom b import Bee\n\nx = Bee()\n"
    );
    // Below its use an import comes too late.
    let late = "x = Bee()\nimport os\n";
    assert_eq!(fixed(late, "a.py", module), late);
    let script = (
        "b.cjs",
        "module.exports = { Bee: class {}, one: 1, two: 2 }\n",
    );
    let rest = "const { one, ...rest } = require('./b.cjs')\nnew Bee(one, rest)\n";
    let rest = fixed(rest, "a.cjs", script);
    assert!(!rest.contains("rest, Bee"), "{rest}");
}

// Every case is tried for real: when the import is certain, every file loads with it, whichever comes first.
#[test]
fn certain_import_in_cycle_loads() {
    for mut case in cases("loads") {
        let (asked, expected) = case.best.pop_first().unwrap();
        let (asked, name) = asked.split_once(' ').unwrap();
        let is_python = asked.rsplit('.').next() == Some("py");
        let program = ["node", "python3"][usize::from(is_python)];
        if !has_program(program) {
            continue;
        }
        let manifest = case.files.entry("package.json".to_owned());
        manifest.or_insert("{\"type\": \"module\"}".to_owned());
        let files = case.tree();
        let found = written(&hints(&files, asked, name));
        assert!(!found.is_empty(), "nothing: {files:?}");
        assert!(agrees(&found, &expected), "{files:?} {found:?}");
        if expected == "?" {
            continue;
        }
        let repo = Repo::with(&files);
        let output = repo.mendit(&["hint", name, "--file", asked, "--apply"]);
        assert!(output.status.success(), "{files:?}");
        for (path, _) in files.iter().filter(|(path, _)| *path != "package.json") {
            let mut command = std::process::Command::new(program);
            if is_python {
                let module = path.trim_end_matches(".py").trim_end_matches("/__init__");
                command.args(["-c", &format!("import {}", module.replace('/', "."))]);
            } else {
                command.arg(path);
            }
            let ran = command.current_dir(repo.root()).output().unwrap();
            let said = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.success(), "{path} of {files:?}: {said}");
        }
    }
}
