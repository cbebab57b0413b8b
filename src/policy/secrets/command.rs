use std::ops::Range;

use super::value::{Strength, is_placeholder, is_template, strength};

const MAX_COMMAND: usize = 2048;

/// Programs that take a password on their command line, as they stand before their arguments.
pub(super) const COMMANDS: &[&str] = &[
    "curl ",
    "docker login ",
    "podman login ",
    "helm registry login ",
    "sshpass ",
    "mysql ",
    "mysqldump ",
    "twine upload ",
    "az login ",
    "redis-cli ",
];

/// The password among the arguments of one of [`COMMANDS`], which stands from `start` to `after`.
pub(super) fn command_secret(text: &[u8], start: usize, after: usize) -> Option<Range<usize>> {
    if text.get(start..after)?.starts_with(b"curl") {
        return user_pair(text, after);
    }
    let rest = text.get(after..text.len().min(after + MAX_COMMAND))?;
    let line = command_line(rest);
    let redis = text.get(start..after)?.eq_ignore_ascii_case(b"redis-cli ");
    let line = if redis { one_command(line) } else { line };
    let flags: &[&[u8]] = if redis {
        &[b"-a ", b"-a'", b"-a\"", b"--pass "]
    } else {
        &[b"-p"]
    };
    let flag = flags.iter().filter_map(|flag| flag_end(line, flag)).min()?;
    let argument = line.get(flag..)?;
    let lead = argument
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'"' | b'\''))
        .count();
    let end = |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'');
    let length = argument.iter().skip(lead).take_while(end).count();
    let password = argument.get(lead..lead + length)?;
    let digits = password.iter().any(u8::is_ascii_digit) && password.len() >= 6;
    // What people make up: a word with digits, or one of both cases.
    let both = |test: fn(&u8) -> bool| password.iter().any(test) && password.len() >= 8;
    let cases = both(u8::is_ascii_uppercase) && both(u8::is_ascii_lowercase);
    // Nothing else than a password stands there.
    let alone = redis && password.len() >= 6;
    let found = strength(password) >= Strength::Medium
        || ((digits || cases || alone) && !is_shown(password));
    let from = after + flag + lead;
    (found && password.iter().any(u8::is_ascii_alphabetic)).then_some(from..from + length)
}

// Where the first flag of a name ends that stands alone; before a quote it ends where that stands.
fn flag_end(line: &[u8], flag: &[u8]) -> Option<usize> {
    let quoted = usize::from(flag.ends_with(b"'") || flag.ends_with(b"\""));
    memchr::memmem::find_iter(line, flag)
        .find(|at| {
            at.checked_sub(1)
                .is_none_or(|at| line.get(at) == Some(&b' '))
        })
        .map(|at| at + flag.len() - quoted)
}

// Up to where the shell starts another command.
fn one_command(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| b"|;&".contains(byte));
    line.get(..end.unwrap_or(line.len())).unwrap_or(line)
}

// What documentation writes in place of a password.
fn is_shown(password: &[u8]) -> bool {
    password.len() < 4
        || is_placeholder(password)
        || is_template(password)
        || matches!(
            password.first(),
            Some(b'$' | b'<' | b'{' | b'*' | b'[' | b'-' | b'/')
        )
        || matches!(password, b"pass" | b"test" | b"secret" | b"token")
}

// `curl -u user:password`.
fn user_pair(text: &[u8], after: usize) -> Option<Range<usize>> {
    let rest = text.get(after..text.len().min(after + MAX_COMMAND))?;
    let line = command_line(rest);
    let flag = [&b"-u "[..], b"-u'", b"-u\"", b"--user ", b"--user="]
        .iter()
        .filter_map(|flag| memchr::memmem::find(line, flag).map(|at| at + flag.len()))
        .min()?;
    let argument = line.get(flag..)?;
    let lead = argument.iter().take_while(|byte| **byte == b' ').count();
    let length = argument
        .iter()
        .skip(lead)
        .take_while(|byte| !byte.is_ascii_whitespace())
        .count();
    let argument = argument.get(..lead + length)?;
    let colon = memchr::memchr(b':', argument)?;
    let name = argument.get(lead..colon)?.trim_ascii();
    let password = argument.get(colon + 1..)?;
    let quote = |byte: &&u8| matches!(**byte, b'"' | b'\'');
    let open = password.iter().take_while(quote).count();
    let close = password.iter().rev().take_while(quote).count();
    let password = password.get(open..password.len() - close.min(password.len()))?;
    let shown = is_shown(password) || name.ends_with(password);
    let from = after + flag + colon + 1 + open;
    (!shown).then_some(from..from + password.len())
}

// Up to the first line end without a backslash before it.
fn command_line(rest: &[u8]) -> &[u8] {
    let end = memchr::memchr_iter(b'\n', rest)
        .find(|at| at.checked_sub(1).and_then(|before| rest.get(before)) != Some(&b'\\'));
    rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use crate::policy::Redactor;

    #[test]
    fn passwords_of_commands_are_masked() {
        for text in [
            "curl --cacert ca.crt -u elastic:P@ssw0rd$1 https://localhost:9200",
            "curl -X POST https://x/y \\\n  -d 'w' \\\n  -u developer:yqDVtkqPECriaLRi",
            "curl --user kevin:'pRf7vG2h1L8nQkW9' -iX PATCH",
            "docker login -u AWS -p hunter2x https://ecr.example.com",
            "sshpass -p 'Hx81kkq' ssh a@b",
            "mysql -u root -pHx81kkq db",
            "sshpass -p RatesOnLine ssh a@b",
            "twine upload -u ci -p Hx81kkq dist/a.whl",
            "az login --service-principal -u app -p Hx81kkq --tenant t",
            "redis-cli -h cache -a thunderclap ping",
            "redis-cli --pass Hx81kkq --tls",
            "redis-cli -a 'Hx81kkq'",
        ] {
            assert!(
                Redactor::default().redact(text).text.contains("[REDACTED:"),
                "{text}"
            );
        }
    }

    #[test]
    fn other_arguments_are_kept() {
        for text in [
            "curl -u user:pass x",
            "curl -u \"$USER:$PASS\" http://x",
            "docker login -u x --password-stdin",
            "sshpass -p $PASS ssh",
            "mysql -p -u root",
            "mkdir -p a1b2c3d4e5/x",
            "mysql -P 3306 -h db1.example",
            "mysql -u root -p db1",
            "redis-cli -a $PASS ping",
            "redis-cli -a <password> ping",
            "redis-cli --askpass --no-auth-warning",
            "redis-cli keys '*' | grep -a session1x",
        ] {
            assert_eq!(Redactor::default().redact(text).text, text);
        }
    }
}
