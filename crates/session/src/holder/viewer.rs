//! One who looks at a session's screen: a terminal that is told what changed, or a program that gets a line for each picture.

use std::time::Duration;

use handoff_core::time::Nanos;

use crate::control::{Attachment, Screenshot};
use crate::screen::{Frame, Screen};

/// Between two pictures.
const INTERVAL: Duration = Duration::from_millis(16);

/// One who looks at the screen.
pub(super) struct Viewer {
    eye: Eye,
    picture: Picture,
    drawn_at: Nanos,
}

/// How a picture is told.
enum Eye {
    Terminal {
        attachment: Attachment,
        /// What it shows; nothing if that is not known.
        frame: Option<Box<Frame>>,
        title: String,
    },
    /// The last line that was told: what looks the same is not told again.
    Lines { last: Vec<u8> },
}

/// Whether a viewer shows what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Picture {
    Current,
    Outdated,
}

impl Viewer {
    pub(super) const fn at_terminal(attachment: Attachment) -> Self {
        Self::new(Eye::Terminal {
            attachment,
            frame: None,
            title: String::new(),
        })
    }

    pub(super) const fn of_lines() -> Self {
        Self::new(Eye::Lines { last: vec![] })
    }

    const fn new(eye: Eye) -> Self {
        Self {
            eye,
            picture: Picture::Outdated,
            drawn_at: Nanos(0),
        }
    }

    pub(super) const fn is_seated(&self) -> bool {
        matches!(self.eye, Eye::Terminal { .. })
    }

    pub(super) fn is_writer(&self) -> bool {
        match &self.eye {
            Eye::Terminal { attachment, .. } => *attachment == Attachment::Write,
            Eye::Lines { .. } => false,
        }
    }

    /// The screen has changed.
    pub(super) const fn outdate(&mut self) {
        self.picture = Picture::Outdated;
    }

    /// The screen is another one: it is drawn from the beginning.
    pub(super) fn forget_frame(&mut self) {
        if let Eye::Terminal { frame, .. } = &mut self.eye {
            *frame = None;
        }
        self.outdate();
    }

    /// When the next picture is due, if one is.
    pub(super) fn next_picture(&self) -> Option<Nanos> {
        let due = self.drawn_at.after(INTERVAL);
        (self.picture == Picture::Outdated).then_some(due)
    }

    /// What tells it how the screen is now.
    pub(super) fn picture_of(&mut self, screen: &Screen, now: Nanos) -> Vec<u8> {
        self.picture = Picture::Current;
        self.drawn_at = now;
        match &mut self.eye {
            Eye::Terminal { frame, title, .. } => drawing(screen, frame, title),
            Eye::Lines { last } => line(screen, last),
        }
    }
}

fn drawing(screen: &Screen, frame: &mut Option<Box<Frame>>, title: &mut String) -> Vec<u8> {
    let mut picture = match frame {
        Some(frame) => screen.drawn_after(frame),
        None => screen.drawn(),
    };
    if screen.title() != title {
        screen.title().clone_into(title);
        picture.extend(format!("\x1b]2;{title}\x1b\\").into_bytes());
    }
    *frame = Some(Box::new(screen.frame()));
    picture
}

fn line(screen: &Screen, last: &mut Vec<u8>) -> Vec<u8> {
    let mut line = serde_json::to_vec(&Screenshot::of(screen)).expect("a picture is only text");
    line.push(b'\n');
    if line == *last {
        return vec![];
    }
    last.clone_from(&line);
    line
}

#[cfg(test)]
mod tests {
    use handoff_process::Size;

    use super::*;

    #[test]
    fn a_follower_is_told_what_looks_different_and_nothing_else() {
        let mut screen = Screen::new(Size {
            rows: 2,
            columns: 8,
        });
        let mut viewer = Viewer::of_lines();
        let mut told = |screen: &Screen| {
            viewer.outdate();
            String::from_utf8(viewer.picture_of(screen, Nanos(0))).unwrap()
        };
        assert!(told(&screen).ends_with("}\n"));
        assert_eq!(told(&screen), "");
        screen.print(b"a\x1b[c");
        assert!(told(&screen).contains(r#""lines":["a",""]"#));
        screen.print(b"\ra");
        assert_eq!(told(&screen), "");
        screen.resize(Size {
            rows: 1,
            columns: 8,
        });
        assert!(told(&screen).contains(r#""lines":["a"]"#));
    }
}
