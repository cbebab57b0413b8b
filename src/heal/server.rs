#[cfg(feature = "http")]
use super::http;
use super::probe::Answer;
use super::{Endpoint, HealError, Probe, Transport, stdio};
use crate::exec::{Job, Stop};
use crate::model::FailureKind;
use crate::runners::pattern;
use regex::Captures;
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
    let mut missing = None;
    let done = REFERENCE.replace_all(text, |found: &Captures<'_>| {
        let default = || found.get(2).map(|default| default.as_str().to_owned());
        let value = variable(&found[1]).or_else(default);
        if value.is_none() {
            missing.get_or_insert_with(|| found[1].to_owned());
        }
        value.unwrap_or_default()
    });
    let done = done.into_owned();
    missing.map_or(Ok(done), Err)
}

pattern!(
    REFERENCE,
    r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}"
);

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
