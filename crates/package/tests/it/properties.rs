//! What goes in comes out, whatever it is.

use std::io::Read as _;

use handoff_core::context::{Entry, MOST_TAGS};
use handoff_core::{JsonText, Timestamp};
use handoff_package::bundle::{self, Bundle};
use handoff_package::payload::SerializedContext;
use handoff_package::{Shelf, open, seal};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::fixture::{key, package};

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|it| it.to_string()),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?",
        any::<String>().prop_map(|it| serde_json::Value::from(it).to_string()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = any::<String>().prop_map(|it| serde_json::Value::from(it).to_string());
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|it| format!("[{}]", it.join(", "))),
            btree_map(key, inner, 0..4).prop_map(|it| {
                let pairs: Vec<_> = it
                    .iter()
                    .map(|(key, value)| format!("{key} :{value}"))
                    .collect();
                format!("{{{}}}", pairs.join(","))
            }),
        ]
    })
}

pub(crate) fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let details = (
        json(),
        proptest::option::of("[a-zé ]{0,5}[a-z]"),
        vec("[a-z]{1,8}", 0..MOST_TAGS),
        0..4_000_000_000_i64,
    );
    btree_map("[a-z][a-z.:/äß-]{0,20}[a-z]", details, 0..12).prop_map(|map| {
        let entry = |(key, (value, source, tags, at)): (
            String,
            (String, Option<String>, Vec<String>, i64),
        )| Entry {
            key: key.parse().unwrap(),
            value: JsonText::parse(&value).unwrap(),
            source: source.map(|it| it.trim().parse().unwrap()),
            tags: tags.iter().map(|tag| tag.parse().unwrap()).collect(),
            author: "person".parse().unwrap(),
            at: Timestamp::from_second(at).unwrap(),
        };
        map.into_iter().map(entry).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_context_comes_out_of_a_package_as_it_went_in(entries in entries()) {
        let mut package = package();
        package.payload.required.clear();
        package.payload.context = SerializedContext::of(entries.clone());
        let sealed = seal(&package, &key()).unwrap();
        let opened = open(sealed.bytes()).unwrap();
        prop_assert_eq!(&opened.package, &package);
        prop_assert_eq!(opened.package.payload.context.to_entries(), entries);
        let mut shelf = Shelf::at(std::path::PathBuf::from("/nowhere"));
        let mut carried = vec![];
        let reader = Bundle::new(sealed.bytes().to_vec(), &opened, &mut shelf);
        reader.unwrap().read_to_end(&mut carried).unwrap();
        let unpacked = bundle::read_package(&mut carried.as_slice()).unwrap();
        prop_assert_eq!(unpacked.opened, opened);
    }
}
