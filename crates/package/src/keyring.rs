//! The keys that are known here: the machine's own, and those that a person trusted or revoked.
//!
//! Each is a file of its own, so nothing has to be locked, and a person can look. What is revoked stays revoked, whatever is
//! trusted besides.

use std::path::{Path, PathBuf};

use handoff_core::package::{Actor, KeyId};
use handoff_files::atomic::{self, Mode};
use handoff_files::{Dir, DirError, WriteError};

use crate::key::{KeyPair, PublicKey, from_hex, to_hex};

/// Where keys are kept, below the state directory.
const FOLDER: &str = "keys";
const OWN: &str = "own.key";
const LIMIT: u64 = 4096;

/// The keys that are known here.
#[derive(Debug, Clone)]
pub struct Keyring {
    path: PathBuf,
}

/// What a key is worth here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyStanding {
    /// This machine's.
    Own,
    /// A person trusts it, and calls it so.
    Trusted(Actor),
    /// A person does not trust it any more.
    Revoked,
    /// Nobody has said anything about it.
    Unknown,
}

/// A key that is known here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownKey {
    /// The key.
    pub key: PublicKey,
    /// What it is worth.
    pub standing: KeyStanding,
}

/// The keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// Their folder cannot be used.
    #[error("cannot use the folder of the keys")]
    Place(#[from] DirError),
    /// A key could not be written down.
    #[error("cannot write down a key")]
    Write(#[from] WriteError),
    /// A file is not what it should be; it was left as it is.
    #[error("`{0}` is not a key")]
    Damaged(PathBuf),
}

impl Keyring {
    /// The keys below this state directory.
    #[must_use]
    pub fn below(home: &Path) -> Self {
        Self {
            path: home.join(FOLDER),
        }
    }

    /// This machine's key. The first time, `fresh` random bytes become its secret.
    pub fn own(&self, fresh: impl FnOnce() -> [u8; 32]) -> Result<KeyPair, KeyringError> {
        if let Some(pair) = self.existing()? {
            return Ok(pair);
        }
        let dir = Dir::create_private(&self.path)?;
        let text = format!("ed25519 secret {}\n", to_hex(&fresh()));
        match atomic::create_new(&dir, OWN, text.as_bytes(), Mode::Private) {
            // Of several that come first at once, one was.
            Ok(()) | Err(WriteError::AlreadyExists(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let damaged = || KeyringError::Damaged(self.path.join(OWN));
        self.existing()?.ok_or_else(damaged)
    }

    /// This machine's key, if it has one yet.
    pub fn existing(&self) -> Result<Option<KeyPair>, KeyringError> {
        let Some(text) = self.read(OWN)? else {
            return Ok(None);
        };
        let secret = text
            .strip_prefix("ed25519 secret ")
            .and_then(|digits| from_hex(digits.trim_end().as_bytes()));
        let secret: [u8; 32] = secret.ok_or_else(|| KeyringError::Damaged(self.path.join(OWN)))?;
        Ok(Some(KeyPair::from_secret(&secret)))
    }

    /// Accepts what this key signs from now on.
    pub fn trust(&self, key: &PublicKey, name: &Actor) -> Result<(), KeyringError> {
        self.write("trusted", key, name)?;
        let dir = Dir::create_private(&self.path)?.create_dir("revoked")?;
        match dir.remove(key.id().as_str()) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Refuses what this key signed, from now on.
    pub fn revoke(&self, key: &PublicKey, name: &Actor) -> Result<(), KeyringError> {
        self.write("revoked", key, name)
    }

    fn write(&self, folder: &str, key: &PublicKey, name: &Actor) -> Result<(), KeyringError> {
        let dir = Dir::create_private(&self.path)?.create_dir(folder)?;
        let text = format!("ed25519 {key} {name}\n");
        let id = key.id();
        Ok(atomic::replace(
            &dir,
            id.as_str(),
            text.as_bytes(),
            Mode::Private,
        )?)
    }

    /// What a key is worth.
    pub fn standing(&self, key: &PublicKey) -> Result<KeyStanding, KeyringError> {
        let id = key.id();
        if self.noted("revoked", &id)?.is_some() {
            return Ok(KeyStanding::Revoked);
        }
        if self.existing()?.is_some_and(|own| own.public() == *key) {
            return Ok(KeyStanding::Own);
        }
        match self.noted("trusted", &id)? {
            // The id is short enough to be typed, and so not enough to be sure.
            Some((known, name)) if known == *key => Ok(KeyStanding::Trusted(name)),
            Some(_) | None => Ok(KeyStanding::Unknown),
        }
    }

    /// The key with this id, if it is known.
    pub fn find(&self, id: &KeyId) -> Result<Option<PublicKey>, KeyringError> {
        let own = self.existing()?.map(|own| own.public());
        if let Some(own) = own.filter(|own| own.id() == *id) {
            return Ok(Some(own));
        }
        let trusted = self.noted("trusted", id)?;
        let noted = match trusted {
            Some(noted) => Some(noted),
            None => self.noted("revoked", id)?,
        };
        Ok(noted.map(|(key, _)| key))
    }

    /// All known keys: the own one, then the others by id.
    pub fn list(&self) -> Result<Vec<KnownKey>, KeyringError> {
        let mut keys: Vec<_> = self
            .existing()?
            .map(|own| own.public())
            .into_iter()
            .collect();
        for folder in ["trusted", "revoked"] {
            for name in self.names(folder)? {
                let Ok(id) = name.parse() else { continue };
                let key = self.noted(folder, &id)?.map(|(key, _)| key);
                keys.extend(key.filter(|key| !keys.contains(key)));
            }
        }
        keys.into_iter()
            .map(|key| {
                let standing = self.standing(&key)?;
                Ok(KnownKey { key, standing })
            })
            .collect()
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, KeyringError> {
        match Dir::open(&self.path.join(folder)).and_then(|dir| dir.names()) {
            Ok(names) => Ok(names
                .into_iter()
                .filter_map(|name| name.into_string().ok())
                .collect()),
            Err(error) if error.is_not_found() => Ok(vec![]),
            Err(error) => Err(error.into()),
        }
    }

    /// What a file says about a key.
    fn noted(&self, folder: &str, id: &KeyId) -> Result<Option<(PublicKey, Actor)>, KeyringError> {
        let name = format!("{folder}/{id}");
        let Some(text) = self.read(&name)? else {
            return Ok(None);
        };
        let noted = text
            .trim_end()
            .strip_prefix("ed25519 ")
            .and_then(|rest| rest.split_once(' '))
            .and_then(|(key, name)| Some((key.parse().ok()?, name.parse().ok()?)));
        let noted = noted.filter(|(key, _): &(PublicKey, Actor)| key.id() == *id);
        let damaged = || KeyringError::Damaged(self.path.join(&name));
        noted.map(Some).ok_or_else(damaged)
    }

    fn read(&self, name: &str) -> Result<Option<String>, KeyringError> {
        match Dir::open(&self.path).and_then(|dir| dir.read_to_string(name, LIMIT)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_own_key_is_made_once_and_is_private() {
        let home = tempfile::tempdir().unwrap();
        let keyring = Keyring::below(home.path());
        assert!(keyring.existing().unwrap().is_none());
        let key = keyring.own(|| [7; 32]).unwrap().public();
        assert_eq!(keyring.own(|| [8; 32]).unwrap().public(), key);
        let mode = std::fs::metadata(home.path().join("keys/own.key")).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        assert_eq!(keyring.standing(&key).unwrap(), KeyStanding::Own);
    }

    #[test]
    fn a_revoked_key_is_worth_nothing_until_it_is_trusted_again() {
        let home = tempfile::tempdir().unwrap();
        let keyring = Keyring::below(home.path());
        let key = KeyPair::from_secret(&[1; 32]).public();
        let name: Actor = "ann".parse().unwrap();
        assert_eq!(keyring.standing(&key).unwrap(), KeyStanding::Unknown);
        keyring.trust(&key, &name).unwrap();
        let trusted = KeyStanding::Trusted(name.clone());
        assert_eq!(keyring.standing(&key).unwrap(), trusted);
        keyring.revoke(&key, &name).unwrap();
        assert_eq!(keyring.standing(&key).unwrap(), KeyStanding::Revoked);
        keyring.trust(&key, &name).unwrap();
        assert_eq!(keyring.list().unwrap().len(), 1);
        assert_eq!(keyring.standing(&key).unwrap(), trusted);
    }

    #[test]
    fn a_damaged_key_is_told_and_left() {
        let home = tempfile::tempdir().unwrap();
        let keyring = Keyring::below(home.path());
        keyring.own(|| [7; 32]).unwrap();
        std::fs::write(home.path().join("keys/own.key"), "garbage").unwrap();
        assert!(matches!(
            keyring.own(|| [9; 32]),
            Err(KeyringError::Damaged(_))
        ));
    }
}
