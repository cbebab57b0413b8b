use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Paths after which globs are compiled: to compile some hundred costs as much as to ask each of them about so
/// many paths, and a patch has few.
const MANY: usize = 100;

/// Globs of a built-in table, in lower case; `*` stands for no slash.
#[derive(Debug)]
pub(super) struct GlobList {
    globs: Vec<String>,
    calls: AtomicUsize,
    compiled: OnceLock<GlobSet>,
}

impl GlobList {
    pub(super) fn new(globs: Vec<String>) -> Self {
        Self {
            globs,
            calls: AtomicUsize::new(0),
            compiled: OnceLock::new(),
        }
    }

    /// Which of them match a path in lower case, in their order.
    pub(super) fn matches(&self, path: &str) -> Vec<usize> {
        if self.calls.fetch_add(1, Ordering::Relaxed) < MANY {
            return self.one_by_one(path);
        }
        self.compiled.get_or_init(|| self.compile()).matches(path)
    }

    fn one_by_one(&self, path: &str) -> Vec<usize> {
        let fits = |glob: &String| fast_glob::glob_match(glob, path);
        let all = self.globs.iter().enumerate();
        all.filter(|(_, glob)| fits(glob)).map(|it| it.0).collect()
    }

    fn compile(&self) -> GlobSet {
        let mut set = GlobSetBuilder::new();
        for glob in &self.globs {
            // Names and endings in lower case are looked up; a glob for either case would be an automaton.
            if let Ok(glob) = GlobBuilder::new(glob).literal_separator(true).build() {
                set.add(glob);
            }
        }
        set.build().unwrap_or_default()
    }

    /// Whether every glob can be compiled, and both ways of asking agree on a path.
    #[cfg(test)]
    pub(super) fn agrees(&self, path: &str) -> bool {
        let set = self.compiled.get_or_init(|| self.compile());
        set.len() == self.globs.len() && set.matches(path) == self.one_by_one(path)
    }

    /// Paths that some of them match and that nearly do.
    #[cfg(test)]
    pub(super) fn examples(&self) -> Vec<String> {
        let plain = |glob: &str, stars: &str, star: &str| {
            let mut glob = glob
                .replace("**/", stars)
                .replace("/**", "/x/y")
                .replace('*', star);
            while let (Some(open), Some(close)) = (glob.find('{'), glob.find('}')) {
                let one = glob[open + 1..close]
                    .split(',')
                    .next_back()
                    .unwrap_or_default();
                glob = format!("{}{one}{}", &glob[..open], &glob[close + 1..]);
            }
            while let (Some(open), Some(close)) = (glob.find('['), glob.find(']')) {
                let one = glob[open + 1..close].chars().next().unwrap_or('x');
                glob = format!("{}{one}{}", &glob[..open], &glob[close + 1..]);
            }
            glob.replace('?', "q")
        };
        let of = |glob: &String| {
            let made = [("", ""), ("a/", "x"), ("a/b/", "x.y"), ("a/", "x/y")];
            let made = made.map(|(stars, star)| plain(glob, stars, star));
            made.into_iter().flat_map(|path| {
                [
                    path.clone(),
                    format!("{path}x"),
                    format!("z{path}"),
                    format!("{path}/z"),
                ]
            })
        };
        self.globs.iter().flat_map(of).collect()
    }
}
