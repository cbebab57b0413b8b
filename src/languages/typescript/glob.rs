/// Whether `path` matches `pattern`: `*` and `?` stay inside a component, `**` spans components.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = parts(pattern).collect();
    let path: Vec<&str> = parts(path).collect();
    wild(
        &pattern,
        &path,
        |part| *part == "**",
        |pattern, part| component(pattern, part),
    )
}

/// The patterns a pattern with `{a,b}` stands for.
pub(super) fn expand(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(pattern) = open.pop() {
        let group = pattern.find('{').and_then(|start| {
            let end = start + pattern.get(start..)?.find('}')?;
            Some((start, end))
        });
        match group {
            Some((start, end)) if open.len() + done.len() < 64 => {
                let (head, tail) = (&pattern[..start], &pattern[end + 1..]);
                let choices = pattern[start + 1..end].split(',').rev();
                open.extend(choices.map(|choice| format!("{head}{choice}{tail}")));
            }
            _ => done.push(pattern),
        }
    }
    done
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/')
        .filter(|part| !part.is_empty() && *part != ".")
}

fn component(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    wild(&pattern, &text, |c| *c == '*', |p, c| p == c || *p == '?')
}

// Wildcard matching with one point of return: quadratic at worst.
fn wild<P, T>(
    pattern: &[P],
    text: &[T],
    star: impl Fn(&P) -> bool,
    same: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(item) = text.get(t) {
        match pattern.get(p) {
            Some(wanted) if star(wanted) => {
                p += 1;
                back = Some((p, t));
            }
            Some(wanted) if same(wanted, item) => {
                p += 1;
                t += 1;
            }
            _ => match back {
                Some((after, from)) => {
                    back = Some((after, from + 1));
                    p = after;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(star)
}

#[cfg(test)]
mod tests {
    use super::{expand, matches};

    #[test]
    fn stars_know_components() {
        for (pattern, path, expected) in [
            ("packages/*", "packages/a", true),
            ("packages/*", "packages/a/b", false),
            ("packages/**", "packages/a/b", true),
            ("**/*.ts", "a.ts", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/*.spec.?s", "a/x.spec.ts", true),
            ("./a/*", "a/x", true),
            ("a", "b", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn braces_are_choices() {
        assert_eq!(
            expand("p/{a,b}/{c,d}"),
            ["p/a/c", "p/a/d", "p/b/c", "p/b/d"]
        );
        assert_eq!(expand("p/{a"), ["p/{a"]);
    }
}
