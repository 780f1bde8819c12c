//! The digest that git puts at the end of an index, to notice a damaged one. It keeps no secret.

const BLOCK: usize = 64;
/// What the standard begins with.
const BEGINNING: [u32; 5] = [
    0x6745_2301,
    0xefcd_ab89,
    0x98ba_dcfe,
    0x1032_5476,
    0xc3d2_e1f0,
];

/// The SHA-1 of these bytes.
pub(crate) fn sha1(bytes: &[u8]) -> [u8; 20] {
    let whole = bytes.len() - bytes.len() % BLOCK;
    let (blocks, rest) = bytes.split_at(whole);
    // A one, zeros, and the length in bits fill the last block, or the last two.
    let mut last = [rest, &[0x80]].concat();
    while last.len() % BLOCK != BLOCK - 8 {
        last.push(0);
    }
    last.extend((bytes.len() as u64 * 8).to_be_bytes());
    let blocks = blocks.chunks_exact(BLOCK).chain(last.chunks_exact(BLOCK));
    let state = blocks.fold(BEGINNING, mixed);
    let mut digest = [0; 20];
    for (place, word) in digest.chunks_exact_mut(4).zip(state) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

fn mixed(state: [u32; 5], block: &[u8]) -> [u32; 5] {
    let mut words = [0u32; 80];
    for (word, four) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes(four.try_into().expect("a chunk of four"));
    }
    for round in 16..80 {
        let word = words[round - 3] ^ words[round - 8] ^ words[round - 14] ^ words[round - 16];
        words[round] = word.rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = state;
    for (round, word) in words.into_iter().enumerate() {
        let (choice, constant) = match round {
            0..20 => ((b & c) | (!b & d), 0x5a82_7999),
            20..40 => (b ^ c ^ d, 0x6ed9_eba1),
            40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let terms = [choice, e, constant, word];
        let next = { terms }
            .into_iter()
            .fold(a.rotate_left(5), u32::wrapping_add);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    let [p, q, r, s, t] = state;
    let sums = [(p, a), (q, b), (r, c), (s, d), (t, e)];
    sums.map(|(before, after)| before.wrapping_add(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_are_those_of_the_standard() {
        let table = [
            (String::new(), "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc".to_owned(), "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".to_owned(),
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
            (
                "a".repeat(1_000_000),
                "34aa973cd4c4daa4f61eeb2bdbad27316534016f",
            ),
        ];
        for (text, digest) in table {
            assert_eq!(hex(&sha1(text.as_bytes())), digest);
        }
    }
}
