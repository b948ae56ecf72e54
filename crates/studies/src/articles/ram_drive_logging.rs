//! Does a RAM drive help logging? PHP on an ext file system and on a RAM block device.

use model::article::Is;
use model::article_spec::{ArticleSpec, FigureOf, MeasureOf};
use model::figure::Unit;

use super::{MICROSECOND, PHP_LOGGING, SECOND, conclusion, is, ratio, time};

const ENTRIES: f64 = 1e6;

const RATIOS: &str = "1,000,000 log entries of 70 bytes: what RAM and a kept handle save";
const SECONDS: &str = "1,000,000 log entries of 70 bytes: wall clock";
const SHARE: &str = "the disk's share of an entry";
const REOPENED_ON_DISK: &str = "reopened (file_put_contents), disk";
const SYNCED: &str = "one large file, synced at its end";

/// The seconds that all entries take, of which the article has some in its chart alone.
const fn entries(what: &'static str, original: &'static str, native: &'static str) -> FigureOf {
    FigureOf {
        group: SECONDS,
        published: None,
        times: ENTRIES,
        against: REOPENED_ON_DISK,
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
    needs: &[PHP_LOGGING],
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
                "log/php-held @ram over log/php-held @disk",
                "log/held @ram over log/held @disk",
            )
        },
        FigureOf {
            group: RATIOS,
            ..ratio(
                "reopened in RAM against kept open on disk",
                2.5,
                "log/php-file-put-contents @ram over log/php-held @disk",
                "log/reopen @ram over log/held @disk",
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
            ..entries("kept open (fwrite), disk", "log/php-held @disk", "log/held @disk")
        },
        entries("kept open (fwrite), RAM", "log/php-held @ram", "log/held @ram"),
        FigureOf {
            group: SHARE,
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
        conclusion(
            "To open the file anew for each entry costs more than twice what a handle kept open \
             does.",
            &[is(
                Is::AtLeast(2.0),
                "log/php-file-put-contents @disk over log/php-held @disk",
                "log/reopen @disk over log/held @disk",
            )],
        ),
        conclusion(
            "A handle kept open on disk is faster than reopening on the RAM drive.",
            &[is(
                Is::Slower,
                "log/php-file-put-contents @ram over log/php-held @disk",
                "log/reopen @ram over log/held @disk",
            )],
        ),
        conclusion(
            "With reopening, the RAM drive saves about an eighth: between 5% and 25%.",
            &[is(
                Is::Between(0.75, 0.95),
                "log/php-file-put-contents @ram over log/php-file-put-contents @disk",
                "log/reopen @ram over log/reopen @disk",
            )],
        ),
        conclusion(
            "With a handle kept open, the RAM drive saves more than a quarter.",
            &[is(
                Is::AtMost(0.75),
                "log/php-held @ram over log/php-held @disk",
                "log/held @ram over log/held @disk",
            )],
        ),
        conclusion(
            "The disk costs an entry less than a microsecond, for the operating system hides it.",
            &[
                is(
                    Is::AtMost(MICROSECOND),
                    "log/php-file-put-contents @disk minus log/php-file-put-contents @ram",
                    "log/reopen @disk minus log/reopen @ram",
                ),
                is(
                    Is::AtMost(MICROSECOND),
                    "log/php-held @disk minus log/php-held @ram",
                    "log/held @disk minus log/held @ram",
                ),
            ],
        ),
        conclusion(
            "Where data is synced, the disk is several times slower than RAM.",
            &[is(Is::AtMost(0.5), "", "stream/sequential @ram over stream/sequential @disk")],
        ),
        conclusion(
            "Files that are much larger than log entries gain more from RAM (a reader's comment): \
             of 200 kB, more than a quarter.",
            &[is(Is::AtMost(0.75), "", "files/direct @ram over files/direct @disk")],
        ),
    ],
};
