/// Puts variables in for `${NAME}`, `${env:NAME}` and `${NAME:-default}`; other `$` stay.
///
/// # Errors
/// The name of the first variable that is not set and has no default.
pub(super) fn expand(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        done.push_str(before);
        let Some((inside, tail)) = after.split_once('}') else {
            done.push_str("${");
            rest = after;
            continue;
        };
        let inside = inside.strip_prefix("env:").unwrap_or(inside);
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if is_name(name) {
            match variable(name).or_else(|| default.map(str::to_owned)) {
                Some(value) => done.push_str(&value),
                None => return Err(name.to_owned()),
            }
        } else {
            done.push_str(&format!("${{{inside}}}"));
        }
        rest = tail;
    }
    done.push_str(rest);
    Ok(done)
}

fn is_name(text: &str) -> bool {
    let letter = |it: char| it.is_ascii_alphabetic() || it == '_';
    text.starts_with(letter) && text.chars().all(|it| letter(it) || it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn variables_are_put_in_and_missing_ones_named() {
        let known = |name: &str| (name == "A").then(|| "1".to_owned());
        for (text, expected) in [
            ("x", Ok("x")),
            ("${A}-${env:A}", Ok("1-1")),
            ("${B:-2}$C ${", Ok("2$C ${")),
            ("${workspaceFolder}", Err("workspaceFolder")),
            ("${a b}", Ok("${a b}")),
            ("${A} ${TOKEN}", Err("TOKEN")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(expand(text, &known), expected, "{text}");
        }
    }
}
