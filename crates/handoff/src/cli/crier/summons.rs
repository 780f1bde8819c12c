//! What the notify command is told, in its own words.

use handoff_api::SummonsDocument;
use handoff_core::SessionId;
use handoff_engine::needs::{Need, Subject, Want};
use handoff_operations::Project;
use handoff_operations::session::dialog::asking;
use handoff_session::{Client, catalogue};

use super::Asked;
use crate::context::Context;

/// A call, before it is known what exactly is asked.
pub(super) struct Summons {
    pub(super) occasion: String,
    session: Option<SessionId>,
    known: SummonsDocument,
}

impl Summons {
    pub(super) fn of_need(need: &Need, desk: &Project) -> Self {
        let mut known = blank(desk);
        known.detail.clone_from(&need.why);
        known.need = match need.want {
            Want::Help => "help",
            Want::Look => "look",
            Want::Agree => "agree",
        };
        match &need.subject {
            Subject::Task {
                task,
                batch,
                behind,
                is_history: _,
            } => {
                known.task = Some(task.spec.name.to_string());
                known.task_id = Some(task.id.to_string());
                known.attempt = Some(task.fence.number());
                known.batch = batch.as_ref().map(ToString::to_string);
                known.behind = behind.iter().map(ToString::to_string).collect();
                known.command = match batch {
                    Some(batch) => format!("handoff batch show {batch}"),
                    None => format!("handoff queue show {}", task.spec.name),
                };
            }
            Subject::Run(run) => {
                known.run = Some(run.spec.name.to_string());
                known.phase = Some(run.at.phase.to_string());
                known.command = format!("handoff workflow status {}", run.spec.name);
            }
        }
        Self {
            occasion: need.occasion(),
            session: None,
            known,
        }
    }

    pub(super) fn of_question(asked: &Asked, desk: &Project) -> Self {
        let known = SummonsDocument {
            need: "answer",
            detail: asked.kind.to_owned(),
            command: format!("handoff answer --id {}", asked.session),
            task: Some(asked.task.to_string()),
            task_id: Some(asked.task_id.clone()),
            attempt: Some(asked.attempt),
            session: Some(asked.session.to_string()),
            ..blank(desk)
        };
        Self {
            occasion: asked.occasion(),
            session: Some(asked.session),
            known,
        }
    }

    /// All of it, with the words of the question as far as they can be read.
    pub(super) fn document(self, ctx: &Context) -> SummonsDocument {
        let mut document = self.known;
        let dialog = self.session.and_then(|session| {
            let places = handoff_session::Places::new(ctx.home().ok()?);
            let known = catalogue::by_id(&places, session).ok()??;
            let client = Client::new(&known.record.socket);
            asking(&known, &client, ctx).ok()?.dialog
        });
        if let Some(dialog) = dialog {
            document.question = Some(dialog.question.join("\n"));
            document.choices = dialog.choices.into_iter().map(|it| it.label).collect();
        }
        document
    }
}

fn blank(desk: &Project) -> SummonsDocument {
    let repository = &desk.repository;
    let place = repository.main_worktree();
    let place = place.unwrap_or_else(|| repository.common_dir());
    SummonsDocument {
        schema: SummonsDocument::SCHEMA,
        need: "",
        detail: String::new(),
        command: String::new(),
        project: desk.id.to_string(),
        repository: place.display().to_string(),
        task: None,
        task_id: None,
        attempt: None,
        batch: None,
        behind: vec![],
        run: None,
        phase: None,
        session: None,
        question: None,
        choices: vec![],
    }
}
