//! Answers the requests of an agent: files, lines and definitions.

use crate::model::{Code, RepoPath, Role};
use crate::source::{Listing, Source};

use super::candidates::Candidate;
use super::fill::Fill;
use super::inputs::{PacketInputs, Unshown};

/// Returns what an agent asked for as candidates, targets among them. What names nothing is rejected
/// with the nearest names, and what exceeds the limits with the limit.
pub(super) fn serve_requests(fill: &mut Fill<'_>, inputs: &PacketInputs<'_>) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for (round, texts) in inputs.request.requests.iter().enumerate() {
        let (mut files, mut bytes) = (0, 0);
        for text in texts {
            let (path, part) = match read_part(inputs, text) {
                Ok(read) => read,
                Err(unshown) => {
                    fill.reject(text, unshown);
                    continue;
                }
            };
            let at = found.iter().position(|candidate| candidate.path == path);
            let entry = inputs.source.listing().get(path.as_str());
            // A larger file counts with the part that is read.
            let size = entry.map_or(0, |entry| entry.bytes.min(200_000));
            let limit = match at {
                // Limits of one request, and how many are answered: from the specification of the levels.
                _ if round >= 2 => "only two requests are answered",
                None if files == 10 => "a request may name at most 10 files",
                None if bytes + size > 500_000 => "a request may cover at most 500,000 bytes",
                _ => "",
            };
            if !limit.is_empty() {
                fill.reject(text, Unshown::new(Code::C101, limit, None));
                continue;
            }
            let at = at.unwrap_or_else(|| {
                files += 1;
                bytes += size;
                let why = "requested by the agent";
                found.push(Candidate::new(&path, Role::Requested, why));
                found.len() - 1
            });
            let asked = found[at].asked.get_or_insert_default();
            match part {
                Part::Lines(lines) => asked.lines.extend(lines),
                _ => asked.all = true,
            }
        }
    }
    found
}

/// Reads what of which file a request names, a definition by its lines.
fn read_part(inputs: &PacketInputs<'_>, text: &str) -> Result<(RepoPath, Part), Unshown> {
    let (path, part) = read(inputs.source.listing(), text)?;
    let part = match part {
        Part::Definition(name) => Part::Lines(definition(inputs, &path, &name)?),
        other => other,
    };
    inputs.check_readable(&path)?;
    Ok((path, part))
}

/// The longest runs of lines that are not among the ranges of a file, in its order, as they are asked
/// for.
pub(super) fn rest(path: &RepoPath, text: &str, ranges: &[[u32; 2]]) -> Vec<String> {
    if ranges.is_empty() {
        return Vec::new();
    }
    let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let ends = ranges.iter().copied().chain([[count.saturating_add(1), 0]]);
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range[1]));
    let gaps = starts.zip(ends).map(|(before, [next, _])| [before + 1, next - 1]);
    let mut gaps: Vec<[u32; 2]> = gaps.filter(|[from, to]| from <= to).collect();
    gaps.sort_by_key(|[from, to]| (std::cmp::Reverse(to - from), *from));
    gaps.truncate(5);
    gaps.sort_unstable();

    gaps.into_iter().map(|[from, to]| format!("{path}:{from}-{to}")).collect()
}

// What of a file a request names.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    All,
    Lines(Vec<[u32; 2]>),
    Definition(String),
}

// `path`, `path:120-200`, `path:1-20,90-120`, `path#name`, `path#Class.method`, `path::Class::method`
// or `path#L120-L200`. A file whose own name reads like that comes first.
fn read(listing: &Listing, text: &str) -> Result<(RepoPath, Part), Unshown> {
    let mut split = ["::", "#"].iter().filter_map(|mark| text.split_once(mark));
    let (path, part) = if listing.get(text).is_some() {
        (text.to_owned(), Part::All)
    } else {
        let part = split.find(|(path, _)| !path.is_empty()).map(named_part);
        part.or_else(|| numbered_part(text))
            .unwrap_or_else(|| (text.to_owned(), Part::All))
    };
    let path = RepoPath::new(&path)
        .map_err(|problem| Unshown::new(Code::C301, problem.to_string(), None))?;
    if listing.get(path.as_str()).is_none() && !path.as_str().starts_with(".git/") {
        let near = listing.nearest_paths(path.as_str(), 3);
        let near: Vec<String> = near.iter().map(|path| format!("`{path}`")).collect();
        let reason = match near.is_empty() {
            true => "there is no such file".to_owned(),
            false => format!("there is no such file; near names: {}", near.join(", ")),
        };
        return Err(Unshown::new(Code::C301, reason, None));
    }
    Ok((path, part))
}

fn numbered_part(text: &str) -> Option<(String, Part)> {
    let (path, lines) = text.rsplit_once(':')?;
    Some((path.to_owned(), Part::Lines(line_ranges(lines)?)))
}

fn named_part((path, name): (&str, &str)) -> (String, Part) {
    match line_ranges(&name.replace('L', "")) {
        Some(lines) => (path.to_owned(), Part::Lines(lines)),
        None => (path.to_owned(), Part::Definition(name.to_owned())),
    }
}

// `120-200`, `12`, or several such; a single line represents those around it.
fn line_ranges(text: &str) -> Option<Vec<[u32; 2]>> {
    // A longer list of ranges is surely a mistake.
    if text.matches(',').count() >= 64 {
        return None;
    }
    // Lines around a single one that is asked for.
    let around = 20;
    let ranges = text.split(',').map(|range| {
        let (from, to) = if let Some((from, to)) = range.trim().split_once('-') {
            (from.parse().ok()?, to.parse().ok()?)
        } else {
            let line: u32 = range.trim().parse().ok()?;
            (line.saturating_sub(around), line.saturating_add(around))
        };
        (from <= to).then_some([from.max(1), to.max(1)])
    });
    ranges.collect()
}

// The lines of every definition with that name, below the names before it.
fn definition(
    inputs: &PacketInputs<'_>,
    path: &RepoPath,
    name: &str,
) -> Result<Vec<[u32; 2]>, Unshown> {
    let text = inputs.open(path)?.text;
    let outline = inputs.outline(path, text.as_bytes());
    let name = name.trim_end_matches("()").replace("::", ".");
    let mut names = name.rsplit('.');
    let last = names.next().unwrap_or_default();
    let outer: Vec<&str> = names.collect();
    let is_below = |at: usize| {
        let mut above = outline.definitions[at].parent;
        outer.iter().all(|name| {
            while let Some(definition) = above.and_then(|at| outline.definitions.get(at)) {
                above = definition.parent;
                if definition.name == *name {
                    return true;
                }
            }
            false
        })
    };
    let named = outline.definitions.iter().enumerate();
    let lines: Vec<[u32; 2]> = named
        .filter(|(at, found)| (found.name == last && is_below(*at)) || found.name == name)
        .map(|(_, found)| found.lines)
        .collect();
    if !lines.is_empty() {
        return Ok(lines);
    }
    let reason = format!("`{path}` defines no `{name}`");
    Err(Unshown::new(Code::C312, reason, None))
}

/// Returns every file of the repository, for level 4.
pub(super) fn every_file(source: &dyn Source) -> Vec<Candidate> {
    let why = "part of the whole repository";
    let files = source.listing().files();
    files.map(|entry| Candidate::new(&entry.path, Role::Bundle, why)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Part, read, rest};
    use crate::model::{Code, RepoPath};
    use crate::source::{Memory, Source};

    #[test]
    fn parses_requests() {
        let source =
            Memory::named(["src/a.py", "src/odd#name.py", "src/odd:12"].map(|path| (path, "")));
        let named = |name: &str| Part::Definition(name.to_owned());
        let rows = [
            ("src/a.py", "src/a.py", Part::All),
            ("src/odd#name.py", "src/odd#name.py", Part::All),
            ("src/odd:12", "src/odd:12", Part::All),
            (
                "src/a.py:120-200",
                "src/a.py",
                Part::Lines(vec![[120, 200]]),
            ),
            (
                "src/a.py:0-3, 50",
                "src/a.py",
                Part::Lines(vec![[1, 3], [30, 70]]),
            ),
            ("src/a.py#L12-L40", "src/a.py", Part::Lines(vec![[12, 40]])),
            ("src/a.py#A.run", "src/a.py", named("A.run")),
            ("src/a.py::A::run", "src/a.py", named("A::run")),
        ];
        for (text, path, part) in rows {
            let found = read(source.listing(), text).ok();
            assert_eq!(found, Some((RepoPath::new(path).unwrap(), part)), "{text}");
        }
        let many = format!("src/a.py:{}", "1-2,".repeat(1000) + "3");
        for text in [
            "src/b.py:1-2", "src/a.py:9-2", "src/a.py:x", "#a", "../x#a", &many,
        ] {
            let found = read(source.listing(), text);
            assert!(
                found.is_err_and(|unshown| unshown.code == Code::C301),
                "{text}"
            );
        }
    }

    #[test]
    fn rest_excludes_ranges() {
        let path = RepoPath::new("a.py").unwrap();
        let text = "x\n".repeat(100);
        let of = |ranges: &[[u32; 2]]| rest(&path, &text, ranges);
        assert_eq!(of(&[[1, 20], [41, 90]]), ["a.py:21-40", "a.py:91-100"]);
        assert_eq!(of(&[[2, 100]]), ["a.py:1-1"]);
        assert!(of(&[]).is_empty() && of(&[[1, 100]]).is_empty());
        let many: Vec<[u32; 2]> = (1..30).map(|n| [n * 3, n * 3]).collect();
        assert_eq!(of(&many).len(), 5);
    }
}
