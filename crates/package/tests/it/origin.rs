//! Where content comes from is sealed with it, whoever seals it.

use handoff_core::package::Origin;
use handoff_package::{KeyPair, Package, open, seal};

use crate::fixture::{key, package, provenance};

fn with(change: impl FnOnce(&mut Package)) -> Package {
    let mut package = package();
    change(&mut package);
    package
}

#[test]
fn a_file_without_a_seal_stays_one_through_every_seal() {
    let own = package();
    let imported = with(|it| it.label.provenance = Some(provenance()));
    // What versions before the field made of such a file.
    let older = with(|it| it.payload.metadata.foreign_id = Some("hof-1".parse().unwrap()));
    for (what, package, is_foreign) in [
        ("own", &own, false),
        ("imported", &imported, true),
        ("older", &older, true),
    ] {
        for sealer in [key(), KeyPair::from_secret(&[9; 32])] {
            let sealed = seal(package, &sealer).unwrap();
            let opened = open(sealed.bytes()).unwrap();
            assert_eq!(opened.package, *package, "{what}");
            assert_eq!(opened.package.is_foreign(), is_foreign, "{what}");
            for arrival in [Origin::Made, Origin::Imported, Origin::Unsealed] {
                let expected = if is_foreign {
                    Origin::Unsealed
                } else {
                    arrival
                };
                let origin = arrival.of_content(opened.package.is_foreign());
                assert_eq!(origin, expected, "{what}, {arrival:?}");
            }
        }
    }
}

#[test]
fn whoever_takes_the_origin_off_a_package_breaks_its_seal() {
    let package = with(|it| it.label.provenance = Some(provenance()));
    let sealed = seal(&package, &key()).unwrap();
    let text = std::str::from_utf8(sealed.bytes()).unwrap();
    let start = text.find(r#","provenance":{"#).unwrap();
    let end = start + text[start..].find('}').unwrap() + 1;
    let stripped = format!("{}{}", &text[..start], &text[end..]);
    assert!(open(stripped.as_bytes()).is_err());
    let renamed = text.replacen("hof-1", "hof-2", 1);
    assert!(open(renamed.as_bytes()).is_err());
}

#[test]
fn the_label_of_an_own_package_is_spelled_as_before() {
    let sealed = seal(&package(), &key()).unwrap();
    let text = std::str::from_utf8(sealed.bytes()).unwrap();
    assert!(!text.contains("provenance"));
}
