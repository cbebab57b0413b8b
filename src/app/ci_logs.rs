use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::AppError;
use super::diagnose::UNPACKED;
use crate::model::Code;

/// Hands each log of what is named to `take`, with the name of its job: of a file itself, of a folder
/// or an archive those that stand in it, else those of its folders. Sorted by name.
///
/// # Errors
/// What cannot be read, what unpacks to more than 4 GiB, and what `take` cannot read.
pub(super) fn each_log(
    path: &Path,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Result<(), AppError> {
    if !path.is_dir() {
        return open(path, take);
    }
    let shown = path.display().to_string();
    let entries = std::fs::read_dir(path).map_err(|error| AppError::unreadable(&shown, &error))?;
    let mut entries: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
    entries.sort();
    let is_log = |it: &PathBuf| it.is_file() && is_log_name(&it.to_string_lossy());
    let mut files: Vec<PathBuf> = entries.iter().filter(|it| is_log(it)).cloned().collect();
    if files.is_empty() {
        for folder in entries.iter().filter(|it| it.is_dir() && !it.is_symlink()) {
            let inner = std::fs::read_dir(folder).into_iter().flatten().flatten();
            files.extend(inner.map(|it| it.path()).filter(is_log));
        }
        files.sort();
    }
    files.iter().try_for_each(|file| open(file, take))
}

fn open(
    path: &Path,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Result<(), AppError> {
    let shown = path.display().to_string();
    let unreadable = |error| AppError::unreadable(&shown, &error);
    let mut file = File::open(path).map_err(unreadable)?;
    let mut start = Vec::new();
    let sniffed = (&mut file).take(4).read_to_end(&mut start);
    sniffed.map_err(unreadable)?;
    let name = job_name(&path.to_string_lossy());
    let packed = |error: io::Error| {
        let message = format!("the archive `{shown}` cannot be read: {error}");
        AppError::new(Code::U302, message).hint("bring it again, or unpack it and name the folder")
    };
    match start.as_slice() {
        b"PK\x03\x04" => archive(file, take).map_err(packed),
        [0x1f, 0x8b, ..] => take(&name, &mut start.as_slice().chain(file)).map_err(packed),
        // A pipe cannot go back.
        _ => take(&name, &mut start.as_slice().chain(file)).map_err(unreadable),
    }
}

fn archive(
    file: File,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(file)?;
    let all = archive.file_names().map(str::to_owned);
    let (inner, mut names): (Vec<String>, Vec<String>) = all
        .filter(|it| is_log_name(it))
        .partition(|it| it.contains('/'));
    if names.is_empty() {
        names = inner;
    }
    names.sort();
    let mut left = UNPACKED;
    for name in names {
        left = limited(&job_name(&name), archive.by_name(&name)?, left, take)?;
    }
    Ok(())
}

// Hands on at most so many bytes, and tells how many may still come. What is longer is no log.
fn limited(
    name: &str,
    input: impl Read,
    most: u64,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> io::Result<u64> {
    let mut input = input.take(most);
    take(name, &mut input)?;
    match input.limit() {
        0 => Err(io::Error::other("it unpacks to more than 4 GiB")),
        left => Ok(left),
    }
}

fn is_log_name(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "txt" | "log")
}

// The file's name alone, and without the number that GitHub puts before it.
fn job_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let rest = name
        .split_once('_')
        .filter(|(number, _)| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()));
    rest.map_or(name, |(_, rest)| rest).to_owned()
}
