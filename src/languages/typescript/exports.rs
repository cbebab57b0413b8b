use std::collections::{HashMap, HashSet};

use crate::model::{FileFacts, ImportKind};

/// Names the module behind each export that merely passes on an import:
/// `import { a } from './x'; export { a }` exports `a` from `./x`.
pub(super) fn trace_exports(facts: &mut FileFacts) {
    let mut imported: HashMap<&str, (&str, &str, bool)> = HashMap::new();
    for import in &facts.imports {
        if import.nested || import.kind == ImportKind::ExportFrom {
            continue;
        }
        for name in &import.names {
            let local = name.local();
            imported.insert(local, (&import.specifier, &name.name, import.type_only));
        }
    }
    let defined: HashSet<&str> = facts
        .definitions
        .iter()
        .map(|definition| definition.name.as_str())
        .collect();
    for export in &mut facts.exports {
        if export.from.is_some() {
            continue;
        }
        let local = export.local.as_ref().unwrap_or(&export.name);
        let Some((from, name, erased)) = imported.get(local.as_str()) else {
            continue;
        };
        // `const { a } = require('x')` both defines and imports: the import says more.
        if defined.contains(local.as_str()) && !from.starts_with(['.', '#', '@', '~']) {
            continue;
        }
        export.type_only |= erased;
        export.from = Some((*from).to_owned());
        export.local = (*name != export.name).then(|| (*name).to_owned());
    }
}
