//! What zlib packed, unpacked: for small objects of git. Anything odd is refused; git itself is asked then.

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

/// Unpacks at most `most` bytes; none if it is more, or nothing that zlib made: git says what is wrong with it.
pub(crate) fn inflate(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    decompress_to_vec_zlib_with_limit(packed, most).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `zlib.compress(b"commit 5\0hello")`
    const FIXED: &[u8] = &[
        0x78, 0x9c, 0x4b, 0xce, 0xcf, 0xcd, 0xcd, 0x2c, 0x51, 0x30, 0x65, 0xc8, 0x48, 0xcd, 0xc9,
        0xc9, 0x07, 0x00, 0x25, 0xae, 0x04, 0xf3,
    ];

    #[test]
    fn what_is_not_whole_is_refused() {
        let whole = inflate(FIXED, 100);
        assert_eq!(whole.as_deref(), Some(&b"commit 5\0hello"[..]));
        assert_eq!(inflate(FIXED, 5), None);
        for end in 0..FIXED.len() {
            assert_eq!(inflate(&FIXED[..end], 100), None, "{end}");
        }
        // The byte before the sum is only filled up.
        for place in (0..FIXED.len()).filter(|it| *it != FIXED.len() - 5) {
            let mut broken = FIXED.to_vec();
            broken[place] ^= 0x10;
            assert_ne!(inflate(&broken, 100), whole, "{place}");
        }
    }
}
