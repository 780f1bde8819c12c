//! Replacing this program by its newest release.
//!
//! | module | noun |
//! |---|---|
//! | [`address`] | where a release may be fetched from |
//! | [`client`] | asking a server, within bounds |
//! | [`release`] | what a server says, and what follows from it: pure |
//! | [`digest`] | checksums and lists of them: pure |
//! | [`keeper`] | who else looks after a program: pure |
//! | [`image`] | what kind of machine a program is for: pure |
//! | [`place`] | the directory of the running program, locked |
//! | [`swap`] | putting the new program there |
//! | [`answer`] | asking a program what version it is |
//!
//! Nothing is written before its digest is right, and nothing is replaced before the new program has answered. The reasons
//! are in `docs/design/0007-upgrade.md`.

pub(crate) mod address;
pub(crate) mod answer;
pub(crate) mod client;
pub(crate) mod digest;
pub(crate) mod image;
pub(crate) mod keeper;
pub(crate) mod place;
pub(crate) mod release;
pub(crate) mod swap;
pub(crate) mod version;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use address::Address;
use answer::Question;
use client::{Client, FetchError, Limits};
use digest::{ChecksumError, Digest};
use image::Image;
use keeper::Keeper;
use place::{Place, PlaceError};
use release::{Decision, Offer, Platform, Release, ReleaseError};
use swap::SwapError;
use version::Version;

const MIB: u64 = 1024 * 1024;
/// Descriptions and lists of checksums are a few kilobytes.
const LARGEST_TEXT: u64 = MIB;
/// Ten times what the program is; it is held in memory until its digest is right.
const LARGEST_PROGRAM: u64 = 256 * MIB;
/// A text that is not there after this will not come.
const TEXT_TIMEOUT: Duration = Duration::from_secs(30);
/// A program that needs longer to tell its version is not one to put in place.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// What an upgrade goes by.
#[derive(Debug)]
pub(crate) struct Upgrade {
    /// What tells the newest release.
    pub(crate) address: Address,
    /// How long a download may take.
    pub(crate) timeout: Duration,
    /// The program that runs, without links.
    pub(crate) program: PathBuf,
    /// Where cargo may install programs.
    pub(crate) cargo_homes: Vec<PathBuf>,
    /// What the new program is asked with.
    pub(crate) environment: BTreeMap<OsString, OsString>,
}

/// The program was not upgraded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpgradeError {
    #[error("there is no release at `{0}`")]
    NoRelease(Address),
    #[error("cannot fetch the newest release")]
    Fetch(#[from] FetchError),
    #[error("the newest release cannot be used")]
    Release(#[from] ReleaseError),
    #[error("the newest release cannot be verified")]
    Checksum(#[from] ChecksumError),
    #[error("`{file}` is not what its checksum says: it should be {expected} and is {found}")]
    Mismatch {
        file: String,
        expected: Digest,
        found: Digest,
    },
    #[error("`{0}` is not a program for this machine")]
    OtherMachine(String),
    #[error("`{program}` belongs to {keeper}")]
    Kept { program: PathBuf, keeper: Keeper },
    #[error("this program cannot be replaced where it lies")]
    Place(#[from] PlaceError),
    #[error("the upgrade did not work")]
    Swap(#[from] SwapError),
}

impl Upgrade {
    /// Finds out what the newest release is and what follows from it. Changes nothing.
    pub(crate) fn look(&self) -> Result<(Release, Decision), UpgradeError> {
        let client = Client::for_address(&self.address)?;
        let bytes = match client.fetch(&self.address, self.text_limits()) {
            Err(FetchError::NotThere(address)) => return Err(UpgradeError::NoRelease(address)),
            fetched => fetched?,
        };
        let release = Release::parse(&bytes, self.address.clone())?;
        let decision = release.decide(&Version::installed(), Platform::here())?;
        Ok((release, decision))
    }

    /// Who else looks after this program.
    pub(crate) fn keeper(&self) -> Option<Keeper> {
        Keeper::of(&self.program, &self.cargo_homes)
    }

    /// Makes sure that the program may be replaced where it lies, and that nobody else does it until the place is dropped.
    /// It comes before the download: whoever may not write there need not wait for it.
    pub(crate) fn claim(&self) -> Result<Place, UpgradeError> {
        if let Some(keeper) = self.keeper() {
            let program = self.program.clone();
            return Err(UpgradeError::Kept { program, keeper });
        }
        Ok(Place::lock(&self.program)?)
    }

    /// Fetches what is offered and puts it in the place of the running program.
    pub(crate) fn install(
        &self,
        place: &Place,
        version: &Version,
        offer: &Offer,
    ) -> Result<(), UpgradeError> {
        let bytes = self.fetch(offer)?;
        if !Image::of(&bytes).runs_where(place.image) {
            return Err(UpgradeError::OtherMachine(offer.file.clone()));
        }
        let question = Question {
            expected: version.clone(),
            environment: self.environment.clone(),
            timeout: ANSWER_TIMEOUT.min(self.timeout),
        };
        Ok(swap::swap(place, &bytes, &question)?)
    }

    /// The program that is offered, once it is what its checksum says.
    fn fetch(&self, offer: &Offer) -> Result<Vec<u8>, UpgradeError> {
        let client = Client::for_address(&self.address)?;
        let list = client.fetch(&offer.checksums, self.text_limits())?;
        let expected = Digest::listed(&list, &offer.file)?;
        let limits = Limits {
            bytes: LARGEST_PROGRAM,
            timeout: self.timeout,
        };
        let bytes = client.fetch(&offer.program, limits)?;
        let found = Digest::of(&bytes);
        if found == expected {
            return Ok(bytes);
        }
        Err(UpgradeError::Mismatch {
            file: offer.file.clone(),
            expected,
            found,
        })
    }

    fn text_limits(&self) -> Limits {
        Limits {
            bytes: LARGEST_TEXT,
            timeout: TEXT_TIMEOUT.min(self.timeout),
        }
    }
}
