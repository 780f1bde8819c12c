//! A model that does what the prompt says, for real agent CLIs without a network and without a key.
//!
//! It speaks Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini, as streams and whole. A prompt consists of
//! steps, joined by `;;`, one for each call of the model in that turn: see [`Step`]. What has no step is echoed. Every call is
//! logged with its time, so that a test can tell what an agent must show by then.

mod answer;
mod anthropic;
mod chat;
mod decision;
mod dialogue;
mod gemini;
mod http;
mod responses;
mod schema;
mod step;
mod stream;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use handoff_core::Timestamp;
use serde_json::{Value, json};

use crate::ambient;
use answer::Answer;
use dialogue::Dialogue;
use http::Request;
use stream::Reply;

pub use step::Step;

/// A scripted model on a port of this machine. It ends with its owner.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    desk: Arc<Desk>,
}

/// One call of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// When it came.
    pub asked_at: Timestamp,
    /// When the last of the answer was written; none while it is, or if the agent hung up.
    pub answered_at: Option<Timestamp>,
    /// What the user said last.
    pub prompt: String,
    /// What was answered, in short.
    pub answer: String,
    /// Whether it is part of a turn, and does not make a title or such.
    pub is_turn: bool,
}

/// What all connections share.
#[derive(Debug, Default)]
struct Desk {
    calls: Mutex<Vec<Call>>,
    /// How often each step that fails a few times was asked for.
    failures: Mutex<Vec<String>>,
    number: AtomicU64,
    is_closed: Mutex<bool>,
    closing: Condvar,
}

/// The dialects of the makers of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

impl ModelServer {
    /// Listens on a port that is free; nobody outside this machine can reach it.
    ///
    /// # Errors
    /// When there is no loopback.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let desk = Arc::new(Desk::default());
        let shared = Arc::clone(&desk);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if shared.is_closed() {
                    return;
                }
                let desk = Arc::clone(&shared);
                // An agent that hangs up in the middle is what some steps are about.
                std::thread::spawn(move || stream.and_then(|stream| desk.serve(stream)).ok());
            }
        });
        Ok(Self { address, desk })
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The calls so far.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        let calls = self.desk.calls.lock();
        calls.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        *lock(&self.desk.is_closed) = true;
        self.desk.closing.notify_all();
        // Wakes the one that waits for the next connection.
        drop(TcpStream::connect(self.address));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    fn is_closed(&self) -> bool {
        *lock(&self.is_closed)
    }

    /// Lets time pass, and no more of it once the server is to end.
    fn pause(&self, span: Duration) {
        let guard = lock(&self.is_closed);
        let waited = self
            .closing
            .wait_timeout_while(guard, span, |is_closed| !*is_closed);
        drop(waited);
    }

    /// Names differ within one server; nobody outside needs to tell them apart.
    fn mint(&self, prefix: &str) -> String {
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}{number:016x}")
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let Some(request) = Request::read(&mut stream)? else {
            return Ok(());
        };
        let mut reply = Reply::new(stream, self);
        let path = request.path();
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        match (request.method.as_str(), dialect(path)) {
            ("POST", Some((dialect, delivery))) => {
                self.answer(dialect, delivery, &body, &mut reply)
            }
            ("POST", None) if path.ends_with("/count_tokens") => {
                reply.whole(200, &json!({ "input_tokens": 100 }))
            }
            ("POST", None) if path.ends_with(":countTokens") => {
                reply.whole(200, &json!({ "totalTokens": 100 }))
            }
            ("GET", _) if path.contains("/v1beta/models") => {
                let model = json!({ "name": "models/gemini-2.5-pro", "displayName": "scripted" });
                reply.whole(200, &json!({ "models": [model] }))
            }
            ("GET", _) if path.ends_with("/models") => reply.whole(200, &models()),
            ("HEAD", _) => reply.empty(),
            _ => {
                let error = json!({ "type": "not_found", "message": "there is no such thing" });
                reply.whole(404, &json!({ "error": error }))
            }
        }
    }

    fn answer(
        &self,
        dialect: Dialect,
        delivery: Delivery,
        body: &Value,
        reply: &mut Reply<'_>,
    ) -> io::Result<()> {
        let dialogue = Dialogue::read(dialect, body);
        let answer = decision::decide(&dialogue, |step| self.count(step));
        let index = self.log(&dialogue, &answer);
        let delivery = match delivery {
            Delivery::AsAsked if body["stream"] == json!(true) => Delivery::Stream,
            Delivery::AsAsked => Delivery::Whole,
            Delivery::Stream | Delivery::Whole => delivery,
        };
        if let Answer::Error { code } = answer {
            reply.error(code, dialect)?;
        } else {
            reply.hang(&answer);
            let model = body["model"].as_str().unwrap_or("scripted");
            match dialect {
                Dialect::Anthropic => anthropic::write(reply, &answer, model, delivery),
                Dialect::Responses => responses::write(reply, &answer, model, delivery),
                Dialect::Chat => chat::write(reply, &answer, model, delivery),
                Dialect::Gemini => gemini::write(reply, &answer, model, delivery),
            }?;
        }
        reply.end()?;
        lock(&self.calls)[index].answered_at = Some(ambient::now());
        Ok(())
    }

    /// How often this was asked for before.
    fn count(&self, step: &str) -> usize {
        let mut failures = lock(&self.failures);
        failures.push(step.to_owned());
        failures.iter().filter(|it| *it == step).count() - 1
    }

    fn log(&self, dialogue: &Dialogue, answer: &Answer) -> usize {
        let mut calls = lock(&self.calls);
        calls.push(Call {
            asked_at: ambient::now(),
            answered_at: None,
            prompt: dialogue.prompt(),
            answer: answer.to_string(),
            is_turn: dialogue.is_turn(),
        });
        calls.len() - 1
    }
}

/// How an answer is to be delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    Stream,
    Whole,
    /// The body says.
    AsAsked,
}

fn dialect(path: &str) -> Option<(Dialect, Delivery)> {
    let ends = [
        ("/messages", Dialect::Anthropic, Delivery::AsAsked),
        ("/responses", Dialect::Responses, Delivery::AsAsked),
        ("/chat/completions", Dialect::Chat, Delivery::AsAsked),
        (":generateContent", Dialect::Gemini, Delivery::Whole),
        (":streamGenerateContent", Dialect::Gemini, Delivery::Stream),
    ];
    let (_, dialect, delivery) = ends.into_iter().find(|(end, ..)| path.ends_with(end))?;
    Some((dialect, delivery))
}

fn models() -> Value {
    let ids = [
        "fake-model",
        "gpt-5-codex",
        "claude-sonnet-4-5",
        "aider-fake",
    ];
    let models =
        ids.map(|id| json!({ "id": id, "type": "model", "object": "model", "display_name": id }));
    json!({ "object": "list", "data": models, "models": [], "has_more": false })
}
