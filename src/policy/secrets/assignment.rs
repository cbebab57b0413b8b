use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::layout::{Form, MAX_NAME, MAX_VALUE, below, items, name_at, value_after, values_before};
use super::name::{NameKind, name_kind};
use super::scan::Hit;
use super::sheet::Sheets;
use super::value::{Strength, is_placeholder, is_template, is_weak_password, strength};

// Items below a name, one a line.
const MAX_ITEMS: usize = 64;
// Longest value in all.
const MAX_WHOLE: usize = 64 * 1024;
// Bytes of a line that are looked at on each side.
const MAX_LINE: usize = 400;

/// The names of a text that may be given a secret. It remembers what was weighed, so that the same bytes
/// are not weighed again for each name of a run of them.
pub(super) struct Names<'t> {
    text: &'t [u8],
    kinds: HashMap<&'t [u8], Option<NameKind>>,
    // Where the last name ends, the last list, and the last value with the names that stand in it.
    until: usize,
    list: usize,
    value: usize,
    within: usize,
    sheets: Sheets,
}

impl<'t> Names<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            kinds: HashMap::new(),
            until: 0,
            list: 0,
            value: 0,
            within: 0,
            sheets: Sheets::default(),
        }
    }

    /// The secrets given to the name that a byte stands in: `password = "x"`, `TOKEN=x`, `"auth": "x"`,
    /// `<pass>x</pass>`, `--token x`, `setProperty("KEY", "x")`, `key="Password" value="x"`,
    /// `tokens: ["x", "y"]`, `Cookie: a=x; b=y`.
    pub(super) fn assigned(&mut self, at: usize, hits: &mut Vec<Hit>) {
        let text = self.text;
        if at < self.until {
            return;
        }
        let name = name_at(text, at);
        self.until = name.end;
        let bytes = text.get(name.clone()).unwrap_or_default();
        let kind = *self.kinds.entry(bytes).or_insert_with(|| name_kind(bytes));
        // The rule's name in a mask is not the name of what stands behind it.
        let in_mask = || {
            text.get(..name.start)
                .is_some_and(|before| before.ends_with(b"[REDACTED:"))
        };
        let Some(alone) = kind.filter(|_| name.len() <= MAX_NAME && !in_mask()) else {
            return;
        };
        let kind = of_two_words(text, &name).unwrap_or(alone);
        // Deep in a value that was weighed already.
        if self.within > MANY_WITHIN && name.end < self.value {
            return;
        }
        let mut push = |range: Range<usize>| {
            hits.push(Hit::new(rule_name(kind), range));
        };
        let strong = |range: &Range<usize>| {
            let set = text.get(range.clone()).unwrap_or_default();
            strength(set) == Strength::Strong && accepts(kind, set, Form::Bare)
        };
        values_before(text, &name)
            .into_iter()
            .filter(strong)
            .for_each(&mut push);
        if bytes.to_ascii_lowercase().ends_with(b"cookie") {
            cookies(text, name.end).into_iter().for_each(&mut push);
        }
        for cell in self.sheets.below(text, &name) {
            let set = text.get(cell.clone()).unwrap_or_default();
            if accepts(kind, set, Form::Bare) {
                push(cell);
            }
        }
        if let Some(words) = phrase_after(text, &name) {
            push(words);
            return;
        }
        let Some((value, form)) = value_after(text, &name) else {
            return;
        };
        let opens = form == Form::Bare && text.get(value.start) == Some(&b'[');
        if kind == NameKind::Several || (opens && kind != NameKind::Key) {
            let items = self.listed(&value, form);
            items.into_iter().filter(strong).for_each(push);
            return;
        }
        self.within = if value.start < self.value {
            // Long ones are dear, and hold the less.
            self.within + 1 + value.len() / 128
        } else {
            0
        };
        if self.within > MANY_WITHIN {
            return;
        }
        self.value = self.value.max(value.end);
        let set = text.get(value.clone()).unwrap_or_default();
        // Of weak values only those are taken that cannot be the name of something.
        let literal = || {
            form == Form::Quoted
                || !bytes.iter().any(u8::is_ascii_lowercase)
                || (bytes.starts_with(b"--") && text.get(name.end) == Some(&b'='))
                || in_connection(text, &name, &value)
        };
        let weak = kind == NameKind::Password
            && (is_weak_password(set) || is_passphrase(set))
            && literal();
        let declared = form == Form::Quoted && is_told(text, &name, set);
        let random = alone == kind || matches!(strength(set), Strength::Strong | Strength::Uuid);
        if weak || declared || (random && accepts(kind, set, form)) {
            push(whole(text, value));
        }
    }

    // The items of a list that was not read yet, and those below it.
    fn listed(&mut self, value: &Range<usize>, form: Form) -> Vec<Range<usize>> {
        if value.start < self.list {
            return Vec::new();
        }
        let (mut items, end) = items(self.text, value.start);
        let mut last = (form == Form::Below).then_some(value.end);
        while let Some(item) = last
            .and_then(|last| below(self.text, last, b"\"',"))
            .filter(|_| items.len() < MAX_ITEMS)
        {
            last = Some(item.end);
            items.push(item);
        }
        self.list = end.max(last.unwrap_or(0));
        items
    }
}

// The words from which the keys of a wallet are made, whether or not quotes hold them together.
fn phrase_after(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let word = text.get(name.clone())?.to_ascii_lowercase();
    if ![&b"mnemonic"[..], b"phrase", b"seedphrase"]
        .iter()
        .any(|it| word.ends_with(it))
    {
        return None;
    }
    let rest = text.get(name.end..text.len().min(name.end + MAX_LINE))?;
    let line = rest.split(|byte| matches!(byte, b'\n' | b'\r')).next()?;
    let from = line.iter().position(u8::is_ascii_lowercase)?;
    let between = line.get(..from)?;
    let is_given = between.iter().any(|byte| b":=".contains(byte));
    let length = line.get(from..)?.iter();
    let length = length
        .take_while(|byte| byte.is_ascii_lowercase() || **byte == b' ')
        .count();
    let words = line.get(from..from + length)?.trim_ascii_end();
    let count = words.split(|byte| *byte == b' ').count();
    let many = [12, 15, 18, 21, 24].contains(&count) && is_given && between.len() <= 8;
    many.then(|| name.end + from..name.end + from + words.len())
}

// Names in one value that are weighed by themselves too.
const MANY_WITHIN: usize = 8;

// The values of a header's cookies that only a machine makes up; `at` is the place behind its name.
fn cookies(text: &[u8], at: usize) -> Vec<Range<usize>> {
    let line = text.get(at..text.len().min(at + MAX_VALUE));
    let line = line.unwrap_or_default().split(|byte| *byte == b'\n').next();
    let Some(pairs) = line.and_then(|it| it.strip_prefix(b":")) else {
        return Vec::new();
    };
    let mut from = at + 1;
    let mut found = Vec::new();
    for pair in pairs.split(|byte| matches!(byte, b';' | b'"' | b'\'' | b',' | b'\r')) {
        let value = memchr::memchr(b'=', pair).map(|equals| from + equals + 1..from + pair.len());
        let set = value
            .clone()
            .and_then(|it| text.get(it))
            .unwrap_or_default();
        if strength(set) == Strength::Strong {
            found.extend(value);
        }
        from += pair.len() + 1;
    }
    found
}

// Terraform's `secret_string = "x"`: a secret whatever it looks like.
fn is_told(text: &[u8], name: &Range<usize>, set: &[u8]) -> bool {
    let around = text.get(name.start.saturating_sub(MAX_LINE)..text.len().min(name.end + MAX_LINE));
    let resource = |text| {
        memchr::memmem::find(text, b"aws_secretsmanager_secret").is_some()
            || memchr::memmem::find(text, b"secret_id").is_some()
    };
    text.get(name.clone()) == Some(b"secret_string")
        && around.is_some_and(resource)
        && set.len() >= 4
        && !set.iter().any(|byte| b"{}$ ".contains(byte))
        && !is_placeholder(set)
}

// What a lone `key` is by the word before it, as in `API key: x`.
fn of_two_words(text: &[u8], name: &Range<usize>) -> Option<NameKind> {
    let key = text.get(name.clone())?;
    let before = text.get(name.start.saturating_sub(MAX_NAME)..name.start)?;
    let letters = before.strip_suffix(b" ")?.iter().rev();
    let length = letters
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let both = text.get(name.start - 1 - length..name.end)?;
    let lone = key.eq_ignore_ascii_case(b"key") && length > 0;
    name_kind(both).filter(|kind| lone && *kind == NameKind::Token)
}

// `user=app password=x host=db`: a string that a driver reads, and no code.
fn in_connection(text: &[u8], name: &Range<usize>, value: &Range<usize>) -> bool {
    let before = text.get(name.start.saturating_sub(MAX_LINE)..name.start);
    let after = text.get(value.end..text.len().min(value.end + MAX_LINE));
    let is_end = |byte: &u8| *byte == b'\n';
    let before = before
        .and_then(|it| it.rsplit(is_end).next())
        .unwrap_or_default();
    let after = after
        .and_then(|it| it.split(is_end).next())
        .unwrap_or_default();
    let ends = |byte: &u8| b" \t\r;\"'".contains(byte);
    let beside = |line| {
        CONNECTION
            .as_ref()
            .is_some_and(|beside| beside.is_match(line))
    };
    text.get(name.end) == Some(&b'=')
        && name.end + 1 == value.start
        && after.first().is_none_or(ends)
        && (beside(before) || beside(after))
}

static CONNECTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r#"(?i-u)(?:^|[\s;"'])(?:user|username|user id|uid|host|hostaddr|server|data source|dbname|database)=[^\s,;]+(?:[\s;]|$)"#;
    Regex::new(pattern).ok()
});

// A value that is longer than what is looked at, to its end.
fn whole(text: &[u8], value: Range<usize>) -> Range<usize> {
    if value.len() < MAX_VALUE {
        return value;
    }
    let rest = text.get(value.end..).unwrap_or_default();
    let part = |byte: &&u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'.')
    };
    let more = rest.iter().take(MAX_WHOLE).take_while(part).count();
    value.start..value.end + more
}

fn rule_name(kind: NameKind) -> &'static str {
    match kind {
        NameKind::Password => "password",
        NameKind::Token | NameKind::Several => "named-secret",
        NameKind::Key => "named-key",
    }
}

fn accepts(kind: NameKind, value: &[u8], form: Form) -> bool {
    if form == Form::Netrc {
        return value.len() >= 4 && !is_template(value) && !is_placeholder(value);
    }
    // Code: a call, an index, a member.
    if form != Form::Quoted && is_code(value) {
        return false;
    }
    let strength = strength(value);
    match (kind, form) {
        (_, Form::Spaced) => {
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            strength == Strength::Strong && value.len() >= 16 && value.iter().all(plain)
        }
        (NameKind::Password | NameKind::Token, Form::Cut | Form::Below)
        | (NameKind::Several, _) => strength == Strength::Strong && value.len() >= 16,
        (NameKind::Password, _) => strength >= Strength::Medium,
        (NameKind::Token, _) => {
            strength == Strength::Strong
                || (strength == Strength::Medium && value.len() >= 11)
                || strength == Strength::Uuid
                || is_basic_pair(value)
        }
        (NameKind::Key, _) => {
            let class = |test: fn(&u8) -> bool| value.iter().any(test);
            strength == Strength::Strong
                && value.len() >= 20
                && !value.iter().any(|byte| matches!(byte, b' ' | b'('))
                && !value.iter().all(u8::is_ascii_hexdigit)
                && class(u8::is_ascii_digit)
                && class(u8::is_ascii_uppercase)
                && class(u8::is_ascii_lowercase)
        }
    }
}

// A call, an index, a path through modules or members.
fn is_code(value: &[u8]) -> bool {
    let has = |marks: &[u8]| value.iter().any(|byte| marks.contains(byte));
    let member = |part: &[u8]| {
        part.first().is_some_and(u8::is_ascii_alphabetic)
            && part
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let path =
        value.contains(&b'.') && value.len() <= 64 && value.split(|byte| *byte == b'.').all(member);
    path || memchr::memmem::find(value, b"::").is_some() || (has(b"([{") && !has(b"!#%^"))
}

// Base64 of `user:password`.
fn is_basic_pair(value: &[u8]) -> bool {
    super::encoded::decode(value).is_some_and(|decoded| {
        let printable = decoded.iter().all(|byte| (b' '..=b'~').contains(byte));
        let colons = memchr::memchr_iter(b':', &decoded).count();
        let inner = decoded.first() != Some(&b':') && decoded.last() != Some(&b':');
        decoded.len() >= 8 && printable && colons == 1 && inner
    })
}

/// Three words or more that neither a sentence nor the name of a thing is made of, as dice and password
/// managers give them.
fn is_passphrase(value: &[u8]) -> bool {
    #[rustfmt::skip]
    const SENTENCE: &[&[u8]] = &[
        b"a", b"an", b"and", b"are", b"as", b"at", b"be", b"by", b"can", b"cannot", b"change",
        b"confirm", b"do", b"does", b"enter", b"field", b"for", b"forgot", b"from", b"get", b"has",
        b"have", b"if", b"in", b"incorrect", b"invalid", b"is", b"it", b"least", b"length", b"login",
        b"long", b"match", b"minimum", b"must", b"my", b"new", b"no", b"not", b"of", b"old", b"on",
        b"only", b"or", b"passphrase", b"password", b"passwords", b"please", b"required", b"reset",
        b"secret", b"set", b"should", b"show", b"strong", b"that", b"the", b"this", b"to", b"too",
        b"update", b"use", b"user", b"username", b"using", b"value", b"weak", b"with", b"wrong",
        b"you", b"your", b"some", b"here", b"goes", b"test", b"example", b"hash", b"text", b"string",
    ];
    // What is written with dashes may be the name of a thing.
    #[rustfmt::skip]
    const THING: &[&[u8]] = &[
        b"admin", b"api", b"app", b"auth", b"button", b"client", b"component", b"config", b"credential",
        b"credentials", b"data", b"database", b"db", b"default", b"dev", b"error", b"file", b"form", b"icon",
        b"id", b"input", b"item", b"key", b"label", b"layout", b"local", b"manager", b"modal", b"mode",
        b"name", b"page", b"path", b"policy", b"prod", b"root", b"route", b"rule", b"section", b"server",
        b"service", b"staging", b"store", b"toggle", b"token", b"type", b"ui", b"validator", b"view",
        b"visible", b"web",
    ];
    let mark = *value
        .iter()
        .find(|byte| b" -".contains(byte))
        .unwrap_or(&b' ');
    let mut count = 0;
    for word in value.split(|byte| *byte == mark) {
        let lower = word.iter().all(u8::is_ascii_lowercase) && (2..=12).contains(&word.len());
        let number = word.iter().all(u8::is_ascii_digit) && (1..=4).contains(&word.len());
        let polite = mark == b'-' && word == b"please";
        let plain =
            (SENTENCE.contains(&word) && !polite) || (mark == b'-' && THING.contains(&word));
        if !(lower || number) || plain {
            return false;
        }
        count += 1;
    }
    (3..=12).contains(&count) && (16..=96).contains(&value.len())
}

#[cfg(test)]
mod tests {
    use super::is_passphrase;
    use crate::policy::Redactor;

    const TOKEN: &str = "7f9aK2mQ8xZt4Vb1Lw6Yp0Rc3Ns5Hd9Gj2Fe8Ta4";
    const HEX: &str = "9c1185a5c5e9fc54612808977ee8f548b2258d31";

    fn masked(text: &str) -> String {
        Redactor::default().redact(text).text.into_owned()
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
            format!("AssertionError: 'abc' != '{TOKEN}' : self.api_token"),
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
    fn a_password_in_a_connection_string_or_flag_may_be_weak() {
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
                "  secret_id     = aws_secretsmanager_secret.db.id\n  secret_string = \"thunder\"\n",
                "  secret_id     = aws_secretsmanager_secret.db.id\n  secret_string = \"[REDACTED:named-secret]\"\n",
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
    fn values_of_other_things_are_kept() {
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

    #[test]
    fn phrases_are_words_without_a_sentence() {
        for value in [
            "correct horse battery staple",
            "orbit velvet 42 lantern",
            "correct-horse-battery-staple",
            "letmein-please-now",
        ] {
            assert!(is_passphrase(value.as_bytes()), "{value}");
        }
        for value in [
            "enter your password",
            "at least eight characters",
            "Correct Horse Battery Staple",
            "two words",
            "kinda long, with commas",
            "reset-password-form",
            "orders-service-db-creds",
            "2024-01-02",
            "wide-tall form",
        ] {
            assert!(!is_passphrase(value.as_bytes()), "{value}");
        }
    }
}
