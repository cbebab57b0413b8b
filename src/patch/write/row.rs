use serde::{Deserialize, Serialize};

use super::directory::Directory;

/// One path of a change: blob id and mode before and after.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) path: String,
    pub(super) old: Option<(String, u32)>,
    pub(super) new: Option<(String, u32)>,
}

/// The steps of a change: first what goes, so a file may take the place of a directory.
pub(super) fn in_order(rows: &[Row]) -> Vec<(usize, &Row)> {
    let mut order: Vec<(usize, &Row)> = rows.iter().enumerate().collect();
    order.sort_by_key(|(index, row)| (row.new.is_some(), *index));
    order
}

/// Removes directories that lost their last file, the innermost first, as git does.
pub(super) fn remove_emptied(tree: &Directory, rows: &[Row]) {
    remove_emptied_by(tree, rows, |row| row.new.is_none());
}

/// The same for the rows that `gone` names.
pub(super) fn remove_emptied_by(tree: &Directory, rows: &[Row], gone: fn(&Row) -> bool) {
    for row in rows.iter().filter(|row| gone(row)) {
        let mut path = row.path.as_str();
        while let Some((above, _)) = path.rsplit_once('/') {
            if !tree.remove_empty(above) {
                break;
            }
            path = above;
        }
    }
}
