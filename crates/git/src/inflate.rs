//! What zlib packed, unpacked: RFC 1950 and 1951, for small objects of git. Anything odd is refused; git itself is asked then.

/// The longest code.
const BITS: usize = 15;
/// In which order the lengths of the code for lengths are told.
const ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];
/// Length codes: the shortest length of each, and how many bits say the rest.
const LENGTHS: [(usize, u32); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];

/// Unpacks at most `most` bytes; none if it is more, or nothing that zlib made.
pub(crate) fn inflate(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let [method, flags, rest @ ..] = packed else {
        return None;
    };
    let is_zlib = method & 0x0f == 8 && flags & 0x20 == 0;
    let is_checked = u16::from_be_bytes([*method, *flags]).is_multiple_of(31);
    if !is_zlib || !is_checked {
        return None;
    }
    let (body, sum) = rest.split_at_checked(rest.len().checked_sub(4)?)?;
    let mut stream = Stream {
        bytes: body,
        held: 0,
        count: 0,
    };
    let mut out = vec![];
    loop {
        let is_last = stream.bits(1)? == 1;
        match stream.bits(2)? {
            0 => stored(&mut stream, &mut out, most)?,
            1 => {
                let (lengths, distances) = fixed()?;
                coded(&mut stream, &lengths, &distances, &mut out, most)?;
            }
            2 => {
                let (lengths, distances) = described(&mut stream)?;
                coded(&mut stream, &lengths, &distances, &mut out, most)?;
            }
            _ => return None,
        }
        if is_last {
            break;
        }
    }
    let sum = u32::from_be_bytes(sum.try_into().ok()?);
    (adler(&out) == sum).then_some(out)
}

/// Bits, the lowest of each byte first.
struct Stream<'a> {
    bytes: &'a [u8],
    held: u32,
    count: u32,
}

impl Stream<'_> {
    fn bits(&mut self, wanted: u32) -> Option<usize> {
        while self.count < wanted {
            let (first, rest) = self.bytes.split_first()?;
            self.held |= u32::from(*first) << self.count;
            (self.bytes, self.count) = (rest, self.count + 8);
        }
        let found = self.held & ((1 << wanted) - 1);
        self.held >>= wanted;
        self.count -= wanted;
        usize::try_from(found).ok()
    }
}

/// A canonical Huffman code: how many symbols have each length, and the symbols in order.
struct Code {
    counts: [usize; BITS + 1],
    symbols: Vec<usize>,
}

impl Code {
    /// None for lengths of which no code can be made.
    fn of(lengths: &[usize]) -> Option<Self> {
        let mut counts = [0; BITS + 1];
        for &length in lengths {
            *counts.get_mut(length)? += 1;
        }
        counts[0] = 0;
        let mut left = 1_usize;
        for count in &counts[1..] {
            left = (left << 1).checked_sub(*count)?;
        }
        let of_length = |wanted: usize| {
            let all = lengths.iter().enumerate();
            all.filter(move |(_, length)| **length == wanted)
                .map(|(symbol, _)| symbol)
        };
        let symbols = (1..=BITS).flat_map(of_length).collect();
        Some(Self { counts, symbols })
    }

    fn read(&self, stream: &mut Stream<'_>) -> Option<usize> {
        let (mut code, mut first, mut place) = (0_usize, 0_usize, 0_usize);
        for count in &self.counts[1..] {
            code |= stream.bits(1)?;
            if code < first + count {
                return self.symbols.get(place + (code - first)).copied();
            }
            (place, first) = (place + count, (first + count) << 1);
            code <<= 1;
        }
        None
    }
}

fn stored(stream: &mut Stream<'_>, out: &mut Vec<u8>, most: usize) -> Option<()> {
    // What is left of the byte is not used, and no whole byte was taken ahead.
    (stream.held, stream.count) = (0, 0);
    let (head, rest) = stream.bytes.split_at_checked(4)?;
    let length = u16::from_le_bytes([head[0], head[1]]);
    if length != !u16::from_le_bytes([head[2], head[3]]) {
        return None;
    }
    let (copied, rest) = rest.split_at_checked(length.into())?;
    stream.bytes = rest;
    out.extend_from_slice(copied);
    (out.len() <= most).then_some(())
}

fn fixed() -> Option<(Code, Code)> {
    let length = |symbol: usize| match symbol {
        0..144 => 8,
        144..256 => 9,
        256..280 => 7,
        _ => 8,
    };
    let lengths: Vec<usize> = (0..288).map(length).collect();
    Some((Code::of(&lengths)?, Code::of(&[5; 30])?))
}

fn described(stream: &mut Stream<'_>) -> Option<(Code, Code)> {
    let literals = stream.bits(5)? + 257;
    let distances = stream.bits(5)? + 1;
    let told = stream.bits(4)? + 4;
    let mut lengths = [0; 19];
    for place in &ORDER[..told] {
        lengths[*place] = stream.bits(3)?;
    }
    let code = Code::of(&lengths)?;
    let mut lengths: Vec<usize> = vec![];
    while lengths.len() < literals + distances {
        let (length, times) = match code.read(stream)? {
            length @ 0..16 => (length, 1),
            16 => (*lengths.last()?, 3 + stream.bits(2)?),
            17 => (0, 3 + stream.bits(3)?),
            _ => (0, 11 + stream.bits(7)?),
        };
        lengths.extend(std::iter::repeat_n(length, times));
    }
    if lengths.len() > literals + distances {
        return None;
    }
    let (literals, distances) = lengths.split_at(literals);
    Some((Code::of(literals)?, Code::of(distances)?))
}

fn coded(
    stream: &mut Stream<'_>,
    lengths: &Code,
    distances: &Code,
    out: &mut Vec<u8>,
    most: usize,
) -> Option<()> {
    while out.len() <= most {
        let symbol = lengths.read(stream)?;
        if symbol == 256 {
            return Some(());
        }
        if let Ok(literal) = u8::try_from(symbol) {
            out.push(literal);
            continue;
        }
        let (shortest, extra) = *LENGTHS.get(symbol - 257)?;
        let length = shortest + stream.bits(extra)?;
        let back = distance(distances.read(stream)?, stream)?;
        let from = out.len().checked_sub(back)?;
        // It may run into what it writes itself.
        for place in from..from + length {
            out.push(out[place]);
        }
    }
    None
}

/// Two codes for each number of further bits, after the first four.
fn distance(symbol: usize, stream: &mut Stream<'_>) -> Option<usize> {
    let extra = u32::try_from(symbol / 2).ok()?.saturating_sub(1);
    match symbol {
        0..4 => Some(symbol + 1),
        4..30 => Some(((2 + symbol % 2) << extra) + 1 + stream.bits(extra)?),
        _ => None,
    }
}

fn adler(bytes: &[u8]) -> u32 {
    let add = |(low, high): (u32, u32), byte: &u8| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    };
    let (low, high) = bytes.iter().fold((1, 0), add);
    (high << 16) | low
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
