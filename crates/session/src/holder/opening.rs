//! Beginning a session: its name is taken, its files are made, and the agent is started, in an order that leaves nothing half
//! behind that a reader would take for a session.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use handoff_agents::{Agent, hook};
use handoff_core::time::Clock;
use handoff_core::{Caller, ProjectId, Role, SessionId, SessionName};
use handoff_files::{Dir, DirError, Lock, LockError, Mode, WriteError, atomic};
use handoff_process::{
    Identity, Kernel, Program, Size, Summons, Terminal, TerminalError, mint, tree,
};

use super::confining;
use super::errands::Errands;
use super::glance::Glance;
use super::network::{self, Address, Network, NetworkError};
use super::post::Post;
use super::rhythm::Rhythm;
use super::socket::Socket;
use super::starter::{own_chain, starter};
use super::stopping::Stopping;
use super::watching::Lookout;
use super::{Holder, MOUTHFUL};
use crate::attempts::Attempts;
use crate::confinement::{Bounds, Confinement, SandboxOff};
use crate::control::Gate;
use crate::environment::{self, Itself, Work};
use crate::journal::{Event, Journal};
use crate::native::{Key, Native};
use crate::place::{self, Places};
use crate::record::{Record, RecordError};
use crate::screen::Screen;
use crate::side::Member;
use crate::signs::Signs;
use crate::stall::Policy;
use crate::state::Judge;
use crate::token::Token;
use crate::transcript::{Limit, Transcript};

/// Variables that say something about the terminal that a person sits at, which is not the agent's.
const NOT_OF_THIS_TERMINAL: [&str; 9] = [
    "COLORTERM",
    "COLUMNS",
    "KITTY_WINDOW_ID",
    "LINES",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TMUX",
    "VTE_VERSION",
    "WINDOWID",
];

/// Everything that a session begins with.
pub struct Opening {
    pub places: Places,
    /// The user's directory for sockets.
    pub runtime_dir: Option<PathBuf>,
    /// Where to listen besides the socket.
    pub network: Option<Address>,
    pub id: SessionId,
    pub project: ProjectId,
    pub name: SessionName,
    pub agent: Agent,
    pub role: Role,
    /// The task that it works on.
    pub work: Option<Work>,
    /// This very program, for hooks of the agent.
    pub own_program: PathBuf,
    /// What is started, with the environment of the one who starts it.
    pub program: Program,
    /// The variables that lead to the ledger. The agent does not get them; what is done for it does.
    pub ledger: BTreeMap<OsString, OsString>,
    pub description: Option<String>,
    /// When it is taken for stuck, if somebody wants to know.
    pub policy: Option<Policy>,
    /// Files that the agent is told of when they change.
    pub files: Vec<PathBuf>,
    pub size: Size,
    pub limit: Limit,
    /// The process that stands behind this one.
    pub warden: Option<u32>,
    /// Whether it may answer the dialogs of sessions that it starts.
    pub answers_children: bool,
    /// The walls around the agent, if it is to have any.
    pub bounds: Option<Bounds>,
    /// Why there are none, for the session of a task.
    pub sandbox_off: Option<SandboxOff>,
}

/// A session could not begin. Nothing of it runs.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the name `{0}` is taken by a session that lives")]
    Taken(SessionName),
    #[error("cannot make the directories of the session")]
    Directory(#[from] DirError),
    #[error("cannot lock the session")]
    Lock(#[from] LockError),
    #[error("cannot open the socket of the session")]
    Socket(#[source] io::Error),
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error("cannot begin the transcript")]
    Transcript(#[source] io::Error),
    #[error("cannot listen to signals")]
    Signals(#[source] io::Error),
    #[error("cannot become the parent of what the agent leaves behind")]
    Adopt(#[source] io::Error),
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    #[error("cannot tell which process this is")]
    Identity(#[source] io::Error),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("cannot begin the inbox")]
    Inbox(#[source] io::Error),
    #[error("cannot begin the journal")]
    Journal(#[source] io::Error),
    #[error("cannot write the settings of the agent")]
    Settings(#[source] WriteError),
    #[error("cannot make the directory for long messages")]
    Messages(#[source] DirError),
    #[error("cannot write down the name of the session")]
    Name(#[source] WriteError),
    #[error("its starter may not answer for sessions that it starts, so it may not either")]
    Grant,
    #[error("what is run as a check, or comes from an unknown place, starts no session")]
    Starter,
    #[error("cannot make a private directory for temporary files")]
    Private(#[source] io::Error),
}

impl<'a> Holder<'a> {
    /// Begins a session in this process.
    pub fn open(mut opening: Opening, clock: &'a dyn Clock) -> Result<Self, OpenError> {
        let starter = starter(&opening)?;
        let names = Dir::create_private(&opening.places.names(opening.project))?;
        let name = take_name(&opening)?;
        let directory = Dir::create_private(&opening.places.session(opening.id))?;
        let label = format!("session {}", opening.name);
        let life = Lock::acquire(&place::holder_lock(directory.path()), &label)?;
        let socket = open_socket(&opening).map_err(OpenError::Socket)?;
        let network = opening.network.map(Network::open).transpose()?;
        let network_token = network_token(network.as_ref(), &directory)?;
        let transcript = Transcript::create(directory.path(), opening.limit);
        let transcript = transcript.map_err(OpenError::Transcript)?;
        let post = Post::open(directory.path()).map_err(OpenError::Inbox)?;
        tree::adopt().map_err(OpenError::Adopt)?;
        // Before there is an agent: from then on nobody ends this process without ending that one too.
        let summons = Summons::listen().map_err(OpenError::Signals)?;
        let token = Token::new(handoff_process::random());
        equip(&mut opening, &socket, &token, starter);
        install_hooks(&mut opening, &directory)?;
        let key = make_audible(&mut opening);
        let outside = confining::outside(&mut opening);
        confining::confine(&mut opening, &socket)?;
        let gate = Gate {
            session: opening.caller(),
            session_token: token.digest(),
            network_token: network_token.map(|token| token.digest()),
        };
        let mut record = record(&opening, &socket, clock)?;
        record.started_by = starter.map(|it| it.session);
        record.port = network.as_ref().map(Network::port);
        let terminal = start_on_record(&opening, &mut record, &directory)?;
        let journal = begin_journal(&directory, &record)?;
        record.write(&directory)?;
        let id = format!("{}\n", opening.id);
        atomic::replace(&names, opening.name.as_str(), id.as_bytes(), Mode::Private)
            .map_err(OpenError::Name)?;
        let now = clock.now().moment.awake;
        let pointer = opening.agent.adapter.input.pointer;
        let native = Native::of(
            opening.agent.adapter.conversation,
            &opening.program.environment,
            record.child.pid,
            key,
        );
        Ok(Self {
            clock,
            places: opening.places,
            directory,
            record,
            journal,
            transcript,
            terminal,
            screen: Screen::new(opening.size),
            signs: Signs::new(opening.agent.adapter),
            glance: Glance::default(),
            reading: Rhythm::default(),
            judge: Judge::new(now),
            input: std::collections::VecDeque::new(),
            post,
            native,
            lookout: Lookout::new(
                opening.policy.map(|policy| policy.suited_to(pointer)),
                opening.files,
                now,
            ),
            socket,
            network,
            gate,
            own: own_chain().into(),
            guests: vec![],
            attempts: Attempts::default(),
            errands: Errands::new(outside),
            stopping: Stopping::No,
            summons,
            printed_at: None,
            reaped_at: now,
            buffer: vec![0; MOUTHFUL],
            life,
            noticed: None,
            _name: name,
        })
    }
}

/// The token of a port, in its file before anybody can ask there.
fn network_token(network: Option<&Network>, directory: &Dir) -> Result<Option<Token>, OpenError> {
    let token = network.map(|_| Token::new(handoff_process::random()));
    if let Some(token) = &token {
        network::publish(token, directory)?;
    }
    Ok(token)
}

fn take_name(opening: &Opening) -> Result<Lock, OpenError> {
    let path = opening.places.name_lock(opening.project, &opening.name);
    Lock::try_acquire(&path, &opening.id.to_string())?
        .ok_or_else(|| OpenError::Taken(opening.name.clone()))
}

fn open_socket(opening: &Opening) -> io::Result<Socket> {
    let of_user = opening.runtime_dir.as_ref().map(|it| it.join("handoff"));
    let places: Vec<PathBuf> = of_user
        .into_iter()
        .chain([opening.places.own_sockets()])
        .collect();
    let digits = mint().simple().to_string();
    // The end of an id is random, its beginning is the time.
    Socket::open(&places, &format!("{}.sock", &digits[digits.len() - 12..]))
}

impl Opening {
    fn confinement(&self) -> Confinement {
        match self.bounds {
            Some(_) => Confinement::Worktree,
            None => Confinement::None,
        }
    }

    /// The session, as the table of callers knows it.
    fn caller(&self) -> Caller {
        Caller::Session {
            session: self.id,
            role: self.role,
            task: self.work.as_ref().map(|work| work.id),
        }
    }
}

/// What the agent finds in its environment.
fn equip(opening: &mut Opening, socket: &Socket, token: &Token, starter: Option<Member>) {
    let own_program = opening.own_program.clone();
    let environment = &mut opening.program.environment;
    if let Some(starter) = starter {
        // Becomes the parent: whatever the starter's environment says.
        let name = environment::SESSION.into();
        environment.insert(name, starter.session.to_string().into());
    }
    for name in NOT_OF_THIS_TERMINAL {
        environment.remove(std::ffi::OsStr::new(name));
    }
    environment.insert("TERM".into(), "xterm-256color".into());
    let itself = Itself {
        id: opening.id,
        name: &opening.name,
        agent: opening.agent.name.as_str(),
        role: opening.role,
        work: opening.work.as_ref(),
        socket: &socket.path(),
        token,
        program: &own_program,
    };
    environment::equip(environment, &itself);
    let prompt = place::prompt(&opening.places.session(opening.id));
    if prompt.is_file() {
        environment.insert(environment::PROMPT_FILE.into(), prompt.into());
    }
}

/// Makes the agent tell us by hooks, unless its user has settings of their own on the command line.
fn install_hooks(opening: &mut Opening, directory: &Dir) -> Result<(), OpenError> {
    let launch = &opening.agent.adapter.launch;
    let Some(option) = launch.hooks_option.clone() else {
        return Ok(());
    };
    let arguments = &mut opening.program.arguments;
    let is_option = |it: &OsString| it.to_string_lossy().starts_with(&option);
    if arguments.iter().any(is_option) {
        return Ok(());
    }
    let messages = place::long_messages(directory.path());
    Dir::create_private(&messages).map_err(OpenError::Messages)?;
    let settings = hook::settings(&opening.own_program, &messages);
    let name = place::AGENT_SETTINGS;
    atomic::replace(directory, name, settings.as_bytes(), Mode::Private)
        .map_err(OpenError::Settings)?;
    let file = directory.path().join(name);
    // Behind the words that make it this agent, before those of the user.
    let own = launch.command.len().saturating_sub(1).min(arguments.len());
    arguments.splice(own..own, [option.into(), file.into_os_string()]);
    Ok(())
}

/// Adds what lets us hear the agent besides its terminal, unless that would meddle with what its user asks for.
fn make_audible(opening: &mut Opening) -> Key {
    let launch = &opening.agent.adapter.launch;
    let Some(telling) = &launch.telling else {
        return Key::default();
    };
    let program = &mut opening.program;
    let own = launch
        .command
        .len()
        .saturating_sub(1)
        .min(program.arguments.len());
    let variable = telling.password.as_deref().map(OsString::from);
    let set = |name: &OsString| program.environment.get(name)?.to_str().map(str::to_owned);
    let given = variable.as_ref().and_then(set);
    if !telling.suits(&program.arguments[own..]) {
        // Its user may have a server of their own.
        return Key {
            id: None,
            password: given,
        };
    }
    let id = random_id();
    let words = telling
        .arguments
        .iter()
        .map(|word| word.replace("{id}", &id).into());
    program.arguments.splice(own..own, words);
    let password = variable.map(|variable| {
        let password =
            given.unwrap_or_else(|| Token::new(handoff_process::random()).reveal().to_owned());
        program
            .environment
            .insert(variable, password.clone().into());
        password
    });
    Key {
        id: Some(id),
        password,
    }
}

/// Random from its first digit on: some agents keep only the beginning.
fn random_id() -> String {
    let mut bytes: [u8; 16] = handoff_process::random();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits = format!("{:032x}", u128::from_be_bytes(bytes));
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| &digits[range]);
    parts.join("-")
}

/// Starts the agent when its session is on record, because others know it by that: what an agent sends in its first
/// millisecond must not be taken for a person's. That nothing could be started is not kept.
fn start_on_record(
    opening: &Opening,
    record: &mut Record,
    directory: &Dir,
) -> Result<Terminal, OpenError> {
    record.write(directory)?;
    match Terminal::start(&opening.program, opening.size) {
        Ok(terminal) => {
            record.child = terminal.identity().into();
            Ok(terminal)
        }
        Err(error) => {
            // One that stays tells of a session that is lost, which is no lie; why it is lost counts more.
            Record::remove(directory).ok();
            Err(error.into())
        }
    }
}

/// As long as there is no agent, its holder stands for it.
fn record(opening: &Opening, socket: &Socket, clock: &dyn Clock) -> Result<Record, OpenError> {
    let holder = Identity::own().map_err(OpenError::Identity)?;
    let program = &opening.program;
    let words = std::iter::once(&program.name).chain(&program.arguments);
    Ok(Record {
        schema_version: Record::VERSION,
        id: opening.id,
        name: opening.name.clone(),
        project: opening.project,
        agent: opening.agent.name.as_str().to_owned(),
        command: words
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        description: opening.description.clone(),
        task: opening.work.as_ref().map(|work| work.task.clone()),
        task_id: opening.work.as_ref().map(|work| work.id),
        fence: opening.work.as_ref().map(|work| work.fence),
        started_by: None,
        cwd: program.cwd.clone(),
        socket: socket.path(),
        host: opening.network.map(|it| it.host.name().to_owned()),
        port: None,
        holder: holder.into(),
        warden: opening.warden,
        child: holder.into(),
        rows: opening.size.rows,
        columns: opening.size.columns,
        started_at: clock.now().wall,
        ended: None,
        confinement: opening.confinement(),
        sandbox_off: opening.sandbox_off,
    })
}

fn begin_journal(directory: &Dir, record: &Record) -> Result<Journal, OpenError> {
    let mut journal = Journal::new(directory.path(), record.id, record.name.clone());
    let started = Event::Started {
        pid: record.child.pid,
        agent: record.agent.clone(),
        cwd: record.cwd.clone(),
        sandbox: record.confinement,
        landlock: Kernel::read().version(),
        sandbox_off: record.sandbox_off,
    };
    let noted = journal.append(started, record.started_at);
    noted.map_err(OpenError::Journal)?;
    Ok(journal)
}
