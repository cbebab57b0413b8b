use super::probe;
use super::tsconfig::Config;
use crate::languages::files::{below, child};
use crate::languages::resolver::Resolver;
use crate::model::RepoPath;

/// Directories of emitted files, whatever the tool.
const EMITTED: &[&str] = &[
    "dist", "build", "lib", "out", "output", "esm", "cjs", "es", "commonjs", "module", "modules",
    "types", "typings", "dts", "umd", "node", "browser", "_esm", "_cjs", "_types", "dist-esm",
    "dist-cjs", "dist-src",
];

/// The source of an emitted file that is not in the repository: by the projects' own `outDir` and
/// `rootDir`, then by the customary names of such directories below `package`.
pub(super) fn source_of(
    resolver: &Resolver<'_>,
    config: Option<&Config>,
    package: &str,
    path: &str,
) -> Option<RepoPath> {
    let files = &resolver.files;
    if let Some(config) = config {
        let related = || resolver.related(config).into_iter();
        let found = by_project(resolver, config, path)
            .or_else(|| related().find_map(|project| by_project(resolver, &project, path)));
        if found.is_some() {
            return found;
        }
    }
    let stem = probe::without_extension(below(package, path)?);
    let mut rest = stem;
    // `src/lib/x` names a source.
    if stem.starts_with("src/") {
        return None;
    }
    while let Some((first, others)) = rest.split_once('/') {
        if !EMITTED.contains(&first) && first != "src" {
            break;
        }
        rest = others;
        for base in ["src", ""] {
            let candidate = child(package, &child(base, rest));
            if candidate != probe::without_extension(path) {
                let found = probe::by_name(files, &candidate)
                    .or_else(|| probe::by_name(files, &child(&candidate, "index")));
                if found.is_some() {
                    return found;
                }
            }
        }
    }
    None
}

fn by_project(resolver: &Resolver<'_>, project: &Config, path: &str) -> Option<RepoPath> {
    let out = project.options.out_dir.as_ref()?;
    let stem = probe::without_extension(below(out, path)?);
    let roots = [
        project.options.root_dir.clone(),
        Some(child(&project.directory, "src")),
        Some(project.directory.clone()),
    ];
    roots.into_iter().flatten().find_map(|root| {
        let candidate = child(&root, stem);
        (candidate != probe::without_extension(path))
            .then(|| probe::by_name(resolver.files, &candidate))?
    })
}
