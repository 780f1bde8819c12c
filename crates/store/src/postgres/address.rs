//! Where the server is, and what may be said about it.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use postgres::Config;
use postgres::config::Host;

use crate::error::StoreError;

/// The address of a server, checked to be one that needs no TLS.
#[derive(Clone)]
pub struct Address {
    config: Config,
}

/// A password that no output ever shows.
#[derive(Clone)]
pub struct Password(String);

impl Password {
    /// Takes a secret from where it was kept: a file or the environment, never an argument.
    pub fn new(secret: String) -> Self {
        Self(secret)
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

impl Address {
    /// The same server, with this password unless the address has one.
    #[must_use]
    pub fn with_password(mut self, password: Option<Password>) -> Self {
        if let (Some(Password(secret)), None) = (password, self.config.get_password()) {
            self.config.password(secret);
        }
        self
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }
}

impl FromStr for Address {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<Self, StoreError> {
        // The parser's own message may repeat the text, and with it a password.
        let Ok(config) = text.parse::<Config>() else {
            return Err(StoreError::Address(
                "the store's address cannot be read; write `postgres://USER@localhost/DATABASE` or \
                 `postgres:///DATABASE?host=/DIRECTORY&user=USER`"
                    .to_owned(),
            ));
        };
        if let Some(host) = config.get_hosts().iter().find(|host| !is_local(host)) {
            return Err(StoreError::Address(format!(
                "the server `{}` is on another machine; connections over a network need TLS, which is \
                 not built in yet: use a unix socket or a loopback address",
                host_text(host)
            )));
        }
        Ok(Self { config })
    }
}

impl fmt::Display for Address {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts: Vec<_> = self.config.get_hosts().iter().map(host_text).collect();
        let user = self.config.get_user().unwrap_or("");
        let database = self.config.get_dbname().unwrap_or(user);
        write!(f, "postgres://{user}@{}/{database}", hosts.join(","))
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .parse::<IpAddr>()
                    .is_ok_and(|address| address.is_loopback())
        }
    }
}

fn host_text(host: &Host) -> String {
    match host {
        Host::Unix(path) => path.display().to_string(),
        Host::Tcp(name) => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_servers_are_spoken_to_without_tls() {
        for good in [
            "postgres://me@localhost/x",
            "postgres://127.0.0.1:5432/x",
            "postgres://[::1]/x",
            "postgres:///x?host=/run/postgresql",
        ] {
            assert!(good.parse::<Address>().is_ok(), "{good}");
        }
        for bad in [
            "postgres://db.example/x",
            "postgres://10.0.0.1/x",
            "postgres://localhost.evil.test/x",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        let address: Address = "postgres://me:s3cret@localhost/x".parse().unwrap();
        assert_eq!(address.to_string(), "postgres://me@localhost/x");
        let Err(error) = "postgres://me:s3cret@localhost:notaport/x".parse::<Address>() else {
            panic!("a bad port was accepted");
        };
        assert!(!format!("{error:?}").contains("s3cret"));
        assert_eq!(
            format!("{:?}", Password::new("s3cret".to_owned())),
            "Password(…)"
        );
    }
}
