//! What was read of the user's, as the processes of a run get it that run its slices.
//!
//! The run reads everything once, before any place has anything of it. A process that is started
//! later must not read it again: it may be another by then, and the folder that is read may be
//! the place. So all that is read is put into memory that other processes can be given, each part
//! under a name, and there it is taken from that memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::fs::{MemfdFlags, memfd_create};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Memory that can be given, for as long as what was read is in use.
pub(crate) type Kept = Arc<File>;

/// What this process read, by name.
static READ: Mutex<Vec<(String, Weak<File>)>> = Mutex::new(Vec::new());
/// What this process was given, by name.
static GIVEN: Mutex<BTreeMap<String, File>> = Mutex::new(BTreeMap::new());

/// All that was read here and is in use.
///
/// # Errors
/// Where the system refuses another descriptor.
pub(crate) fn all() -> io::Result<Vec<(String, OwnedFd)>> {
    let read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let in_use = read.iter().filter_map(|(name, file)| Some((name, file.upgrade()?)));
    in_use.map(|(name, file)| Ok((name.clone(), file.try_clone()?.into()))).collect()
}

/// Takes what another process has read.
pub(crate) fn take(name: String, data: OwnedFd) {
    GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(name, data.into());
}

/// Keeps what was read for others: what describes it, and its bytes.
pub(crate) fn keep<'a>(
    name: &str,
    about: &impl Serialize,
    contents: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Kept, String> {
    let write = || -> io::Result<File> {
        let mut file = File::from(memfd_create("iotoll-user-data", MemfdFlags::CLOEXEC)?);
        let about = serde_json::to_vec(about)?;
        file.write_all(&(about.len() as u64).to_le_bytes())?;
        file.write_all(&about)?;
        contents.into_iter().try_for_each(|part| file.write_all(part))?;
        Ok(file)
    };
    write().map(|file| keep_file(name, file)).map_err(|why| not_kept(&why))
}

/// Keeps a file of the user's open for others.
pub(crate) fn keep_file(name: &str, file: File) -> Kept {
    let kept = Arc::new(file);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    read.retain(|(known, file)| known != name && file.strong_count() > 0);
    read.push((name.to_owned(), Arc::downgrade(&kept)));
    kept
}

/// What another process kept under that name; nothing where there is none.
pub(crate) fn given<T: DeserializeOwned>(name: &str) -> Option<Result<(T, Vec<u8>), String>> {
    let read = |mut file: File| -> io::Result<(T, Vec<u8>)> {
        let mut length = [0; 8];
        file.read_exact(&mut length)?;
        let mut about = vec![0; u64::from_le_bytes(length) as usize];
        file.read_exact(&mut about)?;
        let mut contents = Vec::new();
        file.read_to_end(&mut contents)?;
        Ok((serde_json::from_slice(&about)?, contents))
    };
    Some(given_file(name)?.and_then(read).map_err(|why| not_kept(&why)))
}

/// The file that another process kept under that name, from its beginning.
pub(crate) fn given_file(name: &str) -> Option<io::Result<File>> {
    let given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let file = given.get(name)?;
    // The position is one with that of every process that has it open, none of which reads now.
    Some(file.try_clone().and_then(|mut file| file.rewind().map(|()| file)))
}

fn not_kept(why: &io::Error) -> String {
    format!("keeping a copy of your data in memory: {why}; free some memory and try again")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_is_kept_is_given_whole_for_as_long_as_it_is_in_use() {
        let name = "test what is kept";
        let mine = || all().unwrap().into_iter().find(|(known, _)| known == name);
        let kept = keep(name, &vec![3, 4], [&b"one"[..], b"two"]).unwrap();
        let (_, data) = mine().unwrap();
        take(name.to_owned(), data);
        for _ in 0..2 {
            let (about, contents) = given::<Vec<u8>>(name).unwrap().unwrap();
            assert_eq!((about, contents.as_slice()), (vec![3, 4], &b"onetwo"[..]));
        }
        drop(kept);
        assert!(mine().is_none());
        assert!(given::<Vec<u8>>("test another").is_none());
    }
}
