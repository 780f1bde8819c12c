//! Writing an answer: whole, or as a stream of events.

use std::io::{self, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::answer::{Answer, Speech};
use super::{Desk, Dialect};

/// The way back to an agent.
pub(super) struct Reply<'a> {
    stream: TcpStream,
    pub(super) desk: &'a Desk,
    is_streaming: bool,
}

impl<'a> Reply<'a> {
    pub(super) fn new(stream: TcpStream, desk: &'a Desk) -> Self {
        Self {
            stream,
            desk,
            is_streaming: false,
        }
    }

    pub(super) fn whole(&mut self, status: u16, body: &Value) -> io::Result<()> {
        let body = body.to_string();
        let retry = if matches!(status, 429 | 529) {
            "retry-after: 1\r\n"
        } else {
            ""
        };
        write!(
            self.stream,
            "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{retry}\
             connection: close\r\n\r\n{body}",
            body.len()
        )
    }

    pub(super) fn empty(&mut self) -> io::Result<()> {
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        self.stream.write_all(head)
    }

    pub(super) fn error(&mut self, code: u16, dialect: Dialect) -> io::Result<()> {
        let kind = match code {
            400 => "invalid_request_error",
            401 => "authentication_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        };
        let status = if code == 429 {
            "RESOURCE_EXHAUSTED"
        } else {
            "INTERNAL"
        };
        let code_in_body = match dialect {
            Dialect::Gemini => json!(code),
            Dialect::Anthropic | Dialect::Responses | Dialect::Chat => json!(kind),
        };
        let message = format!("the scripted model says {code}");
        let error =
            json!({ "type": kind, "code": code_in_body, "status": status, "message": message });
        self.whole(code, &json!({ "type": "error", "error": error }))
    }

    /// The silence before an answer.
    pub(super) fn hang(&self, answer: &Answer) {
        if let Some(speech) = answer.speech() {
            self.desk.pause(speech.after);
        }
    }

    /// An event of a stream; with the first one the stream begins.
    pub(super) fn event(&mut self, name: Option<&str>, data: &str) -> io::Result<()> {
        if !self.is_streaming {
            self.is_streaming = true;
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
                         connection: close\r\n\r\n";
            self.stream.write_all(head)?;
        }
        let name = name
            .map(|name| format!("event: {name}\n"))
            .unwrap_or_default();
        write!(self.stream, "{name}data: {data}\n\n")?;
        self.stream.flush()
    }

    /// Says something piece by piece.
    pub(super) fn speak(
        &mut self,
        speech: &Speech,
        mut event: impl FnMut(&mut Self, &str) -> io::Result<()>,
    ) -> io::Result<()> {
        for piece in speech.pieces() {
            self.desk.pause(speech.pace());
            event(self, piece)?;
        }
        Ok(())
    }

    pub(super) fn end(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
