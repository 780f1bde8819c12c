//! Something that a session in a sandbox has done outside, by its holder: a command of this program, which the holder starts
//! as the session and never as the person.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A command to be run outside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// Its words, without the name of the program.
    pub words: Vec<Word>,
    /// Where in the tree the session stands.
    pub directory: PathBuf,
    /// What it reads.
    #[serde(default)]
    pub input: Bytes,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    pub exit_code: u8,
    pub stdout: Bytes,
    pub stderr: Bytes,
}

/// A word that need not be text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word(pub OsString);

/// Bytes that need not be text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
        Ok(Self(bytes))
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Bytes(self.0.as_bytes().to_vec()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Bytes(bytes) = Bytes::deserialize(deserializer)?;
        Ok(Self(OsString::from_vec(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_input_need_not_be_text() {
        let errand = Errand {
            words: vec![Word(OsString::from_vec(vec![0xff, b'x']))],
            directory: "src".into(),
            input: Bytes(vec![0, 255]),
        };
        let text = serde_json::to_string(&errand).unwrap();
        assert_eq!(serde_json::from_str::<Errand>(&text).unwrap(), errand);
    }
}
