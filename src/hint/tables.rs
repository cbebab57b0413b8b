use crate::languages::{Language, Outside};

// `name module [imported] family`, sorted by family; public names of packages in wide use. The
// family is `py`, `js`, or `ts` for what is erased at run time. Asked only for packages that a
// manifest names.
const KNOWN: &str = include_str!("known.txt");

/// Known packages outside the repository that export a name.
pub(super) fn known(name: &str, language: &Language) -> Vec<Outside<'static>> {
    in_rows(KNOWN.lines(), name, language)
}

/// What the user says of a name, in rows of the same form.
pub(super) fn told<'t>(table: &'t [String], name: &str, language: &Language) -> Vec<Outside<'t>> {
    in_rows(table.iter().map(String::as_str), name, language)
}

fn in_rows<'t>(
    table: impl Iterator<Item = &'t str>,
    name: &str,
    language: &Language,
) -> Vec<Outside<'t>> {
    table
        .filter_map(|line| {
            let row: Vec<&str> = line.split_whitespace().collect();
            let (found, module, imported, family) = match row.as_slice() {
                [found, module, family] => (*found, *module, "", *family),
                [found, module, imported, family] => (*found, *module, *imported, *family),
                _ => return None,
            };
            (found == name && language.families.contains(&family)).then_some(Outside {
                module,
                imported,
                erased: family == "ts",
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, Outside, known};
    use crate::languages::{PYTHON, TYPESCRIPT};

    #[test]
    fn names_lead_to_their_modules() {
        let outside = |module, imported, erased| Outside {
            module,
            imported,
            erased,
        };
        assert_eq!(
            known("useState", &TYPESCRIPT),
            [outside("react", "", false)]
        );
        assert_eq!(
            known("ReactNode", &TYPESCRIPT),
            [outside("react", "", true)]
        );
        assert!(known("useState", &PYTHON).is_empty());
        assert_eq!(known("np", &PYTHON), [outside("numpy", "*", false)]);
    }

    #[test]
    fn every_row_is_whole() {
        assert!(
            KNOWN
                .lines()
                .all(|line| matches!(line.split(' ').count(), 3 | 4))
        );
    }
}
