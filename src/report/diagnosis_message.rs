use crate::model::Diagnosis;

/// A diagnosis in one paragraph that names what is missing and which tests failed, with the line of
/// the log that says so.
pub(super) fn diagnosis_message(diagnosis: &Diagnosis) -> String {
    let mut text = String::new();
    for (what, names) in [
        ("", &diagnosis.undefined_names),
        ("module ", &diagnosis.missing_modules),
        ("export ", &diagnosis.missing_exports),
        ("", &diagnosis.failing_tests),
    ] {
        let Some(first) = names.first() else {
            continue;
        };
        let more = match names.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        text = format!("{what}`{first}`{more}: ");
        break;
    }
    text.push_str(&diagnosis.explanation);
    if let Some(line) = diagnosis.evidence.first() {
        let said: String = line.text.trim().chars().take(200).collect();
        text.push_str(&format!(" The log says: {said}."));
    }
    text.push(' ');
    text.push_str(&diagnosis.suggested_fix);
    text
}
