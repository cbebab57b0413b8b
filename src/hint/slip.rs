use super::similar::distance;
use crate::graph::Graph;
use crate::languages::python::spelling::{place, place_of};
use crate::languages::typescript::split;
use crate::languages::{Language, TYPESCRIPT};
use crate::model::{Import, RepoPath};
use crate::source::Source;

/// What a specifier that leads nowhere says of the file that it means.
pub(super) struct Named<'a> {
    file: &'a RepoPath,
    specifier: &'a str,
    language: &'static Language,
    /// The ending of what is no script.
    ending: Option<&'a str>,
    /// The last part that is a name.
    last: String,
    /// The path that a relative specifier names, without the ending of a source file.
    target: Option<String>,
}

/// A file that may be meant.
pub(super) struct Place<'p> {
    pub(super) path: &'p RepoPath,
    /// 0 for a file of the very name, more the less its name is like it.
    pub(super) far: usize,
    /// One part of the specifier, misspelt by one edit, makes the difference.
    pub(super) slip: bool,
}

impl<'a> Named<'a> {
    pub(super) fn of(
        source: &dyn Source,
        file: &'a RepoPath,
        import: &'a Import,
        language: &'static Language,
    ) -> Self {
        let specifier = import.specifier.as_str();
        let script = *language == TYPESCRIPT;
        // All others are those of a source file or part of its name (`./user.service`).
        let is_one = |ending: &&str| {
            let mut files = source.listing().files().map(|it| &it.path);
            let of_it = |it: &RepoPath| it.extension() == Some(ending);
            files.any(|it| of_it(it) && Language::of_path(it.as_str()) != Some(language))
        };
        let ending = specifier.rsplit_once('.').map(|(_, ending)| ending);
        let ending = ending.filter(|it| script && is_one(it));
        let target = if !specifier.starts_with('.') {
            None
        } else if script {
            let path = RepoPath::resolve(file.directory(), specifier).ok();
            path.map(|path| split(path.as_str()).0.to_owned())
        } else {
            place_of(file, specifier)
        };
        let last = if script {
            let bare = split(specifier).0;
            let bare = ending.map_or(bare, |it| bare.strip_suffix(it).unwrap_or(bare));
            bare.trim_end_matches('.')
                .rsplit('/')
                .find(|part| *part != "index")
        } else {
            specifier.rsplit('.').next()
        };
        Self {
            file,
            specifier,
            language,
            ending,
            last: last.unwrap_or_default().to_owned(),
            target,
        }
    }

    /// Whether a file is of the kind that the specifier names.
    pub(super) fn may_be(&self, path: &RepoPath) -> bool {
        match self.ending {
            Some(ending) => path.extension() == Some(ending),
            None => Language::of_path(path.as_str()) == Some(self.language),
        }
    }

    /// A file whose name, or whole place, is like what is named.
    pub(super) fn place<'p>(&self, graph: &Graph<'_>, path: &'p RepoPath) -> Option<Place<'p>> {
        let stem = match path.stem() {
            "__init__" | "index" => path.directory().rsplit('/').next().unwrap_or_default(),
            stem => stem,
        };
        let near = if stem == self.last {
            Some(0)
        } else {
            distance(&self.last, stem).map(|edits| 1 + edits)
        };
        let slip = self.is_slip(graph, path, near.is_some());
        let far = near.or(slip.then_some(2))?;
        Some(Place { path, far, slip })
    }

    fn is_slip(&self, graph: &Graph<'_>, path: &RepoPath, near: bool) -> bool {
        let whole = split(path.as_str()).0;
        if *self.language != TYPESCRIPT {
            let place = place(path);
            if let Some(target) = &self.target {
                return differs(target, &place, '/');
            }
            let count = self.specifier.split('.').count();
            let parts: Vec<&str> = place.split('/').collect();
            let start = parts.len().saturating_sub(count);
            let name = parts.get(start..).unwrap_or_default().join(".");
            return differs(self.specifier, &name, '.')
                && (graph.resolver().module_names(self.file, &place)).contains(&name);
        }
        let like = |wanted: &str, name: &str| {
            let folder = name.strip_suffix("/index");
            differs(wanted, name, '/') || folder.is_some_and(|it| differs(wanted, it, '/'))
        };
        if let Some(target) = &self.target {
            return like(target, whole);
        }
        let wanted = split(self.specifier).0;
        let aliases = || graph.resolver().aliases(self.file, path);
        near && aliases().iter().any(|alias| like(wanted, split(alias).0))
    }
}

/// Whether two paths differ in one part alone, and there by a slip of the finger.
fn differs(wanted: &str, name: &str, separator: char) -> bool {
    if wanted.len().abs_diff(name.len()) > 2 || wanted == name {
        return false;
    }
    let (mut ours, mut theirs) = (wanted.split(separator), name.split(separator));
    let mut slips = 0;
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => return slips == 1,
            (Some(one), Some(other)) if one == other => {}
            (Some(one), Some(other)) if is_misspelt(one, other) => slips += 1,
            _ => return false,
        }
    }
}

// One edit, or case and marks alone; `v3` for `v4` is another thing.
fn is_misspelt(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let letters = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    one.len().max(other.len()) > 3
        && letters(one) != letters(other)
        && (plain(one) == plain(other) || strsim::osa_distance(one, other) == 1)
}

#[cfg(test)]
mod tests {
    use super::differs;

    #[test]
    fn one_part_may_be_misspelt() {
        for (wanted, name, expected) in [
            ("src/utilz", "src/utils", true),
            ("src/inddex", "src/index", true),
            ("celer", "celery", true),
            ("src/HTTP-client", "src/http_client", true),
            ("src/utils", "src/utils", false),
            ("src/v3/a", "src/v4/a", false),
            ("srx/utilz", "src/utils", false),
            ("src/db", "src/d", false),
            ("a/utils", "utils", false),
        ] {
            assert_eq!(differs(wanted, name, '/'), expected, "{wanted} {name}");
        }
    }
}
