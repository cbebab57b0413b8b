//! Finds how a file uses a name. Strings and comments are no uses.

use std::collections::BTreeSet;

use memchr::memmem;
use tree_sitter::Node;

use super::facts::Code;
use super::finder::Finder;
use super::literal::text_of;
use super::query::{Captures, Patterns, get};
use crate::model::RepoPath;

/// How a file uses one name, read from its syntax tree: what is in strings and comments, keys
/// and members of other things are no uses.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Uses {
    /// What follows `name.`, sorted.
    pub members: BTreeSet<String>,
    /// It is called, built, or used as a tag.
    pub called: bool,
    /// It is needed at run time.
    pub value: bool,
    /// It is used as a type.
    pub typed: bool,
    /// Something in the file declares or assigns it.
    pub bound: bool,
    /// A method of a class has the name, which code below the class's own statements does not see.
    pub member: bool,
    /// A parameter, a key or an export has the name as well.
    pub shadowed: bool,
    /// Byte offsets where it represents what it means, imports included, ascending.
    pub places: Vec<usize>,
}

impl Uses {
    /// Whether the file has something of its own by this name.
    pub fn is_own(&self) -> bool {
        self.bound || self.member
    }
}

/// Reads how a file uses a name. `None` when the file cannot be parsed or nowhere holds it as a
/// word.
pub fn uses(path: &RepoPath, bytes: &[u8], name: &str) -> Option<Uses> {
    let code = Code::read(path, bytes)?;
    let (head, tree) = (code.head(), code.tree()?);
    let mut finder = Finder::new(&tree);
    let mut found = Uses::default();
    let mut any = false;
    // Places of one name that are looked at.
    for at in words(head, name).take(2_000) {
        let Some(nodes) = finder.at(at) else { break };
        let Some((leaf, above)) = nodes.split_last() else {
            continue;
        };
        let quoted = leaf.kind().starts_with("string");
        if quoted || leaf.start_byte() != at || leaf.end_byte() != at + name.len() {
            if nodes.iter().any(|node| node.kind() == "type") {
                // A quoted annotation.
                (found.typed, any) = (true, true);
            }
            continue;
        }
        any = true;
        if Place::find(&code.language.uses, *leaf, above, head).add(&mut found) {
            found.places.push(at);
        }
    }
    any.then_some(found)
}

// What the query of a language says of a name at one place.
#[derive(Default)]
struct Place {
    // The number of the pattern that decides, and its words.
    words: Option<(usize, &'static str)>,
    is_name: bool,
    // What follows it behind a dot.
    member: Option<String>,
    called: bool,
    typed: bool,
    // A class around it has a member of the name.
    method: bool,
}

impl Place {
    fn find(query: &Patterns, leaf: Node<'_>, above: &[Node<'_>], text: &[u8]) -> Self {
        let mut place = Self {
            is_name: leaf.kind() == "identifier",
            ..Self::default()
        };
        for (level, node) in [leaf].into_iter().chain(above.iter().rev().copied()).enumerate() {
            // The node that decides what a name is lies at most this many levels above.
            if level <= 6 || matches!(node.kind(), "type" | "class_body") {
                query.at(node, text, |number, found| {
                    place.see(number, found, leaf, text);
                });
            }
        }
        place
    }

    // Takes what a match at the leaf or a node around it says.
    fn see(&mut self, number: usize, found: &Captures<'_>, leaf: Node<'_>, text: &[u8]) {
        for (name, captured) in found {
            let is_leaf = *captured == leaf;
            match *name {
                "called" => self.called |= is_leaf,
                "types" => self.typed = true,
                "object" if is_leaf && self.member.is_none() => {
                    self.member = get(found, "part").map(|part| text_of(part, text));
                }
                "method" => {
                    self.method |= text.get(captured.byte_range()) == text.get(leaf.byte_range());
                }
                "object" | "part" => {}
                words if is_leaf && !words.starts_with('_') => {
                    let best = self.words.filter(|(best, _)| *best <= number);
                    self.words = best.or(Some((number, words)));
                }
                _ => {}
            }
        }
    }

    // Adds it to what is known of the name; whether it represents what the name means.
    fn add(self, uses: &mut Uses) -> bool {
        if let Some((_, words)) = self.words {
            let has = |word: &str| words.split('.').any(|part| part == word);
            uses.bound |= has("bound");
            uses.member |= has("member");
            uses.shadowed |= has("shadowed");
            uses.typed |= has("typed");
            uses.value |= has("value");
            return has("place");
        }
        if !self.is_name {
            return false;
        }
        uses.typed |= self.typed;
        uses.value |= !self.typed;
        uses.bound |= self.method;
        uses.called |= self.called;
        uses.members.extend(self.member);
        true
    }
}

/// Whether a byte can be part of an identifier. Bytes above ASCII count as letters.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// Where the name occurs as a whole word.
pub fn words<'t>(text: &'t [u8], name: &'t str) -> impl Iterator<Item = usize> + use<'t> {
    memmem::find_iter(text, name.as_bytes()).filter(move |at| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        !name.is_empty() && !is_word_byte(before) && !is_word_byte(text.get(at + name.len()))
    })
}

fn is_word_byte(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| is_word(*byte))
}

#[cfg(test)]
mod tests {
    use super::{Uses, uses, words};
    use crate::model::RepoPath;

    fn read(path: &str, text: &str) -> Uses {
        uses(&RepoPath::new(path).unwrap(), text.as_bytes(), "Name").unwrap_or_default()
    }

    #[test]
    fn words_are_whole() {
        let holds = |text: &str| words(text.as_bytes(), "Path").next().is_some();
        assert!(holds("x = Path(y)"));
        for text in ["PathLike", "my_Path", "Path2", "$Path", "xPath", ""] {
            assert!(!holds(text), "{text}");
        }
        assert!(words(b"anything", "").next().is_none());
    }

    #[test]
    fn distinguishes_values_from_types() {
        for (text, value, typed) in [
            ("class A extends Name<T> {}", true, false),
            ("interface A extends Name {}", false, true),
            ("class A implements Name {}", false, true),
            ("const a: Name = b as Name", false, true),
            ("let a: typeof Name", false, true),
            ("let a: Name.Inner", false, true),
            ("new Name()", true, false),
            ("x instanceof Name", true, false),
            ("@Name() class A {}", true, false),
            ("f({ Name })", true, false),
            ("f<Name>(x)", false, true),
            ("f({ Name: 1 }, a.Name, 'Name') // Name", false, false),
        ] {
            let found = read("a.ts", text);
            assert_eq!((found.value, found.typed), (value, typed), "{text}");
        }
        assert!(read("a.tsx", "const a = <Name.Part />").value);
        assert!(read("a.py", "x: 'Name' = 1").typed);
        assert!(read("a.py", "def f(x: Name[int]) -> Name: ...").typed);
        assert!(read("a.py", "class A(Name): ...").value);
    }

    #[test]
    fn members_calls_and_bindings_are_read() {
        let found = read(
            "a.py",
            "Name.path.join(Name.sep)\na.Name\nf(Name=1)\n'Name.x'\n",
        );
        assert_eq!(found.members.iter().collect::<Vec<_>>(), ["path", "sep"]);
        assert!(!found.called && !found.bound);
        let found = read("a.ts", "Name.a.b()\nName?.c\n<b>Name.d\n");
        assert_eq!(found.members.iter().collect::<Vec<_>>(), ["a", "c", "d"]);
        for (path, text) in [
            ("a.ts", "const Name = 1"),
            ("a.ts", "const { Name } = x"),
            ("a.ts", "Name = 1"),
            ("a.ts", "function Name() {}"),
            ("a.ts", "type Name = 1"),
            ("a.py", "Name = 1"),
            ("a.py", "for Name in x: pass"),
            ("a.py", "with a as Name: pass"),
            ("a.py", "def Name(): pass"),
            ("a.py", "a, Name = b"),
        ] {
            assert!(read(path, text).bound, "{text}");
        }
        for (path, text) in [
            ("a.ts", "f(Name => 1)"),
            ("a.ts", "type A = Name"),
            ("a.ts", "f(y as Name)"),
            ("a.py", "f(Name=1)"),
            ("a.py", "def f(Name, b=Name): pass"),
            ("a.py", "Name == 1"),
        ] {
            assert!(!read(path, text).bound, "{text}");
        }
        let found = read(
            "a.py",
            "class A:\n    @a\n    def Name(self): pass\nName()\n",
        );
        assert!(found.member && !found.bound && found.value);
        assert!(read("a.py", "Name(1)").called && read("a.ts", "new Name()").called);
    }
}
