use serde::Deserialize;
use serde_json::Value;

use crate::model::Usage;

/// How a published agent is spoken to beyond its command line: what a row of a table says.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Adapter {
    /// What stands for `{how}` where this program's own sandbox holds it, with `{command}` for the failing
    /// command, which it may run.
    pub confined: String,
    /// What stands there otherwise, and where that command cannot be named in words.
    pub unconfined: String,
    /// Where its events, a JSON object a line, hold what it says: the event's type, a JSON pointer and, where that
    /// is not all, another pointer with what must stand there, as `/role=assistant`.
    pub text: Vec<String>,
    /// Where they hold tokens read; what several hold is added.
    pub input_tokens: Vec<String>,
    /// Where they hold tokens written.
    pub output_tokens: Vec<String>,
    /// Where they hold dollars.
    pub cost_usd: Vec<String>,
    /// Where they hold the name of the session.
    pub session: Vec<String>,
    /// What stands for `{session}` in a later call of the same repair, with `{id}` for that name.
    pub resume: String,
}

/// What the events of an agent tell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    /// What it said.
    pub text: String,
    /// What it took; none where it tells nothing of that.
    pub usage: Option<Usage>,
    /// By which name a later call goes on where this one ended.
    pub session: Option<String>,
}

impl Adapter {
    /// The command line for a call. `failing` is the command that it is to mend, `session` what an earlier call
    /// told.
    #[must_use]
    pub fn line(
        &self,
        command: &str,
        confined: bool,
        failing: Option<&str>,
        session: Option<&str>,
    ) -> String {
        let resume = session.map_or_else(String::new, |it| self.resume.replace("{id}", it));
        let command = command.replace("{session}", &resume);
        let allowed = confined.then(|| {
            let failing = failing.filter(|it| is_plain(it));
            match failing {
                Some(failing) => Some(self.confined.replace("{command}", failing)),
                None => (!self.confined.contains("{command}")).then(|| self.confined.clone()),
            }
        });
        let how = allowed.flatten().unwrap_or_else(|| self.unconfined.clone());
        command.replace("{how}", &how)
    }

    /// What an agent told in its events; `None` where it printed none, or has none.
    #[must_use]
    pub fn transcript(&self, printed: &str) -> Option<Transcript> {
        if self.text.is_empty() {
            return None;
        }
        let events: Vec<Value> = printed
            .lines()
            .filter(|line| line.trim_start().starts_with('{'))
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let found = |rows: &[String]| -> Vec<Value> {
            let all = events.iter().flat_map(|event| {
                rows.iter().filter_map(move |row| {
                    let mut words = row.split(' ');
                    let (kind, pointer) = (words.next()?, words.next()?);
                    let has = |at: &str, value: &str| {
                        event.pointer(at).and_then(Value::as_str) == Some(value)
                    };
                    let also = words.next().and_then(|it| it.split_once('='));
                    let own = has("/type", kind) && also.is_none_or(|(at, value)| has(at, value));
                    event.pointer(pointer).filter(|_| own).cloned()
                })
            });
            all.collect()
        };
        let sum = |rows: &[String]| -> Option<u64> {
            let numbers = found(rows);
            let numbers: Vec<u64> = numbers.iter().filter_map(Value::as_u64).collect();
            (!numbers.is_empty()).then(|| numbers.iter().sum())
        };
        let costs = found(&self.cost_usd);
        let costs: Vec<f64> = costs.iter().filter_map(Value::as_f64).collect();
        let cost_usd = (!costs.is_empty()).then(|| costs.iter().sum());
        let (input, output) = (sum(&self.input_tokens), sum(&self.output_tokens));
        let any = input.is_some() || output.is_some() || cost_usd.is_some();
        let texts = found(&self.text);
        let texts: Vec<&str> = texts.iter().filter_map(Value::as_str).collect();
        let sessions = found(&self.session);
        let session = sessions.iter().filter_map(Value::as_str).next_back();
        (!events.is_empty()).then(|| Transcript {
            text: texts.join("\n"),
            session: session.filter(|it| is_name(it)).map(str::to_owned),
            usage: any.then(|| Usage {
                input_tokens: input.unwrap_or(0),
                output_tokens: output.unwrap_or(0),
                cost_usd,
            }),
        })
    }
}

// It becomes a word of a command line.
fn is_name(session: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    (1..=64).contains(&session.len()) && session.chars().all(plain) && !session.starts_with('-')
}

// Whether it can stand within quotes of a shell and within brackets of a rule as it is.
fn is_plain(command: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || " -_./=:@+%".contains(it);
    !command.trim().is_empty() && command.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::Adapter;

    fn adapter() -> Adapter {
        let words = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect();
        Adapter {
            confined: "--allow \"Bash({command}:*)\"".to_owned(),
            unconfined: "--safe".to_owned(),
            text: words(&["item.completed /item/text", "said /text /role=assistant"]),
            input_tokens: words(&[
                "turn.completed /usage/input",
                "turn.completed /usage/cached",
            ]),
            output_tokens: words(&["turn.completed /usage/output"]),
            cost_usd: words(&["turn.completed /usage/cost"]),
            session: words(&["started /id"]),
            resume: "resume {id}".to_owned(),
        }
    }

    #[test]
    fn a_command_is_allowed_where_this_program_confines() {
        let line = |confined, failing| adapter().line("a {how} -", confined, failing, None);
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
    fn a_later_call_goes_on_in_the_session_that_was_told() {
        let session_of = |id: &str| {
            let event = serde_json::json!({"type": "started", "id": id});
            adapter().transcript(&event.to_string()).unwrap().session
        };
        let session = session_of("0a-1b");
        let line = |session| adapter().line("a {session} -", false, None, session);
        assert_eq!(line(session.as_deref()), "a resume 0a-1b -");
        assert_eq!(line(None), "a  -");
        for forged in ["", "a b", "$(x)", "--yolo", "a;b"] {
            assert_eq!(session_of(forged), None, "{forged}");
        }
    }

    #[test]
    fn events_tell_what_was_said_and_what_it_took() {
        let printed = "warming up\n\
            {\"type\":\"item.completed\",\"item\":{\"text\":\"one\"}}\n\
            {\"type\":\"other\",\"item\":{\"text\":\"no\"}}\n\
            {\"type\":\"said\",\"role\":\"user\",\"text\":\"no\"}\n\
            {\"type\":\"said\",\"role\":\"assistant\",\"text\":\"two\"}\n\
            {\"type\":\"turn.completed\",\"usage\":{\"input\":7,\"cached\":3,\"output\":2}}\n{half";
        let transcript = adapter().transcript(printed).unwrap();
        assert_eq!(transcript.text, "one\ntwo");
        let usage = transcript.usage.unwrap();
        assert_eq!(
            (usage.input_tokens, usage.output_tokens, usage.cost_usd),
            (10, 2, None)
        );
        assert_eq!(adapter().transcript("no events\n"), None);
        let packet = "{\"status\":\"patch\",\"patch\":\"\"}";
        assert_eq!(Adapter::default().transcript(packet), None);
        assert_eq!(
            adapter().transcript("{\"type\":\"x\"}").unwrap().usage,
            None
        );
    }
}
