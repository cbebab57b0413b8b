/// A text for XML and HTML, between tags or in a quoted attribute. Characters that XML has no
/// place for become the replacement character.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(char),
            '\u{FFFE}' | '\u{FFFF}' => out.push('\u{FFFD}'),
            it if it.is_control() => out.push('\u{FFFD}'),
            it => out.push(it),
        }
    }
    out
}

/// A message for HTML: what stands between backticks becomes code.
pub(super) fn message(text: &str) -> String {
    let mut parts = text.split('`');
    let mut out = escaped(parts.next().unwrap_or_default());
    while let Some(code) = parts.next() {
        match parts.next() {
            Some(rest) => out.push_str(&format!("<code>{}</code>{}", escaped(code), escaped(rest))),
            None => out.push_str(&format!("`{}", escaped(code))),
        }
    }
    out
}

/// A text for one line of Markdown, also between the bars of a table. It can start no tag, link,
/// code or mention.
pub(super) fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            it if it.is_control() => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A joiner that nobody sees parts the sign from the name.
            '@' => out.push_str("@\u{2060}"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '!' => {
                out.push('\\');
                out.push(char);
            }
            it => out.push(it),
        }
    }
    out
}

/// A text as a fenced block of Markdown that nothing in the text can close.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let fence = "`".repeat(backticks(text).max(2) + 1);
    let ended = text.is_empty() || text.ends_with('\n');
    let end = if ended { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

/// The longest run of backticks: what is to hold the text needs one more.
pub(super) fn backticks(text: &str) -> usize {
    text.split(|it| it != '`').map(str::len).max().unwrap_or(0)
}

/// A page of its own around a body: no script, nothing loaded from elsewhere, light or dark as the
/// reader's system is, readable on a telephone.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escaped(title)
    )
}

const STYLE: &str = "\
:root{--text:#1b1b1b;--soft:#595959;--back:#fff;--box:#f5f5f5;--line:#ccc;--add:#e2f5e2;\
--cut:#fbe3e4;--bad:#b00020;--good:#1a6b2b;--weak:#8a5300;--rest:#e6e6e6;--bar:#9db8d9;--strong:#2b5d9b}\
@media(prefers-color-scheme:dark){:root{--text:#e4e4e4;--soft:#a6a6a6;--back:#161616;--box:#242424;\
--line:#444;--add:#16351c;--cut:#47191d;--bad:#ff8a95;--good:#7fd690;--weak:#f0b65b;--rest:#303030;--bar:#44668f;--strong:#8fb8ee}}\
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;\
color:var(--text);background:var(--back);overflow-wrap:anywhere}\
pre{background:var(--box);padding:.6rem;overflow-x:auto;font-size:13px;overflow-wrap:normal}\
table{border-collapse:collapse;display:block;overflow-x:auto}\
td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top;overflow-wrap:normal}\
@media(max-width:40rem){pre{white-space:pre-wrap;overflow-wrap:anywhere}td{overflow-wrap:anywhere}\
.ladder td{overflow-wrap:normal}.ladder :is(td,th):nth-child(6){display:none}}\
th{font-weight:normal;color:var(--soft)}thead th,thead+tbody td{border-bottom:1px solid var(--line)}\
ins{background:var(--add);text-decoration:none}del{background:var(--cut);text-decoration:none}\
code{background:var(--box);padding:0 .2rem}summary{cursor:pointer}h3{margin-bottom:.2rem}figure{margin:0;overflow-x:auto}svg{max-width:100%;min-width:40rem;height:auto}\
svg text{font:13px system-ui,sans-serif;fill:var(--text)}\
.rest{fill:var(--rest)}.bar{fill:var(--bar)}.strong{fill:var(--strong)}\
.failed td:nth-child(2),.error td:nth-child(2){font-weight:bold;color:var(--bad)}\
.skipped,.cost{color:var(--soft)}\
td.rung{text-align:center;padding:.2rem .5rem;border:1px solid var(--line)}\
td.tried{background:var(--bar)}td.kept{background:var(--strong);color:var(--back)}td.rung+td:not(.rung){padding-left:.8rem}\
h1.good,h1.weak,h1.bad{border-left:.5rem solid;padding-left:.6rem}\
h1.good{color:var(--good)}h1.weak{color:var(--weak)}h1.bad{color:var(--bad)}\
@media print{body{margin:0;max-width:none}pre{white-space:pre-wrap}ins,del,td{print-color-adjust:exact}table{display:table}}";

#[cfg(test)]
mod tests {
    use super::{cell, escaped, fenced, message};

    #[test]
    fn nothing_leaves_its_cell_or_its_fence() {
        assert_eq!(cell("a|b\n`c` <i>"), "a\\|b \\`c\\` &lt;i&gt;");
        assert_eq!(
            fenced("x\n````\ny", "diff"),
            "`````diff\nx\n````\ny\n`````\n"
        );
    }

    #[test]
    fn a_message_has_its_commands_as_code() {
        assert_eq!(
            message("`a <b>` or `c`: don`t"),
            "<code>a &lt;b&gt;</code> or <code>c</code>: don`t"
        );
    }

    #[test]
    fn nothing_closes_a_tag_or_an_attribute() {
        assert_eq!(
            escaped("<a b=\"c\">'&\u{1b}[0m"),
            "&lt;a b=&quot;c&quot;&gt;&#39;&amp;\u{FFFD}[0m"
        );
    }
}
