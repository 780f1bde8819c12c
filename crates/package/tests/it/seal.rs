//! A sealed package opens as it was sealed, and not at all if anything about it is different.

use handoff_core::task::Reason;
use handoff_package::payload::ContentError;
use handoff_package::seal::PAYLOAD_LIMIT;
use handoff_package::{KeyPair, OpenError, SealError, open, seal};
use ring::signature::Ed25519KeyPair;
use sha2::{Digest as _, Sha256};

use crate::fixture::{entry, key, package};

fn sealed() -> Vec<u8> {
    seal(&package(), &key()).unwrap().bytes().to_owned()
}

fn text() -> String {
    String::from_utf8(sealed()).unwrap()
}

/// The sealed package with its header changed by hand.
fn with_header(change: impl Fn(&str) -> String) -> Vec<u8> {
    let text = text();
    let (header, payload) = text.split_once('\n').unwrap();
    format!("{}\n{payload}", change(header)).into_bytes()
}

/// Another payload, with its digest and length put into the header as anybody can.
fn with_payload(change: impl Fn(&str) -> String) -> Vec<u8> {
    let text = text();
    let (header, payload) = text.split_once('\n').unwrap();
    let changed = change(payload);
    let digest = |payload: &str| hex(&Sha256::digest(payload));
    let header = header.replace(&digest(payload), &digest(&changed)).replace(
        &format!("\"length\":{}", payload.len()),
        &format!("\"length\":{}", changed.len()),
    );
    format!("{header}\n{changed}").into_bytes()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Another payload as somebody seals it who has the key, and does not look at what they seal.
fn sealed_carelessly(change: impl Fn(&str) -> String) -> Vec<u8> {
    let text = String::from_utf8(with_payload(change)).unwrap();
    let (header, payload) = text.split_once('\n').unwrap();
    let (signed, _) = header.rsplit_once(",\"signature\":").unwrap();
    let key = Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap();
    let signature = hex(key.sign(signed.as_bytes()).as_ref());
    format!("{signed},\"signature\":\"{signature}\"}}\n{payload}").into_bytes()
}

#[test]
fn a_package_comes_back_as_it_was_sealed() {
    let opened = open(&sealed()).unwrap();
    assert_eq!(opened.package, package());
    assert_eq!(opened.signer, key().public());
    assert_eq!(sealed(), sealed(), "the same package has the same bytes");
}

#[test]
fn a_package_cut_anywhere_is_refused_with_where() {
    let bytes = sealed();
    let header = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for length in 0..bytes.len() {
        let error = open(&bytes[..length]).unwrap_err();
        let is_named = if length < header {
            matches!(error, OpenError::HeaderCut)
        } else {
            matches!(error, OpenError::Cut { found, .. } if found == length - header)
        };
        assert!(is_named, "cut at {length}: {error}");
    }
}

#[test]
fn a_package_with_any_bit_flipped_is_refused_before_it_is_parsed() {
    let bytes = sealed();
    let header = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    for (place, bit) in (0..bytes.len()).flat_map(|place| [0, 5].map(|bit| (place, bit))) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << bit;
        let error = open(&flipped).expect_err("it was changed");
        let was_parsed = matches!(
            error,
            OpenError::Label(_) | OpenError::Payload(_) | OpenError::Content(_)
        );
        assert!(!was_parsed, "bit {bit} of byte {place}: {error}");
        let is_payload = place >= header;
        assert_eq!(
            is_payload,
            matches!(error, OpenError::Digest),
            "{place}: {error}"
        );
    }
}

#[test]
fn each_fault_has_its_own_reason() {
    let bytes = sealed();
    let trailing = [bytes.as_slice(), b"\n"].concat();
    let twice = [bytes.as_slice(), bytes.as_slice()].concat();
    let mut payload = bytes.clone();
    *payload.last_mut().unwrap() ^= 1;
    let version = with_header(|it| it.replace(r#""version":2"#, r#""version":1"#));
    let foreign = with_header(|it| it.replace("handoff-package", "handoff-parcel"));
    let bom = [b"\xef\xbb\xbf", bytes.as_slice()].concat();
    let long = [&bytes[..60], &vec![b' '; 9000]].concat();
    let unsigned = with_header(|it| format!("{}}}", &it[..it.len() - 145]));
    let crlf = with_header(|it| format!("{it}\r"));
    let kinds: Vec<_> = [
        trailing, twice, payload, version, foreign, bom, long, unsigned, crlf,
    ]
    .iter()
    .map(|bytes| format!("{:?}", open(bytes).unwrap_err()))
    .collect();
    let length = bytes.len();
    assert_eq!(
        kinds,
        [
            "TrailingBytes { extra: 1 }".to_owned(),
            format!("TrailingBytes {{ extra: {length} }}"),
            "Digest".to_owned(),
            "UnknownVersion { version: \"1\" }".to_owned(),
            "ForeignFormat".to_owned(),
            "ForeignFormat".to_owned(),
            "HeaderTooLong".to_owned(),
            "Unsigned".to_owned(),
            "Unsigned".to_owned(),
        ]
    );
}

#[test]
fn whoever_can_compute_a_digest_still_cannot_change_anything() {
    let other = seal(&package(), &KeyPair::from_secret(&[9; 32])).unwrap();
    let other = String::from_utf8(other.bytes().to_owned()).unwrap();
    let foreign_signature = other.split_once('\n').unwrap().0;
    let foreign_signature = &foreign_signature[foreign_signature.len() - 130..];
    let tampered = [
        with_payload(|it| it.replace("Fixed.", "Broken")),
        with_payload(|it| it.replace("analysis:2", "analysis:9")),
        with_header(|it| it.replace("2027-01-16T08:00:00Z", "2099-01-16T08:00:00Z")),
        with_header(|it| it.replace(r#""sessionId":"s1""#, r#""sessionId":"s2""#)),
        with_header(|it| it.replace(r#""audience":[]"#, r#""audience":["x"]"#)),
        with_header(|it| it.replace(r#""singleUse":true"#, r#""singleUse":false"#)),
        with_header(|it| it.replace(&key().public().to_string(), &other[47..111])),
        with_header(|it| format!("{}{foreign_signature}", &it[..it.len() - 130])),
    ];
    for bytes in &tampered {
        assert_ne!(*bytes, sealed());
        assert!(matches!(open(bytes), Err(OpenError::Signature)));
    }
    // All of it by another key is sound, and says whose.
    let opened = open(other.as_bytes()).unwrap();
    assert_ne!(opened.signer, key().public());
}

/// The digest is of the bytes: what another writer or formatter makes of them is another package, and what two readers could read
/// differently passes nobody.
#[test]
fn the_same_meaning_in_other_bytes_is_another_package() {
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let spellings: [fn(&str) -> String; 3] = [
        |it| format!(" {it}"),
        |it| it.replacen("\"summary\":", "\"summary\":\"Broken.\",\"summary\":", 1),
        |it| it.replacen("Fixed.", "\\u0046ixed.", 1),
    ];
    for change in spellings {
        let text = text();
        let payload = text.split_once('\n').unwrap().1;
        assert_ne!(change(payload), payload);
        assert_eq!(
            parsed(&change(payload)),
            parsed(payload),
            "it means the same"
        );
        assert!(matches!(
            open(&with_payload(change)),
            Err(OpenError::Signature)
        ));
        assert!(
            open(
                &[text.split_once('\n').unwrap().0, "\n", &change(payload)]
                    .concat()
                    .into_bytes()
            )
            .is_err()
        );
    }
}

#[test]
fn what_was_signed_and_does_not_fit_together_is_refused() {
    assert!(open(&sealed_carelessly(str::to_owned)).is_ok());
    let kind = |change: fn(&str) -> String| {
        let error = open(&sealed_carelessly(change)).unwrap_err();
        format!("{error:?}")
            .split(['(', ' ', '{'])
            .next()
            .unwrap()
            .to_owned()
    };
    let value = |it: &str| it.replace("9007199254740993", "9007199254740992");
    let step = |it: &str| it.replace("\"step\":2", "\"step\":6");
    let twice = |it: &str| it.replacen("\"summary\":", "\"summary\":\"x\",\"summary\":", 1);
    let unknown = |it: &str| it.replacen('{', "{\"valid\":true,", 1);
    let version = |it: &str| it.replacen("\"version\":\"1.0\"", "\"version\":\"2.0\"", 1);
    assert_eq!(
        [value, step, twice, unknown, version].map(kind),
        ["Content", "Content", "Payload", "Payload", "Payload"]
    );
}

#[test]
fn what_does_not_fit_together_is_not_sealed() {
    let mut missing = package();
    missing
        .payload
        .required
        .push("phase.result".parse().unwrap());
    assert_eq!(
        content_error(&missing),
        ContentError::Missing(vec!["phase.result".parse().unwrap()])
    );
    let mut twice = package();
    twice.payload.context =
        handoff_package::payload::SerializedContext::of([entry("a", "1"), entry("a", "2")]);
    assert_eq!(
        content_error(&twice),
        ContentError::Twice("a".parse().unwrap())
    );
    let mut sum = package();
    sum.payload.context.entries[0].value = "8".parse().unwrap();
    assert!(matches!(content_error(&sum), ContentError::Size { .. }));
    sum.payload.context.entries[0].value = "9007199254740992".parse().unwrap();
    assert_eq!(content_error(&sum), ContentError::Checksum);
    let mut step = package();
    step.payload.checkpoint.as_mut().unwrap().step = 6;
    assert_eq!(
        content_error(&step),
        ContentError::Step { step: 6, total: 5 }
    );
}

fn content_error(package: &handoff_package::Package) -> ContentError {
    match seal(package, &key()) {
        Err(SealError::Content(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_package_that_nobody_could_carry_is_not_sealed() {
    let mut package = package();
    let long: Reason = "x".repeat(Reason::LIMIT).parse().unwrap();
    package.payload.dead_ends = vec![long; 1 + PAYLOAD_LIMIT / Reason::LIMIT];
    let error = seal(&package, &key()).unwrap_err();
    assert!(matches!(error, SealError::TooLong { length } if length > PAYLOAD_LIMIT));
}
