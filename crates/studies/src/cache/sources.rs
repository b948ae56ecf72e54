//! The source tree that a cache is built from: made once for an arm, and scanned
//! by each rebuild as an application would, from the file system alone.

use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::study::{Doing, StudyError};
use model::material::Material;
use rustix::fs::{OFlags, fstat};
use units::{counted, exact_size};
use xxhash_rust::xxh3::xxh3_64;

use crate::file::{
    make_folder, name, open_folder, open_for_reading, open_for_writing, read_whole, write_whole,
};
use crate::tree::files_below;
use crate::user_data::files::{Bounds, OwnFiles};

const SCANNING: &str = "scanning the source tree";
const READING: &str = "reading a source";

/// The tree's root within the arm's folder.
const ROOT: &CStr = c"src";
/// A folder of sources has no more than this.
const FOLDER_FILES_MAX: u64 = 25;

/// What a user's tree of sources may have: with more it is a data store.
pub(crate) const OWN: Bounds =
    Bounds { what: "a source tree", files: 5000, bytes: TREE_BYTES_MAX, sample: None };
/// The same of one that is generated.
pub(super) const TREE_BYTES_MAX: u64 = 64 << 20;

/// What the tree is made of.
#[derive(Clone)]
pub(super) enum Tree {
    Generated(Shape),
    /// The user's own files, all of them templates: which are is known to the application alone.
    Own(Arc<OwnFiles>),
}

/// What a generated tree is like.
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
}

impl Tree {
    /// All sources together, each rounded up to whole blocks.
    pub(super) fn bytes_on_disk(&self) -> u64 {
        match self {
            Self::Generated(shape) => shape.bytes() + self.files() * 4096,
            Self::Own(own) => own.bytes_on_disk(),
        }
    }

    /// How many sources there are.
    pub(super) fn files(&self) -> u64 {
        match self {
            Self::Generated(shape) => shape.templates + shape.classes,
            Self::Own(own) => own.count(),
        }
    }

    /// Sources and the folders that they are in.
    pub(super) fn entries(&self) -> u64 {
        match self {
            // Folders have several sources each, or there are few.
            Self::Generated(_) => 2 * self.files(),
            Self::Own(own) => own.entries(),
        }
    }

    /// How many of the sources are compiled.
    pub(super) fn templates(&self) -> u64 {
        match self {
            Self::Generated(shape) => shape.templates,
            Self::Own(own) => own.count(),
        }
    }

    /// Whether the source of that path is compiled.
    pub(super) fn is_template(&self, path: &str) -> bool {
        match self {
            Self::Generated(_) => path.strip_suffix(".tpl").is_some(),
            Self::Own(_) => true,
        }
    }

    /// What the compiled form of that source is called. A path of the user's may be too long
    /// for a name.
    pub(super) fn compiled(&self, path: &str) -> CString {
        match self {
            Self::Generated(_) => name(&format!("cache/{}", path.replace('/', "-"))),
            Self::Own(_) => name(&format!("cache/{:016x}", xxh3_64(path.as_bytes()))),
        }
    }

    /// What reports say of it.
    pub(super) fn material(&self) -> Material {
        match self {
            Self::Generated(Shape { templates, template_bytes, classes, class_bytes }) => {
                let about = format!(
                    "{} of {} and {} of {}",
                    counted(*templates, "template"),
                    exact_size(*template_bytes),
                    if *classes == 1 { "1 class".into() } else { format!("{classes} classes") },
                    exact_size(*class_bytes)
                );
                Material::generated(about, "set")
            }
            Self::Own(own) => own.material(),
        }
    }

    /// Makes it.
    pub(super) fn make(&self, folder: &OwnedFd) -> Result<(), StudyError> {
        match self {
            Self::Generated(shape) => make(folder, shape),
            Self::Own(own) => own.copy_to(folder, ROOT),
        }
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

/// Makes a generated tree.
fn make(folder: &OwnedFd, shape: &Shape) -> Result<(), StudyError> {
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
    let root = open_folder(folder, ROOT).doing(SCANNING)?;
    let mut paths = files_below(&root).doing(SCANNING)?;
    paths.sort_unstable();
    paths.iter().map(|path| read(&root, path)).collect()
}

fn read(root: &OwnedFd, path: &CStr) -> Result<Source, StudyError> {
    let open = open_for_reading(root, path).doing(READING)?;
    let stat = fstat(&open).doing(READING)?;
    let mut contents = vec![0; stat.st_size as usize];
    read_whole(open, &mut contents, READING)?;
    Ok(Source {
        // A name need not be text.
        path: path
            .to_str()
            .map_or_else(|_| path.to_bytes().escape_ascii().to_string(), str::to_owned),
        modified_ns: stat.st_mtime * 1_000_000_000 + stat.st_mtime_nsec as i64,
        hash: xxh3_64(&contents),
        contents,
    })
}
