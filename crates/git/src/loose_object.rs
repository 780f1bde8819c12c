//! Objects that lie in files of their own, read without git: those of the last days, until git packs them.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::inflate::inflate;
use crate::repository::Repository;

/// An object is not read beyond this.
const LARGEST: usize = 64 * 1024;

/// Where the object with this id lies in the directory `objects` if it is not packed.
pub(crate) fn place(objects: &Path, id: &str) -> Option<PathBuf> {
    let (directory, name) = id.split_at_checked(2)?;
    Some(objects.join(directory).join(name))
}

/// What is in an object, without its head; none if it is packed, large, of another kind or odd.
pub(crate) fn read(objects: &Path, id: &str, kind: &str) -> Option<Vec<u8>> {
    let (found, body) = open(&place(objects, id)?)?;
    (found == kind.as_bytes()).then_some(body)
}

/// The kind and the content of the object in this file; none if it is not there, large or odd.
pub(crate) fn open(file: &Path) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut packed = vec![];
    let limit = u64::try_from(LARGEST).ok()?;
    File::open(file)
        .ok()?
        .take(limit)
        .read_to_end(&mut packed)
        .ok()?;
    let mut object = inflate(&packed, LARGEST)?;
    let head = object.iter().position(|&byte| byte == 0)?;
    let body = object.split_off(head + 1);
    let space = object.iter().position(|&byte| byte == b' ')?;
    let length = str::from_utf8(&object[space + 1..head]).ok()?;
    let is_whole = length.parse() == Ok(body.len());
    object.truncate(space);
    is_whole.then_some((object, body))
}

/// An id of SHA-1 from its digits.
pub(crate) fn id(digits: &str) -> Option<[u8; 20]> {
    let mut id = [0; 20];
    if digits.len() != 2 * id.len() {
        return None;
    }
    for (at, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(id)
}

/// Whether git shows every object as it is: none stands for another.
pub(crate) fn are_themselves(at: &Repository) -> bool {
    let replaced = "refs/replace";
    let packed = at.common_dir().join("packed-refs");
    let names_none = match fs::read(packed) {
        Ok(text) => !text
            .windows(replaced.len())
            .any(|it| it == replaced.as_bytes()),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    names_none && !at.common_dir().join(replaced).exists()
}

/// An id as one writes it.
pub(crate) fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}
