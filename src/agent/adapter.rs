//! Reads the event stream of a published agent: its reply, tokens and cost. Each agent is a row of a
//! table because their formats change often.

use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::model::{AgentProtocol, Usage, parse_rows};

/// A published agent, by the name that `--agent` takes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentPreset {
    /// Its name.
    pub name: String,
    /// Its command line for unattended use, as its documentation gives it.
    pub command: String,
    /// How it is spoken to.
    pub protocol: AgentProtocol,
    /// Variables with its key, each handed on when it is set.
    pub keys: Vec<String>,
    /// How it is installed.
    pub install: String,
    /// What it takes where it is confined, and how its events are read.
    #[serde(default)]
    pub adapter: Adapter,
}

/// Agents that need no command line: their name is enough.
pub static PRESETS: LazyLock<Vec<AgentPreset>> =
    LazyLock::new(|| parse_rows(embedded!("agent/agents.toml")));

/// The preset of this name.
pub fn preset(name: &str) -> Option<&'static AgentPreset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// How a published agent is spoken to beyond its command line: what a row of a table says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Adapter {
    /// Replaces `{how}` inside our sandbox; `{command}` in it is the failing command, which the agent
    /// may run.
    pub confined: String,
    /// Replaces `{how}` without our sandbox, or when the command cannot be quoted safely.
    pub unconfined: String,
    /// Where its events, a JSON object a line, hold what it says: the event's type, a JSON pointer and, where that
    /// is not all, another pointer with what must be there, as `/role=assistant`.
    pub text: Vec<String>,
    /// Where they hold tokens read; what several hold is added.
    pub input_tokens: Vec<String>,
    /// Where they hold tokens written.
    pub output_tokens: Vec<String>,
    /// Where they hold dollars.
    pub cost_usd: Vec<String>,
}

/// The data read from the events of an agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    /// What it said.
    pub text: String,
    /// Tokens and cost; `None` if the agent reports neither.
    pub usage: Option<Usage>,
}

impl Adapter {
    /// Returns the command line for a call; `failing` is the command that the agent has to make pass.
    pub fn line(&self, command: &str, confined: bool, failing: Option<&str>) -> String {
        let failing = failing.filter(|line| is_plain(line));
        let how = match failing {
            _ if !confined => self.unconfined.clone(),
            Some(failing) => self.confined.replace("{command}", failing),
            None if self.confined.contains("{command}") => self.unconfined.clone(),
            None => self.confined.clone(),
        };
        command.replace("{how}", &how)
    }

    /// Reads the events that an agent printed; `None` if it printed none.
    #[expect(clippy::cast_sign_loss, reason = "a negative count becomes 0")]
    pub fn parse_transcript(&self, printed: &str) -> Option<Transcript> {
        if self.text.is_empty() {
            return None;
        }
        let lines = printed.lines().map(str::trim_start).filter(|line| line.starts_with('{'));
        let events: Vec<Value> = lines.filter_map(|line| serde_json::from_str(line).ok()).collect();
        if events.is_empty() {
            return None;
        }
        let texts = find_values(&events, &self.text);
        let texts: Vec<&str> = texts.into_iter().filter_map(Value::as_str).collect();
        let rows = [&self.input_tokens, &self.output_tokens, &self.cost_usd];
        let [input, output, cost_usd] = rows.map(|rows| {
            let numbers = find_values(&events, rows).into_iter();
            numbers.filter_map(Value::as_f64).reduce(|sum, number| sum + number)
        });
        let is_told = input.is_some() || output.is_some() || cost_usd.is_some();
        Some(Transcript {
            text: texts.join("\n"),
            usage: is_told.then(|| Usage {
                input_tokens: input.unwrap_or(0.0) as u64,
                output_tokens: output.unwrap_or(0.0) as u64,
                cost_usd,
            }),
        })
    }
}

// The values at these rows of a table: type of the event, JSON pointer, and another pointer with its value.
fn find_values<'e>(events: &'e [Value], rows: &[String]) -> Vec<&'e Value> {
    let each = events.iter().flat_map(|event| rows.iter().map(move |row| (event, row)));
    let values = each.filter_map(|(event, row)| {
        let mut words = row.split(' ');
        let (kind, pointer) = (words.next()?, words.next()?);
        let condition = words.next().and_then(|word| word.split_once('='));
        let is_own = has_value(event, "/type", kind)
            && condition.is_none_or(|(at, value)| has_value(event, at, value));
        event.pointer(pointer).filter(|_| is_own)
    });
    values.collect()
}

fn has_value(event: &Value, at: &str, value: &str) -> bool {
    event.pointer(at).and_then(Value::as_str) == Some(value)
}

// Whether it can be within quotes of a shell and within brackets of a rule as it is.
fn is_plain(command: &str) -> bool {
    !command.trim().is_empty()
        && command
            .chars()
            .all(|letter: char| letter.is_ascii_alphanumeric() || " -_./=:@+%".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::Adapter;

    fn adapter() -> Adapter {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Adapter {
            confined: "--allow \"Bash({command}:*)\"".to_owned(),
            unconfined: "--safe".to_owned(),
            text: words(&["item.completed /item/text", "said /text /role=assistant"]),
            input_tokens: words(&[
                "turn.completed /usage/input", "turn.completed /usage/cached",
            ]),
            output_tokens: words(&["turn.completed /usage/output"]),
            cost_usd: words(&["turn.completed /usage/cost"]),
        }
    }

    #[test]
    fn allows_command_in_sandbox() {
        let line = |confined, failing| adapter().line("a {how} -", confined, failing);
        assert_eq!(
            line(true, Some("pytest -q")),
            "a --allow \"Bash(pytest -q:*)\" -"
        );
        for (confined, failing) in [
            (false, Some("pytest")),
            (true, Some("a && b")),
            (true, Some("a,b")),
            (true, Some("a\"; b")),
            (true, Some("a $(b)")),
            (true, None),
        ] {
            assert_eq!(line(confined, failing), "a --safe -", "{failing:?}");
        }
    }

    #[test]
    fn reads_text_and_usage_from_events() {
        let printed = "warming up\n\
            {\"type\":\"item.completed\",\"item\":{\"text\":\"one\"}}\n\
            {\"type\":\"other\",\"item\":{\"text\":\"no\"}}\n\
            {\"type\":\"said\",\"role\":\"user\",\"text\":\"no\"}\n\
            {\"type\":\"said\",\"role\":\"assistant\",\"text\":\"two\"}\n\
            {\"type\":\"turn.completed\",\"usage\":{\"input\":7,\"cached\":3,\"output\":2}}\n{half";
        let transcript = adapter().parse_transcript(printed).unwrap();
        assert_eq!(transcript.text, "one\ntwo");
        let usage = transcript.usage.unwrap();
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, usage.cost_usd),
            (10, 2, None)
        );
        assert_eq!(adapter().parse_transcript("no events\n"), None);
        let packet = "{\"status\":\"patch\",\"patch\":\"\"}";
        assert_eq!(Adapter::default().parse_transcript(packet), None);
        assert_eq!(
            adapter().parse_transcript("{\"type\":\"x\"}").unwrap().usage,
            None
        );
    }
}
