//! Asking a server, within bounds: of size, of time, of redirects, and of where they may lead.
//!
//! Nothing of this exists until `upgrade` runs: no connection, no certificate and no thread is made before
//! [`Client::for_address`].

use std::io::{self, Read as _};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use ureq::http::{StatusCode, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Body, Proxy};

use super::address::{Address, AddressError};

/// GitHub sends two for a file of a release.
const MOST_REDIRECTS: usize = 5;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How much an answer may be, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) bytes: u64,
    pub(crate) timeout: Duration,
}

/// Asks one kind of server: by TLS, or on this machine.
pub(crate) struct Client {
    agent: Agent,
}

/// A server did not give what was asked for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FetchError {
    #[error("this machine has no certificates by which a server could be recognised")]
    NoRoots(#[source] Option<rustls_native_certs::Error>),
    #[error("`{0}` cannot be reached")]
    Unreachable(Address, #[source] io::Error),
    #[error("`{0}` takes too long")]
    TimedOut(Address),
    #[error("`{0}` is not there")]
    NotThere(Address),
    #[error("`{address}` answers with status {status}")]
    Status {
        address: Address,
        status: StatusCode,
    },
    #[error("`{0}` leads from one place to the next without end")]
    Redirects(Address),
    #[error("`{0}` leads to a place that may not be asked")]
    Elsewhere(Address, #[source] AddressError),
    #[error("`{0}` leads nowhere")]
    Nowhere(Address),
    #[error("the answer of `{address}` is larger than {limit} bytes")]
    TooLarge { address: Address, limit: u64 },
    #[error("the answer of `{0}` breaks off")]
    Broken(Address, #[source] io::Error),
}

impl Client {
    /// Prepares for the server at `address` and those it leads to, which all have the same scheme.
    pub(crate) fn for_address(address: &Address) -> Result<Self, FetchError> {
        let config = Agent::config_builder()
            .user_agent(concat!("handoff/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            // Followed here, where each step is looked at.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT));
        let config = if address.is_protected() {
            config.tls_config(tls()?).proxy(Proxy::try_from_env())
        } else {
            config.proxy(None)
        };
        Ok(Self {
            agent: config.build().new_agent(),
        })
    }

    /// The whole answer of `address`.
    pub(crate) fn fetch(&self, address: &Address, limits: Limits) -> Result<Vec<u8>, FetchError> {
        let mut next = address.clone();
        for _ in 0..=MOST_REDIRECTS {
            match self.ask(next, limits)? {
                Answer::Body(address, body) => return read(address, body, limits.bytes),
                Answer::Elsewhere(address) => next = address,
            }
        }
        Err(FetchError::Redirects(address.clone()))
    }

    fn ask(&self, address: Address, limits: Limits) -> Result<Answer, FetchError> {
        let request = self.agent.get(address.uri()).config();
        let request = request.timeout_global(Some(limits.timeout)).build();
        let response = match request.call() {
            Ok(response) => response,
            Err(ureq::Error::Timeout(_)) => return Err(FetchError::TimedOut(address)),
            Err(error) => return Err(FetchError::Unreachable(address, error.into_io())),
        };
        match response.status() {
            StatusCode::OK => Ok(Answer::Body(address, response.into_body())),
            StatusCode::NOT_FOUND | StatusCode::GONE => Err(FetchError::NotThere(address)),
            status if status.is_redirection() => {
                let location = response.headers().get(header::LOCATION);
                let Some(location) = location.and_then(|it| it.to_str().ok()) else {
                    return Err(FetchError::Nowhere(address));
                };
                let next = address.follow(location);
                next.map(Answer::Elsewhere)
                    .map_err(|error| FetchError::Elsewhere(address, error))
            }
            status => Err(FetchError::Status { address, status }),
        }
    }
}

enum Answer {
    Body(Address, Body),
    Elsewhere(Address),
}

fn read(address: Address, body: Body, limit: u64) -> Result<Vec<u8>, FetchError> {
    // What a server announces need not be fetched to be refused; what it does not announce is cut off.
    if body.content_length().is_some_and(|length| length > limit) {
        return Err(FetchError::TooLarge { address, limit });
    }
    let mut bytes = vec![];
    let reader = body.into_with_config().limit(u64::MAX).reader();
    let read = reader.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    match read.map_err(ureq::Error::from) {
        Ok(length) if length as u64 > limit => Err(FetchError::TooLarge { address, limit }),
        Ok(_) => Ok(bytes),
        Err(ureq::Error::Timeout(_)) => Err(FetchError::TimedOut(address)),
        Err(error) => Err(FetchError::Broken(address, error.into_io())),
    }
}

/// The certificates are the machine's own: what its owner trusts or distrusts counts here too.
fn tls() -> Result<TlsConfig, FetchError> {
    let mut found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        return Err(FetchError::NoRoots(found.errors.pop()));
    }
    let roots = found
        .certs
        .iter()
        .map(|it| Certificate::from_der(it).to_owned());
    Ok(TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::from(roots))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build())
}
