//! A server of releases on this machine, which answers as a test tells it to.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What is answered to a request.
#[derive(Clone)]
pub(crate) enum Reply {
    Body(Vec<u8>),
    /// So many bytes are announced, whatever comes.
    Announced(usize, Vec<u8>),
    Status(u16),
    Redirect(String),
    /// The connection stays open and nothing comes.
    Silence,
    /// Something happens before the answer comes.
    After(Arc<dyn Fn() + Send + Sync>, Vec<u8>),
}

/// A server that lives as long as this value.
pub(crate) struct ReleaseServer {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    replies: BTreeMap<String, Reply>,
    asked: Vec<String>,
    is_over: bool,
}

impl ReleaseServer {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Mutex::new(Shared::default()));
        let theirs = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serve(&listener, &theirs));
        Self {
            address,
            shared,
            thread: Some(thread),
        }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn reply(&self, path: &str, reply: Reply) {
        let mut shared = self.shared.lock().unwrap();
        shared.replies.insert(path.to_owned(), reply);
    }

    /// The paths that were asked for so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.shared.lock().unwrap().asked.clone()
    }
}

impl Drop for ReleaseServer {
    fn drop(&mut self) {
        self.shared.lock().unwrap().is_over = true;
        // Wakes the thread, which looks whether it is over.
        TcpStream::connect(self.address).ok();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn serve(listener: &TcpListener, shared: &Mutex<Shared>) {
    let mut silent = vec![];
    for stream in listener.incoming() {
        if shared.lock().unwrap().is_over {
            return;
        }
        let Ok(mut stream) = stream else { continue };
        let Some(path) = requested(&mut stream) else {
            continue;
        };
        let reply = {
            let mut shared = shared.lock().unwrap();
            shared.asked.push(path.clone());
            shared.replies.get(&path).cloned()
        };
        match bytes_of(reply.unwrap_or(Reply::Status(404))) {
            // Whoever asked may be gone.
            Some(bytes) => drop(stream.write_all(&bytes)),
            None => silent.push(stream),
        }
    }
}

fn requested(stream: &mut TcpStream) -> Option<String> {
    let mut head = vec![];
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    head.split(' ').nth(1).map(str::to_owned)
}

fn bytes_of(reply: Reply) -> Option<Vec<u8>> {
    let head = |status: u16, more: &str| {
        format!("HTTP/1.1 {status} Word\r\nConnection: close\r\n{more}\r\n").into_bytes()
    };
    let with_length = |length: usize, body: Vec<u8>| {
        [head(200, &format!("Content-Length: {length}\r\n")), body].concat()
    };
    Some(match reply {
        Reply::Body(body) => with_length(body.len(), body),
        Reply::Announced(length, body) => with_length(length, body),
        Reply::Status(status) => head(status, "Content-Length: 0\r\n"),
        Reply::Redirect(to) => head(302, &format!("Location: {to}\r\nContent-Length: 0\r\n")),
        Reply::Silence => return None,
        Reply::After(happen, body) => {
            happen();
            with_length(body.len(), body)
        }
    })
}
