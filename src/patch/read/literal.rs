use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

/// Writes a literal of JavaScript or Python as strict JSON: without trailing commas and comments, with
/// double quotes, line feeds escaped. `None` when a string does not end.
pub(super) fn strict(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 64);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\'' => string(letter, &mut letters, &mut out)?,
            '/' if letters.peek() == Some(&'/') => {
                while letters.next_if(|it| *it != '\n').is_some() {}
            }
            '}' | ']' => {
                let kept = out.trim_end().trim_end_matches(',').len();
                out.truncate(kept);
                out.push(letter);
            }
            'T' | 'F' | 'N' => {
                let mut word = String::from(letter);
                while let Some(next) = letters.next_if(char::is_ascii_alphabetic) {
                    word.push(next);
                }
                out.push_str(match word.as_str() {
                    "True" => "true",
                    "False" => "false",
                    "None" => "null",
                    other => other,
                });
            }
            other => out.push(other),
        }
    }
    Some(out)
}

fn string(quote: char, letters: &mut Peekable<Chars<'_>>, out: &mut String) -> Option<()> {
    out.push('"');
    loop {
        match letters.next()? {
            letter if letter == quote => break,
            '"' => out.push_str("\\\""),
            '\\' => match letters.next()? {
                '\'' => out.push('\''),
                'x' => {
                    let code: String = [letters.next()?, letters.next()?].iter().collect();
                    let _ = write!(out, "\\u00{code}");
                }
                next => {
                    out.push('\\');
                    out.push(next);
                }
            },
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter => out.push(letter),
        }
    }
    out.push('"');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::strict;

    #[test]
    fn literals_become_strict() {
        for (text, expected) in [
            (r#"{"a": [1, 2,], }"#, r#"{"a": [1, 2]}"#),
            (
                r#"{'a': 'say "b"', 'c': True}"#,
                r#"{"a": "say \"b\"", "c": true}"#,
            ),
            (r"['it\'s', '\x41']", r#"["it's", "\u0041"]"#),
            ("{\"a\": \"b\n\tc\"}", r#"{"a": "b\n\tc"}"#),
            ("[1, // one\n 2]", "[1, \n 2]"),
            (r#"{"url": "http://x, }"}"#, r#"{"url": "http://x, }"}"#),
        ] {
            assert_eq!(strict(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(strict("{\"a"), None);
    }
}
