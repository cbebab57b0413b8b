//! Adds the MCP server of mendit to the settings of an agent or editor, and removes it.

/// Our server in settings that hold more: `"mendit": VALUE` in a table of servers.
pub struct McpServer {
    table: String,
    member: String,
}

impl McpServer {
    /// The server of settings that hold nothing else.
    pub fn read(text: &str) -> Option<Self> {
        let settings = read_json(text)?;
        let mut tables = settings.iter();
        let (table, server) = tables.find_map(|(name, table)| Some((name, table.get(NAME)?)))?;
        Some(Self {
            table: table.clone(),
            member: format!("\n    \"{NAME}\": {server}"),
        })
    }

    /// The settings with it as the first of its table; every other byte, comments included, stays. `None` for what is
    /// no object of JSON.
    pub fn add_to(&self, old: &str) -> Option<String> {
        let mut before = read_json(old)?;
        let table = before.get(&self.table);
        if table.is_some_and(|table| table.get(NAME).is_some()) {
            return Some(old.to_owned());
        }
        let end = |is_empty: bool| if is_empty { "\n" } else { "," };
        let (from, made) = match table {
            Some(table) => {
                let is_empty = table.as_object()?.is_empty();
                (
                    old.find(&format!("\"{}\"", self.table))?,
                    format!("{}{}", self.member, end(is_empty)),
                )
            }
            None => {
                let end = end(before.is_empty());
                (
                    0,
                    format!("\n  \"{}\": {{{}\n  }}{end}", self.table, self.member),
                )
            }
        };
        let at = from + old.get(from..)?.find('{')? + 1;
        let (head, rest) = old.split_at_checked(at)?;
        let new = format!("{head}{made}{rest}");
        let mut after = read_json(&new)?;
        after.get_mut(&self.table)?.as_object_mut()?.remove(NAME)?;
        before.entry(&self.table).or_insert_with(|| serde_json::json!({}));
        (after == before).then_some(new)
    }

    /// The settings without it; `None` where it was changed or is not there.
    pub fn remove_from(&self, old: &str) -> Option<String> {
        let mut cuts = [",", "\n"].iter().map(|end| format!("{}{end}", self.member));
        let cut = cuts.find(|cut| old.contains(cut.as_str()))?;
        let rest = old.replacen(&cut, "", 1);
        read_json(&rest).map(|_| rest)
    }
}

fn read_json(text: &str) -> Option<serde_json::Map<String, serde_json::Value>> {
    let mut plain = text.to_owned();
    json_strip_comments::strip(&mut plain).ok()?;
    serde_json::from_str(&plain).ok()
}

const NAME: &str = "mendit";
