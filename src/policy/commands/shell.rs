//! Splits lines for a shell into simple commands.

/// Splits a line into simple commands, each as its words without quotes; the text in `$(…)`,
/// backticks or parentheses is a command too.
pub(super) fn split_commands(line: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                let quoted: String = chars.by_ref().take_while(|c| *c != '\'').collect();
                word.get_or_insert_default().push_str(&quoted);
            }
            '"' => {
                let into = word.get_or_insert_default();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => into.extend(chars.next()),
                        _ => into.push(c),
                    }
                }
            }
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(c) => word.get_or_insert_default().push(c),
            },
            '#' if word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
            ' ' | '\t' | '\r' | '<' => words.extend(word.take()),
            // `2>&1` ends no command.
            '>' => {
                chars.next_if_eq(&'&');
                words.extend(word.take());
            }
            '$' if chars.peek() == Some(&'(') => {}
            ';' | '&' | '|' | '\n' | '(' | ')' | '`' | '{' | '}'
                if !is_brace_inside(c, word.as_deref()) =>
            {
                words.extend(word.take());
                if !words.is_empty() {
                    all.push(std::mem::take(&mut words));
                }
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if !words.is_empty() {
        all.push(words);
    }
    all
}

/// Whether a brace is part of a word: `a{b,c}`, `${name}`.
fn is_brace_inside(c: char, word: Option<&str>) -> bool {
    match c {
        '{' => word.is_some(),
        '}' => word.is_some_and(|word| word.contains('{')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::split_commands;

    #[test]
    fn lines_are_commands_of_words() {
        for (line, expected) in [
            ("a b", "a b"),
            (
                "cd x && CI=1 'a b'/c \"d\\\"e\" ; f|g",
                "cd x / CI=1 a b/c d\"e / f / g",
            ),
            ("a $(b c) `d`", "a / b c / d"),
            ("a # b\nc\\\nd", "a / cd"),
            ("(a; b) > c", "a / b / c"),
            ("a 2>&1 | b", "a 2 1 / b"),
            ("x{a,b} ${c}d", "x{a,b} ${c}d"),
            ("''", ""),
            ("a 'unended", "a unended"),
        ] {
            let found: Vec<String> =
                split_commands(line).iter().map(|words| words.join(" ")).collect();
            assert_eq!(found.join(" / "), expected, "{line}");
        }
    }
}
