/// A line for a shell as simple commands, each a list of words with their quotes taken off. Not a
/// shell: expansions stay as they are written.
pub(super) fn commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut in_word = false;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(open), _) if char == open => quote = None,
            (Some('"') | None, '\\') => match chars.next() {
                Some('\n') | None => {}
                Some(next) => {
                    word.push(next);
                    in_word = true;
                }
            },
            (Some(_), _) => word.push(char),
            (None, '\'' | '"') => {
                quote = Some(char);
                in_word = true;
            }
            (None, '#') if !in_word => while chars.next_if(|it| *it != '\n').is_some() {},
            (None, ' ' | '\t') => end_word(&mut word, &mut in_word, &mut words),
            (None, '&') if word.ends_with('>') || chars.peek() == Some(&'>') => {
                word.push(char);
                in_word = true;
            }
            (None, ';' | '&' | '|' | '\n' | '(' | ')') => {
                end_word(&mut word, &mut in_word, &mut words);
                commands.push(std::mem::take(&mut words));
            }
            (None, _) => {
                word.push(char);
                in_word = true;
            }
        }
    }
    end_word(&mut word, &mut in_word, &mut words);
    commands.push(words);
    commands.retain(|words| !words.is_empty());
    commands
}

fn end_word(word: &mut String, in_word: &mut bool, words: &mut Vec<String>) {
    if std::mem::take(in_word) {
        words.push(std::mem::take(word));
    }
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn lines_are_split_as_a_shell_splits_them() {
        for (line, expected) in [
            ("a 'b c' \"d e\"", &[&["a", "b c", "d e"][..]][..]),
            (
                "a && b | c; d",
                &[&["a"][..], &["b"][..], &["c"][..], &["d"][..]][..],
            ),
            ("a 2>&1 # no\nb", &[&["a", "2>&1"][..], &["b"][..]][..]),
            ("(cd x && y)", &[&["cd", "x"][..], &["y"][..]][..]),
            (r"a\ b ''", &[&["a b", ""][..]][..]),
        ] {
            assert_eq!(commands(line), expected, "{line}");
        }
    }
}
