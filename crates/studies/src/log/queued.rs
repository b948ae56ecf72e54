//! Appending through a bounded queue: the application hands a record over and
//! goes on; a thread of its own writes one after the other. A full queue makes
//! the application wait, or drops the record and says so.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use engine::slice_timer::SliceTimer;
use engine::study::{Doing, StudyError};
use rustix::fs::fdatasync;

use super::append::{APPENDING, Append, SYNCING, Taken};
use super::records::Records;
use super::work::Work;
use crate::file::write_whole;

enum Message {
    Record(u32),
    Sync,
}

/// The application's end of the queue.
pub(super) struct Queued {
    queue: Option<SyncSender<Message>>,
    writer: Option<JoinHandle<Result<(), StudyError>>>,
    drops: bool,
    calls: Arc<AtomicU64>,
}

impl Queued {
    pub(super) fn start(
        file: OwnedFd,
        records: Arc<Records>,
        work: &Work,
    ) -> Result<Self, StudyError> {
        let (queue, messages) = sync_channel(work.queue as usize);
        let calls = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&calls);
        let writer = thread::Builder::new()
            .name("log queue".to_owned())
            .spawn(move || write_all(&file, &records, &messages, &counter))
            .doing("starting the queue's thread")?;
        Ok(Self { queue: Some(queue), writer: Some(writer), drops: work.drops, calls })
    }

    /// Why the queue's thread is gone; waits for it where it is not.
    fn end(&mut self) -> Result<(), StudyError> {
        drop(self.queue.take());
        let Some(writer) = self.writer.take() else { return Ok(()) };
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn send(&mut self, message: Message) -> Result<Taken, StudyError> {
        let Some(queue) = &self.queue else {
            return Err(StudyError::Worker("the queue's thread has ended".to_owned()));
        };
        let gone = match queue.try_send(message) {
            Ok(()) => false,
            Err(TrySendError::Full(Message::Record(_))) if self.drops => return Ok(Taken::Dropped),
            Err(TrySendError::Full(message)) => queue.send(message).is_err(),
            Err(TrySendError::Disconnected(_)) => true,
        };
        if gone {
            self.end()?;
        }
        Ok(Taken::Acknowledged)
    }
}

fn write_all(
    file: &OwnedFd,
    records: &Records,
    messages: &Receiver<Message>,
    calls: &AtomicU64,
) -> Result<(), StudyError> {
    for message in messages {
        match message {
            Message::Record(index) => {
                write_whole(file, records.get(index as usize), APPENDING)?;
                calls.fetch_add(1, Ordering::Relaxed);
            }
            Message::Sync => fdatasync(file).doing(SYNCING)?,
        }
    }
    Ok(())
}

impl Append for Queued {
    fn append(&mut self, index: usize, _: &mut SliceTimer) -> Result<Taken, StudyError> {
        self.send(Message::Record(index as u32))
    }

    fn sync(&mut self) -> Result<(), StudyError> {
        self.send(Message::Sync).map(drop)
    }

    fn finish(&mut self, _: &mut SliceTimer) -> Result<(), StudyError> {
        self.end()
    }

    fn calls(&self) -> Option<u64> {
        Some(self.calls.load(Ordering::Relaxed))
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        // The slice has failed already where the queue was not ended by it.
        let _ = self.end();
    }
}
