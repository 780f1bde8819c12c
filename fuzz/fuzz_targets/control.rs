//! What a holder hears on its socket and its port: heads, requests, and who is let in.
//!
//! Without cargo-fuzz: see the head of `plan.rs`.

#![no_main]

use handoff_core::{Caller, Role};
use handoff_session::Token;
use handoff_session::control::http::{Head, LONGEST_BODY, LONGEST_HEAD};
use handoff_session::control::{Entrance, Gate, Request};
use libfuzzer_sys::fuzz_target;

const PORT: u16 = 4310;

fuzz_target!(|input: &[u8]| {
    let Ok(Some(head)) = Head::parse(input) else {
        return;
    };
    assert!(head.length <= LONGEST_HEAD && head.headers.body <= LONGEST_BODY);
    let gate = Gate {
        session: Caller::Session {
            session: "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().expect("an id"),
            role: Role::SubTask,
            task: None,
        },
        session_token: Token::new([1; 32]).digest(),
        network_token: Some(Token::new([2; 32]).digest()),
    };
    if let Ok(caller) = gate.admit(Entrance::Network { port: PORT }, &head.headers) {
        // Nobody comes by the network who does not show one of the two.
        let shown = head.headers.authorization.as_deref().unwrap_or_default();
        let known = [1, 2].map(|byte| Token::new([byte; 32]));
        assert!(known.iter().any(|token| shown.ends_with(token.reveal())), "{caller:?}");
        let host = head.headers.host.as_deref().unwrap_or_default();
        assert!(host.ends_with(":4310"), "{host}");
    }
    let body = head.body(input).unwrap_or_default();
    if let Ok(request) = Request::parse(&head, body) {
        request.action();
    }
});
