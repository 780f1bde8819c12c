//! Writing out `{a,b}`.
//!
//! Alternatives may contain `/`, so they are written out before a glob is cut into segments. The
//! number of results is bounded while they are made: `{a,b}` thirty times in a row would be a
//! billion.

use super::PatternError;
use super::class::class_bytes;
use super::glob::MAX_ALTERNATIVES;

/// The globs without braces that `glob` stands for.
pub(super) fn write_out(glob: &str) -> Result<Vec<String>, PatternError> {
    let mut written = Vec::new();
    add(glob.to_owned(), glob, &mut written)?;
    Ok(written)
}

fn add(text: String, glob: &str, written: &mut Vec<String>) -> Result<(), PatternError> {
    let cuts = first_group(&marks(&text, glob)?, glob)?;
    let [start, .., end] = cuts[..] else {
        written.push(text);
        return check_count(written, glob);
    };
    for option in cuts.windows(2) {
        let (head, tail) = (&text[..start], &text[end + 1..]);
        add(
            format!("{head}{}{tail}", &text[option[0] + 1..option[1]]),
            glob,
            written,
        )?;
    }
    Ok(())
}

fn check_count(written: &[String], glob: &str) -> Result<(), PatternError> {
    if written.len() > MAX_ALTERNATIVES {
        return Err(PatternError::TooManyAlternatives {
            glob: glob.to_owned(),
        });
    }
    Ok(())
}

/// Where the first group opens, where each of its commas is, and where it closes; empty if there is
/// no group.
fn first_group(marks: &[(usize, char)], glob: &str) -> Result<Vec<usize>, PatternError> {
    let unbalanced = || PatternError::UnbalancedBraces {
        glob: glob.to_owned(),
    };
    let mut cuts = Vec::new();
    let mut depth = 0_usize;
    for &(at, mark) in marks {
        match mark {
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1).ok_or_else(unbalanced)?,
            _ => {}
        }
        let closes = depth == 0 && mark == '}';
        let opens = cuts.is_empty() && mark == '{';
        if closes || opens || (depth == 1 && mark == ',') {
            cuts.push(at);
        }
        if closes {
            return check_options(cuts, glob);
        }
    }
    if depth == 0 {
        Ok(cuts)
    } else {
        Err(unbalanced())
    }
}

/// A group with one option would also let the number of results stand still while braces nest.
fn check_options(cuts: Vec<usize>, glob: &str) -> Result<Vec<usize>, PatternError> {
    if cuts.len() < 3 {
        return Err(PatternError::SingleAlternative {
            glob: glob.to_owned(),
        });
    }
    Ok(cuts)
}

/// Where braces and commas stand outside of classes: `[{,]` is a class of two characters.
fn marks(text: &str, glob: &str) -> Result<Vec<(usize, char)>, PatternError> {
    let unclosed = || PatternError::UnclosedClass {
        glob: glob.to_owned(),
    };
    let mut marks = Vec::new();
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        match character {
            '{' | ',' | '}' => marks.push((at, character)),
            _ => {}
        }
        at += match character {
            '[' => class_bytes(&text[at..]).ok_or_else(unclosed)?,
            _ => character.len_utf8(),
        };
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(glob: &str) -> Vec<String> {
        write_out(glob).unwrap_or_else(|error| panic!("{glob}: {error}"))
    }

    #[test]
    fn alternatives_multiply_and_nest() {
        assert_eq!(written("{a,b}/{c,d}"), ["a/c", "a/d", "b/c", "b/d"]);
        assert_eq!(written("x{a,{b,c/d}e}"), ["xa", "xbe", "xc/de"]);
        assert_eq!(written("a{,.bak}"), ["a", "a.bak"]);
    }

    #[test]
    fn braces_and_commas_in_a_class_are_its_members() {
        for glob in ["[{]", "a[},]", "[!{]x", "[]{]", "é[{]"] {
            assert_eq!(written(glob), [glob]);
        }
        assert_eq!(written("{[a,b],c}"), ["[a,b]", "c"]);
        assert_eq!(written("[é]{a,b}"), ["[é]a", "[é]b"]);
    }

    #[test]
    fn comma_outside_of_braces_is_a_character() {
        assert_eq!(written("a,b{c,d},e"), ["a,bc,e", "a,bd,e"]);
    }

    #[test]
    fn unbalanced_braces_are_refused() {
        for text in ["{a,b", "a}", "{a,b}}", "{{a,b}", "{a,b}{", "}{"] {
            let glob = text.to_owned();
            assert_eq!(
                write_out(text),
                Err(PatternError::UnbalancedBraces { glob }),
                "{text}"
            );
        }
    }

    #[test]
    fn braces_around_one_alternative_are_refused() {
        for text in ["{a}", "{}", "{{a,b}}"] {
            let glob = text.to_owned();
            assert_eq!(
                write_out(text),
                Err(PatternError::SingleAlternative { glob }),
                "{text}"
            );
        }
    }

    #[test]
    fn more_than_64_alternatives_are_refused_without_writing_them_out() {
        assert_eq!(written(&"{a,b}".repeat(6)).len(), MAX_ALTERNATIVES);
        for glob in ["{a,b}".repeat(7), "{a,b}".repeat(200)] {
            assert_eq!(
                write_out(&glob),
                Err(PatternError::TooManyAlternatives { glob })
            );
        }
    }
}
