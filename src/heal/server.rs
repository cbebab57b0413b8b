#[cfg(feature = "http")]
use super::http;
use super::probe::Answer;
use super::{Endpoint, HealError, Probe, Transport, stdio};
use crate::exec::{Job, Stop};
use crate::model::FailureKind;
use std::collections::BTreeMap;

/// Connects to an MCP server: `initialize`, then `tools/list`.
pub(super) fn try_server(
    endpoint: &Endpoint,
    probe: &Probe,
    place: &Job,
    stop: &Stop,
) -> Result<Answer, HealError> {
    let endpoint = match expanded(endpoint) {
        Ok(endpoint) => endpoint,
        Err(name) => {
            let message = format!("{}: {name}: parameter not set", probe.name);
            return Ok(Answer::failed(Some(FailureKind::MissingEnvVar), message));
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match endpoint.transport {
        Transport::Stdio => stdio::connect(&runtime, &endpoint, probe, place, stop),
        #[cfg(feature = "http")]
        Transport::Http => Ok(http::connect(&runtime, &endpoint, probe, stop)),
        #[cfg(not(feature = "http"))]
        Transport::Http => Err(HealError::NotBuilt("http")),
    }
}

fn expanded(endpoint: &Endpoint) -> Result<Endpoint, String> {
    let variable = |name: &str| std::env::var(name).ok();
    let text = |text: &String| expand(text, &variable);
    let pairs = |pairs: &BTreeMap<String, String>| {
        let pairs = pairs
            .iter()
            .map(|(name, value)| Ok((name.clone(), text(value)?)));
        pairs.collect::<Result<_, String>>()
    };
    Ok(Endpoint {
        transport: endpoint.transport,
        command: endpoint
            .command
            .iter()
            .map(text)
            .collect::<Result<_, _>>()?,
        env: pairs(&endpoint.env)?,
        cwd: endpoint.cwd.as_ref().map(text).transpose()?,
        url: endpoint.url.as_ref().map(text).transpose()?,
        headers: pairs(&endpoint.headers)?,
    })
}

/// Puts variables in for `${NAME}`, `${env:NAME}` and `${NAME:-default}`; other `$` stay.
///
/// # Errors
/// The name of the first variable that is not set and has no default.
fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
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
        let one_set = |name: &str| (name == "A").then(|| "1".to_owned());
        for (text, expected) in [
            ("x", Ok("x")),
            ("${A}-${env:A}", Ok("1-1")),
            ("${B:-2}$C ${", Ok("2$C ${")),
            ("${workspaceFolder}", Err("workspaceFolder")),
            ("${a b}", Ok("${a b}")),
            ("${A} ${TOKEN}", Err("TOKEN")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(expand(text, &one_set), expected, "{text}");
        }
    }
}
