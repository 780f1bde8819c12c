//! Secrets within a file that need not fit into memory.

use std::io::{self, Read};

use super::{Finding, kind_by_name, scan};

/// So much is looked at in one go.
const WINDOW: usize = 1024 * 1024;
/// So much of it is looked at again with what follows: longer than any secret but a private key, whose beginning is enough.
const OVERLAP: usize = 8 * 1024;
/// More need not be told.
const ENOUGH: usize = 20;

/// Looks for secrets in a file, by its name and by its content.
pub(crate) fn scan_stream(name: &str, content: &mut dyn Read) -> io::Result<Vec<Finding>> {
    let place = if scan(name, "").is_empty() {
        format!("the attachment `{name}`")
    } else {
        "an attachment".to_owned()
    };
    let by_name = kind_by_name(name).map(|kind| Finding {
        kind,
        place: place.clone(),
        line: 1,
    });
    let mut found: Vec<_> = by_name.into_iter().collect();
    let mut window = Vec::with_capacity(WINDOW + OVERLAP);
    let mut lines = 0;
    loop {
        let kept = window.len();
        Read::take(&mut *content, WINDOW as u64).read_to_end(&mut window)?;
        if window.len() == kept {
            return Ok(found);
        }
        let text = String::from_utf8_lossy(&window);
        let here = scan(&text, &place).into_iter().map(|finding| Finding {
            line: finding.line + lines,
            ..finding
        });
        for finding in here {
            if found.len() < ENOUGH && !found.contains(&finding) {
                found.push(finding);
            }
        }
        let done = window.len().saturating_sub(OVERLAP);
        lines += window[..done].iter().filter(|it| **it == b'\n').count();
        window.drain(..done);
    }
}
