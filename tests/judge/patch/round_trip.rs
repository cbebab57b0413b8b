use std::collections::BTreeMap;
use std::fs;

use mendit::documents::RepoPath;
use mendit::internals::patch::{JudgeOptions, judge};
use mendit::internals::source::Memory;
use proptest::prelude::*;

use super::support::{git, repository, write};

type Tree = BTreeMap<String, Vec<u8>>;

// Lines from a small alphabet, so blocks repeat; with and without a final newline, CR and NUL.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        8 => "[ab ]{0,3}",
        1 => Just("x\r".to_owned()),
        1 => Just("@@ -1 +1 @@".to_owned()),
        1 => Just("--- a/f0".to_owned()),
        1 => Just("+++ b/f0".to_owned()),
    ];
    (
        prop::collection::vec(line, 0..40),
        any::<bool>(),
        prop::bool::weighted(0.05),
    )
        .prop_map(|(lines, newline, binary)| {
            let mut text = lines.join("\n").into_bytes();
            if newline && !text.is_empty() {
                text.push(b'\n');
            }
            if binary {
                text.insert(0, 0);
            }
            text
        })
}

fn tree() -> impl Strategy<Value = Tree> {
    let name = prop_oneof![
        Just("f0"),
        Just("f1"),
        Just("d/f2"),
        Just("d/e/f3"),
        Just("n a"),
        Just("ü"),
    ];
    prop::collection::btree_map(name.prop_map(str::to_owned), content(), 0..5)
}

// A few edits of the first tree, so the diff has context; or another tree.
fn pair() -> impl Strategy<Value = (Tree, Tree)> {
    (
        tree(),
        tree(),
        prop::collection::vec((any::<prop::sample::Index>(), "[ab]{1,2}"), 0..4),
    )
        .prop_map(|(old, other, edits)| {
            let mut new = old.clone();
            for (index, text) in edits {
                if let Some((_, bytes)) = new.iter_mut().next() {
                    let at = index.index(bytes.len() + 1);
                    bytes.splice(at..at, text.bytes());
                }
            }
            if new == old { (old, other) } else { (old, new) }
        })
}

const FLAGS: &[&[&str]] = &[
    &["--full-index", "--binary"],
    &["--full-index", "--binary", "-M", "-C"],
    &["--full-index", "--binary", "-M", "-C", "-C"],
    &["-M", "-C", "-C", "-a"],
    &["--full-index", "--binary", "-U1"],
    &["--full-index", "--binary", "--patience", "--no-prefix"],
];

fn applied(old: &Tree, patch: &[u8], strip: Option<usize>) -> Result<Tree, String> {
    let files = old.iter().map(|(path, bytes)| (RepoPath::new(path).unwrap(), bytes.clone()));
    let source = Memory::new(files);
    let options = JudgeOptions {
        strip,
        ..JudgeOptions::default()
    };
    let judged = judge(patch, &source, &options);
    if !judged.verdict.verdict.applies() {
        return Err(format!(
            "{:?} {:?}",
            judged.verdict.verdict, judged.verdict.problems
        ));
    }
    let mut tree = old.clone();
    for change in judged.changes {
        match change.after {
            Some(state) => tree.insert(change.path.as_str().to_owned(), state.bytes.to_vec()),
            None => tree.remove(change.path.as_str()),
        };
    }
    Ok(tree)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reads_patches_of_git((old, new) in pair(), flags in 0..FLAGS.len()) {
        let files: Vec<(&str, &[u8])> = old.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        let repository = repository(&files);
        let root = repository.path();
        for path in old.keys() {
            fs::remove_file(root.join(path)).unwrap();
        }
        for (path, bytes) in &new {
            write(root, path, bytes);
        }
        git(root, &["add", "-A"]);
        let mut arguments = vec!["diff", "--cached"];
        arguments.extend(FLAGS[flags]);
        let patch = git(root, &arguments).stdout;
        prop_assume!(!patch.is_empty());
        let strip = Some(usize::from(!FLAGS[flags].contains(&"--no-prefix")));
        let text = String::from_utf8_lossy(&patch).into_owned();
        prop_assert_eq!(applied(&old, &patch, strip), Ok(new), "forward\n{}", text);
    }
}
