//! A message as it is shown, and found.

use std::io::ErrorKind;

use handoff_api::{AnswerDocument, ExitCode, MessageDocument, MessageStep, SenderDocument};
use handoff_core::MessageId;
use handoff_session::inbox::{self, Letter};
use handoff_session::message::{Answer, Because, Progress};
use handoff_session::outcome::Outcome;
use handoff_session::{Known, Standing};

use super::lost_turn;
use crate::failure::Failure;

/// All messages to a session.
pub fn letters(known: &Known) -> Result<Vec<Letter>, Failure> {
    inbox::read(&known.directory).map_err(|error| {
        let is_damaged = matches!(
            error.kind(),
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof
        );
        let code = if is_damaged {
            ExitCode::Damaged
        } else {
            ExitCode::Failed
        };
        Failure::new(code, "cannot read the messages of the session").because(&error)
    })
}

/// One message to a session.
pub fn letter(known: &Known, id: MessageId) -> Result<Letter, Failure> {
    let mut letters = letters(known)?.into_iter();
    letters.find(|it| it.message.id == id).ok_or_else(|| {
        let name = &known.record.name;
        let text = format!("the session `{name}` has no message `{id}`");
        Failure::new(ExitCode::NotFound, text).hint(format!(
            "see what there is: `handoff messages list --id {name}`"
        ))
    })
}

/// Why it waits, or did not arrive. What a dead holder left waiting never arrives.
pub fn because(letter: &Letter, standing: Standing) -> Option<Because> {
    match (letter.progress(), standing) {
        (Progress::Queued { .. }, Standing::Lost | Standing::Ended) => Some(Because::Ended),
        (Progress::Written { because: None }, Standing::Lost | Standing::Ended) => {
            Some(Because::Unseen)
        }
        (progress, _) => progress.because(),
    }
}

pub fn document(letter: &Letter, known: &Known) -> MessageDocument {
    let progress = letter.progress();
    let message = &letter.message;
    MessageDocument {
        id: message.id.to_string(),
        session: known.record.id.to_string(),
        number: message.number,
        state: progress.word().to_owned(),
        because: because(letter, known.standing).map(|it| it.word().to_owned()),
        evidence: evidence(letter),
        turn: turn(progress),
        accepted_at: message.accepted_at,
        from: message.from.as_ref().map(|from| SenderDocument {
            session: from.session.to_string(),
            name: from.name.to_string(),
        }),
        text: message.order.text.clone(),
        outcome: outcome(progress).map(|it| it.word().to_owned()),
        error: outcome(progress).and_then(lost_turn::trouble),
        answer: answer(progress),
        history: history(letter),
    }
}

fn evidence(letter: &Letter) -> Option<String> {
    letter.history.iter().find_map(|step| match step.progress {
        Progress::Submitted { evidence, .. } => Some(evidence.word().to_owned()),
        Progress::Queued { .. }
        | Progress::Written { .. }
        | Progress::Answered { .. }
        | Progress::Failed { .. }
        | Progress::Expired => None,
    })
}

const fn turn(progress: &Progress) -> Option<u64> {
    match progress {
        Progress::Submitted { turn, .. } | Progress::Answered { turn, .. } => Some(*turn),
        Progress::Failed {
            lost: Some(lost), ..
        } => Some(lost.turn),
        Progress::Queued { .. }
        | Progress::Written { .. }
        | Progress::Failed { lost: None, .. }
        | Progress::Expired => None,
    }
}

/// How its turn ended, if that is over.
const fn outcome(progress: &Progress) -> Option<&Outcome> {
    match progress {
        Progress::Answered { .. } => Some(&Outcome::Answered),
        Progress::Failed {
            lost: Some(lost), ..
        } => Some(&lost.outcome),
        Progress::Queued { .. }
        | Progress::Written { .. }
        | Progress::Submitted { .. }
        | Progress::Failed { lost: None, .. }
        | Progress::Expired => None,
    }
}

/// What the agent said, as an answer or until its turn came to nothing.
pub const fn words(progress: &Progress) -> Option<&Answer> {
    match progress {
        Progress::Answered { answer, .. } => Some(answer),
        Progress::Failed {
            lost: Some(lost), ..
        } => lost.words.as_ref(),
        Progress::Queued { .. }
        | Progress::Written { .. }
        | Progress::Submitted { .. }
        | Progress::Failed { lost: None, .. }
        | Progress::Expired => None,
    }
}

fn answer(progress: &Progress) -> Option<AnswerDocument> {
    words(progress).map(|answer| AnswerDocument {
        text: answer.text.clone(),
        source: answer.source.word().to_owned(),
        truncated: answer.is_truncated,
    })
}

fn history(letter: &Letter) -> Vec<MessageStep> {
    let steps = letter.history.iter();
    steps
        .map(|step| MessageStep {
            at: step.at,
            state: step.progress.word().to_owned(),
            because: step.progress.because().map(|it| it.word().to_owned()),
        })
        .collect()
}
