use crate::model::MineDocument;

/// What a search of a history came to, for people.
#[must_use]
pub fn mine_text(mined: &MineDocument) -> String {
    let mut text = format!(
        "{}: {} fixes of {} candidates tried, in {} commits ({:.0} s)\n",
        mined.repository, mined.kept, mined.tried, mined.commits, mined.seconds
    );
    let dropped: u64 = mined.dropped.values().sum();
    if dropped > 0 {
        text.push_str(&format!("\ndropped {dropped}\n"));
    }
    let mut rows: Vec<_> = mined.dropped.iter().collect();
    rows.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    for (reason, count) in rows {
        text.push_str(&format!("  {count:>5}  {reason}\n"));
    }
    if mined.more {
        text.push_str("\nmore candidates remain; raise --limit to continue\n");
    }
    for message in &mined.incomplete {
        text.push_str(&format!("\nF404: {message}\n"));
    }
    text
}
