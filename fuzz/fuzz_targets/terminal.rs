//! The terminal's input path: whatever bytes a program prints, in whatever pieces, at whatever sizes.
//!
//! Without cargo-fuzz: see the head of `plan.rs`.

#![no_main]

use handoff_agents::Agent;
use handoff_process::Size;
use handoff_session::paste::{self, Reader};
use handoff_session::screen::Screen;
use handoff_session::signs::{Foreground, Signs};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [rows, columns, cut, rest @ ..] = input else {
        return;
    };
    let size = |rows: u8, columns: u8| Size {
        rows: rows.into(),
        columns: columns.into(),
    };
    let mut screen = Screen::new(size(*rows, *columns));
    let agent = Agent::built_in("claude").expect("it is built in");
    let mut signs = Signs::new(agent.adapter);
    let step = usize::from(*cut).max(1);
    for (number, piece) in rest.chunks(step).enumerate() {
        let aside = screen.print(piece);
        // Answers are ours: a program cannot make the terminal type what it likes.
        assert!(aside.replies.len() <= 64 * piece.len() + 64);
        signs.look(&screen, Foreground::Itself);
        aside.reports.into_iter().for_each(|report| signs.reported(report));
        signs.verdict();
        if number % 7 == 3 {
            let odd = piece[0];
            screen.resize(size(odd, odd.wrapping_mul(3)));
        }
    }
    screen.drawn();
    screen.rows_formatted();
    let text = paste::clean(&String::from_utf8_lossy(rest));
    for reader in [Reader::Bracketed, Reader::Keys] {
        let keys = paste::keys(&text, reader);
        let body = keys.strip_prefix(b"\x1b[200~").unwrap_or(&keys);
        let body = body.strip_suffix(b"\x1b[201~").unwrap_or(body);
        assert!(!body.contains(&0x1b) && !body.contains(&3) && !body.contains(&4));
    }
});
