use super::{memory, path, resolved};
use mendit::languages::Resolver;

#[test]
fn roots_come_from_the_project() {
    let files = [
        (
            "pyproject.toml",
            "[tool.setuptools.packages.find]\nwhere = ['code']\n",
        ),
        ("code/pkg/__init__.py", ""),
        ("code/pkg/m.py", ""),
        ("src/other.py", ""),
        ("tests/helper.py", ""),
        (
            "tests/test_a.py",
            "import pkg.m\nimport other\nimport helper\nimport os\nimport numpy\nimport pkg.gone\n",
        ),
    ];
    assert_eq!(
        resolved(&files, "tests/test_a.py"),
        [
            "pkg.m -> code/pkg/m.py",
            "other -> src/other.py",
            "helper -> tests/helper.py",
            "os -> (os)",
            "numpy -> (numpy)",
            "pkg.gone -> ?",
        ]
    );
}

#[test]
fn a_name_is_an_attribute_a_submodule_or_both() {
    let files = [
        (
            "p/__init__.py",
            "from .impl import thing\nfrom . import sub\ndef both(): pass\n",
        ),
        ("p/impl.py", ""),
        ("p/sub.py", ""),
        ("p/both.py", ""),
        ("p/typed.py", ""),
        ("p/typed.pyi", ""),
        (
            "a.py",
            "from p import thing\nfrom p import sub\nfrom p import both\nfrom p import impl, thing\nfrom p import typed\nfrom p import *\n",
        ),
    ];
    assert_eq!(
        resolved(&files, "a.py"),
        [
            "p -> p/__init__.py",
            "p -> p/sub.py",
            "p -> p/__init__.py",
            "p -> p/impl.py p/__init__.py",
            "p -> p/typed.py p/typed.pyi",
            "p -> p/__init__.py",
        ]
    );
}

#[test]
fn relative_imports_are_paths() {
    let files = [
        (
            "ns/async/a.py",
            "from .b import x\nfrom . import b\nfrom ..c import y\nfrom .... import z\nfrom .gone import q\n",
        ),
        ("ns/async/b.py", ""),
        ("ns/c.py", ""),
    ];
    assert_eq!(
        resolved(&files, "ns/async/a.py"),
        [
            ".b -> ns/async/b.py",
            ". -> ns/async/b.py",
            "..c -> ns/c.py",
            ".... -> ?",
            ".gone -> ?",
        ]
    );
}

#[test]
fn packages_above_are_no_roots_and_stray_files_are_no_stdlib() {
    let files = [
        ("lib/comp/__init__.py", ""),
        ("lib/comp/zha/__init__.py", ""),
        ("lib/comp/hub/__init__.py", ""),
        ("lib/comp/hub/m.py", "import zha\nimport types\n"),
        ("lib/types.py", ""),
    ];
    assert_eq!(
        resolved(&files, "lib/comp/hub/m.py"),
        ["zha -> (zha)", "types -> (types)"]
    );
}

#[test]
fn namespace_packages_and_strings() {
    let files = [
        ("ns/m.py", ""),
        (
            "a.py",
            "from ns import m\nimport ns.m\nimportlib.import_module('ns.m.Class')\n",
        ),
    ];
    assert_eq!(
        resolved(&files, "a.py"),
        ["ns -> ns/m.py", "ns.m -> ns/m.py", "ns.m.Class -> ns/m.py"]
    );
}

#[test]
fn tests_see_the_conftests_above() {
    let source = memory(&[
        ("conftest.py", ""),
        ("tests/conftest.py", ""),
        ("tests/unit/test_a.py", ""),
        ("src/m.py", ""),
    ]);
    let resolver = Resolver::new(&source);
    assert_eq!(
        resolver.implicit(&path("tests/unit/test_a.py")),
        [path("tests/conftest.py"), path("conftest.py")]
    );
    assert!(resolver.implicit(&path("src/m.py")).is_empty());
}
