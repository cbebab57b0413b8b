use super::names::{Names, Naming, is_creation, strip};
use super::set::FilePatch;
use crate::model::{Code, Mend, Refusal, Safety, refuse};
use crate::source::Listing;

// What is done to every name of a patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) strip: usize,
    pub(super) add: String,
}

impl Prefix {
    pub(super) fn apply(&self, name: &str, bare: bool) -> Option<String> {
        let level = if bare {
            self.strip.saturating_sub(1)
        } else {
            self.strip
        };
        strip(name, level).map(|rest| format!("{}{rest}", self.add))
    }
}

fn is_prefixed(name: &str) -> bool {
    let mut letters = name.bytes();
    matches!(
        letters.next(),
        Some(b'a' | b'b' | b'c' | b'i' | b'o' | b'w')
    ) && letters.next() == Some(b'/')
}

// Finds how many components to strip, or which prefix to add, so that all files that must exist do.
pub(super) fn common_prefix(
    files: &[FilePatch<'_>],
    raw: &[Option<Names>],
    listing: &Listing,
    naming: &Naming<'_>,
    mends: &mut Vec<Mend>,
) -> Result<Prefix, Refusal> {
    let directory = match naming.directory.trim_matches('/') {
        "" => String::new(),
        directory => format!("{directory}/"),
    };
    let plain = |strip: usize| Prefix {
        strip,
        add: directory.clone(),
    };
    if let Some(strip) = naming.strip {
        return Ok(plain(strip));
    }
    let named: Vec<(&FilePatch<'_>, &Names)> = files
        .iter()
        .zip(raw)
        .filter_map(|(file, names)| names.as_ref().map(|names| (file, names)))
        .filter(|(file, _)| file.headers.explicit.is_none())
        .collect();
    // Without rename lines, which have no prefix, the headers show whether there is one.
    let dressed = named.iter().all(|(_, names)| {
        let mut both = [&names.old, &names.new].into_iter().flatten();
        names.bare || both.all(|name| is_prefixed(name))
    });
    let must: Vec<(&str, bool)> = named
        .iter()
        .filter(|(file, _)| !is_creation(file))
        .filter_map(|(_, names)| names.old.as_deref().map(|old| (old, names.bare)))
        .collect();
    let exists = |prefix: &Prefix| {
        !must.is_empty()
            && must.iter().all(|(name, bare)| {
                prefix
                    .apply(name, *bare)
                    .is_some_and(|path| listing.get(&path).is_some())
            })
    };
    let usual = plain(usize::from(dressed || naming.strict));
    if named.is_empty() || naming.strict || (dressed && exists(&usual)) {
        return Ok(usual);
    }
    let line = files.first().map_or(0, |file| file.line);
    let mut note = |code, message: &str| mends.push(Mend::new(code, Safety::Safe, line, message));
    if !dressed {
        match (exists(&plain(0)), exists(&plain(1))) {
            (true, true) => {
                let message = "the names fit with and without their first component";
                return refuse(Code::P509, message);
            }
            (true, false) => note(Code::M205, "read names without the a/ and b/ prefix"),
            (false, _) => {}
        }
        if let Some(strip) = (0..2).find(|strip| exists(&plain(*strip))) {
            return Ok(plain(strip));
        }
    }
    let deepest = must.iter().map(|(name, _)| name.matches('/').count()).max();
    let others = (0..=deepest.unwrap_or(0).min(32)).map(plain);
    let fits: Vec<Prefix> = others.filter(|it| *it != usual && exists(it)).collect();
    let found = other_prefix(&must, &usual, fits, listing)?;
    let message = if found.add == usual.add {
        let left = found.strip;
        format!("left out the first {left} components of every name")
    } else {
        format!("put `{}` before every name", found.add)
    };
    if found != usual {
        note(Code::M206, &message);
    }
    Ok(found)
}

// Of names that do not exist as they are: the one way to files that do.
fn other_prefix(
    must: &[(&str, bool)],
    usual: &Prefix,
    mut fits: Vec<Prefix>,
    listing: &Listing,
) -> Result<Prefix, Refusal> {
    let hostile = |name: &str| name.split('/').any(|part| part == "..");
    if must.is_empty() || must.iter().any(|(name, _)| hostile(name)) {
        return Ok(usual.clone());
    }
    fits.retain(|it| it.strip < usual.strip || !leaves_a_directory(must, usual, listing));
    if fits.is_empty() {
        let top = missing_top(must, usual, listing);
        fits.extend(top.map(|add| Prefix { add, ..*usual }));
    }
    match fits.as_slice() {
        [] => Ok(usual.clone()),
        [one] => Ok(one.clone()),
        _ => refuse(Code::P509, "the names fit the tree in several ways"),
    }
}

// Whether the directory of a name is there, or the two that it begins with: a file elsewhere that ends alike
// is not meant. One alone may bear the name of the repository.
fn leaves_a_directory(must: &[(&str, bool)], usual: &Prefix, listing: &Listing) -> bool {
    must.iter().any(|(name, bare)| {
        let path = usual.apply(name, *bare);
        path.is_some_and(|path| speaks_of_a_directory(&path, listing))
    })
}

fn speaks_of_a_directory(path: &str, listing: &Listing) -> bool {
    let mut ends = path.match_indices('/').map(|(at, _)| at);
    let (second, last) = (ends.nth(1), path.rfind('/'));
    let there = |at: usize| path.get(..at).is_some_and(|it| listing.has_directory(it));
    last.is_some_and(there) || second.is_some_and(there)
}

/// The file that an explicit name means that is not there: the only one that it ends with, below a directory
/// of the writer's that the tree does not have, or the only one that ends with it.
pub(super) fn meant(name: &str, listing: &Listing) -> Option<String> {
    let ends = name
        .match_indices('/')
        .filter_map(|(at, _)| name.get(at + 1..));
    let mut shorter = ends.filter(|path| path.contains('/') && listing.get(path).is_some());
    let speaks = speaks_of_a_directory(name, listing);
    let one = shorter.next().filter(|_| !speaks);
    if let Some(one) = one {
        return shorter.next().is_none().then(|| one.to_owned());
    }
    let usual = Prefix::default();
    missing_top(&[(name, false)], &usual, listing).map(|top| format!("{top}{name}"))
}

// The one directory below which all names exist, when each name ends exactly one path.
fn missing_top(must: &[(&str, bool)], usual: &Prefix, listing: &Listing) -> Option<String> {
    let mut top: Option<String> = None;
    for (name, bare) in must {
        let path = usual.apply(name, *bare)?;
        let mut ends = listing.entries().iter().filter_map(|entry| {
            let before = entry.path.as_str().strip_suffix(path.as_str())?;
            before.ends_with('/').then_some(before)
        });
        let one = ends.next()?;
        if ends.next().is_some() || top.as_deref().is_some_and(|top| top != one) {
            return None;
        }
        top = Some(one.to_owned());
    }
    top
}
