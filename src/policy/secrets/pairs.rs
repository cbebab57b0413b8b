//! Values given to names: `k=v`, `k: v`, JSON, YAML, XML, flags, calls and cells of tables. One
//! tokenizer finds the value and how it is written; one score says whether name and value make a
//! secret.

use std::collections::HashMap;
use std::ops::Range;

use super::base64::from_base64;
use super::credentials::{first_group, is_user_pair, shift};
use super::name::{NameKind, name_kind};
use super::scan::Hit;
use super::value::{
    Strength, contains, has_byte, is_code, is_passphrase, is_placeholder, is_template,
    is_weak_password, measure_strength,
};

const MAX_NAME: usize = 80;
const MAX_VALUE: usize = 1024;
const MAX_LIST: usize = 4096;
// Bytes on each side of a name that say more about it.
const AROUND: usize = 400;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Quoted,
    Bare,
    /// After a flag or a word and a blank.
    Spaced,
    /// After a word of a file that holds nothing else there: `.netrc`, `redis.conf`.
    Directive,
    /// On the next line, in a table or call, or behind a quote that the line does not close.
    Loose,
}

/// The names of one text, classified from start to end.
pub(super) struct Pairs<'t> {
    text: &'t [u8],
    kinds: HashMap<&'t [u8], Option<NameKind>>,
    name_end: usize,
    list_end: usize,
    value_end: usize,
    nested: usize,
}

impl<'t> Pairs<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        let kinds = HashMap::new();
        Self {
            text,
            kinds,
            name_end: 0,
            list_end: 0,
            value_end: 0,
            nested: 0,
        }
    }

    /// Finds the secrets given to the name that the byte at `at` belongs to.
    pub(super) fn find(&mut self, at: usize, hits: &mut Vec<Hit>) {
        let text = self.text;
        if at < self.name_end {
            return;
        }
        let name = name_at(text, at);
        self.name_end = name.end;
        let word = &text[name.clone()];
        let kind = *self.kinds.entry(word).or_insert_with(|| name_kind(word));
        let kind = kind.or_else(|| is_jwk_member(text, &name).then_some(NameKind::Token));
        // The rule's name in a mask is not the name of the text behind it.
        let in_mask = text[..name.start].ends_with(b"[REDACTED:");
        let Some(own_kind) = kind.filter(|_| name.len() <= MAX_NAME && !in_mask) else {
            return;
        };
        let kind = kind_with_word_before(text, &name).unwrap_or(own_kind);
        let rule = match kind {
            NameKind::Password => "password",
            NameKind::Token | NameKind::Several => "named-secret",
            NameKind::Key => "named-key",
        };
        let mut push = |range: Range<usize>| hits.push(Hit::new(rule, range));
        value_before(text, &name)
            .filter(|range| {
                let value = &text[range.clone()];
                measure_strength(value) == Strength::Strong && accepts(kind, value, Form::Bare)
            })
            .into_iter()
            .for_each(&mut push);
        let lower = word.to_ascii_lowercase();
        if kind == NameKind::Several || lower.ends_with(b"cookie") || opens_list(text, &name) {
            let items = self.list_items(name.end).into_iter();
            items
                .filter(|item| measure_strength(&text[item.clone()]) == Strength::Strong)
                .for_each(&mut push);
        }
        let Some((value, form)) = value_after(text, &name).filter(|_| kind != NameKind::Several)
        else {
            return;
        };
        self.nested = if value.start < self.value_end {
            self.nested + 1 + value.len() / 128
        } else {
            0
        };
        self.value_end = self.value_end.max(value.end);
        let set = &text[value.clone()];
        // A weak value counts only when it cannot be an identifier.
        let is_literal = form == Form::Quoted
            || !word.iter().any(u8::is_ascii_lowercase)
            || (word.starts_with(b"--") && text.get(name.end) == Some(&b'='))
            || is_in_connection_string(text, &name, &value);
        let is_weak = kind == NameKind::Password
            && is_literal
            && (is_weak_password(set) || is_passphrase(set));
        let is_random = own_kind == kind || measure_strength(set) >= Strength::Strong;
        // Names inside one value that are checked by themselves too: a run of names costs no more.
        if self.nested <= 8 && (is_weak || (is_random && accepts(kind, set, form))) {
            push(extend_value(text, value));
        }
    }

    /// Returns the words of a list behind a name: in brackets, on its line, or below it one a line.
    fn list_items(&mut self, from: usize) -> Vec<Range<usize>> {
        let region = regex!(
            r#"^["'\]]{0,2}[ \t]*[:=][ \t]*(?:\[[^\];]*|\([^);]*|\{[^}\n]*|(?:\r?\n[ \t]*-[ \t][^\n]*)+|[^\n]*)"#
        );
        let item = regex!(r"[A-Za-z0-9_+/=.%-]{16,}");
        let slice = &self.text[from..self.text.len().min(from + MAX_LIST)];
        let found = region.filter(|_| from >= self.list_end).and_then(|regex| regex.find(slice));
        let Some(list) = found else { return Vec::new() };
        self.list_end = from + list.end();
        let items = item.into_iter().flat_map(|item| item.find_iter(list.as_bytes())).map(|item| {
            // A cookie's own name is before its value: `sid=x`.
            let name = memchr::memchr(b'=', item.as_bytes()).filter(|at| at + 3 < item.len());
            item.start() + name.map_or(0, |at| at + 1)..item.end()
        });
        items
            .filter(|item| list.as_bytes().get(item.end) != Some(&b':'))
            .map(|item| shift(item, from))
            .collect()
    }
}

/// Scores a name and a value: whether together they make a secret.
fn accepts(kind: NameKind, value: &[u8], form: Form) -> bool {
    if form == Form::Directive {
        return value.len() >= 4 && !is_template(value) && !is_placeholder(value);
    }
    if form != Form::Quoted && is_code(value) {
        return false;
    }
    let rating = measure_strength(value);
    match (kind, form) {
        (_, Form::Spaced) => {
            let mut bytes = value.iter();
            let is_plain = bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte));
            rating == Strength::Strong && value.len() >= 16 && is_plain
        }
        (NameKind::Several, _) | (NameKind::Password | NameKind::Token, Form::Loose) => {
            rating == Strength::Strong && value.len() >= 16
        }
        (NameKind::Password, _) => rating >= Strength::Medium,
        (NameKind::Token, _) => match rating {
            Strength::Strong | Strength::Uuid => true,
            Strength::Medium if value.len() >= 11 => true,
            _ => from_base64(value).is_some_and(|decoded| {
                decoded.len() >= 8
                    && decoded.iter().all(u8::is_ascii_graphic)
                    && is_user_pair(&decoded)
            }),
        },
        (NameKind::Key, _) => {
            rating == Strength::Strong
                && value.len() >= 20
                && !value.iter().any(|byte| matches!(byte, b' ' | b'('))
                && has_byte(value, u8::is_ascii_digit)
                && has_byte(value, u8::is_ascii_uppercase)
                && has_byte(value, u8::is_ascii_lowercase)
        }
    }
}

/// Returns the whole name that a byte belongs to.
fn name_at(text: &[u8], at: usize) -> Range<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let at = at + usize::from(text[at] == b'"');
    let before = text[at.saturating_sub(MAX_NAME)..at].iter().rev();
    let after = text[at..text.len().min(at + MAX_NAME)].iter();
    at - before.take_while(is_part).count()..at + after.take_while(is_part).count()
}

/// Finds the value that is given to a name, and how it is written.
fn value_after(text: &[u8], name: &Range<usize>) -> Option<(Range<usize>, Form)> {
    let rest = &text[name.end..text.len().min(name.end + MAX_VALUE + MAX_NAME)];
    let before = name.start.checked_sub(1).and_then(|at| text.get(at)).copied();
    let is_quoted = matches!(rest.first(), Some(b'"' | b'\'' | b'`'));
    if before == Some(b'<') && !is_quoted {
        let element = regex!(r"^[^<>\n]{0,80}[^/<>\n]?>\s{0,80}([^<\n\r]+?)\s*<")?;
        return first_group(element, rest).map(|range| (shift(range, name.end), Form::Quoted));
    }
    // The operator, perhaps behind the column of a value: `"name": "TOKEN", "value": "x"`.
    let operator = regex!(
        r#"^["'`\]\\]{0,4}(?:[,\s"']{1,40}value["']{0,2})?([ \t]*)([.?+!:|]{0,3}={1,3}>?|->|:-?|,|\||\()?[ \t]*"#
    )?;
    let found = operator.captures(rest)?;
    let (all, blanks, mark) = (found.get(0)?, found.get(1)?, found.get(2));
    let from = name.end + all.end();
    match mark.map_or(&b""[..], |mark| mark.as_bytes()) {
        b"|" if blanks.is_empty() => None,
        b"(" if !blanks.is_empty() || is_quoted => None,
        // The next cell of a table, and the literal that a call takes.
        mark @ (b"|" | b"(") => read_value(text, from)
            .filter(|(value, _)| mark == b"|" || b"\"'`".contains(&text[value.start - 1]))
            .map(|(value, _)| (value, Form::Loose)),
        b"," if !is_quoted => None,
        // The next line belongs to no call that goes on.
        b"," => {
            read_value(text, from).filter(|(value, _)| !text[from..value.start].contains(&b'\n'))
        }
        b"" if blanks.is_empty() => None,
        b"" => read_spaced(text, name, from),
        _ => read_value(text, skip_type(text, from)),
    }
}

/// Reads the value behind a name and a blank: a flag, a directive, or a word of prose.
fn read_spaced(text: &[u8], name: &Range<usize>, from: usize) -> Option<(Range<usize>, Form)> {
    let typed = skip_type(text, from);
    let (value, form) = read_value(text, typed)?;
    let line = memchr::memrchr(b'\n', &text[..name.start]).map_or(0, |at| at + 1);
    let line = &text[line.max(name.start.saturating_sub(AROUND))..name.start];
    let word = &text[name.clone()];
    let above = &text[name.start.saturating_sub(AROUND)..name.start];
    let netrc = regex!(r"(?:machine \S+|default)\s+(?:account \S+\s+)?login \S+\s+$")?;
    let is_netrc = word == b"password" && netrc.is_match(above);
    let is_redis =
        (word == b"requirepass" || word == b"masterauth") && line.trim_ascii().is_empty();
    match form {
        Form::Loose => None,
        _ if typed > from || word.starts_with(b"-") => Some((value, form)),
        Form::Bare if is_netrc => Some((value, Form::Directive)),
        _ if is_redis => Some((value, Form::Directive)),
        _ => Some((value, Form::Spaced)),
    }
}

/// Skips a type between a name and its `=`: `: &'static str = "x"`, `token string = "x"`.
fn skip_type(text: &[u8], from: usize) -> usize {
    let typed = regex!(r#"^[A-Za-z&][\w&'<>\[\].?| :]{0,40}=[ \t]*(["'`])"#);
    let rest = &text[from..text.len().min(from + 2 * MAX_NAME)];
    let quote = typed.and_then(|typed| first_group(typed, rest));
    quote.map_or(from, |quote| from + quote.start)
}

/// Reads a value: quoted, perhaps with a prefix or in a call as `b"x"` or `SecretStr("x")`; bare; or
/// alone on the next line.
fn read_value(text: &[u8], from: usize) -> Option<(Range<usize>, Form)> {
    let rest = &text[from..text.len().min(from + MAX_VALUE)];
    let open = regex!(r#"^(?:[\w:.@]{0,24}\(|[A-Za-z]{0,2})\\{0,3}("{1,3}|'{1,3}|`)"#)?;
    let bare = regex!(r#"^[^\s"'`,;&<>|\\)\]}]+"#)?;
    if let Some(quotes) = first_group(open, rest) {
        let (quote, start) = (rest[quotes.start], quotes.end);
        let length = memchr::memchr2(quote, b'\n', &rest[start..]);
        if let Some(length) = length.filter(|length| rest[start + length] == quote) {
            let value = &rest[start..start + length];
            let value = value.strip_suffix(b"\\").unwrap_or(value);
            let range = from + start..from + start + value.len();
            return (!value.is_empty()).then_some((range, Form::Quoted));
        }
        let value = bare.find(&rest[start..])?.as_bytes();
        let value = value.strip_suffix("\u{2026}".as_bytes()).unwrap_or(value);
        let dots = value.iter().rev().take_while(|byte| **byte == b'.').count();
        return Some((from + start..from + start + value.len() - dots, Form::Loose));
    }
    let below = regex!(
        r#"^[(\[]?([|>]?)[+-]?[ \t]*\r?\n[ \t]*(?:- )?["'`]?([^\s"'`,;&<>|\\)\]}]+)["'`,;)\]}\\]{0,4}[ \t]*(?:[\r\n]|$)"#
    )?;
    if let Some(found) = below.captures(rest) {
        let (block, value) = (found.get(1)?, found.get(2)?);
        let is_pair = regex!("=[^=]")?.is_match(value.as_bytes());
        // A block of YAML holds a value and nothing else.
        let form = if block.is_empty() { Form::Loose } else { Form::Bare };
        return (!is_pair).then(|| (shift(value.range(), from), form));
    }
    bare.find(rest).map(|value| (shift(value.range(), from), Form::Bare))
}

/// Finds a value before its name: `'x' == settings.token`, `'x' != 'y' : token`,
/// `"value": "x", "name": "TOKEN"`.
fn value_before(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let from = name.start.saturating_sub(AROUND);
    let before = &text[from..name.start];
    let found = if contains(before, b"= ") {
        let compared = regex!(
            r#"(?:"([^"\n]+)"|'([^'\n]+)') *[!=]==? *(?:\w+\.)*$|(?:"([^"\n]+)"|'([^'\n]+)') [!=]= (?:"(?:[^"\n]+)"|'(?:[^'\n]+)') : (?:\w+\.)*$|[!=]= (?:"([^"\n]+)"|'([^'\n]+)') : (?:\w+\.)*$"#
        );
        compared.and_then(|compared| first_group(compared, before))
    } else {
        None
    };
    found.or_else(|| {
        let column = regex!(
            r#"(?i)\bvalue["']?[ ]*[:=][ ]*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"',;{}]+))[\s,;]+["']?(?:name|key)["']?[ ]*[:=][ ]*["']?$"#
        );
        column.and_then(|column| first_group(column, before))
    }).map(|range| shift(range, from))
}

/// Classifies a lone `key` by the word before it, as in `API key: x`.
fn kind_with_word_before(text: &[u8], name: &Range<usize>) -> Option<NameKind> {
    let before = text[name.start.saturating_sub(MAX_NAME)..name.start].strip_suffix(b" ")?;
    let length = before.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let is_lone = text[name.clone()].eq_ignore_ascii_case(b"key") && length > 0;
    let both = &text[name.start - 1 - length..name.end];
    name_kind(both).filter(|kind| is_lone && *kind == NameKind::Token)
}

/// Whether a name is a private member of a JSON Web Key (RFC 7518, section 6).
fn is_jwk_member(text: &[u8], name: &Range<usize>) -> bool {
    let is_member = matches!(
        &text[name.clone()],
        b"d" | b"p" | b"q" | b"dp" | b"dq" | b"qi" | b"k"
    );
    let from = name.start.saturating_sub(MAX_LIST);
    is_member && contains(&text[from..text.len().min(name.end + MAX_LIST)], b"\"kty\"")
}

fn opens_list(text: &[u8], name: &Range<usize>) -> bool {
    let rest = &text[name.end..text.len().min(name.end + 8)];
    regex!(r#"^["']?[ ]?[:=][ ]?\["#).is_some_and(|open| open.is_match(rest))
}

/// Whether a pair belongs to a string that a driver reads: `user=app password=x host=db`.
fn is_in_connection_string(text: &[u8], name: &Range<usize>, value: &Range<usize>) -> bool {
    let field = regex!(
        r#"(?i)(?:^|[\s;"'])(?:user|username|user id|uid|host|hostaddr|server|data source|dbname|database)=[^\s,;]+(?:[\s;]|$)"#
    );
    let before = &text[name.start.saturating_sub(AROUND)..name.start];
    let after = &text[value.end..text.len().min(value.end + AROUND)];
    let sides = [
        before.rsplit(|byte| *byte == b'\n').next(),
        after.split(|byte| *byte == b'\n').next(),
    ];
    text.get(name.end) == Some(&b'=')
        && name.end + 1 == value.start
        && after.first().is_none_or(|first| b" \t\r\n;\"'".contains(first))
        && sides
            .into_iter()
            .flatten()
            .any(|side| field.is_some_and(|field| field.is_match(side)))
}

/// Extends a value that is longer than the tokenizer looks, to its end.
fn extend_value(text: &[u8], value: Range<usize>) -> Range<usize> {
    if value.len() < MAX_VALUE - MAX_NAME {
        return value;
    }
    let more = text[value.end..]
        .iter()
        .take(64 * 1024)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=-_.".contains(byte))
        .count();
    value.start..value.end + more
}

#[cfg(test)]
mod tests {
    use crate::policy::Redactor;

    const TOKEN: &str = "7f9aK2mQ8xZt4Vb1Lw6Yp0Rc3Ns5Hd9Gj2Fe8Ta4";
    const HEX: &str = "9c1185a5c5e9fc54612808977ee8f548b2258d31";

    fn masked(text: &str) -> String {
        Redactor::default().mask(text)
    }

    #[test]
    fn values_are_masked_in_any_layout() {
        for text in [
            // Two words.
            format!("API Key: {HEX}"),
            format!("api key = {HEX}"),
            format!("Secret key: '{HEX}'"),
            // Several.
            format!("tokens = [\"{TOKEN}\"]"),
            format!("API_TOKENS={TOKEN}"),
            format!("API_KEYS=a,{TOKEN},{HEX}"),
            format!("secrets = {{\"a\": \"{TOKEN}\"}}"),
            format!("apiKeys: [\n  '{TOKEN}',\n  '{HEX}',\n]"),
            format!("tokens:\n  - {TOKEN}\n  - {HEX}\n"),
            format!("\"token\": [\"{TOKEN}\"]"),
            // On the next line.
            format!("token:\n  {TOKEN}\n"),
            format!("token: >-\r\n  {TOKEN}\r\nnext: 1"),
            format!("token = (\n    \"{TOKEN}\"\n)"),
            // Cut.
            format!("token=\"{TOKEN}"),
            format!("{{'token': '{TOKEN}..."),
            // Before the name.
            format!("assert '{TOKEN}' == settings.api_token"),
            format!("{{\"value\":\"{TOKEN}\",\"name\":\"TOKEN\"}}"),
            format!("- value: {TOKEN}\n  name: API_TOKEN"),
            format!("E   AssertionError: '{TOKEN}' != 'abc' : token"),
            // In a table, in a call.
            format!("| api_key  | {HEX} |"),
            format!("AWS_SECRET_ACCESS_KEY | {TOKEN}"),
            format!("ApiKey('{TOKEN}')"),
            // Written wide.
            format!("password\u{ff1a}{TOKEN}"),
            format!("TOKEN\u{a0}=\u{a0}{TOKEN}"),
        ] {
            let out = masked(&text);
            assert!(out.contains("[REDACTED:"), "{out}");
            assert!(!out.contains(TOKEN) && !out.contains(HEX), "{out}");
        }
    }

    #[test]
    fn masks_weak_passwords_in_flags() {
        for (text, left) in [
            (
                "machine api.prod.io\n  login me\n  password thunder\n",
                "machine api.prod.io\n  login me\n  password [REDACTED:password]\n",
            ),
            (
                "default\nlogin me\npassword thunder\n",
                "default\nlogin me\npassword [REDACTED:password]\n",
            ),
            (
                "user=app password=Hunter22xy host=db",
                "user=app password=[REDACTED:password] host=db",
            ),
            (
                "Server=db;Password=Winter2021;",
                "Server=db;Password=[REDACTED:password];",
            ),
            (
                "wget --password=Hunter22xy u",
                "wget --password=[REDACTED:password] u",
            ),
        ] {
            assert_eq!(masked(text), left);
        }
        for text in [
            "connect(host=host, user=user, password=login2nd)",
            "password=login2nd",
            "user = a; password = login2nd;",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn masks_directives_and_pgpass() {
        let jwk = format!("{{\"kty\": \"EC\", \"crv\": \"P-256\", \"d\": \"{TOKEN}\"}}");
        for (text, secret) in [
            ("bind 0.0.0.0\nrequirepass thunderclap\n", "thunderclap"),
            (jwk.as_str(), TOKEN),
            (
                "pg.corp.io:5432:orders:app:Harbor5tone!x\n",
                "Harbor5tone!x",
            ),
        ] {
            assert!(!masked(text).contains(secret), "{text}");
        }
        for text in [
            "# requirepass foobared\n", "{\"d\": \"M10 20\"}", "localhost:5432:*:*:password",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn phrases_and_cookies_are_masked() {
        for (text, left) in [
            (
                "DB_PASSWORD=correct-horse-battery-staple\n",
                "DB_PASSWORD=[REDACTED:password]\n",
            ),
            (
                "passwd = \"letmein-please-now\"",
                "passwd = \"[REDACTED:password]\"",
            ),
            (
                &format!("Cookie: theme=dark; session={HEX}"),
                "Cookie: theme=dark; session=[REDACTED:named-key]",
            ),
            (
                &format!("\"Set-Cookie: sid={HEX}; Path=/\""),
                "\"Set-Cookie: sid=[REDACTED:named-key]; Path=/\"",
            ),
        ] {
            assert_eq!(masked(text), left);
        }
        let plain = "password = correct-horse-battery-staple";
        assert_eq!(masked(plain), plain);
    }

    #[test]
    fn keeps_other_values() {
        for text in [
            format!("cache key: {HEX}"),
            format!("the key = {HEX}"),
            format!("| sort key | {HEX} |"),
            "token | undefined".to_owned(),
            "getToken('the-name-of-a-token')".to_owned(),
            format!("commit = [\"{HEX}\"]"),
            format!("keys = [\"{HEX}\"]"),
            format!("max_tokens = [\"{HEX}\"]"),
            format!("\"js-tokens\": [\"js-tokens@4.0.0\", \"\", {{}}, \"sha512-{TOKEN}==\"],"),
            format!("tokens = {{\n  commit: '{HEX}',\n}}"),
            format!("token:\n  commit {HEX}\n"),
            format!("('/etc/passwd',\n '{HEX}')"),
            format!("password:\n\n{HEX}\n"),
            format!("token is read from the file\n{HEX}"),
            "token = (\n    settings.get_token_from_file\n)".to_owned(),
            "tokens: ['identifier', 'punctuation', 'keyword1']".to_owned(),
            format!("assert '{HEX}' == commit"),
            format!("AssertionError: '{HEX}' != 'abc' : commit"),
            "AssertionError: 'first-name' != 'second-name' : token".to_owned(),
            "machine learning is\n  login based\n  password resets".to_owned(),
            "secret_string = \"thunder\"".to_owned(),
            format!("value: {HEX}\nname: commit"),
            "token='unclosed string of words".to_owned(),
        ] {
            assert_eq!(masked(&text), text);
        }
    }
}
