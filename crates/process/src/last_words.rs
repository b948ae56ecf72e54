//! The last lines that a process wrote to standard error.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Last lines that are kept, and how much of each.
const LINES: usize = 12;
const LINE_BYTES: u64 = 400;
/// How long the end is waited for once all that is known of a process has ended: somebody
/// else may have standard error open.
const PATIENCE: Duration = Duration::from_millis(300);

/// The last lines so far.
#[derive(Debug, Default)]
pub(crate) struct LastWords {
    lines: Arc<Mutex<VecDeque<String>>>,
    reader: Option<thread::JoinHandle<()>>,
}

impl LastWords {
    /// Of whoever writes into that pipe, if there is one.
    pub(crate) fn of(pipe: Option<impl Read + Send + 'static>) -> io::Result<Self> {
        let lines = Arc::default();
        let reader = pipe.map(|pipe| {
            let lines = Arc::clone(&lines);
            thread::Builder::new().spawn(move || keep_last(pipe, &lines))
        });
        Ok(Self { reader: reader.transpose()?, lines })
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Waits for the last of them, unless that takes too long; the reader then goes on by
    /// itself.
    pub(crate) fn await_last(&mut self) {
        let Some(reader) = self.reader.take() else { return };
        let deadline = Instant::now() + PATIENCE;
        while !reader.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        if reader.is_finished() {
            // It does not panic.
            let _ = reader.join();
        }
    }
}

/// Reads a pipe to its end, so that nobody blocks on it, keeping the end.
fn keep_last(pipe: impl Read, lines: &Mutex<VecDeque<String>>) {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    loop {
        line.clear();
        match pipe.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
    }
}
