//! What the files of a folder are, with all below it: by their names and sizes alone.

use std::ffi::{CStr, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, statat};
use rustix::io::Errno;
use units::{count, counted, exact_size, quoted, rough_size};

use super::lines::has_name_of_log;
use super::{Effort, Recognised};
use crate::user_data::files::Bounds;
use crate::user_data::source::{below, open_untouched, shown, unreadable};
use crate::{cache, files, page};

/// Folders within folders deeper than this are no longer looked at.
const DEPTH_MAX: usize = 32;
/// A cache has so many files at the least …
const MANY: u64 = 10;
/// … and they are no larger than this on average.
const SMALL_BYTES: u64 = 1 << 20;

/// What pages load, by the endings of names: what makes a page of it …
const STYLES_AND_SCRIPTS: [&str; 3] = ["css", "js", "mjs"];
/// … and what comes along.
const ASSETS: [&str; 18] = [
    "html",
    "htm",
    "png",
    "jpg",
    "jpeg",
    "gif",
    "svg",
    "webp",
    "avif",
    "ico",
    "woff",
    "woff2",
    "ttf",
    "otf",
    "eot",
    "map",
    "json",
    "webmanifest",
];
const TEMPLATES: [&str; 14] = [
    "twig", "tpl", "j2", "jinja", "jinja2", "ejs", "erb", "haml", "hbs", "mustache", "liquid",
    "phtml", "tmpl", "pug",
];
const DATABASES: [&str; 4] = ["db", "sqlite", "sqlite3", "db3"];

/// What a folder's files are.
#[derive(Default)]
struct Seen {
    entries: usize,
    files: u64,
    bytes: u64,
    empty: u64,
    /// Neither files nor folders.
    others: u64,
    scripts: u64,
    assets: u64,
    templates: u64,
    logs: u64,
    databases: u64,
}

/// The walk came to a bound, or to something that could not be read.
enum Stop {
    TooMany(String),
    Unreadable(String),
}

pub(super) fn recognise(
    path: &str,
    folder: &OwnedFd,
    effort: Effort,
) -> Result<Recognised, String> {
    let mut walk = Walk { path, effort, seen: Seen::default() };
    match walk.folder(folder, &[], 0) {
        Ok(()) => walk.seen.judged(path),
        Err(Stop::Unreadable(why)) => Err(why),
        Err(Stop::TooMany(what)) => Err(format!(
            "{} has {what}, too much to be copied for each slice; name a folder further down, or \
             copy some of its files into one of their own",
            shown(Path::new(path))
        )),
    }
}

struct Walk<'a> {
    path: &'a str,
    effort: Effort,
    seen: Seen,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &OwnedFd, within: &[u8], depth: usize) -> Result<(), Stop> {
        let path = self.path;
        let wrong = |at: &[u8], e: Errno| Stop::Unreadable(unreadable(&below(path, at), e));
        let listing = open_untouched(folder, c".", OFlags::DIRECTORY);
        let listing = listing.and_then(Dir::new).map_err(|e| wrong(within, e))?;
        // One by one: a folder may have millions.
        for entry in listing {
            let entry = entry.map_err(|e| wrong(within, e))?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            self.seen.entries += 1;
            if self.seen.entries > self.effort.entries_max {
                let most = count(self.effort.entries_max as u64);
                return Err(Stop::TooMany(format!("more than {most} entries")));
            }
            let at = [within, if within.is_empty() { b"" } else { b"/" }, name.to_bytes()].concat();
            let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                // It was removed meanwhile.
                Err(Errno::NOENT) => continue,
                stat => stat.map_err(|e| wrong(&at, e))?,
            };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory if depth == DEPTH_MAX => {
                    return Err(Stop::TooMany(format!("folders more than {DEPTH_MAX} deep")));
                }
                FileType::Directory => {
                    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
                    let opened = open_untouched(folder, name, flags).map_err(|e| wrong(&at, e))?;
                    self.folder(&opened, &at, depth + 1)?;
                }
                FileType::RegularFile => self.file(name, stat.st_size as u64),
                _ => self.seen.others += 1,
            }
        }
        Ok(())
    }

    fn file(&mut self, name: &CStr, bytes: u64) {
        let seen = &mut self.seen;
        if bytes == 0 {
            seen.empty += 1;
            return;
        }
        seen.files += 1;
        seen.bytes = seen.bytes.saturating_add(bytes);
        let name = Path::new(OsStr::from_bytes(name.to_bytes()));
        let ending = name.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let is = |known: &[&str]| u64::from(known.contains(&ending.as_str()));
        seen.scripts += is(&STYLES_AND_SCRIPTS);
        seen.assets += is(&STYLES_AND_SCRIPTS) + is(&ASSETS);
        seen.templates += is(&TEMPLATES);
        seen.databases += is(&DATABASES);
        seen.logs += u64::from(has_name_of_log(&name.to_string_lossy()));
    }
}

impl Seen {
    fn judged(&self, path: &str) -> Result<Recognised, String> {
        let name = || shown(Path::new(path));
        let (files, all) = (counted(self.files, "file"), count(self.files));
        let is_most = |part: u64| part * 2 > self.files;
        let instead = |what: &str| Err(format!("{} {what}", name()));
        if self.files == 0 {
            return Err(format!("{} {}; name a folder that has some", name(), self.nothing()));
        }
        let recognised = |study, param, bounds: Bounds, what: String| {
            let what = self.fitted(path, bounds, what)?;
            Ok(Recognised { study, param, strategies: &[], per_second: None, what })
        };
        if is_most(self.databases) {
            return instead("is a folder of databases; name one of them");
        }
        if self.databases > 0 {
            return instead(
                "has a database among its files; name that and the others each by itself",
            );
        }
        if is_most(self.logs) {
            return instead("is a folder of logs; name one of them");
        }
        if self.scripts > 0 && is_most(self.assets) {
            let what = format!(
                "the files of a page: {} of {files} are css, js, images, html and the like",
                count(self.assets)
            );
            return recognised("page", "set", page::OWN, what);
        }
        if is_most(self.templates) {
            let what =
                format!("templates: {} of {files} are, by their names", count(self.templates));
            return recognised("cache", "set", cache::OWN, what);
        }
        if self.files < MANY {
            return instead(&format!(
                "has only {files}, too few for a cache; name one of them. If an application \
                 writes, reads and removes them: --set files.set={}",
                quoted(path)
            ));
        }
        let mean = self.bytes / self.files;
        if mean > SMALL_BYTES {
            return instead(&format!(
                "has {files} of {} on average, too large for a cache; name one of them. If an \
                 application writes, reads and removes them: --set files.set={}",
                rough_size(mean),
                quoted(path)
            ));
        }
        let what = format!(
            "a cache: {all} small files, {} together, {} on average",
            rough_size(self.bytes),
            rough_size(mean)
        );
        recognised("files", "set", files::OWN, what)
    }

    /// What it was taken for, with the sample that a study takes; an error where it takes none.
    fn fitted(&self, path: &str, bounds: Bounds, what: String) -> Result<String, String> {
        if self.files <= bounds.files as u64 && self.bytes <= bounds.bytes {
            return Ok(what);
        }
        if let Some(sample) = bounds.sample {
            return Ok(format!("{what}; about {} are taken at random", count(sample as u64)));
        }
        Err(format!(
            "{} looks like {what}, but {} ({}) are too much for {}: at most {} files and {}; name a \
             folder further down, or copy some of its files into one of their own",
            shown(Path::new(path)),
            counted(self.files, "file"),
            rough_size(self.bytes),
            bounds.what,
            count(bounds.files as u64),
            exact_size(bounds.bytes)
        ))
    }

    /// What a folder without files is.
    fn nothing(&self) -> &'static str {
        match (self.empty, self.others) {
            (0, 0) => "is a folder without files",
            (0, _) => "has no files, only links or special files, which are not followed or opened",
            _ => "has only empty files",
        }
    }
}
