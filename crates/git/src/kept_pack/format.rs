//! Packs and their indexes as bytes: whole objects only, ids of SHA-1.
//!
//! Contents are stored uncompressed: what is written here is small, and git compresses it when the packs are folded.

use std::collections::BTreeMap;

use crate::sha1::sha1;

const ID: usize = 20;
const PACK_HEAD: usize = 12;
/// `\377tOc`, version 2, and 256 numbers of four bytes.
const INDEX_HEAD: usize = 8 + 256 * 4;
/// An offset in the index that has this bit refers to a table for large packs.
const LARGE: u32 = 1 << 31;
/// Kinds of objects whose entry in a pack needs no other object.
const KINDS: [(&[u8], u8); 4] = [(b"commit", 1), (b"tree", 2), (b"blob", 3), (b"tag", 4)];

/// One object as it is written into a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    sum: u32,
    bytes: Vec<u8>,
}

/// Objects by id.
pub(super) type Entries = BTreeMap<[u8; ID], Entry>;

/// A pack and its index.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pack {
    pub(super) pack: Vec<u8>,
    pub(super) index: Vec<u8>,
}

impl Entry {
    /// An object with its content; none if it is of a kind that is not known.
    pub(super) fn whole(kind: &[u8], content: &[u8]) -> Option<Self> {
        let (_, number) = KINDS.iter().find(|(name, _)| *name == kind)?;
        let mut bytes = head(*number, content.len());
        stored(content, &mut bytes);
        let sum = crc32(&bytes);
        Some(Self { sum, bytes })
    }
}

/// Kind and length: four bits of the length beside the kind, then seven a byte.
fn head(kind: u8, length: usize) -> Vec<u8> {
    let low = |value: usize, mask: usize| u8::try_from(value & mask).unwrap_or_default();
    let mut bytes = vec![];
    let (mut byte, mut rest) = ((kind << 4) | low(length, 0x0f), length >> 4);
    while rest > 0 {
        bytes.push(byte | 0x80);
        (byte, rest) = (low(rest, 0x7f), rest >> 7);
    }
    bytes.push(byte);
    bytes
}

/// A zlib stream (RFC 1950) of blocks that are not compressed (RFC 1951).
fn stored(content: &[u8], bytes: &mut Vec<u8>) {
    bytes.extend([0x78, 0x01]);
    let blocks = content.chunks(usize::from(u16::MAX)).count().max(1);
    let mut rest = content;
    for block in 1..=blocks {
        let length = u16::try_from(rest.len()).unwrap_or(u16::MAX);
        let (now, later) = rest.split_at(usize::from(length));
        bytes.push(u8::from(block == blocks));
        bytes.extend(length.to_le_bytes());
        bytes.extend((!length).to_le_bytes());
        bytes.extend(now);
        rest = later;
    }
    bytes.extend(adler32(content).to_be_bytes());
}

fn adler32(content: &[u8]) -> u32 {
    // So many bytes fit into 32 bits before a remainder has to be taken.
    let sums = content.chunks(5552).fold((1u32, 0u32), |sums, chunk| {
        let (a, b) = chunk.iter().fold(sums, |(a, b), &byte| {
            let a = a + u32::from(byte);
            (a, b + a)
        });
        (a % 65521, b % 65521)
    });
    (sums.1 << 16) | sums.0
}

const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let (mut at, mut first) = (0, 0u32);
    while at < table.len() {
        let (mut value, mut bit) = (first, 0);
        while bit < 8 {
            let low = value & 1;
            value >>= 1;
            if low == 1 {
                value ^= 0xedb8_8320;
            }
            bit += 1;
        }
        table[at] = value;
        at += 1;
        first += 1;
    }
    table
};

fn crc32(bytes: &[u8]) -> u32 {
    let next = |sum: u32, &byte: &u8| {
        let [low, ..] = (sum ^ u32::from(byte)).to_le_bytes();
        CRC[usize::from(low)] ^ (sum >> 8)
    };
    !bytes.iter().fold(u32::MAX, next)
}

impl Pack {
    /// None if it would be too large for a plain index.
    pub(super) fn of(entries: &Entries) -> Option<Self> {
        let count = u32::try_from(entries.len()).ok()?;
        let mut pack = [
            b"PACK".as_slice(),
            &2u32.to_be_bytes(),
            &count.to_be_bytes(),
        ]
        .concat();
        let mut offsets = vec![];
        for entry in entries.values() {
            let offset = u32::try_from(pack.len())
                .ok()
                .filter(|it| it & LARGE == 0)?;
            offsets.extend(offset.to_be_bytes());
            pack.extend(&entry.bytes);
        }
        let pack_sum = sha1(&pack);
        pack.extend(pack_sum);
        let mut index = b"\xfftOc\0\0\0\x02".to_vec();
        for first in 0..=u8::MAX {
            let until = entries.keys().filter(|id| id[0] <= first).count();
            index.extend(u32::try_from(until).ok()?.to_be_bytes());
        }
        entries.keys().for_each(|id| index.extend(id));
        let sums = entries.values().map(|it| it.sum.to_be_bytes());
        sums.for_each(|sum| index.extend(sum));
        index.extend(offsets);
        index.extend(pack_sum);
        index.extend(sha1(&index));
        Some(Self { pack, index })
    }

    /// What is in a pack that has whole objects only; none if it is damaged or of another form.
    pub(super) fn entries(&self) -> Option<Entries> {
        let (body, sum) = self
            .index
            .split_at_checked(self.index.len().checked_sub(ID)?)?;
        if !body.starts_with(b"\xfftOc\0\0\0\x02") || sha1(body) != sum {
            return None;
        }
        let count = usize::try_from(number(body, INDEX_HEAD - 4)?).ok()?;
        if body.len() != INDEX_HEAD + count * (ID + 8) + ID {
            return None;
        }
        let end = self.pack.len().checked_sub(ID)?;
        let (sums, offsets) = (INDEX_HEAD + count * ID, INDEX_HEAD + count * (ID + 4));
        let mut found = vec![];
        for at in 0..count {
            let id = body.get(INDEX_HEAD + at * ID..)?.first_chunk::<ID>()?;
            let offset = usize::try_from(number(body, offsets + at * 4)?).ok()?;
            found.push((offset, *id, number(body, sums + at * 4)?));
        }
        found.sort_unstable();
        let ends = found.iter().skip(1).map(|it| it.0).chain([end]);
        let entry = |((start, id, sum), end): (&(usize, [u8; ID], u32), usize)| {
            let bytes = self.pack.get(*start..end)?.to_vec();
            let is_whole = bytes
                .first()
                .is_some_and(|it| (1..=4).contains(&((it >> 4) & 7)));
            (*start >= PACK_HEAD && is_whole && crc32(&bytes) == *sum)
                .then_some((*id, Entry { sum: *sum, bytes }))
        };
        found.iter().zip(ends).map(entry).collect()
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_be_bytes(*four))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(contents: &[&[u8]]) -> Entries {
        let entry = |content: &&[u8]| {
            let object = [format!("blob {}\0", content.len()).as_bytes(), content].concat();
            (sha1(&object), Entry::whole(b"blob", content).unwrap())
        };
        contents.iter().map(entry).collect()
    }

    #[test]
    fn sums_are_those_of_the_standards() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
        assert_eq!(adler32(&[0xff; 100_000]), 0x149a_302c);
    }

    #[test]
    fn what_is_packed_is_found_again() {
        let long = vec![7; 200_000];
        for contents in [
            [b"".as_slice()].as_slice(),
            &[b"a"],
            &[
                b"a",
                b"b",
                &[1; 15],
                &[1; 16],
                &[1; 65_535],
                &[1; 65_536],
                &long,
            ],
        ] {
            let entries = entries(contents);
            let pack = Pack::of(&entries).unwrap();
            assert_eq!(pack.entries(), Some(entries));
        }
    }

    #[test]
    fn what_is_damaged_is_not_read() {
        let good = Pack::of(&entries(&[b"a", b"b"])).unwrap();
        for at in (0..good.index.len()).step_by(37) {
            let mut bad = Pack {
                pack: good.pack.clone(),
                index: good.index.clone(),
            };
            bad.index[at] ^= 1;
            assert_eq!(bad.entries(), None, "{at}");
        }
        for at in PACK_HEAD..good.pack.len() - ID {
            let mut bad = Pack {
                pack: good.pack.clone(),
                index: good.index.clone(),
            };
            bad.pack[at] ^= 1;
            assert_eq!(bad.entries(), None, "{at}");
        }
    }

    #[test]
    fn only_kinds_of_git_are_packed() {
        assert_eq!(Entry::whole(b"blog", b""), None);
    }
}
