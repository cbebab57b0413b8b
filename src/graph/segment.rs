use std::fs::File;
use std::io;
use std::path::Path;

use crate::model::BlobId;

/// First bytes of a segment file.
const MAGIC: &[u8; 8] = b"mndtfct1";
/// Magic, revision, count, checksum of the index.
const HEADER: usize = 8 + 8 + 4 + 4;
/// Key, offset, length, checksum.
const ROW: usize = Key::LENGTH + 4 + 4 + 4;

/// What facts are found by: the bytes of the file and the way they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key([u8; Key::LENGTH]);

impl Key {
    const LENGTH: usize = 21;

    pub(super) fn new(id: BlobId, reading: u8) -> Self {
        let mut key = [reading; Self::LENGTH];
        key[..20].copy_from_slice(id.as_bytes());
        Self(key)
    }
}

/// One immutable file of facts: an index sorted by key, then the facts themselves.
pub(super) struct Segment {
    file: File,
    index: Vec<u8>,
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
        (checksum(&index) == number(&header, 20)?).then_some(Self { file, index })
    }

    /// The facts stored under a key; `None` when there are none or they are damaged.
    pub(super) fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let (mut low, mut high) = (0, self.index.len() / ROW);
        while low < high {
            let middle = usize::midpoint(low, high);
            let row = self.row(middle)?;
            match row.get(..Key::LENGTH)?.cmp(&key.0[..]) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.data(row),
            }
        }
        None
    }

    /// Every key with its facts, in the order of the keys.
    pub(super) fn entries(&self) -> impl Iterator<Item = (Key, Vec<u8>)> {
        (0..self.index.len() / ROW).filter_map(|at| {
            let row = self.row(at)?;
            let key = row.get(..Key::LENGTH)?.try_into().ok()?;
            Some((Key(key), self.data(row)?))
        })
    }

    fn row(&self, at: usize) -> Option<&[u8]> {
        self.index.get(at * ROW..(at + 1) * ROW)
    }

    fn data(&self, row: &[u8]) -> Option<Vec<u8>> {
        let length = number(row, Key::LENGTH + 4)? as usize;
        if length > MAX_ENTRY {
            return None;
        }
        let mut data = vec![0; length];
        read_at(&self.file, &mut data, u64::from(number(row, Key::LENGTH)?)).ok()?;
        (checksum(&data) == number(row, Key::LENGTH + 8)?).then_some(data)
    }
}

/// Larger facts are not kept.
pub(super) const MAX_ENTRY: usize = 4 * 1024 * 1024;

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

// FNV-1a: against torn writes and bad disks, not against people.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
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
