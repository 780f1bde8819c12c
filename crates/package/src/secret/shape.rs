//! What secrets look like. Each shape has a beginning that is rare in ordinary text, and says how to go on from there.

mod value;

use std::sync::LazyLock;

use super::Span;
use super::view::View;
use value::{assigned, netrc, password_of_address};

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
        &["ed25519 secret ", "ed25519secret ", "ed25519 secret"],
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
    find(text, |shape, start, behind| shape.at(text, start, behind))
}

/// Tokens that stand across a line break of the original. Only shapes that end by themselves: a value that is assigned, or the rest
/// of an address, would take the next line for its own.
pub(super) fn find_joined(joined: &View) -> Vec<Span> {
    let text = joined.text();
    find(text, |shape, start, behind| {
        let span = shape.across(joined, start, behind)?;
        let length = joined.original(span.end - 1) - joined.original(span.start);
        (length > span.end - 1 - span.start).then_some(span)
    })
}

fn find(text: &str, at: impl Fn(&Shape, usize, usize) -> Option<Span>) -> Vec<Span> {
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
                found.extend(at(shape, place, place + begin.len()));
            }
        }
    }
    found
}

impl Shape {
    /// The secret that begins here; `behind` is where its beginning ends.
    fn at(&self, text: &str, start: usize, behind: usize) -> Option<Span> {
        let rest = text.as_bytes().get(behind..)?;
        let at = Place {
            before: text.as_bytes()[..start].last().copied(),
            begin: behind - start,
        };
        let (start, end) = match &self.goes_on {
            Tail::Run(is_part, least) => (
                start,
                run(rest, *is_part, *least, at).map(|it| behind + it)?,
            ),
            Tail::Exactly(is_part, count) => {
                let found = run(rest, *is_part, *count, at)?;
                (start, (found == *count).then_some(behind + found)?)
            }
            Tail::Dotted => (start, behind + jwt(rest, at)?),
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
            Tail::Bot => bot(text.as_bytes(), start, |_| false)?,
        };
        let kind = self.kind;
        Some(Span { kind, start, end })
    }

    /// The token that begins here in a text that was joined over line breaks.
    fn across(&self, joined: &View, start: usize, behind: usize) -> Option<Span> {
        match &self.goes_on {
            Tail::Run(..) | Tail::Dotted => self.at(joined.text(), start, behind),
            Tail::Bot => {
                let (start, end) = bot(joined.text().as_bytes(), start, |at| joined.is_seam(at))?;
                let kind = self.kind;
                Some(Span { kind, start, end })
            }
            Tail::Exactly(is_part, count) => {
                let rest = &joined.text().as_bytes()[behind..];
                let found = rest.iter().take_while(|byte| is_part(**byte)).count();
                let end = behind + count;
                // What follows in the next line may go on with the same characters.
                let ends_there = found == *count || (found > *count && joined.is_seam(end));
                let kind = self.kind;
                ends_there.then_some(Span { kind, start, end })
            }
            Tail::Pem | Tail::Address | Tail::Assigned | Tail::Netrc => None,
        }
    }
}

/// A beginning that is as long as this is rare within a word.
const RARE: usize = 4;

/// How long a run is that is long enough. Within a word, behind a beginning that words have too, only with a digit in it.
fn run(rest: &[u8], is_part: fn(u8) -> bool, least: usize, at: Place) -> Option<usize> {
    let length = rest.iter().take_while(|byte| is_part(**byte)).count();
    let stands_alone = at.before.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let is_rare = at.begin >= RARE || rest[..length].iter().any(u8::is_ascii_digit);
    (length >= least && (stands_alone || is_rare)).then_some(length)
}

/// Where a secret seems to begin.
#[derive(Clone, Copy)]
struct Place {
    /// What stands right before it.
    before: Option<u8>,
    /// How long its beginning is.
    begin: usize,
}

fn jwt(rest: &[u8], at: Place) -> Option<usize> {
    let length = run(rest, dotted, 30, at)?;
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

/// `can_end` says whether it may end in the middle of a run, because a line does.
fn bot(text: &[u8], colon: usize, can_end: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    const LENGTH: usize = 35;
    let digits = text[..colon]
        .iter()
        .rev()
        .take_while(|it| it.is_ascii_digit())
        .count();
    let length = text[colon + 1..]
        .iter()
        .take_while(|byte| word(**byte))
        .count();
    let end = colon + 1 + LENGTH;
    let ends_there = length == LENGTH || (length > LENGTH && can_end(end));
    let is_token = (8..=10).contains(&digits) && ends_there;
    is_token.then_some((colon - digits, end))
}
