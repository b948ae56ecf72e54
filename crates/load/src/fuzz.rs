//! The parsers of what servers send, given any bytes.

use xxhash_rust::xxh3::Xxh3;

use crate::chunked::Chunked;
use crate::malformed::Malformed;
use crate::response::{Ending, Progress, Reply};

/// What becomes of a reply.
type Became = (Result<Progress, Malformed>, Ending, u16, u64, u64);

/// A reply, whole and in pieces as the first byte says, which must come to the same.
/// Whether it came whole.
pub fn reply(input: &[u8]) -> bool {
    let Some((&cut, bytes)) = input.split_first() else { return false };
    let whole = reply_of([bytes]);
    let (step, bodiless) = (usize::from(cut / 2) + 1, cut % 2 == 1);
    if bodiless {
        return taken(&mut Reply::new(true), [bytes]).0.is_ok();
    }
    let cut = reply_of(bytes.chunks(step));
    // A head in pieces is looked at once it may be whole, and may break before.
    let is_later = whole.0.is_err() && cut.0.is_ok() && cut.1 == Ending::NoReply;
    assert!(is_later || whole == cut, "cut to {step} bytes: {whole:?} and {cut:?}");
    matches!(whole.0, Ok(Progress::Done(_)))
}

fn reply_of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Became {
    let mut reply = Reply::new(false);
    let (result, hash) = taken(&mut reply, pieces);
    match result {
        Ok(_) => (result, reply.end(), reply.status, reply.body_bytes, hash),
        // How much was taken in before depends on the pieces.
        Err(_) => (Err(Malformed("in any way")), Ending::NoReply, 0, 0, 0),
    }
}

/// Feeds the pieces up to the reply's end, counting what was used of them.
fn taken<'a>(
    reply: &mut Reply,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> (Result<Progress, Malformed>, u64) {
    let mut hash = Xxh3::new();
    let mut used = 0;
    for piece in pieces {
        match reply.feed(piece, &mut |body| hash.update(body)) {
            Ok(Progress::More) => used += piece.len(),
            Ok(Progress::Done(n)) => return (Ok(Progress::Done(used + n)), hash.digest()),
            Err(error) => return (Err(error), 0),
        }
    }
    (Ok(Progress::More), hash.digest())
}

/// A chunked body, whole and byte by byte, which must come to the same. Whether it came
/// whole.
pub fn chunked(bytes: &[u8]) -> bool {
    let whole = chunked_of([bytes]);
    assert_eq!(whole, chunked_of(bytes.chunks(1)), "byte by byte");
    matches!(whole, Ok((_, true, _)))
}

fn chunked_of<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(usize, bool, u64), Malformed> {
    let (mut chunked, mut hash, mut used) = (Chunked::new(), Xxh3::new(), 0);
    for piece in pieces {
        used += chunked.feed(piece, &mut |body| hash.update(body))?;
    }
    Ok((used, chunked.is_done(), hash.digest()))
}
