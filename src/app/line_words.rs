/// Words that look like names of variables.
pub(super) fn names(texts: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let is_name = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    for word in texts.iter().flat_map(|text| text.split(|it| !is_name(it))) {
        let telling = word.len() > 3 && word.contains('_') && !word.starts_with('_');
        if telling && found.iter().all(|other| other != word) {
            found.push(word.to_owned());
        }
    }
    found.truncate(3);
    found
}

/// The port that a line names last.
pub(super) fn port(text: &str) -> Option<u16> {
    let pattern = regex::Regex::new(r"(?i)(?::|port |', )([0-9]+)").ok()?;
    let ports = pattern
        .captures_iter(text)
        .filter_map(|it| it[1].parse().ok());
    ports.filter(|port| *port >= 80).last()
}

#[cfg(test)]
mod tests {
    use super::{names, port};

    #[test]
    fn names_and_ports_of_a_line() {
        let text = "Error: listen EADDRINUSE: address already in use :::3000";
        assert_eq!(port(text), Some(3000));
        assert_eq!(port("[Errno 98] Address already in use"), None);
        assert_eq!(port("Port 5173 is already in use"), Some(5173));
        assert_eq!(
            port(
                "[Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): address already in use"
            ),
            Some(8000)
        );
        assert_eq!(names(&["KeyError: 'DATABASE_URL'"]), ["DATABASE_URL"]);
    }
}
