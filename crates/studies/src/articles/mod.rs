//! Published measurements of file I/O, each with a plan that repeats it and what it found.
//!
//! An article is data: its plan is a plan file, and its figures and conclusions say which of
//! the plan's arms they are of (`model::article_spec`). The originals' own programs are
//! those of the examples.

mod journal_compression;
mod log_locking;
mod plain_files_and_sqlite;
mod ram_drive_logging;
mod shm_cache;

use model::article::Is;
use model::article_spec::{
    ArticleSpec, Conclusion, FigureOf, MeasureOf, Need, PreconditionOf, TestOf,
};
use model::figure::Unit;

/// All of them.
pub static ALL: [&ArticleSpec; 5] = [
    &ram_drive_logging::SPEC,
    &shm_cache::SPEC,
    &journal_compression::SPEC,
    &log_locking::SPEC,
    &plain_files_and_sqlite::SPEC,
];

/// What logs are written with by the programs of the articles that compare ways to write them.
const PHP_LOGGING: Need = Need {
    studies: &[1],
    places: &[],
    what: "PHP",
    test: "command -v php",
    install: "apt install php-cli",
};

/// The one of that name.
pub fn find(name: &str) -> Option<&'static ArticleSpec> {
    ALL.iter().find(|article| article.name == name).copied()
}

/// A file of an original's program.
#[derive(Clone, Copy, Debug)]
pub struct OriginalFile {
    /// Where it belongs below `{plan}`.
    pub path: &'static str,
    /// What it holds.
    pub text: &'static str,
}

macro_rules! originals {
    ($($path:literal),* $(,)?) => {
        /// The programs that the plans start, below what they call `{plan}`. They are examples,
        /// and links in this package, so that cargo publishes them with it.
        pub static ORIGINALS: &[OriginalFile] = &[
            $(OriginalFile {
                path: $path,
                text: include_str!(concat!("../../originals/", $path)),
            }),*
        ];
    };
}

originals! {
    "django-five-files/five_files.py",
    "django-five-files/page.html",
    "django-five-files/prepare.sh",
    "django-five-files/serve.sh",
    "php-manifest-cache/cache.php",
    "php-manifest-cache/index.php",
    "php-manifest-cache/make.php",
    "php-manifest-cache/prepare.sh",
    "php-manifest-cache/serve.sh",
    "php-sqlite/index.php",
    "php-sqlite/make.php",
    "php-sqlite/prepare.sh",
    "php-stack/lighttpd.conf",
    "php-stack/nginx.conf",
    "php-stack/php-fpm.conf",
    "php-stack/serve.sh",
    "plain-files-and-sqlite/prepare.sh",
    "plain-files-and-sqlite/serve.sh",
}

const SECOND: f64 = 1e9;
const MILLISECOND: f64 = 1e6;
const MICROSECOND: f64 = 1e3;

/// The time per operation of these arms.
const fn time(
    what: &'static str,
    published: f64,
    original: &'static str,
    native: &'static str,
) -> FigureOf {
    FigureOf {
        group: "",
        what,
        unit: Unit::Nanoseconds,
        published: Some(published),
        against: "",
        measure: MeasureOf::TypicalTime,
        times: 1.0,
        original,
        native,
        note: "",
    }
}

/// The ratio of two arms' times per operation.
const fn ratio(
    what: &'static str,
    published: f64,
    original: &'static str,
    native: &'static str,
) -> FigureOf {
    FigureOf { unit: Unit::Ratio, ..time(what, published, original, native) }
}

/// That arms' times per operation are so.
const fn is(is: Is, original: &'static str, native: &'static str) -> TestOf {
    TestOf { measure: MeasureOf::TypicalTime, original, native, is }
}

const fn conclusion(says: &'static str, tests: &'static [TestOf]) -> Conclusion {
    Conclusion { says, tests, preconditions: &[] }
}

/// That the article's own program is measured: its speed decides.
const fn only_with(says: &'static str) -> PreconditionOf {
    PreconditionOf { says, test: None }
}

#[cfg(test)]
mod tests;
