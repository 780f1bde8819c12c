//! Who is let in, decided from what a request says of itself, before anything looks at what it wants.
//!
//! | | on the socket | on the network |
//! |---|---|---|
//! | a `Host` that is not ours, an `Origin` that is not ours | not looked at | 403 |
//! | run as a check, whatever token | 403 | 403 |
//! | in the sandbox of another session, whatever token | 403 | 403 |
//! | a process of another session, whatever token | that session | the same, with a token |
//! | a process of this session, whatever token | this session | the same, with a token |
//! | cannot be found any more, no token or that of the listener | 403 | 401, 403 |
//! | cannot be found any more, the token of this session | this session | 403 |
//! | outside of all sessions, no token | the user of the socket: a person | 401 |
//! | outside of all sessions, the token of this session | this session, with the rights of its role | the same |
//! | outside of all sessions, the token of the listener | a person | a person |
//! | any other token | 403 | 403 |
//! | a body that is not called JSON | not looked at | 415 |
//!
//! Tokens lie in files and variables that processes of sessions can read, so where somebody comes from counts first.
//! One whom no filter of system calls holds, and who only looks, is not followed to where it comes from: reading is for all.
//!
//! The kernel has checked the user of the socket. The network has no users, and a page in a browser reaches it too: `Host` and
//! `Origin` are what tells such a page from a program.

use handoff_core::{Caller, Digest, Relation};

use super::http::Headers;
use super::message::{Refusal, Request, refusal};
use crate::side::Side;
use crate::token::Token;

const CHECK: &str = "what is run as a check talks to no session";
const ELSEWHERE: &str = "a session in a sandbox talks to its own holder only";
const UNKNOWN: &str = "it cannot be told which process asks; it must live until it is answered";

/// Which way somebody came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrance {
    /// The socket, which only its user can reach. Where one comes from whom no filter holds is looked at later.
    Socket { side: Option<Side> },
    /// The port, which every program of this machine can reach.
    Network { port: u16 },
}

/// Whom a holder knows.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The session itself.
    pub session: Caller,
    pub session_token: Digest,
    /// The token of those who come by the network.
    pub network_token: Option<Digest>,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    pub caller: Caller,
    /// What the session that is asked is to it.
    pub relation: Relation,
    /// Whether it may answer the dialogs of sessions that it started.
    pub may_answer: bool,
}

impl Gate {
    /// Says who asks by its token, or why it is not let in.
    pub fn admit(&self, entrance: Entrance, headers: &Headers) -> Result<Caller, Refusal> {
        let side = match entrance {
            Entrance::Socket { side } => side,
            Entrance::Network { port } => {
                require_local(headers, port)?;
                None
            }
        };
        let is_network = matches!(entrance, Entrance::Network { .. });
        let caller = match &headers.authorization {
            Some(value) => self.known(value)?,
            None if is_network => {
                return Err(refusal(401, "a token is needed: `Authorization: Bearer …`"));
            }
            None => Caller::Person,
        };
        if is_network {
            require_json(headers)?;
        }
        match side {
            Some(side) => Ok(self.locate(caller, side)?.caller),
            None => Ok(caller),
        }
    }

    /// Says who asks who showed this token and comes from there.
    pub fn locate(&self, caller: Caller, side: Side) -> Result<Asker, Refusal> {
        let is_session = matches!(caller, Caller::Session { .. });
        match side {
            Side::Outside => Ok(self.by_token(caller)),
            Side::Unknown if is_session => Ok(self.by_token(caller)),
            Side::Unknown => Err(refusal(403, UNKNOWN)),
            Side::Check => Err(refusal(403, CHECK)),
            Side::Session(member) if member.relation == Relation::Itself => {
                Ok(self.by_token(self.session.clone()))
            }
            Side::Session(member) if member.is_sandboxed => Err(refusal(403, ELSEWHERE)),
            Side::Session(member) => Ok(Asker {
                caller: member.caller(),
                relation: member.relation,
                may_answer: member.may_answer,
            }),
        }
    }

    /// One whom the token describes: this session, or no session at all.
    const fn by_token(&self, caller: Caller) -> Asker {
        let relation = match caller {
            Caller::Session { .. } => Relation::Itself,
            Caller::Person
            | Caller::Worker
            | Caller::Reconciler
            | Caller::Check
            | Caller::Unknown => Relation::Beside,
        };
        Asker {
            caller,
            relation,
            may_answer: false,
        }
    }

    fn known(&self, authorization: &str) -> Result<Caller, Refusal> {
        let token = authorization.strip_prefix("Bearer ");
        let token = token.and_then(|text| text.trim().parse::<Token>().ok());
        let digest = token.map(|token| token.digest());
        if digest.as_ref() == Some(&self.session_token) {
            return Ok(self.session.clone());
        }
        if digest.is_some() && digest == self.network_token {
            return Ok(Caller::Person);
        }
        Err(refusal(403, "the token is not one of this session"))
    }
}

/// Looks the request up in the table of callers.
pub fn permit(asker: &Asker, request: &Request) -> Result<(), Refusal> {
    { &asker.caller }
        .may(request.action(asker.relation, asker.may_answer))
        .map_err(|forbidden| refusal(403, &forbidden.to_string()))
}

fn require_local(headers: &Headers, port: u16) -> Result<(), Refusal> {
    let ours = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
    let is_ours = |host: &str| ours.iter().any(|own| own.eq_ignore_ascii_case(host));
    if !headers.host.as_deref().is_some_and(is_ours) {
        return Err(refusal(403, "the `Host` is not this machine"));
    }
    match &headers.origin {
        None => Ok(()),
        Some(origin) if origin.strip_prefix("http://").is_some_and(is_ours) => Ok(()),
        Some(_) => Err(refusal(403, "the `Origin` is another place")),
    }
}

/// A form of a web page can send a body, but cannot call it JSON without being asked first.
fn require_json(headers: &Headers) -> Result<(), Refusal> {
    let is_json = |value: &str| {
        let kind = value.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("application/json")
    };
    if headers.body == 0 || headers.content_type.as_deref().is_some_and(is_json) {
        return Ok(());
    }
    Err(refusal(415, "a body must be `application/json`"))
}

#[cfg(test)]
mod tests {
    use handoff_core::Role;

    use super::*;
    use crate::side::Member;

    const SOCKET: Entrance = Entrance::Socket {
        side: Some(Side::Outside),
    };
    const NETWORK: Entrance = Entrance::Network { port: 4310 };

    fn own(role: Role) -> Caller {
        Caller::Session {
            session: "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f60".parse().unwrap(),
            role,
            task: None,
        }
    }

    fn gate() -> Gate {
        Gate {
            session: own(Role::Main),
            session_token: Token::new([1; 32]).digest(),
            network_token: Some(Token::new([2; 32]).digest()),
        }
    }

    fn bearer(byte: u8) -> Option<String> {
        Some(format!("Bearer {}", Token::new([byte; 32]).reveal()))
    }

    fn headers(token: u8, host: &str) -> Headers {
        Headers {
            authorization: bearer(token),
            host: Some(host.to_owned()),
            ..Headers::default()
        }
    }

    fn admitted(entrance: Entrance, headers: &Headers) -> Result<Caller, u16> {
        gate().admit(entrance, headers).map_err(|it| it.status)
    }

    #[test]
    fn a_token_says_who_asks() {
        let anonymous = Headers {
            host: Some("localhost:4310".to_owned()),
            ..Headers::default()
        };
        let table = [
            (SOCKET, anonymous.clone(), Ok(Caller::Person)),
            (NETWORK, anonymous, Err(401)),
            (SOCKET, headers(1, "session"), Ok(own(Role::Main))),
            (NETWORK, headers(1, "localhost:4310"), Ok(own(Role::Main))),
            (NETWORK, headers(2, "[::1]:4310"), Ok(Caller::Person)),
            (NETWORK, headers(3, "127.0.0.1:4310"), Err(403)),
            (SOCKET, headers(3, "session"), Err(403)),
        ];
        for (entrance, headers, expected) in table {
            assert_eq!(admitted(entrance, &headers), expected, "{headers:?}");
        }
        let basic = Headers {
            authorization: Some("Basic aGk6aGk=".to_owned()),
            ..Headers::default()
        };
        assert_eq!(admitted(SOCKET, &basic), Err(403));
    }

    fn of(relation: Relation, is_sandboxed: bool) -> Side {
        Side::Session(Member {
            session: "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f61".parse().unwrap(),
            role: Role::Main,
            task: None,
            relation,
            is_sandboxed,
            may_answer: false,
        })
    }

    #[test]
    fn a_persons_token_is_of_no_use_to_a_session() {
        let located = |side| {
            let located = gate().locate(Caller::Person, side);
            located.map(|it| it.caller).map_err(|it| it.status)
        };
        let another = Caller::Session {
            session: "ses_0192f0c47d0a7c3e9f5b2a1c3d4e5f61".parse().unwrap(),
            role: Role::Main,
            task: None,
        };
        let table = [
            (Side::Outside, Ok(Caller::Person)),
            (of(Relation::Itself, false), Ok(own(Role::Main))),
            (of(Relation::Itself, true), Ok(own(Role::Main))),
            (of(Relation::Started, false), Ok(another.clone())),
            (of(Relation::Above, false), Ok(another.clone())),
            (of(Relation::Beside, false), Ok(another)),
            (of(Relation::Beside, true), Err(403)),
            (of(Relation::Above, true), Err(403)),
            (Side::Check, Err(403)),
            (Side::Unknown, Err(403)),
        ];
        for (side, expected) in table {
            assert_eq!(located(side), expected, "{side:?}");
        }
    }

    #[test]
    fn where_one_comes_from_counts_before_its_token() {
        let with = |side, token: Option<u8>| {
            let headers = Headers {
                authorization: token.and_then(bearer),
                ..Headers::default()
            };
            let side = Some(side);
            admitted(Entrance::Socket { side }, &headers)
        };
        let itself = Ok(own(Role::Main));
        let (elsewhere, within) = (of(Relation::Beside, true), of(Relation::Itself, true));
        let table = [
            (elsewhere, None, Err(403)),
            (elsewhere, Some(1), Err(403)),
            (elsewhere, Some(2), Err(403)),
            (within, None, itself.clone()),
            (within, Some(1), itself.clone()),
            (within, Some(2), itself.clone()),
            (within, Some(3), Err(403)),
            (of(Relation::Itself, false), None, itself.clone()),
            (of(Relation::Itself, false), Some(2), itself.clone()),
            (Side::Check, Some(2), Err(403)),
            (Side::Unknown, None, Err(403)),
            (Side::Unknown, Some(1), itself),
            (Side::Unknown, Some(2), Err(403)),
            (Side::Unknown, Some(3), Err(403)),
        ];
        for (side, token, expected) in table {
            assert_eq!(with(side, token), expected, "{side:?} {token:?}");
        }
    }

    #[test]
    fn a_holder_without_a_listener_knows_no_token_of_one() {
        let gate = Gate {
            network_token: None,
            ..gate()
        };
        let garbage = Headers {
            authorization: Some("Bearer nonsense".to_owned()),
            ..Headers::default()
        };
        assert!(gate.admit(SOCKET, &garbage).is_err());
        assert!(gate.admit(SOCKET, &headers(2, "x")).is_err());
    }

    #[test]
    fn a_foreign_host_is_refused_with_the_right_token_too() {
        let foreign = [
            "",
            "localhost",
            "127.0.0.1",
            "localhost:4311",
            "evil.example",
            "evil.example:4310",
            "localhost.evil.example:4310",
            "127.0.0.1.evil.example:4310",
            "0.0.0.0:4310",
            "127.0.0.2:4310",
            "localhost:4310@evil.example",
            "[::1]",
            "localhost:4310 ",
        ];
        for host in foreign {
            assert_eq!(admitted(NETWORK, &headers(2, host)), Err(403), "{host:?}");
        }
        let none = Headers {
            authorization: bearer(2),
            ..Headers::default()
        };
        assert_eq!(admitted(NETWORK, &none), Err(403));
        assert_eq!(
            admitted(NETWORK, &headers(2, "LOCALHOST:4310")),
            Ok(Caller::Person)
        );
    }

    #[test]
    fn a_foreign_origin_is_refused_with_the_right_token_too() {
        let with_origin = |origin: &str| Headers {
            origin: Some(origin.to_owned()),
            ..headers(2, "localhost:4310")
        };
        let foreign = [
            "",
            "null",
            "http://localhost:1",
            "http://localhost",
            "https://localhost:4310",
            "http://localhost:4310.evil.example",
            "http://localhost:43100",
            "http://evil.example",
            "file://",
        ];
        for origin in foreign {
            let got = admitted(NETWORK, &with_origin(origin));
            assert_eq!(got, Err(403), "{origin:?}");
        }
        for own in ["http://localhost:4310", "http://127.0.0.1:4310"] {
            assert_eq!(admitted(NETWORK, &with_origin(own)), Ok(Caller::Person));
        }
    }

    #[test]
    fn a_body_that_a_form_can_send_is_refused() {
        let with_type = |kind: Option<&str>| Headers {
            content_type: kind.map(str::to_owned),
            body: 2,
            ..headers(2, "localhost:4310")
        };
        for kind in [
            None,
            Some("text/plain"),
            Some("application/x-www-form-urlencoded"),
        ] {
            assert_eq!(admitted(NETWORK, &with_type(kind)), Err(415), "{kind:?}");
        }
        let json = with_type(Some("application/json; charset=utf-8"));
        assert_eq!(admitted(NETWORK, &json), Ok(Caller::Person));
    }
}
