//! Does a RAM drive help logging? PHP on an ext file system and on a RAM block device.

use model::article::Is;
use model::article_spec::{
    ArticleSpec, Conclusion, FigureOf, MeasureOf, Need, PreconditionOf, TestOf,
};
use model::figure::Unit;

use super::{MICROSECOND, PHP_LOGGING, SECOND, conclusion, is, only_with, ratio, time};

const ENTRIES: f64 = 1e6;

const RATIOS: &str = "1,000,000 log entries of 70 bytes: what RAM and a kept handle save";
const SECONDS: &str = "1,000,000 log entries of 70 bytes: wall clock";
const SHARE: &str = "the disk's share of an entry";
const REOPENED_ON_DISK: &str = "reopened (file_put_contents), disk";
const SYNCED: &str = "one large file, synced at its end";

/// What the article's text leaves open.
const AMBIGUOUS: &str = "The article gives 2.1 s and 1.6 s without saying of what. As totals they \
                         contradict its own ratios: 0.88 × 2.1 / 1.6 is 1.2, and it says 2.5. As the \
                         time that the disk takes more than RAM they fit better.";
const FROM_AMBIGUOUS: &str = "The article gets its figure from 2.1 s and 1.6 s, and leaves open what \
                              these are of.";

const WITH_PHP: PreconditionOf = only_with("PHP writes the entries, as theirs were written");

/// What a conclusion about the time of PHP's writes depends on.
const fn of_php(says: &'static str, tests: &'static [TestOf]) -> Conclusion {
    Conclusion { preconditions: &[WITH_PHP], ..conclusion(says, tests) }
}

/// The seconds that all entries take, of which the article has some in its chart alone.
const fn entries(what: &'static str, original: &'static str, native: &'static str) -> FigureOf {
    FigureOf {
        group: SECONDS,
        published: None,
        times: ENTRIES,
        against: REOPENED_ON_DISK,
        note: AMBIGUOUS,
        ..time(what, 0.0, original, native)
    }
}

pub(super) static SPEC: ArticleSpec = ArticleSpec {
    name: "ram-drive-logging",
    title: "The performance cost of file I/O: logging to a disk and to a RAM drive",
    year: 2013,
    original: "PHP",
    question: "Is file I/O as bad as it is made out to be, and does a RAM drive help logging?",
    plan: include_str!("ram-drive-logging.toml"),
    places: &[],
    tenth: &["records"],
    scaled: &[],
    needs: &[Need { studies: &[1, 4], ..PHP_LOGGING }],
    figures: &[
        FigureOf {
            group: RATIOS,
            ..ratio(
                "reopened for each entry: RAM against disk",
                0.88,
                "log/php-file-put-contents @ram over log/php-file-put-contents @disk",
                "log/reopen @ram over log/reopen @disk",
            )
        },
        FigureOf {
            group: RATIOS,
            ..ratio(
                "kept open: RAM against disk",
                0.58,
                "log/php-held record=70B @ram over log/php-held record=70B @disk",
                "log/held record=70B @ram over log/held record=70B @disk",
            )
        },
        FigureOf {
            group: RATIOS,
            ..ratio(
                "reopened in RAM against kept open on disk",
                2.5,
                "log/php-file-put-contents @ram over log/php-held record=70B @disk",
                "log/reopen @ram over log/held record=70B @disk",
            )
        },
        FigureOf {
            against: "",
            published: Some(2.1 * SECOND),
            ..entries(REOPENED_ON_DISK, "log/php-file-put-contents @disk", "log/reopen @disk")
        },
        entries(
            "reopened (file_put_contents), RAM",
            "log/php-file-put-contents @ram",
            "log/reopen @ram",
        ),
        FigureOf {
            published: Some(1.6 * SECOND),
            ..entries(
                "kept open (fwrite), disk",
                "log/php-held record=70B @disk",
                "log/held record=70B @disk",
            )
        },
        entries(
            "kept open (fwrite), RAM",
            "log/php-held record=70B @ram",
            "log/held record=70B @ram",
        ),
        FigureOf {
            group: SHARE,
            note: FROM_AMBIGUOUS,
            ..time(
                "reopened",
                0.55 * MICROSECOND,
                "log/php-file-put-contents @disk minus log/php-file-put-contents @ram",
                "log/reopen @disk minus log/reopen @ram",
            )
        },
        FigureOf {
            group: SYNCED,
            unit: Unit::MegabytesPerSecond,
            measure: MeasureOf::Throughput,
            ..time("disk", 55.0, "", "stream/sequential @disk")
        },
        FigureOf {
            group: SYNCED,
            unit: Unit::MegabytesPerSecond,
            measure: MeasureOf::Throughput,
            against: "disk",
            ..time("RAM drive", 290.0, "", "stream/sequential @ram")
        },
    ],
    conclusions: &[
        of_php(
            "To open the file anew for each entry costs more than twice what a handle kept open \
             does.",
            &[is(
                Is::AtLeast(2.0),
                "log/php-file-put-contents @disk over log/php-held record=70B @disk",
                "log/reopen @disk over log/held record=70B @disk",
            )],
        ),
        of_php(
            "A handle kept open on disk is faster than reopening on the RAM drive.",
            &[is(
                Is::Slower,
                "log/php-file-put-contents @ram over log/php-held record=70B @disk",
                "log/reopen @ram over log/held record=70B @disk",
            )],
        ),
        of_php(
            "With reopening, the RAM drive saves about an eighth: between 5% and 25%.",
            &[is(
                Is::Between(0.75, 0.95),
                "log/php-file-put-contents @ram over log/php-file-put-contents @disk",
                "log/reopen @ram over log/reopen @disk",
            )],
        ),
        of_php(
            "With a handle kept open, the RAM drive saves more than a quarter.",
            &[is(
                Is::AtMost(0.75),
                "log/php-held record=70B @ram over log/php-held record=70B @disk",
                "log/held record=70B @ram over log/held record=70B @disk",
            )],
        ),
        of_php(
            "The disk costs an entry less than a microsecond, for the operating system hides it.",
            &[
                is(
                    Is::AtMost(MICROSECOND),
                    "log/php-file-put-contents @disk minus log/php-file-put-contents @ram",
                    "log/reopen @disk minus log/reopen @ram",
                ),
                is(
                    Is::AtMost(MICROSECOND),
                    "log/php-held record=70B @disk minus log/php-held record=70B @ram",
                    "log/held record=70B @disk minus log/held record=70B @ram",
                ),
            ],
        ),
        Conclusion {
            preconditions: &[PreconditionOf {
                says: "most of the disk's time is sync, as it was theirs",
                test: Some(TestOf {
                    measure: MeasureOf::SyncShare,
                    ..is(Is::AtLeast(50.0), "", "stream/sequential @disk")
                }),
            }],
            ..conclusion(
                "Where data is synced, the disk is several times slower than RAM: 5 times.",
                &[is(Is::AtMost(0.2), "", "stream/sequential @ram over stream/sequential @disk")],
            )
        },
        of_php(
            "Written through a handle kept open, files much larger than log entries gain more \
             from RAM than entries do (a reader's comment): of 200 KiB, more than half.",
            &[is(
                Is::AtMost(0.5),
                "log/php-held record=200KiB @ram over log/php-held record=200KiB @disk",
                "log/held record=200KiB @ram over log/held record=200KiB @disk",
            )],
        ),
    ],
};
