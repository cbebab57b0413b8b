/// The package and the rest of a bare specifier; `None` when it cannot name a package.
pub(super) fn package_name(specifier: &str) -> Option<(&str, &str)> {
    let slashes = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier
        .match_indices('/')
        .nth(slashes - 1)
        .map_or(specifier.len(), |(at, _)| at);
    let name = specifier.get(..end)?;
    let legal = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    let valid = match name.strip_prefix('@') {
        Some(scoped) => {
            let (scope, package) = scoped.split_once('/')?;
            legal(scope) && legal(package)
        }
        None => legal(name),
    };
    valid.then(|| (name, specifier.get(end + 1..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::package_name;

    #[test]
    fn package_names_are_cut_off() {
        for (specifier, expected) in [
            ("react", Some(("react", ""))),
            ("lodash/fp/map", Some(("lodash", "fp/map"))),
            ("@a/b", Some(("@a/b", ""))),
            ("@a/b/c.js", Some(("@a/b", "c.js"))),
            ("@/x", None),
            ("~/x", None),
            ("@a", None),
            ("$lib/x", None),
        ] {
            assert_eq!(package_name(specifier), expected, "{specifier}");
        }
    }
}
