//! Notifications of a server, with a slow poll behind them.

use std::time::Duration;

use ::postgres::Client;
use ::postgres::fallible_iterator::FallibleIterator as _;

use super::Address;
use super::connection::{self, sql_error};
use super::patience::pause;
use crate::error::StoreError;
use crate::sql::{SqlError, SqlErrorKind};
use crate::store::{Bell, Ring};

/// How long a follower trusts in notifications before it looks anyway.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Hears what a server notifies of. One that is cut off is heard again when the server is back; until then only the poll is left.
pub(super) struct ServerBell {
    address: Address,
    client: Option<Client>,
}

impl ServerBell {
    pub(super) fn listen(address: &Address) -> Result<Self, StoreError> {
        let mut client = connection::connect(address)?;
        client.batch_execute("LISTEN handoff").map_err(sql_error)?;
        Ok(Self {
            address: address.clone(),
            client: Some(client),
        })
    }
}

impl Bell for ServerBell {
    fn wait(&mut self, patience: Duration) -> Result<Ring, StoreError> {
        let patience = patience.min(POLL_INTERVAL);
        let unheard = if patience == POLL_INTERVAL {
            Ring::Rung
        } else {
            Ring::Silent
        };
        let Some(client) = &mut self.client else {
            return match Self::listen(&self.address) {
                Ok(bell) => {
                    *self = bell;
                    // What happened meanwhile was told to nobody.
                    Ok(Ring::Rung)
                }
                Err(StoreError::Unavailable { cause, .. }) if is_passing(&cause) => {
                    pause(patience);
                    Ok(unheard)
                }
                Err(error) => Err(error),
            };
        };
        match hear(client, patience) {
            Ok(true) => Ok(Ring::Rung),
            Ok(false) => Ok(unheard),
            Err(error) if is_passing(&error) => {
                self.client = None;
                Ok(Ring::Rung)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether there was a notification. One look serves all that came until now.
fn hear(client: &mut Client, patience: Duration) -> Result<bool, SqlError> {
    let mut notifications = client.notifications();
    let first = notifications.timeout_iter(patience).next();
    let is_hint = first.map_err(sql_error)?.is_some();
    while notifications.iter().next().map_err(sql_error)?.is_some() {}
    Ok(is_hint)
}

fn is_passing(error: &SqlError) -> bool {
    matches!(error.kind, SqlErrorKind::Away | SqlErrorKind::Absent)
}
