use std::borrow::Cow;

use crate::diagnose::line::Line;

/// Takes away what Python draws before the tracebacks in a group of exceptions, so that each reads as one by
/// itself: the group's own comes first, those in it follow.
pub(in crate::diagnose) fn open_groups(lines: &mut [Line<'_>]) {
    let mut inside = false;
    for line in lines {
        let bare = line.text.trim_start();
        if bare.starts_with("+ Exception Group Traceback (most recent call last):") {
            inside = true;
        }
        if !inside {
            continue;
        }
        let Some(rest) = bare.strip_prefix(['|', '+']) else {
            inside = false;
            continue;
        };
        let is_rule = bare.starts_with("+-");
        let kept = if is_rule {
            ""
        } else {
            rest.strip_prefix(' ').unwrap_or(rest)
        };
        line.text = Cow::Owned(kept.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnose::normalise::lines;

    #[test]
    fn tracebacks_in_a_group_stand_by_themselves() {
        let log = "x | y\n  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\", line 9, in f\n  | ExceptionGroup: two (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"a.py\", line 4, in g\n    | KeyError: 'x'\n    +---------------- 2 ----------------\n    | ValueError: y\n    +------------------------------------\nend\n| a | b |\n";
        let found = lines(log);
        let found: Vec<&str> = found.iter().map(|it| it.text.as_ref()).collect();
        assert_eq!(
            found,
            [
                "x | y",
                "Exception Group Traceback (most recent call last):",
                "  File \"a.py\", line 9, in f",
                "ExceptionGroup: two (1 sub-exception)",
                "",
                "Traceback (most recent call last):",
                "  File \"a.py\", line 4, in g",
                "KeyError: 'x'",
                "",
                "ValueError: y",
                "",
                "end",
                "| a | b |",
                "",
            ]
        );
    }
}
