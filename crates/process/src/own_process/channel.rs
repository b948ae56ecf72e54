//! Messages between two processes of this program: JSON behind its length, over a socket, each
//! with the descriptors that belong to it.

use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A message's length comes first.
const LENGTH_BYTES: usize = 8;
/// No message is longer: the longest have some thousand latencies, or every arm of a run.
const MESSAGE_BYTES_MAX: u64 = 64 << 20;
/// No message has more descriptors.
const DESCRIPTORS_MAX: usize = 2;

/// One end of the socket.
#[derive(Debug)]
pub struct Channel {
    socket: UnixStream,
}

impl Channel {
    /// Both ends of a new one.
    pub(super) fn pair() -> io::Result<[Self; 2]> {
        let (one, other) = UnixStream::pair()?;
        Ok([one, other].map(|socket| Self { socket }))
    }

    pub(super) fn over(socket: UnixStream) -> Self {
        Self { socket }
    }

    pub(super) fn into_socket(self) -> OwnedFd {
        self.socket.into()
    }

    /// What is readable once there is a message, or will be none any more.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends a message with at most two descriptors.
    ///
    /// # Errors
    /// Where it cannot be written down, or the other end is closed.
    pub fn send(
        &mut self,
        message: &impl Serialize,
        descriptors: &[BorrowedFd<'_>],
    ) -> io::Result<()> {
        let body = serde_json::to_vec(message)?;
        let length = (body.len() as u64).to_le_bytes();
        let sent = self.send_with(&length, descriptors)?;
        self.socket.write_all(&length[sent..])?;
        self.socket.write_all(&body)
    }

    /// The descriptors travel with the first byte.
    fn send_with(&self, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors))
        {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        loop {
            let parts = [IoSlice::new(bytes)];
            match sendmsg(&self.socket, &parts, &mut ancillary, SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                outcome => return Ok(outcome?),
            }
        }
    }

    /// Waits for the next message; nothing where the other end is closed.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        let mut length = [0; LENGTH_BYTES];
        let (read, descriptors) = self.receive_with(&mut length)?;
        if read == 0 {
            return Ok(None);
        }
        self.socket.read_exact(&mut length[read..])?;
        let length = u64::from_le_bytes(length);
        if length > MESSAGE_BYTES_MAX {
            let why = format!("a message of {length} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        let mut body = vec![0; length as usize];
        self.socket.read_exact(&mut body)?;
        Ok(Some((serde_json::from_slice(&body)?, descriptors)))
    }

    fn receive_with(&self, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC;
        let received = retry_on_intr(|| {
            recvmsg(&self.socket, &mut [IoSliceMut::new(bytes)], &mut ancillary, flags)
        });
        let read = match received {
            // The other process was killed with something unread.
            Err(Errno::CONNRESET) => 0,
            received => received?.bytes,
        };
        let mut descriptors = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        Ok((read, descriptors))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::File;
    use std::io::{Read as _, Seek as _};

    use super::*;

    #[test]
    fn messages_come_in_order_each_with_its_descriptors() {
        let [mut one, mut other] = Channel::pair().unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"theirs").unwrap();
        file.rewind().unwrap();
        one.send(&"with one", &[file.as_fd()]).unwrap();
        one.send(&"with none", &[]).unwrap();
        let (text, mut descriptors) = other.receive::<String>().unwrap().unwrap();
        assert_eq!((text.as_str(), descriptors.len()), ("with one", 1));
        let mut read = String::new();
        File::from(descriptors.remove(0)).read_to_string(&mut read).unwrap();
        assert_eq!(read, "theirs");
        let (text, descriptors) = other.receive::<String>().unwrap().unwrap();
        assert_eq!((text.as_str(), descriptors.len()), ("with none", 0));
    }

    #[test]
    fn a_closed_end_is_no_message_and_a_length_out_of_bounds_is_an_error() {
        let [mut one, mut other] = Channel::pair().unwrap();
        one.socket.write_all(&u64::MAX.to_le_bytes()).unwrap();
        let error = other.receive::<String>().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        drop(one);
        assert!(other.receive::<String>().unwrap().is_none());
        assert!(other.send(&"nobody", &[]).is_err());
    }
}
