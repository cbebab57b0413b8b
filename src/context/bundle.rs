use crate::model::{ContextDocument, PacketFile};

/// The files of a packet as a tar archive (ustar), the same bytes for the same packet: sorted by
/// path, mode 0644, owner 0, time 0. Contents are those of the packet: decoded, secrets masked.
#[must_use]
pub fn bundle_tar(context: &ContextDocument) -> Vec<u8> {
    let mut out = Vec::new();
    for file in sorted(context) {
        let path = file.path.as_str().as_bytes();
        if path.len() > NAME_BYTES {
            // A longer name stands in a record of its own, as GNU tar and its kin read it.
            entry(&mut out, b"././@LongLink", b'L', &[path, b"\0"].concat());
        }
        entry(&mut out, path, b'0', file.content.as_bytes());
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    out
}

/// What is in the archive: SHA-256 of the original file, bytes in the archive and path, one file a
/// line, in the archive's order.
#[must_use]
pub fn bundle_listing(context: &ContextDocument) -> String {
    sorted(context)
        .iter()
        .map(|file| format!("{}  {}  {}\n", file.sha256, file.bytes, file.path))
        .collect()
}

const BLOCK: usize = 512;
const NAME_BYTES: usize = 100;

fn sorted(context: &ContextDocument) -> Vec<&PacketFile> {
    let mut files: Vec<&PacketFile> = context.files.iter().collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn entry(out: &mut Vec<u8>, name: &[u8], kind: u8, content: &[u8]) {
    let mut header = Vec::with_capacity(BLOCK);
    let mut field = |value: &[u8], width: usize| {
        header.extend(value.iter().take(width));
        header.extend(std::iter::repeat_n(0, width.saturating_sub(value.len())));
    };
    field(name, NAME_BYTES);
    field(b"0000644", 8);
    field(b"0000000", 8);
    field(b"0000000", 8);
    field(format!("{:011o}", content.len()).as_bytes(), 12);
    field(b"00000000000", 12);
    // The sum is taken with its own field blank.
    field(b"        ", 8);
    field(&[kind], 1);
    field(b"", 100);
    field(b"ustar\x0000", 8);
    field(b"", BLOCK - 265);
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header.splice(148..156, format!("{sum:06o}\0 ").into_bytes());
    out.extend(header);
    out.extend(content);
    out.resize(out.len().next_multiple_of(BLOCK), 0);
}
