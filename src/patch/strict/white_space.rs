//! Finds and fixes white space errors by git's rules.

use std::borrow::Cow;

/// What counts as an error of white space, as `core.whitespace` and the attribute `whitespace` say
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) struct Rules {
    bits: u16,
    tab: usize,
}

/// One kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(in crate::patch) enum Rule {
    BlankAtEnd = 1,
    SpaceBeforeTab = 2,
    IndentWithSpaces = 4,
    CrAtEnd = 8,
    BlankAtEndOfFile = 16,
    TabInIndent = 32,
}

// Name, bits, and whether the attribute `whitespace` without a value leaves it out.
const NAMES: &[(&str, u16, bool)] = &[
    ("trailing-space", 1 | 16, false),
    ("space-before-tab", 2, false),
    ("indent-with-non-tab", 4, false),
    ("cr-at-eol", 8, true),
    ("blank-at-eol", 1, false),
    ("blank-at-eof", 16, false),
    ("tab-in-indent", 32, true),
];

impl Default for Rules {
    fn default() -> Self {
        Self {
            bits: 1 | 16 | 2,
            tab: 8,
        }
    }
}

impl Rules {
    /// Nothing is an error.
    pub(in crate::patch) const NONE: Self = Self { bits: 0, tab: 8 };

    /// Reads a list as the setting has it: names, `-` before what is not wanted, `tabwidth=N`.
    pub(in crate::patch) fn parse(text: &str) -> Self {
        let mut rules = Self::default();
        for item in text.split([',', ' ', '\t', '\n', '\r']) {
            let (wanted, item) = match item.strip_prefix('-') {
                Some(item) => (false, item),
                None => (true, item),
            };
            if let Some(width) = item.strip_prefix("tabwidth=") {
                if let Ok(width @ 1..=63) = width.parse() {
                    rules.tab = width;
                }
                continue;
            }
            // As git does, a name may be cut short.
            let found = NAMES.iter().find(|(name, ..)| !item.is_empty() && name.starts_with(item));
            if let Some((_, bits, _)) = found {
                if wanted {
                    rules.bits |= bits;
                } else {
                    rules.bits &= !bits;
                }
            }
        }
        rules
    }

    /// Every rule that the bare attribute asks for.
    pub(in crate::patch) fn all(self) -> Self {
        let asked = NAMES.iter().filter(|(.., left_out)| !left_out);
        Self {
            bits: asked.fold(0, |bits, (_, more, _)| bits | more),
            tab: self.tab,
        }
    }

    pub(in crate::patch) fn has(self, rule: Rule) -> bool {
        self.bits & rule as u16 != 0
    }

    pub(in crate::patch) fn with(mut self, rule: Rule) -> Self {
        self.bits |= rule as u16;
        self
    }

    /// The errors of one line, which may end with a newline; empty when there are none.
    pub(in crate::patch) fn errors(self, line: &[u8]) -> Errors {
        let mut found = Errors(0);
        let mut line = line.strip_suffix(b"\n").unwrap_or(line);
        if self.has(Rule::CrAtEnd) {
            line = line.strip_suffix(b"\r").unwrap_or(line);
        }
        let mut end = line.len();
        if self.has(Rule::BlankAtEnd) {
            end = trimmed_len(line);
            if end < line.len() {
                found.0 |= Rule::BlankAtEnd as u16;
            }
        }
        let mut written = 0;
        let mut at = 0;
        for byte in line.iter().take(end) {
            match byte {
                b' ' => {}
                b'\t' => {
                    if self.has(Rule::SpaceBeforeTab) && written < at {
                        found.0 |= Rule::SpaceBeforeTab as u16;
                    } else if self.has(Rule::TabInIndent) {
                        found.0 |= Rule::TabInIndent as u16;
                    }
                    written = at + 1;
                }
                _ => break,
            }
            at += 1;
        }
        if self.has(Rule::IndentWithSpaces) && at - written >= self.tab {
            found.0 |= Rule::IndentWithSpaces as u16;
        }
        found
    }

    /// Returns a line without its fixable errors; `None` when it has none.
    pub(in crate::patch) fn fixed(self, line: &[u8]) -> Option<Vec<u8>> {
        let mut end = "";
        let mut body = line;
        if self.has(Rule::BlankAtEnd) {
            if let Some(rest) = body.strip_suffix(b"\n") {
                body = rest;
                end = "\n";
                if let Some(rest) = body.strip_suffix(b"\r") {
                    body = rest;
                    if self.has(Rule::CrAtEnd) {
                        end = "\r\n";
                    }
                }
            }
            body = body.get(..trimmed_len(body)).unwrap_or_default();
        }
        let indent = Indent::measure(body, self);
        let mut out = Vec::with_capacity(line.len());
        if indent.needs_fix {
            let mut spaces = 0;
            for byte in body.iter().take(indent.end) {
                if *byte == b' ' {
                    spaces += 1;
                    if spaces == self.tab {
                        out.push(b'\t');
                        spaces = 0;
                    }
                } else {
                    spaces = 0;
                    out.push(*byte);
                }
            }
            out.extend(std::iter::repeat_n(b' ', spaces));
            out.extend_from_slice(body.get(indent.end..).unwrap_or_default());
        } else if self.has(Rule::TabInIndent) && indent.last_tab.is_some() {
            let last = indent.last_tab.map_or(0, |at| at + 1);
            for byte in body.iter().take(last) {
                out.push(b' ');
                while *byte == b'\t' && !out.len().is_multiple_of(self.tab) {
                    out.push(b' ');
                }
            }
            out.extend_from_slice(body.get(last..).unwrap_or_default());
        } else {
            out.extend_from_slice(body);
        }
        out.extend_from_slice(end.as_bytes());
        (out != line).then_some(out)
    }

    /// Returns the fixed line, or the line as it is.
    pub(in crate::patch) fn fix(self, line: &[u8]) -> Cow<'_, [u8]> {
        self.fixed(line).map_or(Cow::Borrowed(line), Cow::Owned)
    }
}

struct Indent {
    last_tab: Option<usize>,
    // Where the part to be rewritten ends.
    end: usize,
    needs_fix: bool,
}

impl Indent {
    fn measure(line: &[u8], rules: Rules) -> Self {
        let (mut last_tab, mut last_space) = (None, None);
        let mut needs_fix = false;
        for (at, byte) in line.iter().enumerate() {
            match byte {
                b'\t' => {
                    last_tab = Some(at);
                    needs_fix |= rules.has(Rule::SpaceBeforeTab) && last_space.is_some();
                }
                b' ' => {
                    last_space = Some(at);
                    let run = last_tab.map_or(at + 1, |tab| at - tab);
                    needs_fix |= rules.has(Rule::IndentWithSpaces) && rules.tab <= run;
                }
                _ => break,
            }
        }
        let end = if rules.has(Rule::IndentWithSpaces) {
            last_tab
                .map_or(0, |last_tab| last_tab + 1)
                .max(last_space.map_or(0, |last_space| last_space + 1))
        } else {
            last_tab.map_or(0, |last_tab| last_tab + 1)
        };
        Self {
            last_tab,
            end,
            needs_fix,
        }
    }
}

/// Errors found in one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) struct Errors(u16);

impl Errors {
    pub(in crate::patch) const NEW_BLANK_AT_END: Self = Self(Rule::BlankAtEndOfFile as u16);

    pub(in crate::patch) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The errors in git's words.
    pub(in crate::patch) fn words(self) -> String {
        let words = [
            (Rule::BlankAtEnd, "trailing whitespace"),
            (Rule::BlankAtEndOfFile, "new blank line at EOF"),
            (Rule::SpaceBeforeTab, "space before tab in indent"),
            (Rule::IndentWithSpaces, "indent with spaces"),
            (Rule::TabInIndent, "tab in indent"),
        ];
        let found = words.iter().filter(|(rule, _)| self.0 & *rule as u16 != 0);
        let found: Vec<&str> = found.map(|(_, words)| *words).collect();
        found.join(", ")
    }
}

/// White space as git counts it: form feeds are not.
pub(in crate::patch) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

pub(in crate::patch) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| is_space(*byte))
}

fn trimmed_len(line: &[u8]) -> usize {
    line.iter().rposition(|byte| !is_space(*byte)).map_or(0, |at| at + 1)
}

/// Whether two lines are the same but for runs of white space, which must be in both.
pub(in crate::patch) fn same_but_for_space(one: &[u8], two: &[u8]) -> bool {
    let mut one = one.get(..length_without_end(one)).unwrap_or_default();
    let mut two = two.get(..length_without_end(two)).unwrap_or_default();
    while let (Some((a, after_a)), Some((b, after_b))) = (one.split_first(), two.split_first()) {
        if is_space(*a) {
            if !is_space(*b) {
                return false;
            }
            one = one.get(leading_spaces(one)..).unwrap_or_default();
            two = two.get(leading_spaces(two)..).unwrap_or_default();
        } else if a == b {
            (one, two) = (after_a, after_b);
        } else {
            return false;
        }
    }
    one.is_empty() && two.is_empty()
}

fn leading_spaces(line: &[u8]) -> usize {
    line.iter().take_while(|byte| is_space(**byte)).count()
}

fn length_without_end(line: &[u8]) -> usize {
    line.iter()
        .rposition(|byte| !matches!(byte, b'\r' | b'\n'))
        .map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::{Rule, Rules, same_but_for_space};

    #[test]
    fn finds_and_mends_errors() {
        let rules = Rules::default();
        assert_eq!(rules.errors(b"a \n").words(), "trailing whitespace");
        assert_eq!(
            rules.errors(b"  \ta\n").words(),
            "space before tab in indent"
        );
        assert!(rules.errors(b"\ta b\n").is_empty());
        assert_eq!(rules.fixed(b"a \n").as_deref(), Some(&b"a\n"[..]));
        assert_eq!(
            rules.fixed(b"        \ta\n").as_deref(),
            Some(&b"\t\ta\n"[..])
        );
        assert_eq!(rules.fixed(b"a\n"), None);
        let rules = Rules::parse("indent-with-non-tab,tabwidth=4,-trailing");
        assert_eq!(rules.fixed(b"     a \n").as_deref(), Some(&b"\t a \n"[..]));
        let rules = Rules::parse("tab-in-indent");
        assert_eq!(rules.fixed(b"\ta\n").as_deref(), Some(&b"        a\n"[..]));
        let rules = Rules::parse("cr-at-eol");
        assert!(rules.errors(b"a\r\n").is_empty());
        assert!(!Rules::default().errors(b"a\r\n").is_empty());
    }

    // What git 2.47 says of each line, and makes of it; empty where it leaves the line.
    #[test]
    fn follows_git_for_every_rule() {
        let rows: &[(&str, &[u8], &str, &[u8])] = &[
            ("", b"a\r\n", "trailing whitespace", b"a\n"),
            ("", b"\t\ta\n", "", b""),
            ("", b"\t        a\n", "", b""),
            ("", b"\t a\n", "", b""),
            ("", b"a \r\n", "trailing whitespace", b"a\n"),
            (
                "", b" \t         a\n", "space before tab in indent", b"\t         a\n",
            ),
            ("", b"a\t\n", "trailing whitespace", b"a\n"),
            (
                "",
                b"     \ta b\r\n",
                "trailing whitespace, space before tab in indent",
                b"\ta b\n",
            ),
            (
                "", b"         \ta\n", "space before tab in indent", b"\t\ta\n",
            ),
            (
                "indent-with-non-tab", b"        a\n", "indent with spaces", b"\ta\n",
            ),
            ("indent-with-non-tab", b"       a\n", "", b""),
            (
                "indent-with-non-tab", b"\t        a\n", "indent with spaces", b"\t\ta\n",
            ),
            (
                "indent-with-non-tab", b"  \t  \ta\n", "space before tab in indent", b"\t\ta\n",
            ),
            (
                "indent-with-non-tab",
                b"    \t    a \n",
                "trailing whitespace, space before tab in indent",
                b"\t    a\n",
            ),
            (
                "indent-with-non-tab",
                b" \t         a\n",
                "space before tab in indent, indent with spaces",
                b"\t\t a\n",
            ),
            (
                "indent-with-non-tab", b"         \ta\n", "space before tab in indent", b"\t\ta\n",
            ),
            (
                "indent-with-non-tab,tabwidth=4",
                b"        a\n",
                "indent with spaces",
                b"\t\ta\n",
            ),
            (
                "indent-with-non-tab,tabwidth=4",
                b"       a\n",
                "indent with spaces",
                b"\t   a\n",
            ),
            (
                "indent-with-non-tab,tabwidth=4",
                b"\t    a\n",
                "indent with spaces",
                b"\t\ta\n",
            ),
            (
                "indent-with-non-tab,tabwidth=4",
                b"    \t    a \n",
                "trailing whitespace, space before tab in indent, indent with spaces",
                b"\t\t\ta\n",
            ),
            (
                "indent-with-non-tab,tabwidth=4",
                b" \t         a\n",
                "space before tab in indent, indent with spaces",
                b"\t\t\t a\n",
            ),
            (
                "indent-with-non-tab,tabwidth=4",
                b"     \ta b\r\n",
                "trailing whitespace, space before tab in indent",
                b"\t\ta b\n",
            ),
            (
                "tab-in-indent", b"\t    a\n", "tab in indent", b"            a\n",
            ),
            (
                "tab-in-indent", b"\t        a\n", "tab in indent", b"                a\n",
            ),
            (
                "tab-in-indent", b"   \ta\n", "space before tab in indent", b"\ta\n",
            ),
            ("tab-in-indent", b"\t a\n", "tab in indent", b"         a\n"),
            ("tab-in-indent", b" a\tb\n", "", b""),
            (
                "tab-in-indent,tabwidth=3", b"\t    a\n", "tab in indent", b"       a\n",
            ),
            (
                "tab-in-indent,tabwidth=3", b"   \ta\n", "space before tab in indent", b"\t\ta\n",
            ),
            (
                "tab-in-indent,tabwidth=3", b"  \t  \ta\n", "space before tab in indent",
                b"\t\ta\n",
            ),
            ("cr-at-eol", b"a\r\n", "", b""),
            ("cr-at-eol", b"a \r\n", "trailing whitespace", b"a\r\n"),
            (
                "cr-at-eol", b"     \ta b\r\n", "space before tab in indent", b"\ta b\r\n",
            ),
            (
                "tab-in-indent,-space", b"   \ta\n", "tab in indent", b"        a\n",
            ),
            (
                "tab-in-indent,-space", b"  \t  \ta\n", "tab in indent", b"                a\n",
            ),
            (
                "tab-in-indent,-space",
                b"    \t    a \n",
                "trailing whitespace, tab in indent",
                b"            a\n",
            ),
            (
                "-blank-at-eol,cr-at-eol", b"    \t    a \n", "space before tab in indent",
                b"\t    a \n",
            ),
            ("-blank-at-eol,cr-at-eol", b"a\t\n", "", b""),
            (
                "-blank-at-eol,cr-at-eol", b"     \ta b\r\n", "space before tab in indent",
                b"\ta b\r\n",
            ),
        ];
        for (rules, line, words, fixed) in rows {
            let (found, rules) = (
                format!("{rules}: {}", line.escape_ascii()),
                Rules::parse(rules),
            );
            assert_eq!(rules.errors(line).words(), *words, "{found}");
            assert_eq!(
                rules.fixed(line).as_deref().unwrap_or_default(),
                *fixed,
                "{found}"
            );
        }
        let all = Rules::parse("cr-at-eol").all();
        assert!(all.has(Rule::IndentWithSpaces) && all.has(Rule::BlankAtEndOfFile));
        assert!(!all.has(Rule::CrAtEnd) && !all.has(Rule::TabInIndent));
        assert!(Rules::NONE.with(Rule::CrAtEnd).has(Rule::CrAtEnd));
    }

    #[test]
    fn compares_without_regard_to_runs_of_space() {
        assert!(same_but_for_space(b"a  b\r\n", b"a\tb\n"));
        assert!(!same_but_for_space(b"ab\n", b"a b\n"));
        assert!(!same_but_for_space(b"a\n", b" a\n"));
        assert!(!same_but_for_space(b"a \n", b"a\n"));
        assert!(!same_but_for_space(b"a b\n", b"ab\n"));
        assert!(!same_but_for_space(b"ab\n", b"ac\n"));
        assert!(!same_but_for_space(b"a b\n", b"a c\n"));
        assert!(same_but_for_space(b"\n", b""));
    }
}
