use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// First bytes of a segment file.
const MAGIC: &[u8; 8] = b"mndtkno1";
/// Magic, revision, count, checksum of the index.
const HEADER: usize = 8 + 8 + 4 + 4;
/// Key, offset, length, checksum.
const ROW: usize = Key::LENGTH + 4 + 4 + 4;

/// What a value is found by: the id of an object, and how that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; Key::LENGTH]);

impl Key {
    const LENGTH: usize = 21;

    /// The key of an object, by its 20 bytes, read in one of several ways.
    #[must_use]
    pub fn new(id: &[u8; 20], reading: u8) -> Self {
        let mut key = [reading; Self::LENGTH];
        key[..20].copy_from_slice(id);
        Self(key)
    }
}

/// One immutable file of values: an index sorted by key, then the values themselves.
pub(super) struct Segment {
    file: File,
    index: Vec<u8>,
    // By row, whether it was asked for.
    used: Vec<AtomicBool>,
    // What follows the index, once all of it was read.
    values: OnceLock<Vec<u8>>,
}

impl Segment {
    /// Opens a segment; `None` for anything damaged, foreign or of another revision.
    pub(super) fn open(path: &Path, revision: u64) -> Option<Self> {
        let file = File::open(path).ok()?;
        let size = file.metadata().ok()?.len();
        let mut header = [0; HEADER];
        read_at(&file, &mut header, 0).ok()?;
        if header.get(..8)? != MAGIC || header.get(8..16)? != revision.to_le_bytes() {
            return None;
        }
        let rows = number(&header, 16)? as usize;
        let length = rows.checked_mul(ROW)?;
        if (HEADER + length) as u64 > size {
            return None;
        }
        let mut index = vec![0; length];
        read_at(&file, &mut index, HEADER as u64).ok()?;
        let used = (0..rows).map(|_| AtomicBool::new(false)).collect();
        (checksum(&index) == number(&header, 20)?).then_some(Self {
            file,
            index,
            used,
            values: OnceLock::new(),
        })
    }

    /// Reads all values at once, for when most of them will be asked for.
    pub(super) fn load(&self) {
        self.values.get_or_init(|| {
            let start = (HEADER + self.index.len()) as u64;
            let size = self.file.metadata().map_or(0, |it| it.len());
            let size = size.saturating_sub(start).min(MAX_BYTES as u64);
            let mut values = vec![0; size as usize];
            match read_at(&self.file, &mut values, start) {
                Ok(()) => values,
                Err(_) => Vec::new(),
            }
        });
    }

    /// The value stored under a key; `None` when there is none or it is damaged.
    pub(super) fn get(&self, key: &Key) -> Option<Cow<'_, [u8]>> {
        let (mut low, mut high) = (0, self.index.len() / ROW);
        while low < high {
            let middle = usize::midpoint(low, high);
            let row = self.row(middle)?;
            match row.get(..Key::LENGTH)?.cmp(&key.0[..]) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    self.used.get(middle)?.store(true, Ordering::Relaxed);
                    return self.data(row);
                }
            }
        }
        None
    }

    /// Every key with its value and whether it was asked for, in the order of the keys.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Key, Cow<'_, [u8]>, bool)> {
        self.used.iter().enumerate().filter_map(|(at, used)| {
            let row = self.row(at)?;
            let key = row.get(..Key::LENGTH)?.try_into().ok()?;
            Some((Key(key), self.data(row)?, used.load(Ordering::Relaxed)))
        })
    }

    fn row(&self, at: usize) -> Option<&[u8]> {
        self.index.get(at * ROW..(at + 1) * ROW)
    }

    fn data(&self, row: &[u8]) -> Option<Cow<'_, [u8]>> {
        let offset = number(row, Key::LENGTH)?;
        let length = number(row, Key::LENGTH + 4)? as usize;
        if length > MAX_ENTRY {
            return None;
        }
        let data = if let Some(values) = self.values.get() {
            let start = (offset as usize).checked_sub(HEADER + self.index.len())?;
            Cow::Borrowed(values.get(start..start + length)?)
        } else {
            let mut data = vec![0; length];
            read_at(&self.file, &mut data, u64::from(offset)).ok()?;
            Cow::Owned(data)
        };
        (checksum(&data) == number(row, Key::LENGTH + 8)?).then_some(data)
    }
}

/// Larger values are not kept.
pub(super) const MAX_ENTRY: usize = 4 * 1024 * 1024;
/// All values of a segment together.
pub(super) const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The bytes of a segment with these entries, which must be sorted by key.
pub(super) fn encode(entries: &[(Key, Vec<u8>)], revision: u64) -> Vec<u8> {
    let mut offset = HEADER + entries.len() * ROW;
    let mut index = Vec::with_capacity(entries.len() * ROW);
    for (key, data) in entries {
        index.extend_from_slice(&key.0);
        index.extend_from_slice(&(offset as u32).to_le_bytes());
        index.extend_from_slice(&(data.len() as u32).to_le_bytes());
        index.extend_from_slice(&checksum(data).to_le_bytes());
        offset += data.len();
    }
    let mut bytes = Vec::with_capacity(offset);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&revision.to_le_bytes());
    bytes.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&checksum(&index).to_le_bytes());
    bytes.extend_from_slice(&index);
    for (_, data) in entries {
        bytes.extend_from_slice(data);
    }
    bytes
}

// FNV-1a by words of eight bytes: against torn writes and bad disks, not against people.
fn checksum(bytes: &[u8]) -> u32 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let length = (bytes.len() as u64).to_le_bytes();
    let words = words.iter().chain([&last, &length]);
    let hash = words.fold(START, |hash, word| {
        let mixed = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    });
    (hash ^ (hash >> 32)) as u32
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}
