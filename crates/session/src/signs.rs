//! What is seen of an agent, and what follows from all of it: the strongest sign decides.

use std::time::Duration;

use handoff_agents::adapter::{Adapter, Prompting};
use handoff_agents::{Block, Hint, Sight};

use crate::screen::Screen;
use crate::state::{Source, State, Verdict};
use crate::status_report::StatusReport;
use crate::turn::is_at_rest;

/// How long a picture of work may stand still.
pub const STANDS_STILL: Duration = Duration::from_secs(60);

/// What is seen of an agent.
#[derive(Debug, Clone)]
pub struct Signs {
    adapter: Adapter,
    life: Life,
    status: Option<Hint>,
    /// What it has written down of itself.
    native: Option<Hint>,
    /// What a hook told last.
    hook: Option<Hint>,
    seen: Option<Seen>,
    /// The place where one types was seen, so that it is hidden when it is not.
    has_shown_box: bool,
    /// A line editor was seen to read, so its silence now means that a command runs.
    has_prompted: bool,
}

/// Whether the process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Running,
    Ended,
}

/// What the terminal shows of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terminal {
    pub foreground: Foreground,
    pub paste: Paste,
    pub title: String,
    pub sight: Sight,
}

/// Who reads the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreground {
    /// The program itself.
    Itself,
    /// Something that it started.
    Other,
    Unknown,
}

/// Whether the program asked for pastes to be marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paste {
    Bracketed,
    Plain,
}

/// What was seen of the terminal, and what it means: read once, because what it means is asked at every turn.
#[derive(Debug, Clone)]
struct Seen {
    foreground: Foreground,
    paste: Paste,
    title: String,
    by_title: Option<Verdict>,
    by_screen: Option<Verdict>,
    shows_box: bool,
}

impl Terminal {
    /// How a screen looks to the one in front of it.
    pub fn of(screen: &Screen, foreground: Foreground, sight: Sight) -> Self {
        Self {
            foreground,
            paste: if screen.is_paste_bracketed() {
                Paste::Bracketed
            } else {
                Paste::Plain
            },
            title: screen.title().to_owned(),
            sight,
        }
    }
}

impl Signs {
    pub const fn new(adapter: Adapter) -> Self {
        Self {
            adapter,
            life: Life::Running,
            status: None,
            native: None,
            hook: None,
            seen: None,
            has_shown_box: false,
            has_prompted: false,
        }
    }

    /// Whether anything has changed since the last look that is published at once.
    pub fn has_news(&self, screen: &Screen, foreground: Foreground) -> bool {
        self.seen.as_ref().is_none_or(|seen| {
            seen.foreground != foreground
                || (seen.paste == Paste::Bracketed) != screen.is_paste_bracketed()
                || seen.title != screen.title()
        })
    }

    /// Whether one look at any time is enough: nothing is read from the screen, and a line editor says itself when it reads. Of other
    /// shells a second look is needed, because they start a command after they have printed.
    pub fn is_exact(&self) -> bool {
        self.adapter.screen.is_empty() && self.adapter.reads == Prompting::LineEditor
    }

    pub const fn adapter(&self) -> &Adapter {
        &self.adapter
    }

    /// The process has ended.
    pub const fn ended(&mut self) {
        self.life = Life::Ended;
    }

    /// The program said what it does.
    pub const fn reported(&mut self, report: StatusReport) {
        self.status = match report {
            StatusReport::Is(hint) => Some(hint),
            StatusReport::Done => Some(Hint::Prompt),
            StatusReport::Cleared => None,
        };
    }

    /// The agent told what it does by other ways than its terminal.
    pub const fn informed(&mut self, report: StatusReport) {
        self.native = match report {
            StatusReport::Is(hint) => Some(hint),
            StatusReport::Done => Some(Hint::Prompt),
            StatusReport::Cleared => None,
        };
    }

    /// A hook told something; one that is not understood makes the one before old.
    pub const fn hooked(&mut self, hint: Option<Hint>) {
        self.hook = hint;
    }

    /// The program printed. What no rule would read is not read from the screen either: that is most of the work.
    pub fn look(&mut self, screen: &Screen, foreground: Foreground) {
        let sight = match self.adapter.screen.as_slice() {
            [] => Sight::default(),
            [_, ..] => screen.sight(),
        };
        self.printed(Terminal::of(screen, foreground, sight));
    }

    /// The program printed, and this is how its terminal looks now.
    pub fn printed(&mut self, terminal: Terminal) {
        let seen = Seen {
            by_title: self.by_title(&terminal.title),
            by_screen: self.by_screen(&terminal.sight),
            shows_box: self.shows_box(&terminal.sight),
            foreground: terminal.foreground,
            paste: terminal.paste,
            title: terminal.title,
        };
        self.has_prompted |= seen.is_reading();
        self.has_shown_box |= seen.shows_box;
        self.seen = Some(seen);
    }

    /// What follows from all of it.
    pub fn verdict(&self) -> Verdict {
        if self.life == Life::Ended {
            return verdict(State::Exited, Source::Process);
        }
        let Some(seen) = &self.seen else {
            return verdict(State::Starting, Source::Start);
        };
        self.unless_hidden(self.claimed(seen), seen)
    }

    /// One that waits for a message shows where that is typed. Where something else is open over it, keys would go to that: a panel,
    /// a list, a pager, an editor. What an agent says of itself is the same as without.
    fn unless_hidden(&self, claimed: Verdict, seen: &Seen) -> Verdict {
        const PANEL: Verdict = verdict(State::Blocked(Block::Panel), Source::Screen);
        if !is_at_rest(claimed.state) {
            return claimed;
        }
        let by_screen = seen.by_screen.map(|screen| screen.state);
        let is_hidden = self.has_shown_box && !seen.shows_box;
        match by_screen {
            Some(State::Blocked(Block::Panel)) => PANEL,
            Some(State::Prompt) => claimed,
            Some(_) | None if is_hidden => PANEL,
            Some(_) | None => claimed,
        }
    }

    fn claimed(&self, seen: &Seen) -> Verdict {
        let says = |hint: Option<Hint>, source| Some(verdict(hint?.into(), source));
        if let Some(verdict) = says(self.status, Source::Status) {
            return verdict;
        }
        let stronger = says(self.informed_hint(), Source::Native)
            .or(seen.by_title)
            .or_else(|| self.by_foreground(seen));
        match (stronger, seen.by_screen) {
            (Some(stronger), Some(screen)) => weigh(stronger, screen),
            (Some(stronger), None) => stronger,
            (None, screen) => remember(says(self.hook, Source::Native), screen).unwrap_or(UNKNOWN),
        }
    }

    /// The same of an agent that has printed nothing for so long. Who works moves something on the screen: a clock, a sign that
    /// turns. One that stands still for long may have stopped, and the picture of work says no more than that it worked. That
    /// silence is never a sign of rest: a model that thinks is silent too.
    pub fn verdict_after(&self, silent: Duration) -> Verdict {
        let found = self.verdict();
        let is_picture = found == verdict(State::Busy, Source::Screen);
        if is_picture && silent >= STANDS_STILL {
            return verdict(State::Unknown, Source::Silence);
        }
        found
    }

    /// What the newest look says, for those who must not type into a question: one that stands on the screen counts, whatever
    /// contradicts it.
    pub fn newest(&self) -> State {
        let found = self.verdict();
        let screen = self.seen.as_ref().and_then(|seen| seen.by_screen);
        match screen.map(|screen| screen.state) {
            Some(state @ State::Blocked(Block::Panel)) => state,
            Some(state @ State::Blocked(_)) if found == UNKNOWN => state,
            Some(_) | None => found.state,
        }
    }

    /// What it wrote down, and why it rests if a hook told that.
    fn informed_hint(&self) -> Option<Hint> {
        match (self.native, self.hook) {
            (Some(Hint::Prompt), Some(hook @ Hint::Blocked(Block::Error | Block::Limit))) => {
                Some(hook)
            }
            (native, _) => native,
        }
    }

    fn by_title(&self, title: &str) -> Option<Verdict> {
        let means = self.adapter.read_title(title)?;
        Some(verdict(means.into(), Source::Title))
    }

    fn by_foreground(&self, seen: &Seen) -> Option<Verdict> {
        let is_itself = match seen.foreground {
            Foreground::Itself => true,
            Foreground::Other => false,
            Foreground::Unknown => return None,
        };
        let state = match self.adapter.reads {
            Prompting::Screen => return None,
            Prompting::Foreground if is_itself => return None,
            Prompting::Foreground => State::Busy,
            Prompting::LineEditor | Prompting::Paste if !is_itself => State::Busy,
            Prompting::LineEditor | Prompting::Paste if seen.is_reading() => State::Prompt,
            Prompting::LineEditor | Prompting::Paste if self.has_prompted => State::Busy,
            Prompting::LineEditor | Prompting::Paste => State::Starting,
        };
        Some(verdict(state, Source::Foreground))
    }

    fn shows_box(&self, sight: &Sight) -> bool {
        let input = self.adapter.input_box.as_ref();
        let input = input.filter(|_| self.adapter.input.mark.is_some());
        input.is_some_and(|input| sight.top_of_box(input).is_some())
    }

    fn by_screen(&self, sight: &Sight) -> Option<Verdict> {
        let means = self.adapter.read_screen(sight)?;
        Some(verdict(means.into(), Source::Screen))
    }
}

impl Seen {
    fn is_reading(&self) -> bool {
        self.paste == Paste::Bracketed && self.foreground == Foreground::Itself
    }
}

const UNKNOWN: Verdict = verdict(State::Unknown, Source::Nothing);

/// A hook is told once and never taken back: after an interrupt there is none. So it counts where the screen says nothing, or the same.
fn remember(hook: Option<Verdict>, screen: Option<Verdict>) -> Option<Verdict> {
    match (hook, screen) {
        (Some(hook), Some(screen)) if hook.state != screen.state => Some(screen),
        (hook, screen) => hook.or(screen),
    }
}

/// A dialog that stands on the screen is hard to deny, and why an agent rests is seen there best:
///
/// | says | on the screen | |
/// |---|---|---|
/// | works, in its own words | a dialog | it asks: a record of a conversation does not know of questions |
/// | works, by its title | a dialog | a contradiction |
/// | waits for a message | a dialog | a contradiction |
/// | waits for a message | an error, a limit | it waits because of that |
/// | waits for a message | a panel | it is hidden behind that, see `unless_hidden` |
/// | reads, by its line editor | anything but work | what it reads for stands there |
/// | anything else | | the stronger one counts |
const fn weigh(stronger: Verdict, screen: Verdict) -> Verdict {
    let State::Blocked(block) = screen.state else {
        return stronger;
    };
    if matches!(block, Block::Panel) {
        return stronger;
    }
    let is_dialog = !matches!(block, Block::Error | Block::Limit);
    match (stronger.state, stronger.source) {
        (State::Busy, Source::Native) if is_dialog => screen,
        (State::Busy, Source::Title) if is_dialog => UNKNOWN,
        (State::Prompt, Source::Native | Source::Title) if is_dialog => UNKNOWN,
        (State::Prompt, Source::Native | Source::Title | Source::Foreground) => screen,
        _ => stronger,
    }
}

const fn verdict(state: State, source: Source) -> Verdict {
    Verdict { state, source }
}

#[cfg(test)]
mod tests {
    use handoff_agents::Agent;

    use super::*;

    fn terminal(foreground: Foreground, paste: Paste, line: &str) -> Terminal {
        Terminal {
            foreground,
            paste,
            title: String::new(),
            sight: Sight::new(&[line.to_owned()], 80, line),
        }
    }

    fn signs(agent: &str) -> Signs {
        Signs::new(Agent::built_in(agent).unwrap().adapter)
    }

    /// What follows from one look at the terminal.
    fn seen(agent: &str, terminal: Terminal) -> Verdict {
        let mut signs = signs(agent);
        signs.printed(terminal);
        signs.verdict()
    }

    /// An agent and a look at its terminal; and what follows.
    type Row = (
        &'static str,
        (Foreground, Paste, &'static str),
        (State, Source),
    );

    #[track_caller]
    fn assert_rows(rows: &[Row]) {
        for (agent, (foreground, paste, line), (state, source)) in rows {
            let terminal = terminal(*foreground, *paste, line);
            let found = seen(agent, terminal.clone());
            assert_eq!(found, verdict(*state, *source), "{agent} {terminal:?}");
        }
    }

    #[test]
    fn a_shell_shows_exactly_when_it_reads() {
        use Foreground::{Itself, Other};
        use Paste::{Bracketed, Plain};
        let by_foreground = |state| (state, Source::Foreground);
        assert_rows(&[
            (
                "bash",
                (Itself, Bracketed, "$ "),
                by_foreground(State::Prompt),
            ),
            (
                "bash",
                (Itself, Plain, "$ "),
                by_foreground(State::Starting),
            ),
            ("bash", (Other, Plain, "$ "), by_foreground(State::Busy)),
            ("zsh", (Other, Bracketed, "> "), by_foreground(State::Busy)),
            ("sh", (Other, Plain, "$ "), by_foreground(State::Busy)),
        ]);
    }

    #[test]
    fn other_programs_are_read_by_the_line_with_the_cursor() {
        use Foreground::{Itself, Unknown};
        use Paste::{Bracketed, Plain};
        let prompt = (State::Prompt, Source::Screen);
        let unknown = (State::Unknown, Source::Nothing);
        assert_rows(&[
            ("sh", (Itself, Plain, "# "), prompt),
            ("sh", (Itself, Plain, ""), unknown),
            ("generic", (Itself, Plain, ">>> "), prompt),
            ("generic", (Unknown, Plain, "› "), prompt),
            ("generic", (Itself, Bracketed, ""), unknown),
        ]);
    }

    #[test]
    fn a_title_tells_what_the_adapter_says_it_does() {
        let with_title = |title: &str| Terminal {
            title: title.to_owned(),
            ..terminal(Foreground::Itself, Paste::Bracketed, "")
        };
        let busy = verdict(State::Busy, Source::Title);
        let blocked = verdict(State::Blocked(Block::Permission), Source::Title);
        assert_eq!(seen("claude", with_title("◑ Claude Code")), busy);
        assert_eq!(seen("codex", with_title("⠼ fix | repo")), busy);
        let asks = with_title("[ . ] Action Required | repo");
        assert_eq!(seen("codex", asks), blocked);
        let idle = with_title("✳ Claude Code");
        assert_eq!(seen("claude", idle).source, Source::Nothing);
    }

    #[test]
    fn a_line_editor_that_has_prompted_and_reads_no_more_is_busy() {
        let mut signs = signs("bash");
        signs.printed(terminal(Foreground::Itself, Paste::Bracketed, "$ "));
        signs.printed(terminal(Foreground::Itself, Paste::Plain, "$ "));
        assert_eq!(signs.verdict(), verdict(State::Busy, Source::Foreground));
    }

    /// A terminal of Claude Code that shows this.
    fn showing(rows: &str) -> Terminal {
        let rows: Vec<String> = rows.lines().map(str::to_owned).collect();
        Terminal {
            sight: Sight::new(&rows, 80, ""),
            ..terminal(Foreground::Itself, Paste::Bracketed, "")
        }
    }

    const BOX: &str = "────────────\n❯ \n────────────\n  ? for shortcuts";
    const FAILED: &str = "● API Error: 500\n────────────\n❯ \n────────────\n  ? for shortcuts";
    const DIALOG: &str = " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n Esc to cancel";

    /// What it wrote down, what its terminal shows, and what follows.
    #[test]
    fn what_an_agent_writes_down_is_weighed_against_a_dialog_on_its_screen() {
        let busy = verdict(State::Busy, Source::Native);
        let prompt = verdict(State::Prompt, Source::Native);
        let asks = verdict(State::Blocked(Block::Permission), Source::Screen);
        let blocked = verdict(State::Blocked(Block::Question), Source::Native);
        let failed = verdict(State::Blocked(Block::Error), Source::Screen);
        let table = [
            (Hint::Busy, BOX, busy),
            (Hint::Prompt, BOX, prompt),
            (Hint::Busy, DIALOG, asks),
            (Hint::Prompt, DIALOG, UNKNOWN),
            (Hint::Prompt, FAILED, failed),
            (Hint::Blocked(Block::Question), BOX, blocked),
        ];
        for (hint, rows, expected) in table {
            let mut signs = signs("claude");
            signs.informed(StatusReport::Is(hint));
            signs.printed(showing(rows));
            assert_eq!(signs.verdict(), expected, "{hint} {rows}");
        }
    }

    /// What hooks leave out: an interrupt, a permission that was refused, an error of the model.
    #[test]
    fn an_agent_whose_last_hook_said_busy_is_not_busy_for_ever() {
        let by_hook = verdict(State::Busy, Source::Native);
        let by_screen = |state| verdict(state, Source::Screen);
        let table = [
            ("painting over", by_hook),
            (BOX, by_screen(State::Prompt)),
            (DIALOG, by_screen(State::Blocked(Block::Permission))),
            (FAILED, by_screen(State::Blocked(Block::Error))),
        ];
        for (rows, expected) in table {
            let mut signs = signs("claude");
            signs.hooked(Some(Hint::Busy));
            signs.printed(showing(rows));
            assert_eq!(signs.verdict(), expected, "{rows}");
        }
    }

    #[test]
    fn a_picture_of_work_that_stands_still_says_nothing_and_never_rest() {
        let working = format!("✻ Thinking… (4s)\n{BOX}");
        let after = |seconds: u64, rows: &str| {
            let mut signs = signs("claude");
            signs.printed(showing(rows));
            signs.verdict_after(Duration::from_secs(seconds))
        };
        assert_eq!(after(59, &working), verdict(State::Busy, Source::Screen));
        assert_eq!(
            after(60, &working),
            verdict(State::Unknown, Source::Silence)
        );
        assert_eq!(after(600, BOX), verdict(State::Prompt, Source::Screen));
        assert_eq!(after(600, "what is this?"), UNKNOWN);
    }

    const SETTINGS: &str = "▔▔▔▔▔▔▔▔▔▔▔▔\n   Settings  Status\n\n   Version: 2\n   Esc to cancel";
    const PICKER: &str =
        "▔▔▔▔▔▔▔▔▔▔▔▔\n   Select model\n   ❯ 1. One\n     2. Two\n   Esc to cancel";
    const EDITOR: &str = "~\n~\n~\n\"prompt.md\" 0L, 0B";

    /// What it says is the same while something is open over its box.
    #[test]
    fn what_hides_the_place_where_one_types_is_no_prompt() {
        let panel = State::Blocked(Block::Panel);
        let table = [
            (BOX, State::Prompt),
            (SETTINGS, panel),
            (PICKER, panel),
            (EDITOR, panel),
            (FAILED, State::Prompt),
        ];
        for (rows, expected) in table {
            for hint in [Hint::Prompt, Hint::Busy] {
                let mut signs = signs("claude");
                signs.reported(StatusReport::Is(hint));
                signs.printed(showing(BOX));
                signs.printed(showing(rows));
                let works = hint == Hint::Busy;
                let expected = if works { State::Busy } else { expected };
                assert_eq!(signs.verdict().state, expected, "{hint} {rows}");
            }
        }
        // One that has shown no box may have another than we know.
        let mut signs = signs("claude");
        signs.reported(StatusReport::Is(Hint::Prompt));
        signs.printed(showing(EDITOR));
        assert_eq!(signs.verdict().state, State::Prompt);
    }

    #[test]
    fn a_key_for_one_that_works_does_not_go_to_a_panel() {
        let mut signs = signs("claude");
        signs.reported(StatusReport::Is(Hint::Busy));
        signs.printed(showing(SETTINGS));
        assert_eq!(signs.newest(), State::Blocked(Block::Panel));
    }

    #[test]
    fn what_any_program_asks_is_no_prompt() {
        let asks = State::Blocked(Block::Question);
        let table = [
            ("Go on? [y/n] ", asks),
            ("Overwrite? [y/N/t] ", asks),
            ("Are you sure (yes/no)? ", asks),
            ("Press Enter to continue", asks),
            ("Press ENTER or type command to continue", asks),
            ("Press any key", asks),
            ("Password: ", State::Blocked(Block::Login)),
            ("Enter passphrase for key: ", State::Blocked(Block::Login)),
            ("Enter a number: ", asks),
            ("Your choice [1-4]: ", asks),
            ("Your choice (1/2/3) > ", asks),
            ("(END)", State::Blocked(Block::Panel)),
            ("--More--(42%)", State::Blocked(Block::Panel)),
            ("$ ", State::Prompt),
            (">>> ", State::Prompt),
            ("[12:03] me@host % ", State::Prompt),
        ];
        for (line, expected) in table {
            let terminal = terminal(Foreground::Itself, Paste::Plain, line);
            assert_eq!(seen("generic", terminal).state, expected, "{line:?}");
        }
    }

    #[test]
    fn a_hook_tells_why_an_agent_rests() {
        let mut signs = signs("claude");
        signs.informed(StatusReport::Is(Hint::Prompt));
        signs.hooked(Some(Hint::Blocked(Block::Error)));
        signs.printed(showing(BOX));
        let failed = verdict(State::Blocked(Block::Error), Source::Native);
        assert_eq!(signs.verdict(), failed);
        signs.hooked(Some(Hint::Busy));
        assert_eq!(signs.verdict(), verdict(State::Prompt, Source::Native));
    }

    #[test]
    fn a_program_that_reads_by_its_editor_asks_what_stands_on_its_screen() {
        let look = |paste, rows: &str| {
            let mut signs = signs("aider");
            signs.printed(terminal(Foreground::Itself, Paste::Bracketed, "> "));
            signs.printed(Terminal {
                paste,
                ..showing(rows)
            });
            signs.verdict()
        };
        let question = "Create new file? (Y)es/(N)o [Yes]:";
        let asks = verdict(State::Blocked(Block::Permission), Source::Screen);
        assert_eq!(look(Paste::Bracketed, question), asks);
        let reads = verdict(State::Prompt, Source::Foreground);
        assert_eq!(look(Paste::Bracketed, "──────────\n>"), reads);
        let busy = verdict(State::Busy, Source::Foreground);
        assert_eq!(look(Paste::Plain, "──────────\n> hello"), busy);
    }

    #[test]
    fn a_title_that_works_above_a_dialog_is_a_contradiction() {
        let terminal = Terminal {
            title: "◐ Claude Code".to_owned(),
            ..showing(DIALOG)
        };
        assert_eq!(seen("claude", terminal.clone()), UNKNOWN);
        let mut signs = signs("claude");
        signs.printed(terminal);
        assert_eq!(signs.newest(), State::Blocked(Block::Permission));
    }

    #[test]
    fn what_the_program_says_outweighs_what_it_shows_and_its_end_everything() {
        let mut signs = signs("generic");
        assert_eq!(signs.verdict(), verdict(State::Starting, Source::Start));
        signs.printed(terminal(Foreground::Itself, Paste::Plain, "> "));
        signs.reported(StatusReport::Is(Hint::Blocked(Block::Permission)));
        let blocked = verdict(State::Blocked(Block::Permission), Source::Status);
        assert_eq!(signs.verdict(), blocked);
        signs.reported(StatusReport::Cleared);
        assert_eq!(signs.verdict(), verdict(State::Prompt, Source::Screen));
        signs.ended();
        assert_eq!(signs.verdict(), verdict(State::Exited, Source::Process));
    }
}
