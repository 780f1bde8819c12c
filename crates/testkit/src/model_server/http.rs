//! As much HTTP/1.1 as agents speak: one request a connection.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::net::TcpStream;

/// More is no request of an agent.
const LARGEST_BODY: usize = 64 * 1024 * 1024;

/// A request that has arrived whole.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    target: String,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// None if the other side has hung up.
    pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<Self>> {
        let mut reader = BufReader::new(stream);
        let first = line(&mut reader)?;
        let mut words = first.split(' ').map(str::to_owned);
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Ok(None);
        };
        let (mut length, mut is_chunked) = (0, false);
        loop {
            let header = line(&mut reader)?.to_lowercase();
            match header.split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse().unwrap_or(0),
                Some(("transfer-encoding", value)) => is_chunked = value.trim() == "chunked",
                Some(_) => {}
                None => break,
            }
        }
        let body = if is_chunked {
            chunks(&mut reader)?
        } else {
            exactly(&mut reader, length)?
        };
        Ok(Some(Self {
            method,
            target,
            body,
        }))
    }

    /// Without what is asked for behind it.
    pub(super) fn path(&self) -> &str {
        let path = self.target.split('?').next().unwrap_or_default();
        path.trim_end_matches('/')
    }
}

fn line(reader: &mut BufReader<&mut TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn exactly(reader: &mut BufReader<&mut TcpStream>, length: usize) -> io::Result<Vec<u8>> {
    if length > LARGEST_BODY {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn chunks(reader: &mut BufReader<&mut TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = vec![];
    loop {
        let head = line(reader)?;
        let length = usize::from_str_radix(head.trim(), 16).map_err(io::Error::other)?;
        body.extend(exactly(reader, length)?);
        line(reader)?;
        if length == 0 {
            return Ok(body);
        }
    }
}
