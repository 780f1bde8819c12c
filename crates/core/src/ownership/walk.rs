//! The form in which patterns are compared: a path is a sequence of names, a name a sequence of
//! characters, and in both a step may stand for many (`**` between names, `*` inside one).

use super::case_rule::CaseRule;
use super::char_set::CharSet;
use super::repo_path::RepoPath;

/// One step of a sequence.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Step<T> {
    /// Any number of items, also none.
    Many,
    /// Exactly one item.
    One(T),
}

/// What one segment of a path may be called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Name {
    Literal(String),
    Wild(Vec<Step<CharSet>>),
}

/// All paths that a pattern covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Walk(pub(super) Vec<Step<Name>>);

impl<T> Step<T> {
    /// The item, if exactly one is meant.
    pub(super) fn item(&self) -> Option<&T> {
        match self {
            Self::Many => None,
            Self::One(item) => Some(item),
        }
    }

    pub(super) fn is_many(&self) -> bool {
        self.item().is_none()
    }

    /// How many steps it is past this one when it takes an item: none while it takes many.
    pub(super) fn width(&self) -> usize {
        usize::from(!self.is_many())
    }

    fn map(&self, change: impl Fn(&T) -> T) -> Self {
        self.item()
            .map_or(Self::Many, |item| Self::One(change(item)))
    }
}

impl Name {
    /// `*`
    pub(super) fn any() -> Self {
        Self::Wild(vec![Step::Many])
    }

    /// Whether a segment may be called `text`.
    pub(super) fn fits(&self, text: &str) -> bool {
        match self {
            Self::Literal(literal) => literal == text,
            Self::Wild(steps) => {
                let characters: Vec<char> = text.chars().collect();
                fits(steps, &characters, |set, character| {
                    set.contains(*character)
                })
            }
        }
    }

    fn folded(&self) -> Self {
        match self {
            Self::Literal(text) => Self::Literal(CaseRule::Folded.spell(text)),
            Self::Wild(steps) => Self::Wild(steps.iter().map(|s| s.map(CharSet::folded)).collect()),
        }
    }
}

impl Walk {
    /// This path and everything below it.
    pub(super) fn exact(path: &RepoPath, case: CaseRule) -> Self {
        let literal = |name: &str| Step::One(Name::Literal(case.spell(name)));
        Self(path.segments().map(literal).collect()).with_everything_below()
    }

    /// Everything below this directory.
    pub(super) fn below(directory: &RepoPath, case: CaseRule) -> Self {
        Self::exact(directory, case).with_everything_below()
    }

    /// What the steps match and everything below it. A `**` at the end stands for at least one
    /// name, so that `src/**` means the same as the prefix `src/`.
    pub(super) fn with_everything_below(mut self) -> Self {
        if self.0.last() == Some(&Step::Many) {
            self.0.push(Step::One(Name::any()));
        }
        self.0.push(Step::Many);
        self
    }

    /// The walk in which names that differ only in case are spelled the same.
    pub(super) fn folded(&self) -> Self {
        Self(self.0.iter().map(|step| step.map(Name::folded)).collect())
    }

    /// Whether the path of these names is on this walk.
    pub(super) fn fits(&self, names: &[impl AsRef<str>]) -> bool {
        fits(&self.0, names, |name, text| name.fits(text.as_ref()))
    }
}

/// Whether items fit a sequence of steps. Only the last `Many` is ever tried again, because what an
/// earlier one could take, the last one can take too.
fn fits<T, U>(steps: &[Step<T>], items: &[U], agree: impl Fn(&T, &U) -> bool) -> bool {
    let (mut step, mut at) = (0, 0);
    let mut last_many = None;
    while let Some(item) = items.get(at) {
        match (steps.get(step), last_many) {
            (Some(Step::Many), _) => {
                step += 1;
                last_many = Some((step, at));
            }
            (Some(Step::One(wanted)), _) if agree(wanted, item) => {
                step += 1;
                at += 1;
            }
            (_, Some((after_many, taken))) => {
                step = after_many;
                at = taken + 1;
                last_many = Some((after_many, at));
            }
            (_, None) => return false,
        }
    }
    steps[step..].iter().all(Step::is_many)
}
