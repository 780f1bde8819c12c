//! Options that are defined when their command is asked for.
//!
//! A command line has one command of a hundred, and the definitions of all the others cost more than most commands do: building
//! and dropping them was half of what `handoff version` took. The list of the commands is always there; what each of them
//! takes is not, until clap comes to it (or help or completion asks for everything).

use std::ops::Deref;

use clap::builder::Resettable;
use clap::error::Error;
use clap::{ArgMatches, Args, Command, FromArgMatches, Subcommand};

/// The options or the commands `T`, defined late.
#[derive(Debug)]
pub(super) struct Late<T>(Box<T>);

impl<T> Late<T> {
    pub(super) fn into_inner(self) -> T {
        *self.0
    }
}

impl<T> Deref for Late<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Late<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(|it| Self(Box::new(it)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Late<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| described_as_before(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| described_as_before(command, T::augment_args_for_update))
    }
}

impl<T: Subcommand> Subcommand for Late<T> {
    fn augment_subcommands(command: Command) -> Command {
        command.defer(|command| described_as_before(command, T::augment_subcommands))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        command.defer(|command| described_as_before(command, T::augment_subcommands_for_update))
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

/// What is flattened into the options of a command has a description of its own, and whatever describes last is believed.
fn described_as_before(command: Command, define: fn(Command) -> Command) -> Command {
    let about = command.get_about().cloned();
    let long_about = command.get_long_about().cloned();
    define(command)
        .about(Resettable::from(about))
        .long_about(Resettable::from(long_about))
}
