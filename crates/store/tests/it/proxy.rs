//! A way to the server that can be cut at a chosen message.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use tempfile::TempDir;

/// Where a connection is cut.
#[derive(Clone, Copy)]
pub(crate) enum Cut {
    /// At once.
    Accepted,
    /// When a message with this text comes, which the server never sees.
    Before(&'static str),
    /// When the server has answered a message with this text; nobody sees the answer.
    After(&'static str),
}

/// Each connection takes the next cut of the plan; those after the last are left alone.
pub(crate) struct Proxy {
    directory: TempDir,
    server: String,
    accepted: Arc<AtomicUsize>,
    open: Arc<Mutex<Vec<UnixStream>>>,
}

impl Proxy {
    /// To the server of a URL of the form `postgres:///name?host=/directory&user=name`.
    pub(crate) fn to(server: &str, plan: Vec<Cut>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
        let target = PathBuf::from(host(server)).join(".s.PGSQL.5432");
        let (accepted, open) = (Arc::new(AtomicUsize::new(0)), Arc::default());
        let (count, cuttable) = (Arc::clone(&accepted), Arc::clone(&open));
        // It ends with the process of the test.
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let cut = plan.get(number).copied();
                if matches!(cut, Some(Cut::Accepted)) {
                    continue;
                }
                let Ok(server) = UnixStream::connect(&target) else {
                    continue;
                };
                let open: &Mutex<Vec<UnixStream>> = &cuttable;
                open.lock().unwrap().push(client.try_clone().unwrap());
                carry(client, server, cut);
            }
        });
        Self {
            directory,
            server: server.to_owned(),
            accepted,
            open,
        }
    }

    pub(crate) fn url(&self) -> String {
        let own = self.directory.path().display().to_string();
        self.server.replacen(&host(&self.server), &own, 1)
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Cuts all connections.
    pub(crate) fn cut_all(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            stream.shutdown(Shutdown::Both).ok();
        }
    }
}

fn host(url: &str) -> String {
    let (_, options) = url.split_once('?').unwrap();
    let host = options.split('&').find_map(|it| it.strip_prefix("host="));
    host.unwrap().to_owned()
}

fn carry(mut client: UnixStream, mut server: UnixStream, cut: Option<Cut>) {
    let is_silent = Arc::new(Mutex::new(false));
    let (mut back_from, mut back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let silence = Arc::clone(&is_silent);
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = back_from.read(&mut buffer) {
            // What is answered from here on is an answer that is lost.
            if *silence.lock().unwrap() || back_to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        back_to.shutdown(Shutdown::Both).ok();
    });
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = client.read(&mut buffer) {
            let message = &buffer[..count];
            let has = |text: &str| message.windows(text.len()).any(|it| it == text.as_bytes());
            match cut {
                Some(Cut::Before(text)) if has(text) => break,
                Some(Cut::After(text)) if has(text) => *is_silent.lock().unwrap() = true,
                Some(_) | None => {}
            }
            if server.write_all(message).is_err() {
                break;
            }
        }
        server.shutdown(Shutdown::Both).ok();
        client.shutdown(Shutdown::Both).ok();
    });
}
