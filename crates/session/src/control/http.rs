//! As much of HTTP/1.1 as a holder and its clients need. Everything is bounded: a request that is too long is refused while
//! it arrives.

use std::fmt::Write as _;

use crate::token::Token;

/// The longest request line with headers.
pub const LONGEST_HEAD: usize = 8 * 1024;
/// The longest body.
pub const LONGEST_BODY: usize = 1024 * 1024;

/// A first line, and what the headers say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The words of the first line.
    pub first: Vec<String>,
    /// How many bytes the head has.
    pub length: usize,
    pub headers: Headers,
}

/// The headers that mean something here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// How many bytes follow the head.
    pub body: usize,
    pub authorization: Option<String>,
    pub host: Option<String>,
    pub origin: Option<String>,
    pub content_type: Option<String>,
}

/// Bytes that are no message of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    #[error("the message is too long")]
    TooLong,
    #[error("the message is not HTTP/1.1")]
    Malformed,
    #[error("the body has no plain length")]
    Encoded,
}

impl Head {
    /// Reads a head from what has arrived; none if it is not complete yet.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, HttpError> {
        let searched = &bytes[..bytes.len().min(LONGEST_HEAD)];
        let Some(end) = searched.windows(4).position(|it| it == b"\r\n\r\n") else {
            return match bytes.len() {
                0..LONGEST_HEAD => Ok(None),
                _ => Err(HttpError::TooLong),
            };
        };
        let text = str::from_utf8(&bytes[..end]).map_err(|_not_text| HttpError::Malformed)?;
        let mut lines = text.split("\r\n");
        let first = lines.next().unwrap_or_default().split(' ');
        Ok(Some(Self {
            first: first.map(str::to_owned).collect(),
            length: end + 4,
            headers: Headers::parse(lines)?,
        }))
    }

    /// The body, if all of it has arrived.
    pub fn body<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.get(self.length..self.length + self.headers.body)
    }
}

impl Headers {
    fn parse<'a>(lines: impl Iterator<Item = &'a str>) -> Result<Self, HttpError> {
        let mut headers = Self::default();
        let mut length = None;
        for line in lines {
            let (name, value) = line.split_once(':').ok_or(HttpError::Malformed)?;
            // A blank in front of the colon, or of the line, is another header to another reader.
            if name.is_empty() || name.contains(|it: char| it.is_whitespace() || it.is_control()) {
                return Err(HttpError::Malformed);
            }
            let slot = match name.to_ascii_lowercase().as_str() {
                "transfer-encoding" => return Err(HttpError::Encoded),
                "content-length" => &mut length,
                "authorization" => &mut headers.authorization,
                "host" => &mut headers.host,
                "origin" => &mut headers.origin,
                "content-type" => &mut headers.content_type,
                _ => continue,
            };
            // Two of a kind would be two messages to two readers.
            if slot.replace(value.trim().to_owned()).is_some() {
                return Err(HttpError::Malformed);
            }
        }
        headers.body = length.map_or(Ok(0), |text| body_length(&text))?;
        Ok(headers)
    }
}

fn body_length(text: &str) -> Result<usize, HttpError> {
    if text.is_empty() || !text.bytes().all(|it| it.is_ascii_digit()) {
        return Err(HttpError::Malformed);
    }
    match text.parse().unwrap_or(usize::MAX) {
        length @ 0..=LONGEST_BODY => Ok(length),
        _ => Err(HttpError::TooLong),
    }
}

/// A whole request, with a token if there is one.
pub fn request(method: &str, target: &str, token: Option<&Token>, body: &[u8]) -> Vec<u8> {
    let authorization = token.map_or_else(String::new, |token| {
        format!("Authorization: Bearer {}\r\n", token.reveal())
    });
    let upgrade = if target.starts_with("/v1/attach") {
        "Connection: Upgrade\r\nUpgrade: handoff-terminal\r\n"
    } else {
        "Connection: close\r\n"
    };
    let length = body.len();
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: session\r\n{authorization}{upgrade}\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// The head of an answer that goes on until the connection ends, a line of JSON at a time.
pub fn stream() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n\r\n".to_vec()
}

/// The head of server-sent events.
pub fn event_stream() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\nConnection: close\r\nCache-Control: no-store\r\nContent-Type: text/event-stream\r\n\r\n"
        .to_vec()
}

/// A whole answer.
pub fn answer(status: u16, body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    if status == 101 {
        head.push_str("Connection: Upgrade\r\nUpgrade: handoff-terminal\r\n\r\n");
    } else {
        let length = body.len();
        // Writing to a String cannot fail.
        write!(
            head,
            "Connection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        )
        .ok();
    }
    [head.as_bytes(), body].concat()
}

const fn reason(status: u16) -> &'static str {
    match status {
        101 => "Switching Protocols",
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        503 => "Service Unavailable",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_not_complete_is_waited_for() {
        let whole = request("POST", "/v1/stop", None, b"{}");
        for end in 0..whole.len() {
            let is_complete = Head::parse(&whole[..end])
                .unwrap()
                .is_some_and(|head| head.body(&whole[..end]).is_some());
            assert!(!is_complete, "{end}");
        }
        let head = Head::parse(&whole).unwrap().unwrap();
        assert_eq!(head.first, ["POST", "/v1/stop", "HTTP/1.1"]);
        assert_eq!(head.body(&whole), Some(b"{}".as_slice()));
    }

    #[test]
    fn what_is_too_long_or_ambiguous_is_refused() {
        let table: [(&str, HttpError); 11] = [
            (
                "GET / HTTP/1.1\r\nHost : session\r\n\r\n",
                HttpError::Malformed,
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\n b: c\r\n\r\n",
                HttpError::Malformed,
            ),
            ("GET / HTTP/1.1\r\n: a\r\n\r\n", HttpError::Malformed),
            (
                "GET / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n",
                HttpError::TooLong,
            ),
            (
                "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
                HttpError::TooLong,
            ),
            (
                "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                HttpError::Malformed,
            ),
            (
                "GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
                HttpError::Malformed,
            ),
            (
                "GET / HTTP/1.1\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\n",
                HttpError::Malformed,
            ),
            (
                "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
                HttpError::Encoded,
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                HttpError::Malformed,
            ),
            ("GET / HTTP/1.1\r\nnonsense\r\n\r\n", HttpError::Malformed),
        ];
        for (text, error) in table {
            assert_eq!(Head::parse(text.as_bytes()), Err(error), "{text}");
        }
        let endless = vec![b'a'; LONGEST_HEAD];
        assert_eq!(Head::parse(&endless), Err(HttpError::TooLong));
    }
}
