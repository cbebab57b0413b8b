use super::resolved;

#[test]
fn relative_files_directories_and_emitted_names() {
    let files = [
        (
            "a.ts",
            "import './b'; import './c'; import './d.js'; import './e.css?inline'; import './f/'; import './gone'; import '../up'; import '.'",
        ),
        ("b.tsx", ""),
        ("c/index.ts", ""),
        ("d.ts", ""),
        ("e.css", ""),
        ("f.ts", ""),
        ("f/index.js", ""),
        ("index.mts", ""),
    ];
    assert_eq!(
        resolved(&files, "a.ts"),
        [
            "./b -> b.tsx",
            "./c -> c/index.ts",
            "./d.js -> d.ts",
            "./e.css?inline -> e.css",
            "./f/ -> f/index.js",
            "./gone -> ?",
            "../up -> ?",
            ". -> index.mts",
        ]
    );
}

#[test]
fn globs_are_followed_behind_aliases() {
    let files = [
        (
            "tsconfig.json",
            r#"{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } } }"#,
        ),
        (
            "vite.config.ts",
            "export default { resolve: { alias: { '~': '/lib' } } }",
        ),
        (
            "src/a.ts",
            "import.meta.glob('@/pages/*.vue'); import.meta.glob('@/none/*.vue'); \
             import.meta.glob('pkg/*.vue'); import.meta.glob('../src/pages/{x,y}.vue')",
        ),
        ("src/pages/x.vue", ""),
        ("src/pages/y.vue", ""),
        ("src/pages/deep/z.vue", ""),
    ];
    assert_eq!(
        resolved(&files, "src/a.ts"),
        [
            "@/pages/*.vue -> src/pages/x.vue src/pages/y.vue",
            "@/none/*.vue -> ?",
            "pkg/*.vue -> (pkg/*.vue)",
            "../src/pages/{x,y}.vue -> src/pages/x.vue src/pages/y.vue",
        ]
    );
}

#[test]
fn aliases_come_from_the_owning_config() {
    let files = [
        (
            "tsconfig.json",
            r#"{ "extends": ["@none/base", "./base"], /* c */ "references": [{"path": "./tsconfig.test.json"}], "include": ["src"], }"#,
        ),
        (
            "base.json",
            r#"{ "compilerOptions": { "paths": { "@/*": ["./src/*"], "@/x": ["./special"], "*": ["./any/*"] } } }"#,
        ),
        (
            "tsconfig.test.json",
            r#"{ "include": ["test/**/*.ts"], "compilerOptions": { "baseUrl": "src", "paths": { "t/*": ["lib/*"] } } }"#,
        ),
        (
            "src/a.ts",
            "import '@/b'; import '@/x'; import '@/gone'; import 'react'; import 'q'",
        ),
        ("src/b.ts", ""),
        ("special.ts", ""),
        ("any/q.ts", ""),
        ("src/lib/l.ts", ""),
        (
            "test/t.ts",
            "import 't/l'; import 'b'; import 'node:fs'; import 'fs/promises'",
        ),
    ];
    assert_eq!(
        resolved(&files, "src/a.ts"),
        [
            "@/b -> src/b.ts",
            "@/x -> special.ts",
            "@/gone -> ?",
            "react -> (react)",
            "q -> any/q.ts"
        ]
    );
    assert_eq!(
        resolved(&files, "test/t.ts"),
        [
            "t/l -> src/lib/l.ts",
            "b -> src/b.ts",
            "node:fs -> (node:fs)",
            "fs/promises -> (fs/promises)"
        ]
    );
}

#[test]
fn workspace_packages_lead_to_their_sources() {
    let files = [
        (
            "package.json",
            r#"{ "workspaces": ["packages/*", "!packages/no"] }"#,
        ),
        (
            "packages/a/package.json",
            r##"{ "name": "@s/a", "imports": { "#in/*": "./dist/in/*.js" }, "exports": { ".": { "types": "./dist/index.d.ts", "import": "./dist/index.mjs" }, "./sub/*": "./dist/sub/*.js", "./raw": { "@s/source": "./raw.ts", "default": "./dist/raw.js" } } }"##,
        ),
        (
            "packages/a/src/index.ts",
            "import '#in/y'; import '@s/a/sub/x'",
        ),
        ("packages/a/src/sub/x.ts", ""),
        ("packages/a/src/in/y.ts", ""),
        ("packages/a/raw.ts", ""),
        (
            "packages/b/package.json",
            r#"{ "name": "b", "main": "./out/main.js" }"#,
        ),
        (
            "packages/b/tsconfig.json",
            r#"{ "compilerOptions": { "rootDir": "code", "outDir": "./out" } }"#,
        ),
        ("packages/b/code/main.ts", ""),
        ("packages/b/lib/deep.ts", ""),
        (
            "packages/no/package.json",
            r#"{ "name": "no", "main": "i.js" }"#,
        ),
        ("packages/no/i.js", ""),
        (
            "app.ts",
            "import '@s/a'; import '@s/a/sub/x'; import '@s/a/raw'; import 'b'; import 'b/lib/deep'; import 'no'; import '@s/a/gone'",
        ),
    ];
    assert_eq!(
        resolved(&files, "app.ts"),
        [
            "@s/a -> packages/a/src/index.ts",
            "@s/a/sub/x -> packages/a/src/sub/x.ts",
            "@s/a/raw -> packages/a/raw.ts",
            "b -> packages/b/code/main.ts",
            "b/lib/deep -> packages/b/lib/deep.ts",
            "no -> (no)",
            "@s/a/gone -> ?",
        ]
    );
    assert_eq!(
        resolved(&files, "packages/a/src/index.ts"),
        [
            "#in/y -> packages/a/src/in/y.ts",
            "@s/a/sub/x -> packages/a/src/sub/x.ts"
        ]
    );
}

#[test]
fn root_dirs_are_one_directory() {
    let files = [
        (
            "tsconfig.json",
            r#"{ "compilerOptions": { "rootDirs": ["src", "generated"] } }"#,
        ),
        ("src/v/a.ts", "import './b'"),
        ("generated/v/b.ts", ""),
    ];
    assert_eq!(resolved(&files, "src/v/a.ts"), ["./b -> generated/v/b.ts"]);
}

#[test]
fn hostile_configs_end() {
    let files = [
        (
            "tsconfig.json",
            r#"{ "extends": "./tsconfig.json", "references": [{"path": "."}], "compilerOptions": { "paths": { "*": ["*"], "x": 3 } } }"#,
        ),
        (
            "package.json",
            r#"{ "name": "me", "exports": "./dist/../../..", "workspaces": {"packages": ["*"]}, "imports": [] }"#,
        ),
        (
            "a.ts",
            "import 'me'; import '#x'; import '../../..'; import ''",
        ),
    ];
    assert_eq!(
        resolved(&files, "a.ts"),
        ["me -> ?", "#x -> ?", "../../.. -> ?", " -> ?"]
    );
}
