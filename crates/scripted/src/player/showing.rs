//! What the agent shows.

use handoff_agents::scripted::{BracketedPaste, Osc, OscEnd, Print, Screen, Title};

use super::Player;
use crate::clock;
use crate::outcome::Failure;
use crate::screen::{ENTER, LEAVE, frame};

impl Player<'_> {
    pub(super) fn print(&mut self, print: &Print) -> Result<(), Failure> {
        let text = self.render(&print.text);
        match print.pace {
            Some(pace) => self.terminal.output.paced(&text, pace),
            None => self.terminal.output.text(&text),
        }
    }

    pub(super) fn title(&mut self, title: &Title) -> Result<(), Failure> {
        let command = format!("2;{}", self.render(&title.title));
        self.terminal.output.osc(&command, OscEnd::Bel)
    }

    pub(super) fn osc(&mut self, osc: &Osc) -> Result<(), Failure> {
        let command = self.render(&osc.command);
        self.terminal.output.osc(&command, osc.end)
    }

    pub(super) fn bracketed_paste(&mut self, paste: &BracketedPaste) -> Result<(), Failure> {
        self.terminal.output.bracketed_paste(paste.bracketed_paste)
    }

    pub(super) fn screen(&mut self, screen: &Screen) -> Result<(), Failure> {
        self.terminal.output.text(ENTER)?;
        for redraw in 1..=screen.redraws.get() {
            self.variables.set("redraw", redraw.to_string());
            let rows = self.render_all(&screen.rows);
            self.terminal.output.text(&frame(&rows))?;
            clock::sleep(screen.every.as_duration());
        }
        if screen.stay {
            return Ok(());
        }
        self.leave_screen()
    }

    pub(super) fn leave_screen(&mut self) -> Result<(), Failure> {
        self.terminal.output.text(LEAVE)
    }
}
