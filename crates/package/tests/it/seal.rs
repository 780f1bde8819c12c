use handoff_core::task::Evidence;
use handoff_package::seal::PAYLOAD_LIMIT;
use handoff_package::{OpenError, SealError, open, seal};

use crate::fixture::package;

fn sealed() -> Vec<u8> {
    seal(&package()).unwrap().bytes().to_owned()
}

/// The sealed package with its header changed by hand.
fn with_header(change: impl Fn(&str) -> String) -> Vec<u8> {
    let text = String::from_utf8(sealed()).unwrap();
    let (header, payload) = text.split_once('\n').unwrap();
    format!("{}\n{payload}", change(header)).into_bytes()
}

/// A payload with a sound header in front.
fn with_payload(change: impl Fn(&str) -> String) -> Vec<u8> {
    use sha2::{Digest as _, Sha256};
    let text = String::from_utf8(sealed()).unwrap();
    let payload = change(text.split_once('\n').unwrap().1);
    let digest: String = Sha256::digest(&payload)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let header = format!(
        r#"{{"format":"handoff-package","version":1,"sha256":"{digest}","length":{}}}"#,
        payload.len()
    );
    format!("{header}\n{payload}").into_bytes()
}

#[test]
fn a_package_comes_back_as_it_was_sealed() {
    assert_eq!(open(&sealed()).unwrap(), package());
    assert_eq!(seal(&package()).unwrap(), seal(&package()).unwrap());
    assert_eq!(with_payload(str::to_owned), sealed());
}

#[test]
fn a_package_cut_anywhere_is_refused() {
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
fn a_package_with_any_bit_flipped_is_refused() {
    let bytes = sealed();
    for (place, bit) in (0..bytes.len()).flat_map(|place| (0..8).map(move |bit| (place, bit))) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << bit;
        assert!(open(&flipped).is_err(), "bit {bit} of byte {place}");
    }
}

#[test]
fn each_fault_has_its_own_error() {
    let bytes = sealed();
    let trailing = [bytes.as_slice(), b"\n"].concat();
    assert!(matches!(
        open(&trailing),
        Err(OpenError::TrailingBytes { extra: 1 })
    ));
    let mut payload = bytes;
    *payload.last_mut().unwrap() ^= 1;
    assert!(matches!(open(&payload), Err(OpenError::Digest)));
    let version = with_header(|header| header.replace(r#""version":1"#, r#""version":2"#));
    assert!(matches!(
        open(&version),
        Err(OpenError::UnknownVersion { version: 2 })
    ));
    let format = with_header(|header| header.replace("handoff-package", "handoff-parcel"));
    assert!(matches!(open(&format), Err(OpenError::ForeignFormat)));
    let length = with_header(|header| header.replace(r#""length":"#, r#""length":99999999"#));
    assert!(matches!(open(&length), Err(OpenError::TooLong { .. })));
    let long = vec![b' '; 5000];
    assert!(matches!(open(&long), Err(OpenError::HeaderTooLong)));
    assert!(matches!(open(b"not json\n"), Err(OpenError::Header(_))));
}

#[test]
fn a_header_in_another_spelling_is_refused() {
    let spellings: [fn(&str) -> String; 6] = [
        |header| header.replace(',', ", "),
        |header| header.replace("handoff-package", "\\u0068andoff-package"),
        |header| format!("{header}\r"),
        |header| format!("\u{feff}{header}"),
        |header| header.replace('}', ",\"more\":1}"),
        |header| header.replace(r#""length":"#, r#""length":1,"length":"#),
    ];
    for (number, spelling) in spellings.iter().enumerate() {
        let error = open(&with_header(spelling)).unwrap_err();
        let is_refused = matches!(error, OpenError::HeaderSpelling | OpenError::Header(_));
        assert!(is_refused, "spelling {number}: {error}");
    }
}

#[test]
fn a_payload_that_is_no_package_is_refused_although_its_digest_is_right() {
    let payloads: [fn(&str) -> String; 4] = [
        |_| "{}".to_owned(),
        |payload| payload.replacen('{', "{\"more\":1,", 1),
        |payload| payload.replacen('{', "{\"fence\":7,", 1),
        |payload| payload.replace("fix-bug\"", "../bug\""),
    ];
    for (number, payload) in payloads.iter().enumerate() {
        let error = open(&with_payload(payload)).unwrap_err();
        assert!(
            matches!(error, OpenError::Payload(_)),
            "payload {number}: {error}"
        );
    }
}

#[test]
fn what_could_not_be_opened_is_not_sealed() {
    let mut package = package();
    let evidence = Evidence::Sealed {
        package: package.id,
        digest: "0".repeat(PAYLOAD_LIMIT),
    };
    package.evidence.push(evidence);
    assert!(matches!(seal(&package), Err(SealError::TooLong { .. })));
}
