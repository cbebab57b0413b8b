use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// What a manifest says, without its order, comments and spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tree {
    /// A table, object or section.
    Table(BTreeMap<String, Tree>),
    /// An array.
    List(Vec<Tree>),
    /// A string.
    Text(String),
    /// A number, a truth value or nothing, as one canonical word.
    Other(String),
}

impl Tree {
    pub(super) fn empty() -> Self {
        Self::Table(BTreeMap::new())
    }

    pub(super) fn table(&self) -> Option<&BTreeMap<String, Tree>> {
        match self {
            Self::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Whether a setting says yes.
    pub(super) fn is_on(&self) -> bool {
        match self {
            Self::Text(word) | Self::Other(word) => {
                matches!(
                    word.to_ascii_lowercase().as_str(),
                    "true" | "yes" | "on" | "1"
                )
            }
            Self::Table(_) | Self::List(_) => false,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyTree)
    }
}

struct AnyTree;

impl<'de> Visitor<'de> for AnyTree {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Other(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Other(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Other(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Other(format!("{value:?}")))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Tree, E> {
        Ok(Tree::Other("null".to_owned()))
    }

    fn visit_none<E: Error>(self) -> Result<Tree, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Tree, D::Error> {
        Tree::deserialize(from)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<Tree, D::Error> {
        Tree::deserialize(from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = from.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    // Which of two equal keys counts differs between readers: such a table says nothing.
    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Tree, A::Error> {
        let mut table = BTreeMap::new();
        while let Some(key) = from.next_key::<Tree>()? {
            let (Tree::Text(key) | Tree::Other(key)) = key else {
                return Err(A::Error::custom("a key is no word"));
            };
            if table.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            let value = from.next_value()?;
            table.insert(key, value);
        }
        Ok(Tree::Table(table))
    }
}
