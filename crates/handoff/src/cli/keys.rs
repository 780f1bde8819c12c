//! `handoff keys`: who sealed a package, and whom you trust.

use clap::Subcommand;
use handoff_api::{ExitCode, KeysDocument, SignerDocument};
use handoff_core::caller::Action;
use handoff_core::package::{Actor, KeyId};
use handoff_operations::Failure;
use handoff_operations::project::require_person;
use handoff_package::keyring::KnownKey;
use handoff_package::{KeyStanding, Keyring, PublicKey};

use crate::confirmation::{Destruction, YesArg, confirm};
use crate::context::Context;
use crate::output::{Reply, Table, Tone};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show the keys that are known here: this machine's, and those you trusted or revoked.
    List,
    /// Accept what a key signs from now on.
    Trust(TrustArgs),
    /// Refuse what a key signed, from now on.
    Revoke(RevokeArgs),
    /// Print this machine's public key, for others to trust. Makes it if there is none.
    Export,
}

#[derive(Debug, clap::Args)]
pub(super) struct TrustArgs {
    /// The public key, as `handoff keys export` prints it on the other machine.
    key: PublicKey,
    /// What to call it.
    #[arg(long, value_name = "NAME")]
    name: Actor,
    /// Do not ask. Compare the key with its owner first.
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct RevokeArgs {
    /// The key, or its id as `handoff keys list` shows it.
    key: String,
    #[command(flatten)]
    yes: YesArg,
}

pub(super) fn run(command: Command, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let keyring = Keyring::below(&ctx.home()?);
    match command {
        Command::List => list(&keyring, ctx),
        Command::Trust(args) => trust(&keyring, &args, ctx),
        Command::Revoke(args) => revoke(&keyring, &args, ctx),
        Command::Export => export(&keyring, ctx),
    }
}

fn list(keyring: &Keyring, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let keys: Vec<_> = keyring.list()?.iter().map(signer_of).collect();
    if ctx.out.is_json() {
        ctx.out
            .document(KeysDocument::SCHEMA, KeysDocument { keys })?;
        return Ok(ExitCode::Done);
    }
    if keys.is_empty() {
        ctx.out
            .note("There is no key yet. The first package makes this machine's.")?;
        return Ok(ExitCode::Done);
    }
    let mut table = Table::new(&["ID", "STANDING", "NAME", "KEY"]);
    for key in keys {
        table.row([
            (Tone::Strong, key.id),
            (Tone::Plain, key.standing.to_owned()),
            (Tone::Plain, key.name.unwrap_or_default()),
            (Tone::Faint, key.key),
        ]);
    }
    ctx.out.table(&table)?;
    Ok(ExitCode::Done)
}

fn trust(keyring: &Keyring, args: &TrustArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    require_person(Action::Trust, &ctx.ambient)?;
    if !args.yes {
        if !ctx.can_ask() {
            return Err(Failure::usage("trusting a key is for a person to decide")
                .hint("compare the key with its owner, then repeat with `--yes`"));
        }
        let (id, name) = (args.key.id(), &args.name);
        ctx.out.note(format!("{id} is {}", args.key))?;
        let question = format!("Accept packages that this key signs, as those of {name}?");
        if ctx.out.ask(&question)? == Reply::No {
            return Err(Failure::failed("the key is not trusted"));
        }
    }
    keyring.trust(&args.key, &args.name)?;
    tell(keyring, &args.key, "trusted", ctx)
}

fn revoke(keyring: &Keyring, args: &RevokeArgs, ctx: &mut Context) -> Result<ExitCode, Failure> {
    require_person(Action::Trust, &ctx.ambient)?;
    let key = match args.key.parse::<KeyId>() {
        Ok(id) => keyring.find(&id)?.ok_or_else(|| {
            Failure::new(ExitCode::NotFound, format!("there is no key {id} here"))
                .hint("see what there is: `handoff keys list`")
        })?,
        Err(_) => args
            .key
            .parse()
            .map_err(|error| Failure::usage("that is no key").because(&error))?,
    };
    let name = match keyring.standing(&key)? {
        KeyStanding::Trusted(name) => name,
        KeyStanding::Own | KeyStanding::Revoked | KeyStanding::Unknown => {
            "revoked".parse().expect("a word is a name")
        }
    };
    confirm(&Destruction::Key(key.id().to_string()), args.yes, ctx)?;
    keyring.revoke(&key, &name)?;
    tell(keyring, &key, "revoked", ctx)
}

fn export(keyring: &Keyring, ctx: &mut Context) -> Result<ExitCode, Failure> {
    let key = keyring.own(handoff_process::random::<32>)?.public();
    if ctx.out.is_json() {
        return tell(keyring, &key, "", ctx);
    }
    ctx.out.line(key.to_string())?;
    ctx.out.note(format!(
        "On the other machine, after comparing {}: `handoff keys trust {key} --name NAME`",
        key.id()
    ))?;
    Ok(ExitCode::Done)
}

fn tell(
    keyring: &Keyring,
    key: &PublicKey,
    word: &str,
    ctx: &mut Context,
) -> Result<ExitCode, Failure> {
    if ctx.out.is_json() {
        let standing = keyring.standing(key)?;
        let keys = vec![signer_of(&KnownKey {
            key: *key,
            standing,
        })];
        ctx.out
            .document(KeysDocument::SCHEMA, KeysDocument { keys })?;
    } else {
        ctx.out.line(format!("{} is {word}", key.id()))?;
    }
    Ok(ExitCode::Done)
}

/// A key as it is told.
pub(super) fn signer_of(known: &KnownKey) -> SignerDocument {
    let (standing, name) = match &known.standing {
        KeyStanding::Own => ("own", None),
        KeyStanding::Trusted(name) => ("trusted", Some(name.to_string())),
        KeyStanding::Revoked => ("revoked", None),
        KeyStanding::Unknown => ("unknown", None),
    };
    SignerDocument {
        id: known.key.id().to_string(),
        key: known.key.to_string(),
        standing,
        name,
    }
}
