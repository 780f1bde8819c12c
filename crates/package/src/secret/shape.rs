//! What secrets look like. Each shape has a beginning that is rare in ordinary text, and says how to go on from there.

use std::sync::LazyLock;

use super::Span;

/// How a kind of secret looks.
pub(super) struct Shape {
    kind: &'static str,
    begins: &'static [&'static str],
    goes_on: Tail,
}

/// What follows the beginning.
enum Tail {
    /// At least so many of these characters; all of them belong to it. Nothing of the kind stands before it.
    Run(fn(u8) -> bool, usize),
    /// Exactly so many.
    Exactly(fn(u8) -> bool, usize),
    /// Parts of base64url, divided by dots: a JWT.
    Dotted,
    /// To the end mark of a key, or to the end of the text.
    Pem,
    /// `name:password@` of an address.
    Address,
    /// A value that is assigned: `= "…"`, `: …`.
    Assigned,
    /// `login … password …` of a netrc.
    Netrc,
    /// Digits and a colon stand before it: the token of a Telegram bot.
    Bot,
}

const fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

const fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

const fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

const fn hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

const fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

const fn dotted(byte: u8) -> bool {
    word(byte) || byte == b'.'
}

const fn shape(kind: &'static str, begins: &'static [&'static str], goes_on: Tail) -> Shape {
    Shape {
        kind,
        begins,
        goes_on,
    }
}

pub(super) const SHAPES: &[Shape] = &[
    shape("private key", &["-----BEGIN "], Tail::Pem),
    shape(
        "AWS access key",
        &["AKIA", "ASIA"],
        Tail::Exactly(upper, 16),
    ),
    shape(
        "GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        Tail::Run(word, 30),
    ),
    shape(
        "GitLab token",
        &["glpat-", "gldt-", "glrt-"],
        Tail::Run(word, 20),
    ),
    shape(
        "Slack token",
        &["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xapp-"],
        Tail::Run(word, 10),
    ),
    shape(
        "Slack webhook",
        &["hooks.slack.com/services/"],
        Tail::Run(|byte| word(byte) || byte == b'/', 20),
    ),
    shape("Anthropic key", &["sk-ant-"], Tail::Run(word, 20)),
    shape(
        "OpenAI key",
        &["sk-proj-", "sk-svcacct-", "sk-"],
        Tail::Run(word, 32),
    ),
    shape(
        "Stripe key",
        &["sk_live_", "rk_live_", "sk_test_", "whsec_"],
        Tail::Run(word, 16),
    ),
    shape("Google key", &["AIza"], Tail::Exactly(word, 35)),
    shape("Google client secret", &["GOCSPX-"], Tail::Run(word, 20)),
    shape("npm token", &["npm_"], Tail::Run(alphanumeric, 36)),
    shape("PyPI token", &["pypi-AgE"], Tail::Run(word, 40)),
    shape("crates.io token", &["cio"], Tail::Exactly(alphanumeric, 32)),
    shape("SendGrid key", &["SG."], Tail::Run(dotted, 40)),
    shape("Twilio key", &["SK"], Tail::Exactly(hex, 32)),
    shape(
        "DigitalOcean token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        Tail::Exactly(hex, 64),
    ),
    shape("Hugging Face token", &["hf_"], Tail::Run(alphanumeric, 30)),
    shape("Docker token", &["dckr_pat_"], Tail::Run(word, 20)),
    shape(
        "Shopify token",
        &["shpat_", "shpss_", "shpca_", "shppa_"],
        Tail::Exactly(hex, 32),
    ),
    shape("Databricks token", &["dapi"], Tail::Exactly(hex, 32)),
    shape(
        "age secret key",
        &["AGE-SECRET-KEY-1"],
        Tail::Run(upper, 50),
    ),
    shape("Azure storage key", &["AccountKey="], Tail::Run(base64, 60)),
    shape(
        "handoff secret key",
        &["ed25519 secret "],
        Tail::Exactly(hex, 64),
    ),
    shape("Telegram bot token", &[":AA"], Tail::Bot),
    shape("JSON web token", &["eyJ"], Tail::Dotted),
    shape("password in an address", &["://"], Tail::Address),
    shape("password of a netrc", &["machine "], Tail::Netrc),
    shape(
        "assigned secret",
        &[
            "password",
            "passwd",
            "secret",
            "token",
            "api_key",
            "apikey",
            "api-key",
            "access_key",
            "private_key",
            "authorization",
            "PASSWORD",
            "PASSWD",
            "SECRET",
            "TOKEN",
            "API_KEY",
            "APIKEY",
            "ACCESS_KEY",
            "PRIVATE_KEY",
            "Password",
            "Secret",
            "Token",
            "Authorization",
        ],
        Tail::Assigned,
    ),
];

/// Where each beginning is found by its first two bytes, so that a text is gone through once, however many shapes there are.
struct Index {
    /// The bucket of a pair of bytes; 0 is none.
    table: Vec<u8>,
    buckets: Vec<Vec<(&'static Shape, &'static str)>>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index {
        table: vec![0; 1 << 16],
        buckets: vec![vec![]],
    };
    let begins = SHAPES
        .iter()
        .flat_map(|shape| shape.begins.iter().map(move |begin| (shape, *begin)));
    for (shape, begin) in begins {
        let pair = pair(begin.as_bytes()[0], begin.as_bytes()[1]);
        if index.table[pair] == 0 {
            let bucket = u8::try_from(index.buckets.len());
            index.table[pair] = bucket.expect("there are fewer beginnings than that");
            index.buckets.push(vec![]);
        }
        index.buckets[usize::from(index.table[pair])].push((shape, begin));
    }
    index
});

const fn pair(first: u8, second: u8) -> usize {
    (first as usize) << 8 | second as usize
}

/// Everything in a text that looks like a secret, in order of where it begins to.
pub(super) fn find_all(text: &str) -> Vec<Span> {
    let index = &*INDEX;
    let bytes = text.as_bytes();
    let mut found = vec![];
    for (place, two) in bytes.windows(2).enumerate() {
        let bucket = index.table[pair(two[0], two[1])];
        if bucket == 0 {
            continue;
        }
        for (shape, begin) in &index.buckets[usize::from(bucket)] {
            if bytes[place..].starts_with(begin.as_bytes()) {
                found.extend(shape.at(text, place, place + begin.len()));
            }
        }
    }
    found
}

impl Shape {
    /// The secret that begins here; `behind` is where its beginning ends.
    fn at(&self, text: &str, start: usize, behind: usize) -> Option<Span> {
        let rest = text.as_bytes().get(behind..)?;
        let before = text.as_bytes()[..start].last().copied();
        let (start, end) = match &self.goes_on {
            Tail::Run(is_part, least) => (
                start,
                run(rest, *is_part, *least, before).map(|it| behind + it)?,
            ),
            Tail::Exactly(is_part, count) => {
                let found = run(rest, *is_part, *count, before)?;
                (start, (found == *count).then_some(behind + found)?)
            }
            Tail::Dotted => (start, behind + jwt(rest, before)?),
            Tail::Pem => (start, pem(text, start)?),
            Tail::Address => {
                let (from, to) = password_of_address(rest)?;
                (behind + from, behind + to)
            }
            Tail::Assigned => {
                let (from, to) = assigned(rest)?;
                (behind + from, behind + to)
            }
            Tail::Netrc => {
                let (from, to) = netrc(&text[behind..])?;
                (behind + from, behind + to)
            }
            Tail::Bot => bot(text.as_bytes(), start)?,
        };
        let kind = self.kind;
        Some(Span { kind, start, end })
    }
}

/// How long a run is that is long enough and stands alone.
fn run(rest: &[u8], is_part: fn(u8) -> bool, least: usize, before: Option<u8>) -> Option<usize> {
    let length = rest.iter().take_while(|byte| is_part(**byte)).count();
    let stands_alone = before.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (length >= least && stands_alone).then_some(length)
}

fn jwt(rest: &[u8], before: Option<u8>) -> Option<usize> {
    let length = run(rest, dotted, 30, before)?;
    let parts = rest[..length]
        .split(|byte| *byte == b'.')
        .collect::<Vec<_>>();
    let is_token = parts.len() == 3 && parts[1].starts_with(b"eyJ") && parts[2].len() >= 10;
    is_token.then_some(length)
}

fn pem(text: &str, start: usize) -> Option<usize> {
    let rest = &text[start..];
    let first = rest.lines().next().unwrap_or(rest);
    let title = &first[..first.floor_char_boundary(80)];
    if !title.contains("PRIVATE KEY") {
        return None;
    }
    let end = rest.find("-----END ").map_or(rest.len(), |at| {
        let tail = &rest[at + 9..];
        tail.find("-----").map_or(rest.len(), |it| at + 9 + it + 5)
    });
    Some(start + end)
}

/// The password of `name:password@host`; what stands for one in documentation is none.
fn password_of_address(rest: &[u8]) -> Option<(usize, usize)> {
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
fn assigned(rest: &[u8]) -> Option<(usize, usize)> {
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

fn netrc(rest: &str) -> Option<(usize, usize)> {
    let block = &rest[..rest.find("machine ").unwrap_or(rest.len())];
    let at = block.find("password ")? + "password ".len();
    let length = block[at..]
        .find(char::is_whitespace)
        .unwrap_or(block.len() - at);
    let is_meant = length > 0 && !is_placeholder(&block.as_bytes()[at..at + length]);
    is_meant.then_some((at, at + length))
}

fn bot(text: &[u8], colon: usize) -> Option<(usize, usize)> {
    let digits = text[..colon]
        .iter()
        .rev()
        .take_while(|it| it.is_ascii_digit())
        .count();
    let length = text[colon + 1..]
        .iter()
        .take_while(|byte| word(**byte))
        .count();
    let is_token = (8..=10).contains(&digits) && length == 35;
    is_token.then_some((colon - digits, colon + 1 + length))
}
