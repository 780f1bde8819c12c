//! D36: another user of the machine, who wants to talk to a session.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result};
use handoff_testkit::{Prefix, other_uid};
use serde_json::Value;

use super::hostel::{Hostel, patiently};
use super::stage::{Findings, Stage};

/// Knocks at a socket and prints the answer. From its directory: the name of a socket must be short.
const KNOCK: &str = "chdir $ARGV[0] or exit 3; my $s = IO::Socket::UNIX->new(Peer => $ARGV[1]) or exit 4; \
                     print $s \"GET /v1/screen HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n\"; print while <$s>";

pub(super) fn run(stage: &mut Stage) -> Result<()> {
    stage.trial("knocks at the socket", knocks);
    stage.trial("was at the place before us", |stage| {
        occupied(stage, |place| {
            fs::create_dir(place)?;
            other_uid::give(place);
            Ok(())
        })
    });
    stage.trial("leads the place elsewhere", |stage| {
        occupied(stage, |place| {
            let elsewhere = place.with_file_name("elsewhere");
            fs::create_dir(&elsewhere)?;
            other_uid::give(&elsewhere);
            Ok(symlink(&elsewhere, place)?)
        })
    });
    stage.trial("looks at its first moment", first_moment);
    Ok(())
}

fn knocks(stage: &Stage) -> Result<Findings> {
    let hostel = Hostel::open(stage.product());
    let session = hostel.bash("mine")?;
    let socket = socket(&session)?;
    let mut complaints = vec![];
    let own = knock(&hostel, &Prefix::none(), &socket)?;
    if !own.contains("200 OK") {
        complaints.push(format!("its own user hears {own:?}"));
    }
    let mut expect_nothing = |when: &str| -> Result<()> {
        let heard = knock(&hostel, &other_uid::prefix(), &socket)?;
        if !heard.is_empty() {
            complaints.push(format!("{when}: another user hears {heard:?}"));
        }
        Ok(())
    };
    expect_nothing("as it is")?;
    // Modes are one fence, who the kernel says that it is another one.
    open_way(&hostel, &socket)?;
    expect_nothing("with all modes open")?;
    let heard = knock(&hostel, &Prefix::none(), &socket)?;
    if !heard.contains("200 OK") {
        complaints.push("afterwards its own user hears nothing".to_owned());
    }
    Ok(Findings {
        count: 2,
        complaints,
        ..Findings::default()
    })
}

fn knock(hostel: &Hostel, prefix: &Prefix, socket: &Path) -> Result<String> {
    let product = &hostel.product;
    let mut command = product.env.command_under(prefix, "perl");
    command.args(["-MIO::Socket::UNIX", "-e", KNOCK]);
    command.arg(socket.parent().context("a socket lies somewhere")?);
    command.arg(socket.file_name().context("a socket has a name")?);
    command.current_dir("/").stdin(Stdio::null());
    let output = command.output().context("perl is missing")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Lets everybody through to the socket.
fn open_way(hostel: &Hostel, socket: &Path) -> Result<()> {
    fs::set_permissions(socket, Permissions::from_mode(0o777))?;
    let root = hostel.product.env.root();
    for place in socket
        .ancestors()
        .skip(1)
        .take_while(|it| it.starts_with(root))
    {
        fs::set_permissions(place, Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Where something of another user lies in the way, the socket is made elsewhere, and nothing there is touched.
fn occupied(stage: &Stage, occupy: fn(&Path) -> Result<()>) -> Result<Findings> {
    let hostel = Hostel::open(stage.product());
    let runtime = hostel.product.env.runtime_dir();
    fs::create_dir_all(&runtime)?;
    let place = runtime.join("handoff");
    occupy(&place)?;
    let session = hostel.bash("mine")?;
    let socket = socket(&session)?;
    let mut complaints = vec![];
    if fs::read_dir(&place)?.next().is_some() {
        complaints.push("something was made at the place of another user".to_owned());
    }
    complaints.extend(faults(&socket)?);
    Ok(Findings {
        count: 1,
        complaints,
        ..Findings::default()
    })
}

/// Modes that let others in.
fn faults(socket: &Path) -> Result<Vec<String>> {
    let parent = socket.parent().context("a socket lies somewhere")?;
    let mut faults = vec![];
    for (path, wanted) in [(socket, 0o600), (parent, 0o700)] {
        let mode = fs::symlink_metadata(path)?.permissions().mode() & 0o777;
        if mode != wanted {
            faults.push(format!("`{}` has the mode {mode:o}", path.display()));
        }
    }
    Ok(faults)
}

/// With a mask that forbids nothing, and a long time after the socket was made.
fn first_moment(stage: &Stage) -> Result<Findings> {
    let hostel = Hostel::open(stage.product());
    let delay = "inject=bind:delay_exit=500000";
    let strace = [
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=bind",
        "-e",
        delay,
    ];
    let unmasked = ["sh", "-c", "umask 000; exec \"$@\"", "sh"];
    let prefix = Prefix::of(unmasked).around(Prefix::of(strace));
    let words = [
        "run", "--detach", "--id", "born", "sh", "--", "-c", "exit 0",
    ];
    let mut command = hostel.product.command(&prefix, words);
    let mut starter = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let place = hostel.product.env.runtime_dir().join("handoff");
    let found = patiently("there is a socket", || Ok(first_socket(&place)))?;
    let complaints = faults(&found)?;
    patiently("the starter ends", || Ok(starter.try_wait()?))?;
    Ok(Findings {
        count: 1,
        complaints,
        ..Findings::default()
    })
}

fn first_socket(place: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(place).ok()?;
    entries.find_map(|entry| Some(entry.ok()?.path()))
}

fn socket(session: &Value) -> Result<PathBuf> {
    let socket = session["socket"].as_str();
    Ok(socket.context("a session has a socket")?.into())
}
