//! What is the right way to append to a log that others append to as well? PHP's six.

use model::article::Is;
use model::article_spec::{ArticleSpec, Conclusion, FigureOf, MeasureOf, PreconditionOf, TestOf};

use super::{PHP_LOGGING, SECOND, conclusion, is, only_with, time};

const GROUP: &str = "10,000 writes of 100 characters, on disk";
const WRITES: f64 = 10_000.0;
const KEPT_OPEN: &str = "1 kept open, no lock";

/// Jain's index of two writers who got on alike is 1; of one who did everything, 0.5.
const FAIR: Is = Is::AtLeast(0.9);

/// So many writers by one of the ways: `arm!("php-held", 1)`.
macro_rules! arm {
    ($way:literal, $writers:literal) => {
        concat!("log/", $way, " writers=", $writers, " @disk")
    };
}

/// The seconds of one of the ways, against those of a handle kept open.
const fn way(
    what: &'static str,
    seconds: f64,
    original: &'static str,
    native: &'static str,
) -> FigureOf {
    FigureOf {
        group: GROUP,
        times: WRITES,
        against: KEPT_OPEN,
        ..time(what, seconds * SECOND, original, native)
    }
}

/// How evenly two writers got on.
const fn fairness(is: Is, original: &'static str, native: &'static str) -> TestOf {
    TestOf { measure: MeasureOf::Figure("fairness_jain"), original, native, is }
}

const WITH_PHP: PreconditionOf = only_with("PHP appends, as it did to theirs");

/// What a conclusion about the time of PHP's ways to append depends on.
const fn of_php(says: &'static str, tests: &'static [TestOf]) -> Conclusion {
    Conclusion { preconditions: &[WITH_PHP], ..conclusion(says, tests) }
}

pub(super) static SPEC: ArticleSpec = ArticleSpec {
    name: "log-locking",
    title: "Performance of non-blocking writes to files via PHP",
    year: 2009,
    original: "PHP",
    question: "A logger that locks its file for a whole request keeps everyone else waiting: what \
               is the right way to append?",
    plan: include_str!("log-locking.toml"),
    places: &[],
    tenth: &[],
    scaled: &[],
    needs: &[PHP_LOGGING],
    figures: &[
        FigureOf { against: "", ..way(KEPT_OPEN, 0.0669, arm!("php-held", 1), arm!("held", 1)) },
        way(
            "2 opened and closed around each write",
            30.163,
            arm!("php-reopen", 1),
            arm!("reopen", 1),
        ),
        way("3 file_put_contents with append", 30.154, arm!("php-file-put-contents", 1), ""),
        way(
            "4 kept open, locked around each write",
            0.1490,
            arm!("php-flock", 1),
            arm!("flock", 1),
        ),
        way(
            "5 as 4, on a non-blocking stream",
            0.1496,
            arm!("php-flock-nonblocking", 1),
            arm!("flock-nonblocking", 1),
        ),
        way("6 error_log to a file", 30.070, arm!("php-error-log", 1), ""),
    ],
    conclusions: &[
        of_php(
            "To close the file after each write is ruinous: it takes a hundred times as long as a \
             handle kept open.",
            &[is(
                Is::AtLeast(100.0),
                "log/php-reopen writers=1 @disk over log/php-held writers=1 @disk",
                "log/reopen writers=1 @disk over log/held writers=1 @disk",
            )],
        ),
        of_php(
            "file_put_contents and error_log take as long as opening and closing by hand.",
            &[
                is(
                    Is::Between(0.8, 1.25),
                    "log/php-file-put-contents writers=1 @disk over log/php-reopen writers=1 @disk",
                    "",
                ),
                is(
                    Is::Between(0.8, 1.25),
                    "log/php-error-log writers=1 @disk over log/php-reopen writers=1 @disk",
                    "",
                ),
            ],
        ),
        of_php(
            "To lock and unlock around each write costs about twice what no lock does: between \
             1.5 and 3 times.",
            &[is(
                Is::Between(1.5, 3.0),
                "log/php-flock writers=1 @disk over log/php-held writers=1 @disk",
                "log/flock writers=1 @disk over log/held writers=1 @disk",
            )],
        ),
        of_php(
            "A non-blocking stream takes as long as another one: within 15%.",
            &[is(
                Is::Between(0.85, 1.0 / 0.85),
                "log/php-flock-nonblocking writers=1 @disk over log/php-flock writers=1 @disk",
                "log/flock-nonblocking writers=1 @disk over log/flock writers=1 @disk",
            )],
        ),
        conclusion(
            "Ways 2 to 6 let both of two writers on.",
            &[
                fairness(FAIR, arm!("php-reopen", 2), arm!("reopen", 2)),
                fairness(FAIR, arm!("php-file-put-contents", 2), arm!("reopen", 2)),
                fairness(FAIR, arm!("php-flock", 2), arm!("flock", 2)),
                fairness(FAIR, arm!("php-flock-nonblocking", 2), arm!("flock-nonblocking", 2)),
                fairness(FAIR, arm!("php-error-log", 2), arm!("reopen", 2)),
            ],
        ),
        conclusion(
            "A non-blocking stream shares the lock more fairly, judged by eye.",
            &[fairness(
                Is::Slower,
                "log/php-flock-nonblocking writers=2 @disk over log/php-flock writers=2 @disk",
                "log/flock-nonblocking writers=2 @disk over log/flock writers=2 @disk",
            )],
        ),
        conclusion(
            "An append is atomic, so that two writers need no lock (a reader's comment).",
            &[is(Is::Intact, arm!("php-held", 2), arm!("held", 2))],
        ),
    ],
};
