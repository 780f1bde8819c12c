//! `handoff help` and `handoff version`.

use insta::assert_snapshot;

use crate::stage::Stage;

/// The page of all commands, in two halves.
fn commands() -> (String, String) {
    let help = Stage::new().say("help").success().stdout;
    let (commands, _) = help.split_once("\nOptions:").expect("it has options");
    let half = commands.find("Tasks and batches").expect("it has tasks");
    let (first, second) = commands.split_at(half);
    (first.to_owned(), second.to_owned())
}

#[test]
fn help_lists_the_commands_by_what_they_are_for() {
    assert_snapshot!(commands().0, @"
    Carries work from one AI coding agent session to the next, runs several side by side without harm,
    and loses nothing

    Usage: handoff [OPTIONS] <COMMAND>

    Begin here
      status       See it all: the feature and how fresh that is, what waits for you, sessions, queue,
                   batches and runs
      demo         Walk the whole road once in a scratch repository: no set-up, no key, no network
      guide        Read how to get from nothing to an agent at work
      doctor       Look at versions, paths, the store, limits and what is missing here
      help         Explain a command or a topic

    Features: the next session knows what the last one did
      init         Create a feature, or the missing documents of one
      start        Make the prompt that plans what is not planned yet and begins the work
      continue     Make the prompt from which a fresh session goes on
      next         Say the one next action
      step         Say what happened to a step of the plan
      note         Write down something worth knowing, for whoever comes next
      decide       Write down what was decided, and why
      verify       Show what proves the work, or prove it
      checkpoint   Write down where things stand, for whoever comes next
      validate     Find all problems of the workspace, with file and line
      spec         Make the prompt that writes or rewrites `SPEC.md`
      design       Make the prompt that writes or rewrites `DESIGN.md`
      tasks        Make the prompt that writes or rewrites the plan in `STATE.md`
      prompt       Make any prompt, without checking whether it makes sense now
      list         List the features, and how far they are
      switch       Choose the feature to work on
      archive      Put a feature away
      clean        Move all features but the current one to the trash; `--undo` brings them back
      export       Write the built-in templates into the workspace, to be changed
      ignore       Let git ignore the workspace, or not any more
      trust        Let the commands of this repository run, as they are now

    Sessions: an agent under supervision
      run          Start an agent, or any program, as a session that outlives your terminal
      ps           List the sessions that live
      pane         Show what a session's terminal shows
      attach       Sit down at a session's terminal; `Ctrl-]` leaves it
      send         Say something to a session: typed when its agent reads, delivered when that was seen
      messages     What was said to a session, and how far it came
      reply        Say something to whoever started this session
      wait         Wait until a session has ended and exit as it did, or until it does something
      answer       Answer the question that an agent shows, or see what it asks
      interrupt    Make an agent stop what it is doing
      signal       Send a signal to an agent, or to everything that it has started
      stop         End a session, and say so when nothing of it is left
      logs         Show what a session has printed
      events       Read or follow the ledger, or what happens to a session
      agents       The agents that `run` knows, and how each is described
    ");
}

#[test]
fn help_lists_the_commands_around_tasks() {
    assert_snapshot!(commands().1, @"
    Tasks and batches: work that is handed out once, and spreads
      dump         Write the baton for the next session: add a task, or say that one is done or blocked
      queue        Tasks: add, list, claim, report
      batch        Batches: several tasks side by side, and what brings their results together
      worker       Take ready tasks down the road
      watchdog     Put right what dead workers and sessions left, once; for cron and timers
      done         Inside a session: say that your task is done, so that it is checked
      block        Inside a session: say that your task needs a person
      heartbeat    Keep the lease of a task alive that you work on outside of a session
      hold         Stop handing out work; what runs goes on
      unhold       Hand out work again
      gc           Show what nobody needs any more, and why the rest stays; `--apply` clears it away

    Workflows: phases in fresh sessions, judged by a referee
      workflow     Workflows: phases in fresh sessions, each proved by the tool
      approve      Let a run of a workflow through its gate
      reject       Have the phase before the gate done again, with your reason

    Git that several can share
      safe-commit  Commit exactly these paths, whatever others have staged or edited here
      land         Bring the branch of a task into yours
      rescue       Find what the sessions of a task left that has not landed
      baseline     The last commit that was verified good
      worktree     The trees that attempts work in
      git-guard    A `git` for sessions that knows what their role may do
      hooks        Hooks that keep sessions to their role; elsewhere they do nothing
      sandbox      Run a program that can change this worktree and nothing else

    Packages: what is handed on, sealed
      package      Sealed packages: what one session hands to the next, with proof
      context      Shared context: keyed JSON that sessions leave for each other
      keys         Keys: who sealed a package, and whom you trust
      pause        Stop the work on a task, in a session or on a batch, and seal what fresh sessions
                   need to go on
      resume       Let what was paused go on in fresh sessions, also if it comes from another store
      transfer     Pause a task, a session or a batch and hand it to somebody else

    Around
      backup       Copy the ledger, the packages and what you trust, while everything runs
      restore      Check a backup, or put it in the place of what is here
      recipes      Ways of working with sessions that have proved themselves
      skills       Teach Claude Code and Codex to use sessions
      completion   Print a completion script for a shell
      upgrade      Replace this program by its newest release
      version      Print the version
    ");
}

#[test]
fn a_program_that_is_told_nothing_shows_the_same_page() {
    let stage = Stage::new();
    let told_nothing = stage.run::<&str>([]).stderr;
    let asked = stage.run(["--help"]).success().stdout;
    assert_eq!(told_nothing, asked);
}

#[test]
fn help_ends_with_the_options_and_where_to_begin() {
    let stage = Stage::new();
    let help = stage.say("help").success().stdout;
    let (_, options) = help.split_once("\nOptions:").unwrap();
    assert_snapshot!(options, @"
          --json
              Print JSON: one document, or one object a line for streams

      -h, --help
              Print help

      -V, --version
              Print version

    Start with `handoff demo`. Exit codes: `handoff help exit-codes`.
    ");
    let short = stage.say("--help").success().stdout;
    assert!(short.contains("Start with `handoff demo`."), "{short}");
}

#[test]
fn help_explains_a_command() {
    assert_snapshot!(Stage::new().say("help queue claim").snapshot(), @"
    exit status: 0
    --- stdout ---
    Take the next ready task, or the one named

    Usage: handoff queue claim [OPTIONS] [TASK]

    Arguments:
      [TASK]
              Its name or id; without it the first that is ready

    Options:
          --json
              Print JSON: one document, or one object a line for streams

          --ttl <DURATION>
              How long the lease lasts without a heartbeat
              
              [default: <duration>]

          --wait <DURATION>
              Wait until something is ready, at most this long (exit code 124 if nothing comes)

          --key <KEY>
              Repeating a command with the same key does nothing new and gives the same answer

      -h, --help
              Print help
    ");
}

#[test]
fn help_explains_the_exit_codes() {
    assert_snapshot!(Stage::new().say("help exit-codes").snapshot(), @"
    exit status: 0
    --- stdout ---
    CODE  NAME               MEANING
    0     done               Everything that was asked for is done and durable.
    1     failed             The request is understood and cannot be carried out; the message says why.
    2     usage              The command line is wrong; nothing was tried.
    3     not_found          There is no such task, project, file or store.
    4     conflict           It contradicts what is already there: a taken name, an ended task, a reused
                             key, overlapping paths.
    5     unavailable        The store or a server cannot be reached or used at the moment; trying again
                             may help.
    6     lease_lost         The lease behind the fence you showed is gone; nothing was changed. Stop
                             working on the task.
    7     outcome_unknown    It may or may not have happened. Repeat the same command with the same
                             `--key` to find out.
    8     no_space           The disk or the quota is full; nothing was changed.
    9     forbidden          This caller may not do this.
    10    damaged            Stored data is damaged or of a newer version; it was left as it is.
    11    nothing_ready      There is nothing ready to be claimed.
    12    check_failed       A check did not pass: `doctor` found a problem, or a verify command failed.
    13    blocked            The agent waits for a person, so what was waited for cannot come by itself;
                             the message says what for.
    14    nothing_to_commit  Nothing has changed in the paths that were to be committed.
    15    stalled            A session is stuck: nothing of it moves, and telling it to go on did not
                             help. It still runs.
    16    turn_failed        The agent has ended its turn without an answer, because its model did not
                             answer; the message says what it said.
    17    interrupted        The turn was interrupted, so that there is no answer.
    18    refused            The turn ended with a refusal: of a person to what the agent asked for, or
                             of its model to answer.
    19    limit_reached      The turn ended without an answer, because what the agent may use is used
                             up.
    20    agent_died         The agent ended in the middle of the turn.
    70    internal           A mistake in handoff itself; please report it.
    99    guarded            The guard refused a git command inside a session; the message says what to
                             do instead.
    124   timed_out          Waiting took longer than the time given.
    ");
}

#[test]
fn help_on_nothing_known_says_so() {
    assert_snapshot!(Stage::new().say("help me").snapshot(), @r#"
    exit status: 2
    --- stderr ---
    error: there is no help on "me"
    hint: see all commands: `handoff help`
    "#);
}

#[test]
fn without_a_command_there_is_help_and_a_usage_error() {
    let stage = Stage::new();
    let nothing: [&str; 0] = [];
    let printed = stage.run(nothing).failure(2);
    assert!(printed.stderr.contains("queue"), "{}", printed.stderr);
    assert_eq!(printed.stdout, "");
}

#[test]
fn help_is_a_document_too_however_it_is_asked_for() {
    let stage = Stage::new();
    for words in ["help queue claim", "queue claim --help"] {
        let document = stage.json(words);
        assert_eq!(document["schema"], "handoff.help/1");
        let text = document["text"].as_str().unwrap();
        assert!(text.contains("Usage: handoff queue claim"), "{text}");
    }
    assert_eq!(stage.json("--version"), stage.json("version"));
}

#[test]
fn version_tells_the_version() {
    let stage = Stage::new();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        stage.say("version").success().stdout,
        format!("handoff {version}\n")
    );
    assert_eq!(stage.json("version")["version"], version);
}
