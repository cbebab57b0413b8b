use std::sync::OnceLock;

use globset::{GlobSet, GlobSetBuilder};

use super::format::Format;
use crate::policy::protected::glob;

/// A manifest that a repair may change in part.
pub(super) struct Manifest {
    /// Names or globs; no slash means "in any directory".
    names: &'static [&'static str],
    pub(super) format: Format,
    /// Keys that may change, `*` for any one key and `**` for all below. What no row names may not.
    pub(super) may_change: &'static [(&'static str, Permit)],
}

/// How a key may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Permit {
    /// In any way.
    Free,
    /// As a dependency of npm: `name: range`.
    Npm,
    /// As requirements of Python, in a list or one a line.
    Python,
    /// As dependencies whose value is a version or a table.
    Table,
    /// As aliases of modules, but for those of test runners.
    Alias,
}

impl Permit {
    /// Whether it says what is installed.
    pub(super) fn is_dependency(self) -> bool {
        matches!(self, Self::Npm | Self::Python | Self::Table)
    }
}

use Permit::{Alias, Free, Npm, Python, Table};

// To let a repair change more: a row here. What runs, what is tested and where code comes from
// stays out.
const MANIFESTS: &[Manifest] = &[
    Manifest {
        names: &["package.json"],
        format: Format::Json,
        may_change: &[
            ("version", Free),
            ("description", Free),
            ("keywords", Free),
            ("author", Free),
            ("author.**", Free),
            ("contributors", Free),
            ("maintainers", Free),
            ("license", Free),
            ("homepage", Free),
            ("bugs", Free),
            ("bugs.**", Free),
            ("repository", Free),
            ("repository.**", Free),
            ("funding", Free),
            ("funding.**", Free),
            ("sideEffects", Free),
            ("dependencies.*", Npm),
            ("devDependencies.*", Npm),
            ("optionalDependencies.*", Npm),
            ("peerDependencies.*", Npm),
            ("peerDependenciesMeta.*.optional", Free),
        ],
    },
    Manifest {
        names: &["pyproject.toml"],
        format: Format::Toml,
        may_change: &[
            ("project.version", Free),
            ("project.description", Free),
            ("project.readme", Free),
            ("project.readme.**", Free),
            ("project.keywords", Free),
            ("project.classifiers", Free),
            ("project.authors", Free),
            ("project.maintainers", Free),
            ("project.license", Free),
            ("project.license.**", Free),
            ("project.license-files", Free),
            ("project.urls.*", Free),
            ("project.dependencies", Python),
            ("project.optional-dependencies.*", Python),
            ("dependency-groups.*", Python),
            ("tool.poetry.version", Free),
            ("tool.poetry.description", Free),
            ("tool.poetry.readme", Free),
            ("tool.poetry.authors", Free),
            ("tool.poetry.maintainers", Free),
            ("tool.poetry.license", Free),
            ("tool.poetry.keywords", Free),
            ("tool.poetry.classifiers", Free),
            ("tool.poetry.homepage", Free),
            ("tool.poetry.repository", Free),
            ("tool.poetry.documentation", Free),
            ("tool.poetry.urls.*", Free),
            ("tool.poetry.dependencies.*", Table),
            ("tool.poetry.dependencies.*.*", Table),
            ("tool.poetry.dev-dependencies.*", Table),
            ("tool.poetry.dev-dependencies.*.*", Table),
            ("tool.poetry.group.*.dependencies.*", Table),
            ("tool.poetry.group.*.dependencies.*.*", Table),
            ("tool.poetry.extras.*", Python),
            ("tool.uv.dev-dependencies", Python),
        ],
    },
    Manifest {
        names: &["setup.cfg"],
        format: Format::Ini,
        may_change: &[
            ("metadata.version", Free),
            ("metadata.description", Free),
            ("metadata.long_description", Free),
            ("metadata.long_description_content_type", Free),
            ("metadata.author", Free),
            ("metadata.author_email", Free),
            ("metadata.maintainer", Free),
            ("metadata.maintainer_email", Free),
            ("metadata.license", Free),
            ("metadata.license_files", Free),
            ("metadata.url", Free),
            ("metadata.project_urls", Free),
            ("metadata.keywords", Free),
            ("metadata.classifiers", Free),
            ("options.install_requires", Python),
            ("options.tests_require", Python),
            ("options.extras_require.*", Python),
        ],
    },
    Manifest {
        names: &[
            "requirements*.txt",
            "requirements*.in",
            "*-requirements.txt",
            "*_requirements.txt",
            "constraints*.txt",
            "**/requirements/*.txt",
            "**/requirements/*.in",
        ],
        format: Format::Requirements,
        may_change: &[("packages.*", Python)],
    },
    Manifest {
        names: &["Pipfile"],
        format: Format::Toml,
        may_change: &[
            ("packages.*", Table),
            ("packages.*.*", Table),
            ("dev-packages.*", Table),
            ("dev-packages.*.*", Table),
        ],
    },
    Manifest {
        names: &["Cargo.toml"],
        format: Format::Toml,
        may_change: &[
            ("package.version", Free),
            ("package.description", Free),
            ("package.authors", Free),
            ("package.license", Free),
            ("package.repository", Free),
            ("package.homepage", Free),
            ("package.documentation", Free),
            ("package.readme", Free),
            ("package.keywords", Free),
            ("package.categories", Free),
            ("package.rust-version", Free),
            ("features.*", Free),
            ("dependencies.*", Table),
            ("dependencies.*.*", Table),
            ("dev-dependencies.*", Table),
            ("dev-dependencies.*.*", Table),
            ("workspace.dependencies.*", Table),
            ("workspace.dependencies.*.*", Table),
        ],
    },
    Manifest {
        names: &["pnpm-workspace.yaml"],
        format: Format::Yaml,
        may_change: &[("catalog.*", Npm), ("catalogs.*.*", Npm)],
    },
    Manifest {
        names: &[
            "tsconfig.json",
            "tsconfig.*.json",
            "tsconfig-*.json",
            "jsconfig.json",
        ],
        format: Format::Json,
        may_change: &[
            ("compilerOptions.paths.*", Alias),
            ("compilerOptions.baseUrl", Free),
            ("compilerOptions.rootDir", Free),
            ("compilerOptions.rootDirs", Free),
            ("compilerOptions.typeRoots", Free),
            ("compilerOptions.types", Free),
            ("compilerOptions.lib", Free),
            ("compilerOptions.target", Free),
            ("compilerOptions.module", Free),
            ("compilerOptions.moduleResolution", Free),
            ("compilerOptions.customConditions", Free),
            ("compilerOptions.jsx", Free),
            ("compilerOptions.jsxFactory", Free),
            ("compilerOptions.jsxFragmentFactory", Free),
            ("compilerOptions.jsxImportSource", Free),
            ("compilerOptions.allowJs", Free),
            ("compilerOptions.resolveJsonModule", Free),
            ("compilerOptions.allowImportingTsExtensions", Free),
            ("compilerOptions.allowArbitraryExtensions", Free),
            ("compilerOptions.esModuleInterop", Free),
            ("compilerOptions.allowSyntheticDefaultImports", Free),
            ("compilerOptions.experimentalDecorators", Free),
            ("compilerOptions.emitDecoratorMetadata", Free),
            ("compilerOptions.useDefineForClassFields", Free),
            ("compilerOptions.downlevelIteration", Free),
            ("compilerOptions.outDir", Free),
            ("compilerOptions.declaration", Free),
            ("compilerOptions.declarationMap", Free),
            ("compilerOptions.sourceMap", Free),
        ],
    },
];

/// The rules of a manifest, by its name; `None` when the file is none.
pub(super) fn manifest(path: &str) -> Option<&'static Manifest> {
    let (set, rows) = table();
    let at = set.matches(path).into_iter().next()?;
    MANIFESTS.get(*rows.get(at)?)
}

impl Manifest {
    /// How the key at a path may change; `None` when it may not.
    pub(super) fn permit(&self, path: &[&str]) -> Option<Permit> {
        let row = self.may_change.iter().find(|(row, _)| fits(row, path));
        row.map(|(_, permit)| *permit)
    }
}

fn fits(row: &str, path: &[&str]) -> bool {
    let mut keys = path.iter();
    for part in row.split('.') {
        if part == "**" {
            return true;
        }
        match keys.next() {
            Some(key) if part == "*" || *key == part => {}
            _ => return false,
        }
    }
    keys.next().is_none()
}

fn table() -> &'static (GlobSet, Vec<usize>) {
    static TABLE: OnceLock<(GlobSet, Vec<usize>)> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut rows = Vec::new();
        let mut set = GlobSetBuilder::new();
        for (row, manifest) in MANIFESTS.iter().enumerate() {
            for glob in manifest.names.iter().filter_map(|name| glob(name)) {
                set.add(glob);
                rows.push(row);
            }
        }
        (set.build().unwrap_or_default(), rows)
    })
}

#[cfg(test)]
mod tests {
    use super::{MANIFESTS, Permit, manifest, table};

    #[test]
    fn names_are_globs_and_lead_to_rules() {
        let names: usize = MANIFESTS.iter().map(|it| it.names.len()).sum();
        assert_eq!(table().1.len(), names);
        for path in [
            "package.json",
            "a/package.json",
            "Requirements-dev.txt",
            "requirements/ci.txt",
            "tsconfig.build.json",
            "setup.cfg",
        ] {
            assert!(manifest(path).is_some(), "{path}");
        }
        for path in ["src/package.json.ts", "requirements.md", "my.toml"] {
            assert!(manifest(path).is_none(), "{path}");
        }
    }

    #[test]
    fn what_no_row_names_may_not_change() {
        let permit = |path: &[&str]| manifest("package.json").unwrap().permit(path);
        assert_eq!(permit(&["version"]), Some(Permit::Free));
        assert_eq!(permit(&["bugs", "url"]), Some(Permit::Free));
        assert_eq!(permit(&["dependencies", "a"]), Some(Permit::Npm));
        assert_eq!(permit(&["dependencies", "a", "b"]), None);
        assert_eq!(permit(&["dependencies"]), None);
        assert_eq!(permit(&["scripts", "test"]), None);
        assert_eq!(permit(&[]), None);
    }
}
