//! Secrets that are known by what stands around them: the value of an assignment, of an address, of a netrc.

use super::word;

/// The password of `name:password@host`; what stands for one in documentation is none.
pub(super) fn password_of_address(rest: &[u8]) -> Option<(usize, usize)> {
    let is_part =
        |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'"' | b'\'' | b'<' | b'>');
    let length = rest.iter().take_while(|it| is_part(it)).count();
    let at = rest[..length].iter().rposition(|byte| *byte == b'@')?;
    let colon = rest[..at].iter().position(|byte| *byte == b':')?;
    let password = &rest[colon + 1..at];
    let is_meant = !password.is_empty() && !is_placeholder(password);
    is_meant.then_some((colon + 1, at))
}

/// A value of at least eight characters with no space in it, behind `=` or `:`.
pub(super) fn assigned(rest: &[u8]) -> Option<(usize, usize)> {
    let name = rest.iter().take_while(|byte| word(**byte)).count();
    let blank = |from: usize| {
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'"' | b'\'' | b'\\');
        from + rest[from.min(rest.len())..]
            .iter()
            .take_while(is_blank)
            .count()
    };
    let sign = blank(name);
    let is_sign = rest
        .get(sign)
        .is_some_and(|byte| matches!(byte, b'=' | b':'));
    let mut from = blank(sign + 1);
    if rest
        .get(from..)
        .is_some_and(|it| it.starts_with(b"Bearer "))
    {
        from += 7;
    }
    let is_part = |byte: &&u8| {
        byte.is_ascii_graphic()
            && !matches!(
                byte,
                b'"' | b'\'' | b'\\' | b',' | b';' | b')' | b'}' | b']'
            )
    };
    let length = rest.get(from..)?.iter().take_while(is_part).count();
    let value = &rest[from..from + length];
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let has_letter = value.iter().any(u8::is_ascii_alphabetic);
    let is_code = value
        .iter()
        .any(|byte| matches!(byte, b'(' | b'<' | b'{' | b'[' | b'`'));
    let is_secret = is_sign && length >= 8 && has_digit && has_letter && !is_code;
    (is_secret && !is_placeholder(value)).then_some((from, from + length))
}

fn is_placeholder(value: &[u8]) -> bool {
    let first = value[0];
    let is_variable = matches!(first, b'$' | b'<' | b'{' | b'%' | b'[');
    is_variable || value.iter().all(|byte| *byte == first)
}

pub(super) fn netrc(rest: &str) -> Option<(usize, usize)> {
    let block = &rest[..rest.find("machine ").unwrap_or(rest.len())];
    let at = block.find("password ")? + "password ".len();
    let length = block[at..]
        .find(char::is_whitespace)
        .unwrap_or(block.len() - at);
    let is_meant = length > 0 && !is_placeholder(&block.as_bytes()[at..at + length]);
    is_meant.then_some((at, at + length))
}
