use std::collections::BTreeSet;

use memchr::memmem;
use tree_sitter::Node;

use super::facts::Code;
use super::finder::Finder;
use super::literal::Syntax;
use crate::model::RepoPath;

/// Places of one name that are looked at.
const MAX_PLACES: usize = 2_000;
/// Parts of a dotted chain below the name.
pub(super) const MAX_CHAIN: usize = 4;

/// How a file uses one name, read from its syntax tree: what stands in strings and comments, keys
/// and members of other things are no uses.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a use of its own")]
pub struct Uses {
    /// What follows `name.`, sorted.
    pub members: BTreeSet<String>,
    /// Dotted chains that start with the name, up to four parts below it.
    pub chains: BTreeSet<String>,
    /// It stands somewhere without a member.
    pub bare: bool,
    /// It is called, built, or used as a tag.
    pub called: bool,
    /// It is needed at run time.
    pub value: bool,
    /// It stands where types do.
    pub typed: bool,
    /// Something in the file declares or assigns it.
    pub bound: bool,
    /// A method of a class bears the name, which code below the class's own statements does not see.
    pub member: bool,
    /// A parameter, a key or an export bears the name as well.
    pub shadowed: bool,
    /// Byte offsets where it stands for what it means, imports included, ascending.
    pub places: Vec<usize>,
}

impl Uses {
    /// Whether the file has something of its own by this name.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.bound || self.member
    }
}

/// Reads how a file uses a name. `None` when the file cannot be parsed or nowhere holds it as a
/// word.
#[must_use]
pub fn uses(path: &RepoPath, bytes: &[u8], name: &str) -> Option<Uses> {
    let code = Code::of(path, bytes)?;
    let (head, tree) = (code.head(), code.tree()?);
    let mut finder = Finder::new(&tree);
    let mut found = Uses::default();
    let mut any = false;
    for at in words(head, name).take(MAX_PLACES) {
        let Some(nodes) = finder.at(at) else { break };
        let Some((leaf, above)) = nodes.split_last() else {
            continue;
        };
        let quoted = leaf.kind().starts_with("string");
        if quoted || leaf.start_byte() != at || leaf.end_byte() != at + name.len() {
            if nodes.iter().any(|node| node.kind() == "type") {
                // A quoted annotation.
                (found.typed, found.bare, any) = (true, true, true);
            }
            continue;
        }
        any = true;
        if (code.language.use_of)(&mut found, *leaf, above, head) {
            found.places.push(at);
        }
    }
    any.then_some(found)
}

/// The names that a Python file needs at run time and that nothing in it binds, in no scope: those
/// of builtins are among them. Sorted. Empty for another language, and for a file with an import of
/// everything, or one that is not parsed whole.
#[must_use]
pub fn free_names(path: &RepoPath, bytes: &[u8]) -> Vec<String> {
    let code = Code::of(path, bytes).filter(|code| code.cut.is_none());
    let names = code.and_then(|code| {
        let tree = code.tree().filter(|tree| !tree.root_node().has_error())?;
        Some((code.language.free_names)(&tree, code.head()))
    });
    names.unwrap_or_default()
}

/// Whether a byte can be part of an identifier. Bytes above ASCII count as letters.
#[must_use]
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}

/// Where the name stands as a word of its own.
pub fn words<'t>(text: &'t [u8], name: &'t str) -> impl Iterator<Item = usize> + use<'t> {
    let part = |byte: Option<&u8>| byte.is_some_and(|byte| is_word(*byte));
    memmem::find_iter(text, name.as_bytes()).filter(move |at| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        !name.is_empty() && !part(before) && !part(text.get(at + name.len()))
    })
}

/// Whether a node is the child of another in a field.
pub(super) fn is_field(parent: Node<'_>, field: &str, child: Node<'_>) -> bool {
    parent.field(field) == Some(child)
}

/// Adds the members below the name, outermost last.
pub(super) fn chain(
    found: &mut Uses,
    leaf: Node<'_>,
    above: &[Node<'_>],
    text: &[u8],
    field: &str,
    is_member: impl Fn(&Node<'_>) -> bool,
) {
    let mut parts: Vec<String> = Vec::new();
    let mut below = leaf;
    for node in above
        .iter()
        .rev()
        .filter(|node| !matches!(node.kind(), "type"))
    {
        if !is_member(node) || parts.len() == MAX_CHAIN || node.named_child(0) != Some(below) {
            break;
        }
        let named = node.field(field).or_else(|| node.named_child(1));
        let Some(part) = named.and_then(|part| part.utf8_text(text).ok()) else {
            break;
        };
        parts.push(part.to_owned());
        below = *node;
    }
    match parts.first() {
        None => found.bare = true,
        Some(first) => {
            found.members.insert(first.clone());
            for end in 1..=parts.len() {
                let chain = parts.get(..end).unwrap_or_default();
                found.chains.insert(chain.join("."));
            }
        }
    }
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
    fn values_and_types_are_told_apart() {
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
        assert_eq!(
            found.chains.iter().collect::<Vec<_>>(),
            ["path", "path.join", "sep"]
        );
        assert!(!found.bare && !found.called && !found.bound);
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
