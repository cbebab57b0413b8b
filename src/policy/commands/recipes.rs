use std::collections::{BTreeMap, BTreeSet};

use super::walk::{Walk, join};

impl Walk<'_> {
    pub(super) fn make(&mut self, words: &[&str], directory: &str, depth: usize) {
        let mut directory = directory.to_owned();
        let mut files = vec!["GNUmakefile", "makefile", "Makefile"];
        let mut targets = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "-C" | "--directory" => {
                    let to = words.next().and_then(|to| join(&directory, to));
                    directory = to.unwrap_or(directory);
                }
                "-f" | "--file" | "--makefile" => {
                    files = words.next().copied().into_iter().collect();
                }
                word if word.starts_with('-') || word.contains('=') => {}
                word => targets.push(word),
            }
        }
        self.recipes(&targets, &directory, &files, depth);
    }

    // Rules of a Makefile or a justfile: `target: what is needed`, and indented lines below it.
    pub(super) fn recipes(
        &mut self,
        targets: &[&str],
        directory: &str,
        names: &[&str],
        depth: usize,
    ) {
        let Some((path, bytes)) = names.iter().find_map(|name| {
            let path = join(directory, name)?;
            let bytes = self.read(&path)?;
            Some((path, bytes))
        }) else {
            return;
        };
        self.add(&path, "", "the command", false);
        let text = String::from_utf8_lossy(&bytes).replace("\\\n", " ");
        let mut rules: BTreeMap<&str, (Vec<&str>, Vec<&str>)> = BTreeMap::new();
        let mut current: Vec<&str> = Vec::new();
        let mut first = None;
        for line in text.lines() {
            if line.starts_with(['\t', ' ']) {
                for rule in &current {
                    rules.entry(rule).or_default().1.push(line.trim());
                }
            } else if let Some((heads, needs)) = line.split_once(':')
                && !needs.starts_with('=')
                && !line.starts_with('#')
            {
                current = heads.split_whitespace().collect();
                let plain = current.iter().find(|head| !head.starts_with('.'));
                first = first.or(plain.copied());
                for rule in &current {
                    let needs = needs.split(';').next().unwrap_or_default();
                    rules
                        .entry(rule)
                        .or_default()
                        .0
                        .extend(needs.split_whitespace());
                }
            } else if !line.trim().is_empty() {
                current.clear();
            }
        }
        let mut open: Vec<&str> = targets.to_vec();
        open.retain(|target| rules.contains_key(target));
        let guesses = open.is_empty() && !targets.is_empty();
        if open.is_empty() {
            open.extend(first);
        }
        let mut seen = BTreeSet::new();
        while let Some(target) = open.pop() {
            let Some((needs, lines)) = rules.get(target).filter(|_| seen.insert(target)) else {
                continue;
            };
            open.extend(needs);
            for line in lines {
                let line = line.trim_start_matches(['@', '-', '+']);
                let line = line.replace("$(MAKE)", "make").replace("${MAKE}", "make");
                if guesses {
                    self.guess(|walk| walk.line(&line, directory, &path, depth + 1));
                } else {
                    self.line(&line, directory, &path, depth + 1);
                }
            }
        }
    }

    // Commands that stand in a settings file, one a line.
    pub(super) fn settings(&mut self, directory: &str, name: &str, depth: usize) {
        let Some(path) = join(directory, name) else {
            return;
        };
        let Some(bytes) = self.read(&path) else {
            return;
        };
        let text = String::from_utf8_lossy(&bytes).replace("{posargs}", "");
        for line in text.lines() {
            let line = line.split_once('=').map_or(line, |(name, rest)| {
                if name.trim().starts_with("commands") {
                    rest
                } else {
                    ""
                }
            });
            self.line(line.trim(), directory, &path, depth + 1);
        }
    }
}
