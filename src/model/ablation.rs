/// Whether something is switched off to see what it is worth: the id of a row of a table, the name
/// of its file, the code of a mend, or a family of hints (`hint-moved`).
///
/// Debug builds read names, with commas between, from `MENDIT_ABLATE`; `.ci/ablate` compares the
/// figures of the scorers. In a release build nothing can be switched off.
#[must_use]
pub(crate) fn is_ablated(name: &str) -> bool {
    #[cfg(debug_assertions)]
    #[expect(
        clippy::disallowed_methods,
        reason = "only debug builds, to measure what a row is worth"
    )]
    {
        static NAMES: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| {
            let names = std::env::var("MENDIT_ABLATE").unwrap_or_default();
            let names = names.split(',').filter(|name| !name.is_empty());
            names.map(str::to_owned).collect()
        });
        NAMES.iter().any(|off| off == name)
    }
    #[cfg(not(debug_assertions))]
    {
        let _ = name;
        false
    }
}
