use std::path::Path;

/// What stands for a placeholder in an agent's command line.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// `{packet}`: the failure packet.
    pub packet: &'a Path,
    /// `{prompt}`: the rendered prompt.
    pub prompt: &'a Path,
    /// `{out}`: where the agent may write its reply.
    pub out: &'a Path,
    /// `{workdir}`: the scratch copy of the repository.
    pub workdir: &'a Path,
}

/// Fills the placeholders of a command line, each as one quoted word of a POSIX shell. Other
/// braces stay as they are.
#[must_use]
pub fn fill_template(command: &str, places: &Places<'_>) -> String {
    let mut out = String::with_capacity(command.len());
    let mut rest = command;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let found = [
            ("{packet}", places.packet),
            ("{prompt}", places.prompt),
            ("{out}", places.out),
            ("{workdir}", places.workdir),
        ]
        .into_iter()
        .find_map(|(name, path)| Some((path, from.strip_prefix(name)?)));
        if let Some((path, after)) = found {
            out.push_str(&quoted(path));
            rest = after;
        } else {
            out.push('{');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Places, fill_template};

    #[test]
    fn placeholders_become_quoted_words_and_other_braces_stay() {
        let places = Places {
            packet: Path::new("/r/it's/p.json"),
            prompt: Path::new("/r/p.md"),
            out: Path::new("/r/o"),
            workdir: Path::new("/w"),
        };
        assert_eq!(
            fill_template("run {packet} ${HOME} {x} {prompt}>{out} {", &places),
            r"run '/r/it'\''s/p.json' ${HOME} {x} '/r/p.md'>'/r/o' {"
        );
    }
}
