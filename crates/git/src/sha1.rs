//! The digest that git puts at the end of an index and of a pack, to notice a damaged one, and by which it names objects. It keeps
//! no secret.

use sha1::{Digest as _, Sha1};

/// The SHA-1 of these bytes.
pub(crate) fn sha1(bytes: &[u8]) -> [u8; 20] {
    Sha1::digest(bytes).into()
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
