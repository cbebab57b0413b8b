use super::signals::Scores;
use crate::model::RepoPath;
use std::collections::BTreeSet;

/// Similarity of a file's name and folders to those of the nearest target.
pub(super) fn name_similarity(pool: &[RepoPath], targets: &[RepoPath]) -> Scores {
    let targets: Vec<Words> = targets.iter().map(Words::from_path).collect();
    pool.iter()
        .map(|path| {
            let words = Words::from_path(path);
            targets
                .iter()
                .map(|target| words.similarity(target))
                .fold(0.0, f64::max)
        })
        .collect()
}

struct Words {
    stem: String,
    name: BTreeSet<String>,
    folders: BTreeSet<String>,
}

impl Words {
    fn from_path(path: &RepoPath) -> Self {
        let subject = subject(path);
        Self {
            stem: subject.to_lowercase(),
            name: words(subject).collect(),
            folders: path.directory().split('/').flat_map(words).collect(),
        }
    }

    fn similarity(&self, other: &Self) -> f64 {
        let same = if self.stem == other.stem { 1.0 } else { 0.0 };
        // A folder may carry the subject: `tests/config/basic.ts` for `src/config.ts`.
        let across = jaccard(&self.name, &other.folders).max(jaccard(&self.folders, &other.name));
        2.0 * same
            + 2.0 * jaccard(&self.name, &other.name)
            + 0.5 * across
            + 0.7 * jaccard(&self.folders, &other.folders)
    }
}

// The name of what a file is about: without test affixes; of an index file, its folder's.
fn subject(path: &RepoPath) -> &str {
    let name = path.file_name();
    let stem = name.split('.').next().unwrap_or(name);
    let stem = stem.strip_prefix("test_").unwrap_or(stem);
    let stem = stem.strip_suffix("_test").unwrap_or(stem);
    let stem = stem.trim_matches('_');
    let folder = path.directory().rsplit('/').next().unwrap_or("");
    if matches!(stem, "index" | "init" | "mod" | "main") && !folder.is_empty() {
        folder.trim_matches('_')
    } else {
        stem
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric())
        .flat_map(camel_parts)
        .map(str::to_lowercase)
        .map(|part| match part.strip_suffix('s') {
            Some(singular) if singular.len() > 2 => singular.to_owned(),
            _ => part,
        })
        .filter(|part| {
            !part.is_empty()
                && !matches!(part.as_str(), "test" | "src" | "lib" | "spec" | "package")
        })
}

fn camel_parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for at in 1..bytes.len() {
        if bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase() {
            parts.push(&text[start..at]);
            start = at;
        }
    }
    parts.push(&text[start..]);
    parts
}

fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let both = a.intersection(b).count() as f64;
    let either = a.union(b).count() as f64;
    if either == 0.0 { 0.0 } else { both / either }
}

#[cfg(test)]
mod tests {
    use super::name_similarity;
    use crate::model::RepoPath;

    #[test]
    fn the_subject_of_a_test_comes_first() {
        let path = |text| RepoPath::new(text).unwrap();
        let pool = ["src/user.ts", "src/userList.ts", "src/price.ts"].map(path);
        let scores = name_similarity(&pool, &[path("tests/user.test.ts")]);
        assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
        let pool = ["pkg/_config/__init__.py", "pkg/main.py"].map(path);
        let scores = name_similarity(&pool, &[path("testing/test_config.py")]);
        assert!(scores[0] > scores[1], "{scores:?}");
    }
}
