use std::path::Path;

use serde_json::Value;

use crate::exec::{Sink, Stream};

/// Says what an agent is at while its events come: the command or the file that one of them names.
pub struct Live<'a> {
    line: Vec<u8>,
    last: String,
    root: &'a Path,
    say: &'a mut dyn FnMut(&str),
}

impl<'a> Live<'a> {
    /// For an agent that works below `root`. `say` gets each command and path once in a row.
    pub fn new(root: &'a Path, say: &'a mut dyn FnMut(&str)) -> Self {
        let (line, last) = (Vec::new(), String::new());
        Self {
            line,
            last,
            root,
            say,
        }
    }

    fn read(&mut self, line: &[u8]) {
        let event = line.starts_with(b"{").then(|| serde_json::from_slice(line));
        let Some(Ok(event)) = event else {
            return;
        };
        let Some(named) = named(&event) else {
            return;
        };
        let root = self.root.to_string_lossy();
        let named = named.replace(&format!("{root}/"), "");
        let first = named.lines().next().unwrap_or_default();
        let short: String = first.chars().take(MOST_SHOWN).collect();
        if !short.is_empty() && short != self.last {
            (self.say)(&short);
            self.last = short;
        }
    }
}

impl Sink for Live<'_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        if stream == Stream::Stderr {
            return;
        }
        for piece in bytes.split_inclusive(|it| *it == b'\n') {
            if self.line.len() + piece.len() <= LONGEST_EVENT {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.read(&line);
            }
        }
    }
}

// Agents call the arguments of their tools so.
fn named(event: &Value) -> Option<&str> {
    const ARGUMENTS: [&str; 5] = ["command", "file_path", "filePath", "absolute_path", "path"];
    match event {
        Value::Object(fields) => {
            let own = ARGUMENTS.iter().find_map(|it| fields.get(*it)?.as_str());
            own.or_else(|| fields.values().find_map(named))
        }
        Value::Array(items) => items.iter().find_map(named),
        _ => None,
    }
}

/// Characters of a command that are shown.
const MOST_SHOWN: usize = 60;
/// Bytes; of a longer event nothing is told.
const LONGEST_EVENT: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_files_are_told_as_they_come() {
        let mut shown = Vec::new();
        let mut say = |it: &str| shown.push(it.to_owned());
        let mut live = Live::new(Path::new("/w"), &mut say);
        let events = concat!(
            "starting\n",
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","input":{"file_path":"/w/a/cart.py"}}]}}"#,
            "\n",
            r#"{"item":{"type":"command_execution","command":"pytest -q\nsecond"}}"#,
            "\n",
            r#"{"item":{"type":"command_execution","command":"pytest -q\nagain"}}"#,
            "\n{\"half\":"
        );
        for piece in events.as_bytes().chunks(7) {
            live.output(Stream::Stdout, piece);
        }
        live.output(Stream::Stderr, b"{\"command\":\"no\"}\n");
        live.output(Stream::Stdout, &vec![b'x'; 3 * LONGEST_EVENT]);
        assert!(live.line.len() <= LONGEST_EVENT);
        assert_eq!(shown, ["a/cart.py", "pytest -q"]);
    }
}
