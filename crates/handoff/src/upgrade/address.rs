//! Where a release may be fetched from.
//!
//! An address is `https`, or plain `http` on this very machine. Whatever a server names, a redirect or a file of a release,
//! goes through [`Address::follow`], which never changes the scheme. What is shown of an address is without its query: a
//! signed link is a secret.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use ureq::http::Uri;
use ureq::http::uri::Scheme;

const LONGEST: usize = 4096;

/// An address that may be asked. It is shared because errors carry it, and they are kept small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address(Arc<Uri>);

/// A text that is no address that may be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AddressError {
    #[error("it is longer than {LONGEST} bytes")]
    TooLong,
    #[error("it cannot be read as an address")]
    Form(#[source] ureq::http::uri::InvalidUri),
    #[error("it has no host")]
    NoHost,
    #[error("it has a name or password in it")]
    Credentials,
    #[error("only `https` is used, and `http` on this machine")]
    Unprotected,
    #[error("it leaves `{0}` for another way of transport")]
    OtherScheme(Scheme),
}

impl Address {
    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }

    pub(crate) fn is_protected(&self) -> bool {
        self.0.scheme() == Some(&Scheme::HTTPS)
    }

    /// What a server that answered at this address calls by `text`.
    pub(crate) fn follow(&self, text: &str) -> Result<Self, AddressError> {
        let next: Self = self.absolute(text).parse()?;
        match self.0.scheme() {
            Some(scheme) if next.0.scheme() != Some(scheme) => {
                Err(AddressError::OtherScheme(scheme.clone()))
            }
            _ => Ok(next),
        }
    }

    fn absolute(&self, text: &str) -> String {
        let scheme = self.0.scheme_str().unwrap_or_default();
        let authority = self.0.authority().map_or("", |it| it.as_str());
        if text.contains("://") {
            text.to_owned()
        } else if text.starts_with("//") {
            format!("{scheme}:{text}")
        } else if text.starts_with('/') {
            format!("{scheme}://{authority}{text}")
        } else {
            let folder = self.0.path().rsplit_once('/').map_or("", |(it, _)| it);
            format!("{scheme}://{authority}{folder}/{text}")
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if text.len() > LONGEST {
            return Err(AddressError::TooLong);
        }
        let uri: Uri = text.parse().map_err(AddressError::Form)?;
        let authority = uri.authority().ok_or(AddressError::NoHost)?;
        if authority.as_str().contains('@') {
            return Err(AddressError::Credentials);
        }
        if authority.host().is_empty() {
            return Err(AddressError::NoHost);
        }
        let is_local = is_this_machine(authority.host());
        match uri.scheme_str() {
            Some("https") => Ok(Self(Arc::new(uri))),
            Some("http") if is_local => Ok(Self(Arc::new(uri))),
            _ => Err(AddressError::Unprotected),
        }
    }
}

fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = |address: IpAddr| address.is_loopback();
    host == "localhost" || bare.parse().is_ok_and(is_loopback)
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.0.scheme_str().unwrap_or_default();
        let authority = self.0.authority().map_or("", |it| it.as_str());
        write!(f, "{scheme}://{authority}{}", self.0.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<String, AddressError> {
        text.parse::<Address>().map(|it| it.to_string())
    }

    #[test]
    fn only_protected_addresses_and_this_machine_are_accepted() {
        for text in [
            "https://example.org/latest",
            "http://127.0.0.1:8080/latest",
            "http://[::1]:8080/",
            "http://localhost/x",
        ] {
            assert_eq!(parsed(text).unwrap(), text);
        }
        for text in [
            "",
            "latest.json",
            "/latest",
            "http://example.org/latest",
            "http://127.0.0.1.example.org/",
            "http://localhost.example.org/",
            "http://2130706433/",
            "https://me:secret@example.org/",
            "http://me@127.0.0.1/",
            "https:///latest",
            "file:///etc/passwd",
            "ftp://example.org/",
            "https://exa mple.org/",
        ] {
            assert!(parsed(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_follows_may_change_the_host_and_never_the_scheme() {
        let table = [
            (
                "https://a.org/x/latest",
                "https://b.org/file",
                Some("https://b.org/file"),
            ),
            (
                "https://a.org/x/latest",
                "/file",
                Some("https://a.org/file"),
            ),
            (
                "https://a.org/x/latest",
                "file",
                Some("https://a.org/x/file"),
            ),
            (
                "https://a.org/x/latest",
                "//b.org/y",
                Some("https://b.org/y"),
            ),
            ("https://a.org/x/latest", "http://127.0.0.1/file", None),
            ("http://127.0.0.1/latest", "https://a.org/file", None),
            ("http://127.0.0.1/latest", "http://a.org/file", None),
            ("https://a.org/x/latest", "file:///etc/passwd", None),
        ];
        for (from, text, expected) in table {
            let from: Address = from.parse().unwrap();
            let followed = from.follow(text).map(|it| it.to_string()).ok();
            assert_eq!(followed.as_deref(), expected, "{from} → {text}");
        }
    }

    #[test]
    fn a_query_is_not_shown() {
        assert_eq!(
            parsed("https://a.org/file?token=secret").unwrap(),
            "https://a.org/file"
        );
    }
}
