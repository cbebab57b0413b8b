/// The name, module or export that a line of output calls missing, as it stands in the code; the
/// last part of a dotted module. `None` for any other line.
pub(super) fn missing(line: &str) -> Option<String> {
    let (_, rest) = SAID
        .iter()
        .filter_map(|phrase| line.find(phrase).map(|at| (at, &line[at + phrase.len()..])))
        .min_by_key(|(at, _)| *at)
        .or_else(|| undefined(line).map(|name| (0, name)))?;
    let rest = rest.trim_start_matches([' ', ':', '\'', '"', '`']);
    let word = rest.split(['\'', '"', '`', ' ', ',', ';']).next()?;
    let word = word.trim_end_matches(['.', ':', ')']);
    let own = word.rsplit('/').next().unwrap_or(word);
    (!own.is_empty()).then(|| own.to_owned())
}

const SAID: [&str; 12] = [
    "NameError: name ",
    "NameError: global name ",
    "cannot import name ",
    "No module named ",
    "Cannot find module ",
    "Cannot find package ",
    "Can't resolve ",
    "Failed to resolve import ",
    "does not provide an export named ",
    "Cannot find name ",
    "has no exported member ",
    "Undefined name ",
];

// `ReferenceError: x is not defined`.
fn undefined(line: &str) -> Option<&str> {
    let at = line.find(" is not defined")?;
    let before = &line[..at];
    let name = before.rsplit([' ', ':']).next()?;
    (before.contains("ReferenceError") && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn what_is_missing_is_read_from_the_line_that_says_so() {
        for row in [
            "NameError: name 'CliRunner' is not defined => CliRunner",
            "E   NameError: name 'a' is not defined. Did you mean: 'b'? => a",
            "ImportError: cannot import name 'x' from 'pkg.y' (/p/y.py) => x",
            "ModuleNotFoundError: No module named 'pkg.sub' => pkg.sub",
            "ReferenceError: pounds is not defined => pounds",
            "Error: Cannot find module './money' => money",
            "SyntaxError: The requested module './a.js' does not provide an export named 'b' => b",
            "a.ts(1,2): error TS2304: Cannot find name 'total'. => total",
            "AssertionError: 1 != 2 =>",
            "TypeError: x is not a function =>",
            "the variable is not defined =>",
        ] {
            let (line, name) = row.split_once(" =>").unwrap();
            let found = missing(line).unwrap_or_default();
            assert_eq!(found, name.trim(), "{line}");
        }
    }
}
