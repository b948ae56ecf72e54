//! The source tree that a cache is built from: made once for an arm, and scanned
//! by each rebuild as an application would, from the file system alone.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use engine::study::{Doing, StudyError};
use rustix::fs::{OFlags, fstat};
use xxhash_rust::xxh3::xxh3_64;

use crate::file::{make_folder, name, open_for_reading, open_for_writing, read_whole, write_whole};
use crate::tree::{entries, open_folder};

const SCANNING: &str = "scanning the source tree";
const READING: &str = "reading a source";

/// The tree's root within the arm's folder.
const ROOT: &CStr = c"src";
/// A folder of sources has no more than this.
const FOLDER_FILES_MAX: u64 = 25;

/// What the tree is like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) templates: u64,
    pub(super) template_bytes: u64,
    pub(super) classes: u64,
    pub(super) class_bytes: u64,
}

impl Shape {
    /// All sources together.
    pub(super) fn bytes(&self) -> u64 {
        self.templates * self.template_bytes + self.classes * self.class_bytes
    }

    /// All sources together, each rounded up to whole blocks.
    pub(super) fn bytes_on_disk(&self) -> u64 {
        self.bytes() + self.files() * 4096
    }

    /// How many sources there are.
    pub(super) fn files(&self) -> u64 {
        self.templates + self.classes
    }
}

/// One file of the tree, read.
#[derive(Debug)]
pub(super) struct Source {
    /// Below the root.
    pub(super) path: String,
    pub(super) modified_ns: i64,
    pub(super) hash: u64,
    pub(super) contents: Vec<u8>,
}

/// Makes the tree.
pub(super) fn make(folder: &OwnedFd, shape: &Shape) -> Result<(), StudyError> {
    make_folder(folder, ROOT)?;
    let template = |n| text(n, "<li class=\"row\">{{ user.name }} owes {{ order.total }}</li>\n");
    make_kind(folder, ("templates", "tpl"), shape.templates, shape.template_bytes, template)?;
    let class = |n| text(n, "    public function total(): int { return $this->sum; }\n");
    make_kind(folder, ("classes", "php"), shape.classes, shape.class_bytes, class)
}

/// What a source says over and over; its number tells it from the others.
fn text(number: u64, line: &str) -> String {
    format!("<!-- source {number} -->\n{line}{line}{line}")
}

fn make_kind(
    folder: &OwnedFd,
    (kind, ending): (&str, &str),
    files: u64,
    bytes: u64,
    text: impl Fn(u64) -> String,
) -> Result<(), StudyError> {
    for number in 0..files {
        let within = format!("src/{kind}{}", number / FOLDER_FILES_MAX);
        if number % FOLDER_FILES_MAX == 0 {
            make_folder(folder, &name(&within))?;
        }
        let path = name(&format!("{within}/{number}.{ending}"));
        let contents: Vec<u8> = text(number).bytes().cycle().take(bytes as usize).collect();
        let file = open_for_writing(folder, &path, OFlags::EXCL).doing("making a source")?;
        write_whole(file, &contents, "writing a source")?;
    }
    Ok(())
}

/// Reads the whole tree, in the order of its paths.
pub(super) fn scan(folder: &OwnedFd) -> Result<Vec<Source>, StudyError> {
    let mut sources = Vec::new();
    let root = open_folder(folder, ROOT).doing(SCANNING)?;
    for within in entries(&root).doing(SCANNING)? {
        let inner = open_folder(&root, &within.name).doing(SCANNING)?;
        for file in entries(&inner).doing(SCANNING)? {
            sources.push(read(&inner, &within.name, &file.name)?);
        }
    }
    sources.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn read(folder: &OwnedFd, within: &CStr, file: &CStr) -> Result<Source, StudyError> {
    let open = open_for_reading(folder, file).doing(READING)?;
    let stat = fstat(&open).doing(READING)?;
    let mut contents = vec![0; stat.st_size as usize];
    read_whole(open, &mut contents, READING)?;
    Ok(Source {
        path: format!("{}/{}", within.to_string_lossy(), file.to_string_lossy()),
        modified_ns: stat.st_mtime * 1_000_000_000 + stat.st_mtime_nsec as i64,
        hash: xxh3_64(&contents),
        contents,
    })
}
