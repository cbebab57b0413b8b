/// What a line of a text that people wrote is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    /// The first line.
    Title,
    /// A sentence.
    Prose,
    /// An example or an output.
    Code,
    /// Part of a traceback.
    Trace,
}

/// The lines of a text with what they are. What is between fences, indented or typed at a prompt is code.
pub(super) fn zones(text: &str) -> Vec<(Zone, &str)> {
    let mut zones = Vec::new();
    let (mut fenced, mut traced) = (false, false);
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("```") || bare.starts_with("~~~") {
            fenced = !fenced;
            traced = false;
            continue;
        }
        let is_frame = bare.starts_with("File \"") || bare.starts_with("at ") && bare.contains(':');
        traced |= bare.starts_with("Traceback (most recent");
        traced &= fenced || !bare.is_empty();
        let is_code = fenced
            || line.starts_with("    ")
            || line.starts_with('\t')
            || [">>>", "... ", "In ["]
                .iter()
                .any(|it| bare.starts_with(it));
        let zone = match () {
            () if zones.is_empty() && !bare.is_empty() && !is_frame => Zone::Title,
            () if traced || is_frame => Zone::Trace,
            () if is_code => Zone::Code,
            () => Zone::Prose,
        };
        if !bare.is_empty() {
            zones.push((zone, line));
        }
    }
    zones
}

#[cfg(test)]
mod tests {
    use super::Zone::{self, Code, Prose, Title, Trace};
    use super::zones;

    #[test]
    fn lines_are_told_apart() {
        let text = "It breaks\n\nWhen I call\n```\n>>> f(1)\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no\n```\nso sad\n    x = 1\n";
        let found: Vec<Zone> = zones(text).into_iter().map(|it| it.0).collect();
        assert_eq!(
            found,
            [Title, Prose, Code, Trace, Trace, Trace, Prose, Code]
        );
    }
}
