//! What a server says about its newest release, and what follows from it.
//!
//! The document is untrusted. The version becomes a [`Version`], links become [`Address`]es by the rules of the address that
//! answered, and the names of files are only compared with our own: none of them ever becomes a path.

use std::cmp::Ordering;
use std::fmt;

use serde::Deserialize;

use super::address::{Address, AddressError};
use super::version::{Version, VersionError};

/// What a program was built for, as the names of release files say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Platform(&'static str);

/// A list of the checksums of all files, for releases that have no `.sha256` beside each.
const ALL_CHECKSUMS: &str = "SHA256SUMS";

/// The fields of GitHub's `releases/latest` that matter here.
#[derive(Debug, Deserialize)]
struct Document {
    tag_name: String,
    #[serde(default)]
    assets: Vec<Asset>,
}

#[derive(Debug, Deserialize)]
struct Asset {
    name: String,
    browser_download_url: String,
}

/// The newest release.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) version: Version,
    assets: Vec<Asset>,
    from: Address,
}

/// What is to be done about a release.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// It is the installed one.
    Current,
    /// What is installed is newer.
    Ahead,
    /// It is newer, and there is a program for this platform.
    Newer(Offer),
}

/// A program that can be fetched, and where its checksum is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) file: String,
    pub(crate) program: Address,
    pub(crate) checksums: Address,
}

/// A release that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReleaseError {
    #[error("the answer of `{0}` is not the description of a release")]
    NotARelease(Address, #[source] serde_json::Error),
    #[error("the tag {0:?} of the newest release is not a version")]
    Tag(String, #[source] VersionError),
    #[error("release {version} has no program for {platform}")]
    NoProgram {
        version: Version,
        platform: Platform,
    },
    #[error("release {version} has no checksum for `{file}`")]
    NoChecksum { version: Version, file: String },
    #[error("the release has more than one file `{0}`")]
    Several(String),
    #[error("the link to `{file}` cannot be used")]
    Link {
        file: String,
        #[source]
        source: AddressError,
    },
}

impl Release {
    /// Reads what `from` answered.
    pub(crate) fn parse(bytes: &[u8], from: Address) -> Result<Self, ReleaseError> {
        let document: Document = match serde_json::from_slice(bytes) {
            Ok(document) => document,
            Err(error) => return Err(ReleaseError::NotARelease(from, error)),
        };
        let version = document.tag_name.parse();
        Ok(Self {
            version: version.map_err(|error| ReleaseError::Tag(document.tag_name, error))?,
            assets: document.assets,
            from,
        })
    }

    /// What is to be done when `installed` runs here.
    pub(crate) fn decide(
        &self,
        installed: &Version,
        platform: Platform,
    ) -> Result<Decision, ReleaseError> {
        match self.version.precedence(installed) {
            Ordering::Equal => Ok(Decision::Current),
            Ordering::Less => Ok(Decision::Ahead),
            Ordering::Greater => self.offer(platform).map(Decision::Newer),
        }
    }

    fn offer(&self, platform: Platform) -> Result<Offer, ReleaseError> {
        let file = format!("handoff-{platform}");
        let no_program = || ReleaseError::NoProgram {
            version: self.version.clone(),
            platform,
        };
        let no_checksum = || ReleaseError::NoChecksum {
            version: self.version.clone(),
            file: file.clone(),
        };
        let program = self.link(&file)?.ok_or_else(no_program)?;
        let own = self.link(&format!("{file}.sha256"))?;
        let checksums = match own {
            Some(own) => own,
            None => self.link(ALL_CHECKSUMS)?.ok_or_else(no_checksum)?,
        };
        Ok(Offer {
            file,
            program,
            checksums,
        })
    }

    fn link(&self, file: &str) -> Result<Option<Address>, ReleaseError> {
        let mut found = self.assets.iter().filter(|asset| asset.name == file);
        let Some(asset) = found.next() else {
            return Ok(None);
        };
        if found.next().is_some() {
            return Err(ReleaseError::Several(file.to_owned()));
        }
        let link = self.from.follow(&asset.browser_download_url);
        link.map(Some).map_err(|source| ReleaseError::Link {
            file: file.to_owned(),
            source,
        })
    }
}

impl Platform {
    /// What this program was built for.
    pub(crate) const fn here() -> Self {
        Self(env!("HANDOFF_TARGET"))
    }

    pub(crate) const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: &str = "https://example.org/releases/latest";

    fn decided(tag: &str, assets: &[(&str, &str)]) -> Result<Decision, ReleaseError> {
        let assets: Vec<_> = assets
            .iter()
            .map(|(name, url)| serde_json::json!({ "name": name, "browser_download_url": url }))
            .collect();
        let document = serde_json::json!({ "tag_name": tag, "assets": assets, "draft": false });
        let release = Release::parse(document.to_string().as_bytes(), FROM.parse().unwrap())?;
        release.decide(&"1.2.0".parse().unwrap(), Platform("x"))
    }

    fn offer(checksums: &str) -> Decision {
        Decision::Newer(Offer {
            file: "handoff-x".to_owned(),
            program: "https://example.org/p".parse().unwrap(),
            checksums: checksums.parse().unwrap(),
        })
    }

    const PROGRAM: (&str, &str) = ("handoff-x", "https://example.org/p");
    const CHECKSUM: (&str, &str) = ("handoff-x.sha256", "https://example.org/p.sha256");
    const ALL: (&str, &str) = ("SHA256SUMS", "https://example.org/all");

    #[test]
    fn a_newer_release_is_offered_with_its_own_checksum_before_the_list_of_all() {
        let own = decided("v1.10.0", &[ALL, PROGRAM, CHECKSUM]).unwrap();
        assert_eq!(own, offer("https://example.org/p.sha256"));
        let all = decided("1.2.1", &[PROGRAM, ALL]).unwrap();
        assert_eq!(all, offer("https://example.org/all"));
    }

    #[test]
    fn the_same_and_an_older_release_need_no_files() {
        assert_eq!(decided("v1.2.0", &[]).unwrap(), Decision::Current);
        assert_eq!(decided("1.2.0+other", &[]).unwrap(), Decision::Current);
        assert_eq!(decided("v1.2.0-rc.1", &[]).unwrap(), Decision::Ahead);
        assert_eq!(decided("0.9.9", &[PROGRAM]).unwrap(), Decision::Ahead);
    }

    #[test]
    fn a_release_that_cannot_be_used_is_told_apart() {
        type Files = [(&'static str, &'static str)];
        let table: [(&str, &Files, &str); 7] = [
            (
                "nightly",
                &[],
                "the tag \"nightly\" of the newest release is not a version",
            ),
            ("2.0.0", &[], "release 2.0.0 has no program for x"),
            (
                "2.0.0",
                &[("handoff-xx", "https://example.org/")],
                "release 2.0.0 has no program for x",
            ),
            (
                "2.0.0",
                &[PROGRAM],
                "release 2.0.0 has no checksum for `handoff-x`",
            ),
            (
                "2.0.0",
                &[PROGRAM, PROGRAM, ALL],
                "the release has more than one file `handoff-x`",
            ),
            (
                "2.0.0",
                &[("handoff-x", "http://127.0.0.1/p"), ALL],
                "the link to `handoff-x` cannot be used",
            ),
            (
                "2.0.0",
                &[PROGRAM, ("SHA256SUMS", "file:///dev/null")],
                "the link to `SHA256SUMS` cannot be used",
            ),
        ];
        for (tag, assets, expected) in table {
            assert_eq!(decided(tag, assets).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn an_answer_that_is_no_release_is_refused() {
        for text in [
            "",
            "<html>",
            "[]",
            "{}",
            r#"{"tag_name":1}"#,
            r#"{"tag_name":"1.0.0","assets":[{}]}"#,
        ] {
            let refused = Release::parse(text.as_bytes(), FROM.parse().unwrap());
            assert!(
                matches!(refused, Err(ReleaseError::NotARelease(..))),
                "{text}"
            );
        }
    }
}
