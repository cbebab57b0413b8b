//! What is called certain is proven (R72): everyday projects in which a near answer is wrong.
#![expect(clippy::print_stderr, reason = "a test says what it skips")]

mod support;

use mendit::graph::Graph;
use mendit::hint::{Query, fix, suggest};
use mendit::model::{RepoPath, Suggestion};
use mendit::source::{Installed, Memory};
use support::Repo;

fn hints(files: &[(&str, &str)], file: &str, name: &str) -> Vec<Suggestion> {
    let source = Memory::named(files.iter().copied());
    let graph = Graph::new(&source);
    let file = RepoPath::new(file).unwrap();
    let query = Query {
        file: &file,
        known: &[],
        installed: &Installed::default(),
        names: &[name.to_owned()],
        may_read: &|_| true,
        earlier: &|_| Vec::new(),
    };
    let found = suggest(&graph, &query);
    for one in found.iter().filter(|one| one.certain) {
        assert!(
            fix(&graph, &file, &[], std::slice::from_ref(one)).is_some(),
            "certain and no patch: {}",
            one.import_statement
        );
    }
    found
}

// The best statement, with `!` when it is certain.
fn best(files: &[(&str, &str)], file: &str, name: &str) -> String {
    match hints(files, file, name).first() {
        Some(one) if one.certain => format!("{} !", one.import_statement),
        Some(one) => one.import_statement.clone(),
        None => String::new(),
    }
}

// What a log leads to: the best statement, with `!` when it is certain, and the text for people.
fn told(files: &[(&str, &str)], log: &str) -> (String, String) {
    let repo = Repo::with(&[files, &[("log", log)]].concat());
    let output = repo.mendit(&["hint", "--log", "log", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = repo.mendit(&["hint", "--log", "log"]);
    let first = &document["suggestions"][0];
    let certain = if first["certain"] == true { " !" } else { "" };
    let statement = first["importStatement"].as_str().unwrap_or_default();
    (
        format!("{statement}{certain}"),
        String::from_utf8(text.stdout).unwrap(),
    )
}

#[test]
fn a_circle_that_only_names_tie_is_not_certain_to_load() {
    let registry = "def preload(name):\n    return __import__(name)\n";
    for (init, registry, certain) in [
        (
            "from .registry import preload\n\npreload('db.engine.default')\n",
            registry,
            false,
        ),
        (
            "from .registry import preload\n\npreload('db.orm.other')\n",
            registry,
            true,
        ),
        (
            "from .registry import preload\n\npreload('db.engine.default')\n",
            "preload = print\n",
            true,
        ),
    ] {
        let files = [
            ("db/__init__.py", init),
            ("db/registry.py", registry),
            ("db/engine/__init__.py", ""),
            (
                "db/engine/default.py",
                "from . import traits\n\nTRAIT = traits\n",
            ),
            ("db/engine/traits.py", "class Trait(Loader):\n    pass\n"),
            ("db/orm/__init__.py", ""),
            ("db/orm/other.py", "X = 1\n"),
            ("db/orm/loaders.py", "class Loader:\n    pass\n"),
        ];
        let said = best(&files, "db/engine/traits.py", "Loader");
        assert!(
            said.starts_with("from db.orm.loaders import Loader"),
            "{said}"
        );
        assert_eq!(said.ends_with('!'), certain, "{init}{registry}");
    }
}

#[test]
fn a_misspelt_module_keeps_its_package_in_every_layout() {
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
        let (said, text) = told(&files, log);
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
fn a_service_in_a_folder_is_named_from_its_folder() {
    let base = [
        ("svc/requirements.txt", "flask\n"),
        ("svc/app/__init__.py", ""),
        ("svc/app/core.py", "def compute(): pass\n"),
        ("svc/app/main.py", "import os\n\ncompute(os)\n"),
        ("svc/tests/test_core.py", "compute()\n"),
    ];
    for file in ["svc/app/main.py", "svc/tests/test_core.py"] {
        assert_eq!(
            best(&base, file, "compute"),
            "from app.core import compute !",
            "{file}"
        );
    }
    // Without a manifest its own imports say how it is run.
    let files = [
        ("svc/app/__init__.py", ""),
        ("svc/app/core.py", "def compute(): pass\n"),
        ("svc/app/other.py", "def other(): pass\n"),
        (
            "svc/app/main.py",
            "from app.other import other\n\ncompute(other)\n",
        ),
    ];
    assert_eq!(
        best(&files, "svc/app/main.py", "compute"),
        "from app.core import compute !"
    );
    let files = [
        ("svc/app/__init__.py", ""),
        ("svc/app/core.py", "def compute(): pass\n"),
        (
            "svc/app/main.py",
            "from app.coer import compute\n\ncompute()\n",
        ),
    ];
    let log = "Traceback (most recent call last):\n  File \"svc/app/main.py\", line 1, in <module>\n    from app.coer import compute\nModuleNotFoundError: No module named 'app.coer'\n";
    assert_eq!(told(&files, log).0, "from app.core import compute !");
}

#[test]
fn members_that_are_used_must_be_there() {
    let files = [
        ("package.json", "{\"type\": \"module\"}"),
        ("src/checks.js", "export function maxLength() {}\n"),
        (
            "src/a.js",
            "import * as checks from './checks.js'\nchecks.maxLength()\n",
        ),
        ("src/b.js", "export const b = checks.minLength(1)\n"),
    ];
    let found = hints(&files, "src/b.js", "checks");
    assert!(found.iter().all(|one| !one.certain), "{found:?}");
    let held = [
        &files[..3],
        &[("src/b.js", "export const b = checks.maxLength(1)\n")],
    ]
    .concat();
    assert_eq!(
        best(&held, "src/b.js", "checks"),
        "import * as checks from './checks.js' !"
    );
}

#[test]
fn specifiers_follow_the_module_kind_of_the_package() {
    let user = ("src/core/user.ts", "export class User {}\n");
    let config = |options: &'static str| ("tsconfig.json", options);
    let module = ("package.json", "{\"name\": \"p\", \"type\": \"module\"}");
    let common = ("package.json", "{\"name\": \"p\"}");
    let asked = ("src/app.ts", "export const user = new User()\n");
    for (manifest, config, expected) in [
        (
            module,
            config("{\"compilerOptions\": {\"module\": \"nodenext\"}}"),
            "./core/user.js",
        ),
        (
            module,
            config("{\"extends\": \"@tsconfig/node20/tsconfig.json\"}"),
            "./core/user.js",
        ),
        (
            common,
            config("{\"compilerOptions\": {\"module\": \"nodenext\"}}"),
            "./core/user",
        ),
        (
            module,
            config(
                "{\"compilerOptions\": {\"module\": \"esnext\", \"moduleResolution\": \"bundler\"}}",
            ),
            "./core/user",
        ),
        (
            module,
            config("{\"compilerOptions\": {\"module\": \"preserve\"}}"),
            "./core/user",
        ),
    ] {
        let statement = best(&[manifest, config, user, asked], asked.0, "User");
        assert_eq!(
            statement,
            format!("import {{ User }} from '{expected}' !"),
            "{}",
            config.1
        );
    }
    // Node.js itself, and a bundler that is declared.
    let plain = [
        module,
        ("src/core/user.js", "export class User {}\n"),
        ("src/app.js", "export const user = new User()\n"),
    ];
    assert_eq!(
        best(&plain, "src/app.js", "User"),
        "import { User } from './core/user.js' !"
    );
    let bundled = [
        (
            "package.json",
            "{\"type\": \"module\", \"devDependencies\": {\"vite\": \"7\"}}",
        ),
        plain[1],
        plain[2],
    ];
    assert_eq!(
        best(&bundled, "src/app.js", "User"),
        "import { User } from './core/user' !"
    );
}

#[test]
fn types_are_imported_as_types_and_values_as_values() {
    let verbatim = (
        "tsconfig.json",
        "{\"compilerOptions\": {\"verbatimModuleSyntax\": true, \"module\": \"esnext\", \"moduleResolution\": \"bundler\"}}",
    );
    let types = (
        "src/types.ts",
        "export interface Shape { a: number }\nexport class Table {}\n",
    );
    let voter = (
        "src/voter.ts",
        "import type { Table } from './types'\nexport const t = (table: Table) => table\n",
    );
    for (text, name, expected) in [
        (
            "export const s: Shape = { a: 1 }\n",
            "Shape",
            "import type { Shape } from './types' !",
        ),
        (
            "export class Big extends Table {}\n",
            "Table",
            "import { Table } from './types' !",
        ),
        (
            "export const big = (it: Table) => it\n",
            "Table",
            "import type { Table } from './types' !",
        ),
    ] {
        let files = [verbatim, types, voter, ("src/use.ts", text)];
        assert_eq!(best(&files, "src/use.ts", name), expected, "{text}");
    }
    // A type is no value, whoever takes it for one.
    let files = [types, ("src/use.ts", "export const s = new Shape()\n")];
    assert!(!best(&files, "src/use.ts", "Shape").ends_with('!'));
}

#[test]
fn packages_are_left_by_their_names_alone() {
    let files = [
        ("package.json", "{\"workspaces\": [\"packages/*\"]}"),
        (
            "packages/a/package.json",
            "{\"name\": \"@x/a\", \"main\": \"src/index.ts\"}",
        ),
        ("packages/a/src/index.ts", "export { open } from './open'\n"),
        (
            "packages/a/src/open.ts",
            "export function open() {}\nexport function hiddenThing() {}\n",
        ),
        (
            "packages/a/src/own.ts",
            "import { hiddenThing } from './open'\nhiddenThing()\n",
        ),
        (
            "packages/b/package.json",
            "{\"name\": \"@x/b\", \"dependencies\": {\"@x/a\": \"workspace:*\"}}",
        ),
        ("packages/b/src/use.ts", "openIt()\nhiddenThing()\n"),
    ];
    let found = hints(&files, "packages/b/src/use.ts", "hiddenThing");
    assert!(found.iter().all(|one| !one.certain), "{found:?}");
}

#[test]
fn what_another_package_declares_is_not_at_hand() {
    let files = [
        ("package.json", "{\"workspaces\": [\"packages/*\"]}"),
        ("packages/a/package.json", "{\"name\": \"a\"}"),
        (
            "packages/a/use.ts",
            "import { langs } from 'virtual:a:langs'\nlangs()\n",
        ),
        ("packages/b/package.json", "{\"name\": \"b\"}"),
        ("packages/b/use.ts", "langs()\n"),
    ];
    let found = hints(&files, "packages/b/use.ts", "langs");
    assert!(found.iter().all(|one| !one.certain), "{found:?}");
}

#[test]
fn a_declared_package_goes_before_the_library_of_the_language() {
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
fn the_library_of_python_is_known_by_its_public_names() {
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
fn what_is_there_without_an_import_is_never_certain() {
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
fn text_json_and_patch_say_the_same_of_a_module() {
    let files = [
        ("pkg/__init__.py", ""),
        ("pkg/utils.py", "def tidy(): pass\n"),
        ("pkg/core.py", "from .utilz import tidy\n\ntidy()\n"),
    ];
    let log = "Traceback (most recent call last):\n  File \"pkg/core.py\", line 1, in <module>\n    from .utilz import tidy\nModuleNotFoundError: No module named 'pkg.utilz'\n";
    let (best, text) = told(&files, log);
    assert_eq!(best, "from .utils import tidy !");
    assert!(
        text.contains("from .utils import tidy") && !text.contains("no import is known"),
        "{text}"
    );
}

#[test]
fn a_module_that_lacks_what_is_taken_is_no_answer() {
    let files = [
        ("package.json", "{\"name\": \"p\"}"),
        ("src/lib/money.ts", "export const cents = 1\n"),
        ("src/use.ts", "import { x } from './util/money'\nx()\n"),
    ];
    let log = "src/use.ts(1,19): error TS2307: Cannot find module './util/money' or its corresponding type declarations.\n";
    assert_eq!(told(&files, log).0, "");
}

#[test]
fn a_slip_in_an_exported_name_is_offered_as_a_rename() {
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
        let (best, text) = told(&python, log);
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
            told(&script, log).0,
            "import { formatMoney } from './money'",
            "{log}"
        );
    }
}

#[test]
fn named_and_default_are_told_apart() {
    let files = [
        ("package.json", "{\"name\": \"p\", \"type\": \"module\"}"),
        ("src/events.mjs", "export default class Events {}\n"),
        ("src/money.mjs", "export function formatAmount() {}\n"),
        (
            "src/store.mjs",
            "import { Events } from \"./events.mjs\";\nnew Events();\n",
        ),
        (
            "src/view.mjs",
            "import formatAmount from \"./money.mjs\";\nformatAmount();\n",
        ),
    ];
    let log = "file:///app/src/store.mjs:1\nimport { Events } from \"./events.mjs\";\n         ^^^^^^\nSyntaxError: The requested module './events.mjs' does not provide an export named 'Events'\n";
    assert_eq!(told(&files, log).0, "import Events from \"./events.mjs\" !");
    let log = "src/view.mjs(1,8): error TS2613: Module '\"/app/src/money\"' has no default export. Did you mean to use 'import { formatAmount } from \"/app/src/money\"' instead?\n";
    assert_eq!(
        told(&files, log).0,
        "import { formatAmount } from \"./money.mjs\" !"
    );
}

#[test]
fn components_are_mended_inside_their_script() {
    let lib = ("src/lib/money.ts", "export function formatMoney() {}\n");
    let manifest = ("package.json", "{\"name\": \"p\"}");
    for (file, before, after) in [
        (
            "src/Price.vue",
            "<template>\n  <b>{{ formatMoney(1) }}</b>\n</template>\n\n<script setup lang=\"ts\">\nimport { ref } from 'vue'\n\nconst a = ref(1)\n</script>\n",
            "<script setup lang=\"ts\">\nimport { ref } from 'vue'\n\nimport { formatMoney } from './lib/money'\n\nconst a",
        ),
        (
            "src/Price.svelte",
            "<script>\n\timport { onMount } from 'svelte';\n\timport x from './x';\n\tonMount(x);\n</script>\n\n<b>{formatMoney(1)}</b>\n",
            "\timport { formatMoney } from './lib/money';\n\timport x from './x';\n",
        ),
        (
            "src/Price.svelte",
            "<script>\r\n  let n = 1\r\n</script>\r\n<b>{formatMoney(n)}</b>\r\n",
            "<script>\r\n  import { formatMoney } from './lib/money'\r\n\r\n  let n",
        ),
        (
            "src/Price.astro",
            "---\nconst price = formatMoney(1)\n---\n<b>{price}</b>\n",
            "---\nimport { formatMoney } from './lib/money'\n\nconst price",
        ),
    ] {
        let source = Memory::named([manifest, lib, (file, before)]);
        let found = hints(&[manifest, lib, (file, before)], file, "formatMoney");
        let graph = Graph::new(&source);
        let path = RepoPath::new(file).unwrap();
        let fixed = fix(&graph, &path, &[], &found).expect(file);
        let text = fixed.changes[0].after.clone().unwrap().bytes.to_vec();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(after), "{text}");
    }
}

#[test]
fn configured_aliases_lead_to_files_and_are_kept() {
    let files = [
        ("package.json", "{\"name\": \"p\"}"),
        (
            "vite.config.ts",
            "export default { resolve: { alias: { '@': path.resolve(__dirname, 'src') } } }\n",
        ),
        (
            "src/util/money.ts",
            "export function formatMoney() {}\nexport const cents = 1\n",
        ),
        ("src/other.ts", "export const other = 1\n"),
        (
            "src/pages/one.ts",
            "import { cents } from '@/util/money'\nimport { other } from '@/other'\nformatMoney(cents, other)\n",
        ),
    ];
    assert_eq!(
        best(&files, "src/pages/one.ts", "formatMoney"),
        "import { formatMoney } from '@/util/money' !"
    );
    let wrong = [
        &files[..4],
        &[(
            "src/pages/one.ts",
            "import { cents } from '@/util/mony'\nimport { other } from '@/other'\ncents(other)\n",
        )],
    ]
    .concat();
    let log = "src/pages/one.ts(1,23): error TS2307: Cannot find module '@/util/mony' or its corresponding type declarations.\n";
    assert_eq!(
        told(&wrong, log).0,
        "import { cents } from '@/util/money' !"
    );
}

#[test]
fn a_slip_in_a_specifier_leads_to_the_file_beside_it() {
    let missing = |module: &str| {
        format!(
            "Traceback (most recent call last):\n  File \"bin/run.py\", line 1, in <module>\nModuleNotFoundError: No module named '{module}'\n"
        )
    };
    // `cellar.steps` is also shown by a module that merely uses it.
    let package = [
        ("pyproject.toml", "[project]\nname = \"cellar\"\n"),
        ("cellar/__init__.py", ""),
        ("cellar/steps.py", "def step(): pass\n"),
        (
            "cellar/graph.py",
            "from cellar import steps\nsteps.step()\n",
        ),
        ("cellar/work/__init__.py", ""),
        ("cellar/work/scale.py", "def up(): pass\n"),
        ("tests/work/__init__.py", "from cellar.work import scale\n"),
    ];
    for (module, code, expected) in [
        (
            "celar",
            "from celar import steps\n",
            "from cellar import steps !",
        ),
        (
            "cellar.wokr",
            "from cellar.wokr import scale\n",
            "from cellar.work import scale !",
        ),
        (
            "cellar.work.scael",
            "from cellar.work.scael import up\n",
            "from cellar.work.scale import up !",
        ),
        // Nothing is like it, and only a user of it shows it.
        ("winery", "from winery import steps\n", ""),
    ] {
        let files = [&package[..], &[("bin/run.py", code)]].concat();
        let (said, text) = told(&files, &missing(module));
        if expected.is_empty() {
            assert!(!said.ends_with('!'), "{said}");
        } else {
            assert_eq!(said, expected, "{text}");
        }
    }
}

#[test]
fn data_and_components_are_found_by_their_names() {
    let base = [
        ("package.json", "{\"name\": \"p\"}"),
        ("src/eslint.config.js", "export default []\n"),
        ("src/Base.svelte", "<p/>\n"),
        ("src/styles.module.css", "p {}\n"),
        ("src/index.ts", "export const all = 1\n"),
        ("src/user.service.ts", "export const find = 1\n"),
        ("lib/user.service.ts", "export const find = 1\n"),
    ];
    for (import, module, expected) in [
        (
            "Base from './Baes.svelte'",
            "./Baes.svelte",
            "import Base from './Base.svelte' !",
        ),
        (
            "styles from './styels.module.css'",
            "./styels.module.css",
            "import styles from './styles.module.css' !",
        ),
        (
            "pack from '../pakage.json'",
            "../pakage.json",
            "import pack from '../package.json' !",
        ),
        (
            "{ all } from './inddex'",
            "./inddex",
            "import { all } from '.' !",
        ),
        (
            "{ find } from './user.servce'",
            "./user.servce",
            "import { find } from './user.service' !",
        ),
        (
            "type { find } from './user.servce'",
            "./user.servce",
            "import type { find } from './user.service' !",
        ),
    ] {
        let text = format!("import {import}\n");
        let files = [&base[..], &[("src/use.ts", &text)]].concat();
        let log = format!(
            "src/use.ts(1,19): error TS2307: Cannot find module '{module}' or its corresponding type declarations.\n"
        );
        assert_eq!(told(&files, &log).0, expected, "{import}");
    }
}

#[test]
fn of_two_files_side_by_side_neither_is_certain() {
    let agent = "export const agent = 1\n";
    let use_it = "import { agent } from '../agents/all'\nagent\n";
    let files = [
        ("package.json", "{\"name\": \"p\"}"),
        ("agents/all.ts", agent),
        ("agents/one.ts", agent),
        ("use/a.ts", use_it),
        ("use/b.ts", use_it),
        ("use/c.ts", use_it),
        ("use/one.ts", "export const x = agent\n"),
    ];
    assert!(!best(&files, "use/one.ts", "agent").ends_with('!'));
    let alone = [&files[..2], &files[3..]].concat();
    assert!(best(&alone, "use/one.ts", "agent").ends_with('!'));
}

#[test]
fn renames_are_looked_for_behind_stars_in_packages_and_in_the_library() {
    let files = [
        ("package.json", "{\"name\": \"p\"}"),
        ("src/parts/index.ts", "export * from './place'\n"),
        (
            "src/parts/place.ts",
            "export type DevPlace = 'a'\nexport const places = 1\n",
        ),
        (
            "src/use.ts",
            "import { DevPlaec } from './parts'\nlet a: DevPlaec\n",
        ),
    ];
    let log =
        "src/use.ts(1,10): error TS2305: Module '\"./parts\"' has no exported member 'DevPlaec'.\n";
    assert_eq!(told(&files, log).0, "import { DevPlace } from './parts'");
    let python = [
        ("pkg/__init__.py", "from pkg.events import Loud\n"),
        ("pkg/events.py", "class Loud: pass\n"),
        ("pkg/dumper.py", "def dump(): pass\n"),
        (
            "run.py",
            "from pkg import dumpr, events\ndumpr.dump(events)\n",
        ),
        ("other.py", "from collections import dequ\ndequ()\n"),
    ];
    for (file, line, name, module, expected) in [
        (
            "run.py",
            "from pkg import dumpr, events",
            "dumpr",
            "pkg",
            "from pkg import dumper",
        ),
        (
            "other.py",
            "from collections import dequ",
            "dequ",
            "collections",
            "from collections import deque",
        ),
    ] {
        let log = format!(
            "Traceback (most recent call last):\n  File \"{file}\", line 1, in <module>\n    {line}\nImportError: cannot import name '{name}' from '{module}' (/usr/lib/{module}/__init__.py)\n"
        );
        assert_eq!(told(&python, &log).0, expected);
    }
}

#[test]
fn a_settings_file_takes_from_the_package_that_reads_it() {
    let files = [
        (
            "package.json",
            "{\"devDependencies\": {\"tsup\": \"1\", \"vitest\": \"1\"}}",
        ),
        (
            "a/tsup.config.ts",
            "import { defineConfig } from 'tsup'\nexport default defineConfig()\n",
        ),
        (
            "b/vitest.config.ts",
            "import { defineConfig } from 'vitest/config'\nexport default defineConfig()\n",
        ),
        ("b/tsup.config.ts", "export default defineConfig()\n"),
    ];
    let memory = best(&files, "b/tsup.config.ts", "defineConfig");
    assert_eq!(
        memory.trim_end_matches(" !"),
        "import { defineConfig } from 'tsup'"
    );
}

#[test]
fn what_is_installed_is_asked_what_it_exports() {
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
    #[cfg(unix)]
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
        let output = repo.mendit(&["hint", name, "--file", file, "--format", "json"]);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let first = &document["suggestions"][0];
        let certain = if first["certain"] == true { " !" } else { "" };
        format!(
            "{}{certain}",
            first["importStatement"].as_str().unwrap_or_default()
        )
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
fn a_circle_that_no_longer_loads_is_never_certain() {
    let typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from b import Bee\n";
    let typed = format!("{typed}class A:\n    x = Bee\n");
    for (files, certain) in [
        // `b` takes `A` out of `a` before `a` has come to it, whichever is loaded first.
        (
            &[
                ("b.py", "from a import A\nclass Bee:\n    pass\n"),
                ("a.py", "class A(Bee):\n    pass\n"),
            ][..],
            false,
        ),
        (
            &[
                ("b.py", "from a import A\nclass Bee:\n    pass\n"),
                ("a.py", &typed),
            ],
            false,
        ),
        (
            &[
                ("b.py", "import m\nclass Bee:\n    pass\n"),
                ("m.py", "from a import A\n"),
                ("a.py", "class A(Bee):\n    pass\n"),
            ],
            false,
        ),
        // The name of `a` is taken where a function is called.
        (
            &[
                (
                    "b.py",
                    "class Bee:\n    def f(self):\n        from a import A\n        return A\n",
                ),
                ("a.py", "class A(Bee):\n    pass\n"),
            ],
            true,
        ),
        (
            &[
                (
                    "b.py",
                    "import a\nclass Bee:\n    def f(self):\n        return a.A\n",
                ),
                ("a.py", "class A(Bee):\n    pass\n"),
            ],
            false,
        ),
        (
            &[
                ("b.py", "import a\nclass Bee(a.A):\n    pass\n"),
                ("a.py", "class A:\n    x = lambda: Bee()\n"),
            ],
            false,
        ),
        // The package comes first and takes both in an order that works.
        (
            &[
                ("p/__init__.py", "from .b import Bee\nfrom .a import A\n"),
                ("p/b.py", "class Bee:\n    pass\n"),
                ("p/a.py", "class A(Bee):\n    pass\n"),
            ],
            true,
        ),
        (
            &[
                ("b.js", "import { A } from './a.js'\nexport class Bee {}\n"),
                ("a.js", "export class A extends Bee {}\n"),
            ],
            false,
        ),
        (
            &[
                (
                    "b.js",
                    "import { A } from './a.js'\nexport class Bee extends A {}\n",
                ),
                ("a.js", "export class A { static x = new Bee() }\n"),
            ],
            false,
        ),
        (
            &[
                (
                    "b.js",
                    "import { A } from './a.js'\nexport class Bee extends A {}\n",
                ),
                ("a.js", "export class A { make() { return new Bee() } }\n"),
            ],
            false,
        ),
        (
            &[
                (
                    "b.js",
                    "import { A } from './a.js'\nexport class Bee { make() { return new A() } }\n",
                ),
                ("a.js", "export class A { make() { return new Bee() } }\n"),
            ],
            true,
        ),
        (
            &[
                (
                    "b.js",
                    "import { A } from './a.js'\nexport const of = A\nexport class Bee {}\nawait 0\n",
                ),
                ("a.js", "export class A { make() { return new Bee() } }\n"),
            ],
            false,
        ),
    ] {
        let (asked, _) = files.last().unwrap();
        let mut all = vec![("package.json", "{\"type\": \"module\"}")];
        all.extend(files.iter().copied());
        let found = hints(&all, asked, "Bee");
        assert_eq!(
            found.first().map(|it| it.certain),
            Some(certain),
            "{files:?} {found:?}"
        );
    }
}

#[test]
fn what_need_not_be_there_is_never_certain() {
    for text in [
        "def build_it():\n    pass\ndel build_it\n",
        "if __name__ == \"__main__\":\n    def build_it():\n        pass\n",
        "import sys\nif sys.platform == \"win32\":\n    def build_it():\n        pass\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    def build_it(): pass\n",
    ] {
        let files = [("b.py", text), ("a.py", "x = build_it()\n")];
        assert!(!best(&files, "a.py", "build_it").ends_with('!'), "{text}");
    }
    for text in [
        "try:\n    import fast\n    build_it = fast.build_it\nexcept ImportError:\n    def build_it():\n        pass\n",
        "import sys\nif sys.platform == \"win32\":\n    def build_it():\n        pass\nelse:\n    def build_it():\n        pass\n",
    ] {
        let files = [
            ("b.py", text),
            ("a.py", "x = build_it()\n"),
            ("c.py", "from b import build_it\n"),
        ];
        assert!(best(&files, "a.py", "build_it").ends_with('!'), "{text}");
    }
}

#[test]
fn a_member_whose_object_was_left_out_is_never_certain() {
    for (path, text) in [
        (
            "a.py",
            "class A:\n    def __init__(self):\n        self.thing_of = 1\n    def g(self):\n        return thing_of\n",
        ),
        (
            "a.py",
            "match 1:\n    case {\"a\": thing_of}:\n        pass\nprint(thing_of)\n",
        ),
        (
            "a.py",
            "def f(thing_of):\n    return thing_of\ndef g():\n    return thing_of\n",
        ),
        (
            "a.js",
            "export class A {\n  constructor() { this.thing_of = 1 }\n  g() { return thing_of }\n}\n",
        ),
        (
            "a.js",
            "export class A {\n  thing_of() { return 1 }\n  g() { return thing_of() }\n}\n",
        ),
        ("a.js", "try {} catch (thing_of) {}\nthing_of()\n"),
    ] {
        let files = [
            ("package.json", "{\"type\": \"module\"}"),
            ("b.py", "def thing_of(): pass\n"),
            ("b.js", "export function thing_of() {}\n"),
            (path, text),
        ];
        assert!(!best(&files, path, "thing_of").ends_with('!'), "{text}");
    }
}

#[test]
fn a_statement_of_modules_is_not_put_where_require_loads() {
    let voter = (
        "c.js",
        "const { Bee } = require(\"./b\");\nexports.c = new Bee();\n",
    );
    let cases = [
        (
            "{}",
            "b.js",
            "class Bee {}\nmodule.exports = { Bee };\n",
            "const { Bee } = require('./b')",
        ),
        (
            "{\"type\": \"commonjs\"}",
            "b.mjs",
            "export class Bee {}\n",
            "",
        ),
    ];
    for (manifest, path, text, expected) in cases {
        let mut files = vec![
            ("package.json", manifest),
            (path, text),
            ("a.js", "new Bee();\n"),
        ];
        if path == "b.js" {
            files.push(voter);
        }
        let found = best(&files, "a.js", "Bee");
        if expected.is_empty() {
            assert!(!found.ends_with('!'), "{found}");
        } else {
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn what_is_exported_as_a_type_is_no_value() {
    for (path, text) in [
        ("b.ts", "class Bee {}\nexport type { Bee };\n"),
        ("b.ts", "class Bee {}\nexport { type Bee };\n"),
        ("b.ts", "export declare class Bee {}\n"),
        ("b.d.ts", "export class Bee {}\n"),
        ("b.ts", "export type { Bee } from './c'\n"),
    ] {
        let files = [
            (path, text),
            ("tsconfig.json", "{}"),
            (
                "u.ts",
                "import type { Bee } from './b'\nexport type U = Bee\n",
            ),
            ("a.ts", "export const x = new Bee()\n"),
        ];
        assert!(!best(&files, "a.ts", "Bee").ends_with('!'), "{text}");
    }
}

#[test]
fn no_file_of_ours_stands_for_a_package_that_is_not_installed() {
    let log =
        "ModuleNotFoundError: No module named 'redis'\n  File \"app.py\", line 1, in <module>\n";
    let app = ("app.py", "from redis import Redis\n\nr = Redis()\n");
    for files in [
        &[
            ("requirements.txt", "redis\n"),
            ("fake.py", "class Redis: pass\n"),
        ][..],
        &[("fakes/local.py", "class Redis: pass\n")],
        &[("tests/test_a.py", "class Redis: pass\n")],
    ] {
        let (best, _) = told(&[files, &[app]].concat(), log);
        assert!(!best.ends_with('!'), "{best} {files:?}");
    }
    let made = [
        (".gitignore", "gen/\n"),
        ("old/d.js", "export const thingOne = 1\n"),
        ("a.js", "import { thingOne } from './gen/d.js'\nthingOne\n"),
    ];
    let (best, _) = told(
        &made,
        "Error: Cannot find module './gen/d.js'\n    at a.js:1:1\n",
    );
    assert!(!best.ends_with('!'), "{best}");
}

#[test]
fn what_is_written_runs() {
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
        "\u{feff}import os\n\nfrom b import Bee\n\nx = Bee()\n"
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
fn what_is_certain_in_a_circle_loads_in_every_order() {
    let python: &[(&[(&str, &str)], bool)] = &[
        // A function that is taken and called before what it reads is there.
        (
            &[
                ("b.py", "def bee():\n    return LATE\nimport a\nLATE = 1\n"),
                ("a.py", "class A:\n    x = bee()\n"),
            ],
            false,
        ),
        (
            &[
                ("b.py", "LATE = 1\ndef bee():\n    return LATE\nimport a\n"),
                ("a.py", "class A:\n    def x(self):\n        return bee()\n"),
            ],
            true,
        ),
        // A package that loads all settles the order, for what it has loaded before.
        (
            &[
                ("p/__init__.py", "from . import b, a\n"),
                (
                    "p/b.py",
                    "def bee():\n    from p.a import A\n    return A\n",
                ),
                ("p/c.py", "from p.a import A\n"),
                ("p/a.py", "class A:\n    x = bee\n"),
            ],
            true,
        ),
        (
            &[
                ("p/__init__.py", "from . import a, b\n"),
                ("p/b.py", "from p.a import A\ndef bee():\n    return A\n"),
                (
                    "p/a.py",
                    "class A:\n    def x(self):\n        return bee()\n",
                ),
            ],
            false,
        ),
        // What a file imports where it calls a function comes then.
        (
            &[
                ("p/__init__.py", "from . import c, b, a\n"),
                ("p/c.py", "def f():\n    from p import a\nf()\n"),
                ("p/b.py", "from p import a\ndef bee():\n    return a.A\n"),
                ("p/a.py", "class A:\n    x = bee\n"),
            ],
            false,
        ),
        // A star takes what is there.
        (
            &[
                ("b.py", "from a import *\ndef bee():\n    return A\n"),
                ("a.py", "class A:\n    def x(self):\n        return bee()\n"),
            ],
            false,
        ),
        // A submodule that is still loading has no names yet.
        (
            &[
                ("p/__init__.py", ""),
                ("p/b.py", "from p import a\nclass Bee(a.A):\n    pass\n"),
                ("p/a.py", "class A:\n    x = lambda: Bee\n"),
            ],
            false,
        ),
    ];
    let script: &[(&[(&str, &str)], bool)] = &[
        // A class that is extended.
        (
            &[
                (
                    "b.js",
                    "import { A } from './a.js'\nexport class Bee extends A {}\n",
                ),
                ("a.js", "export class A { make() { return new Bee() } }\n"),
            ],
            false,
        ),
        (
            &[
                ("c.js", "export class C {}\n"),
                (
                    "b.js",
                    "import { C } from './c.js'\nimport { A } from './a.js'\nexport class Bee extends C { a() { return A } }\n",
                ),
                ("a.js", "export class A { make() { return new Bee() } }\n"),
            ],
            true,
        ),
        // A call at the top: functions are there, what they read need not be.
        (
            &[
                (
                    "b.js",
                    "import { A } from './a.js'\nconst late = 1\nexport function bee() { return late }\nexport const of = () => A\n",
                ),
                ("a.js", "export class A {}\nexport const x = bee()\n"),
            ],
            false,
        ),
        (
            &[
                (
                    "b.js",
                    "import { A } from './a.js'\nexport function bee() { return () => 1 }\nexport const of = () => A\n",
                ),
                ("a.js", "export class A {}\nexport const x = bee()\n"),
            ],
            true,
        ),
        (
            &[
                (
                    "b.js",
                    "import { A } from './a.js'\nexport const bee = () => 1\nexport const of = () => A\n",
                ),
                ("a.js", "export class A {}\nexport const x = bee()\n"),
            ],
            false,
        ),
        // A third file calls what reads the first, which is still to run.
        (
            &[
                (
                    "b.js",
                    "import { A } from './a.js'\nimport './c.js'\nexport function bee() { return new A() }\n",
                ),
                (
                    "c.js",
                    "import { bee } from './b.js'\nexport const one = bee()\n",
                ),
                ("a.js", "export class A { make() { return bee() } }\n"),
            ],
            false,
        ),
        // Behind a barrel.
        (
            &[
                (
                    "index.js",
                    "export * from './a.js'\nexport * from './b.js'\n",
                ),
                (
                    "b.js",
                    "import { A } from './index.js'\nexport class Bee extends A {}\n",
                ),
                (
                    "c.js",
                    "import { Bee } from './index.js'\nexport const c = () => Bee\n",
                ),
                (
                    "d.js",
                    "import { Bee } from './index.js'\nexport const d = () => Bee\n",
                ),
                ("a.js", "export class A { make() { return new Bee() } }\n"),
            ],
            false,
        ),
        (
            &[
                (
                    "index.js",
                    "export { A } from './a.js'\nexport { Bee } from './b.js'\n",
                ),
                (
                    "b.js",
                    "import { A } from './index.js'\nexport class Bee { a() { return A } }\n",
                ),
                (
                    "c.js",
                    "import { Bee } from './index.js'\nexport const c = () => Bee\n",
                ),
                ("a.js", "export class A { make() { return new Bee() } }\n"),
            ],
            true,
        ),
        // What `require` gave away is not what `module.exports = …` puts in its place.
        (
            &[
                ("package.json", "{}"),
                (
                    "b.js",
                    "const a = require('./a.js')\nclass Bee extends a.A {}\nmodule.exports = { Bee }\n",
                ),
                (
                    "a.js",
                    "class A { make() { return new Bee() } }\nmodule.exports = { A }\n",
                ),
            ],
            false,
        ),
        (
            &[
                ("package.json", "{}"),
                (
                    "c.js",
                    "const { Bee } = require('./b.js')\nexports.c = () => Bee\n",
                ),
                (
                    "b.js",
                    "const { A } = require('./a.js')\nclass Bee { a() { return new A() } }\nmodule.exports = { Bee }\n",
                ),
                (
                    "a.js",
                    "const fs = require('fs')\nclass A { make() { return new Bee(fs) } }\nmodule.exports = { A }\n",
                ),
            ],
            false,
        ),
    ];
    for (program, ending, cases) in [("python3", "py", python), ("node", "js", script)] {
        let version = std::process::Command::new(program)
            .arg("--version")
            .output();
        if !version.is_ok_and(|it| it.status.success()) {
            eprintln!("skipped: {program} is not here");
            continue;
        }
        for (files, certain) in cases {
            let mut all = vec![("package.json", "{\"type\": \"module\"}")];
            all.extend(files.iter().filter(|(path, _)| *path != "package.json"));
            if let Some(own) = files.iter().find(|(path, _)| *path == "package.json") {
                all[0] = *own;
            }
            let (asked, text) = *files.last().unwrap();
            let name = if text.contains("Bee") { "Bee" } else { "bee" };
            let found = hints(&all, asked, name);
            let first = found
                .first()
                .unwrap_or_else(|| panic!("nothing: {files:?}"));
            assert_eq!(first.certain, *certain, "{files:?} {found:?}");
            if !first.certain {
                continue;
            }
            let repo = Repo::with(&all);
            let output = repo.mendit(&["hint", name, "--file", asked, "--apply"]);
            assert!(output.status.success(), "{files:?}");
            for (path, _) in files.iter().filter(|(path, _)| path.ends_with(ending)) {
                let mut command = std::process::Command::new(program);
                if ending == "py" {
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
}

#[test]
fn what_a_runner_hands_to_a_test_is_never_certain() {
    let fixture = "import pytest\n\n\n@pytest.fixture\ndef client():\n    return 1\n";
    let test = "def test_it():\n    assert client() == 1\n";
    let taken = "from conftest import client\n\n\ndef test_other(client):\n    assert client\n";
    for files in [
        &[
            ("conftest.py", fixture),
            ("test_b.py", taken),
            ("test_a.py", test),
        ][..],
        &[
            ("tests/__init__.py", ""),
            ("tests/conftest.py", fixture),
            ("tests/test_a.py", test),
        ],
        &[("fixtures.py", fixture), ("test_a.py", test)],
        &[
            (
                "conftest.py",
                "import pytest\n@pytest.fixture(name=\"client\")\ndef made():\n    return 1\n",
            ),
            ("web.py", "class client: pass\n"),
            ("test_a.py", test),
        ],
    ] {
        let (asked, _) = files.last().unwrap();
        let found = hints(files, asked, "client");
        assert!(found.iter().all(|it| !it.certain), "{files:?} {found:?}");
    }
    // A function of the name is no fixture.
    let plain = "def client():\n    return 1\n";
    assert_eq!(
        best(
            &[("web.py", plain), ("test_a.py", test)],
            "test_a.py",
            "client"
        ),
        "from web import client !"
    );
    let manifest = "{\"devDependencies\": {\"vitest\": \"^3\"}, \"type\": \"module\"}";
    let other = "import { describe, expect } from 'vitest'\ndescribe('b', () => expect(1))\n";
    let asked = "import { expect } from 'vitest'\ndescribe('a', () => expect(1))\n";
    let config = |globals: &str| format!("export default {{ test: {{ {globals} }} }}\n");
    for (config, certain) in [(config("globals: true"), false), (config(""), true)] {
        let files = [
            ("package.json", manifest),
            ("vitest.config.ts", config.as_str()),
            ("b.test.ts", other),
            ("a.test.ts", asked),
        ];
        let found = hints(&files, "a.test.ts", "describe");
        assert_eq!(
            found.first().map(|it| it.certain),
            Some(certain),
            "{found:?}"
        );
    }
    let jest = "{\"devDependencies\": {\"jest\": \"^29\", \"@jest/globals\": \"^29\"}}";
    let other = "import { describe } from '@jest/globals'\ndescribe('b', () => 1)\n";
    let files = [
        ("package.json", jest),
        ("b.test.ts", other),
        ("a.test.ts", "describe('a', () => 1)\n"),
    ];
    assert!(!hints(&files, "a.test.ts", "describe")[0].certain);
}

#[test]
fn a_module_may_be_named_below_the_repository() {
    let files = [
        ("package.json", "{\"type\": \"module\"}"),
        ("src/events.mjs", "export class Events {}\n"),
        (
            "src/store.mjs",
            "import { Events } from './lib/events.mjs'\nnew Events()\n",
        ),
    ];
    let log = "Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'src/lib/events.mjs' imported from src/store.mjs\n";
    assert_eq!(
        told(&files, log).0,
        "import { Events } from './events.mjs' !"
    );
}
