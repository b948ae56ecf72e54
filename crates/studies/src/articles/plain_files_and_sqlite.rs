//! What do files that are read for each request cost a web server, and does tmpfs help?
//! Django's own server, and PHP with SQLite on Cherokee, on a laptop.

use model::article::Is;
use model::article_spec::{
    ArticleSpec, Conclusion, FigureOf, MeasureOf, Need, PreconditionOf, TestOf,
};
use model::figure::Unit;
use model::scaled_rates::ScaledRates;

use super::{MILLISECOND, SECOND, conclusion, is, time};

/// What the article's servers held, as its figures show: the view kept pace at 200 requests a second
/// and did not at 300, and SQLite at 20 and not at 30. Nearer to the lower rate, so that the
/// higher one saturates a server whose highest rate was found a little too low.
const VIEW_HELD: f64 = 225.0;
const SQLITE_HELD: f64 = 22.5;

const VIEW_FAILED: FigureOf =
    table("five files: connections that failed, of those begun", Unit::Count, MeasureOf::Failed);
const VIEW_TIME: FigureOf =
    table("five files: connection time", Unit::Nanoseconds, MeasureOf::MeanTime);
const VIEW_RESPONSE: FigureOf = table(
    "five files: reply time, response",
    Unit::Nanoseconds,
    MeasureOf::Figure("response_p50_ns"),
);
const VIEW_TRANSFER: FigureOf = table(
    "five files: reply time, transfer",
    Unit::Nanoseconds,
    MeasureOf::Figure("transfer_p50_ns"),
);
const FAILED: FigureOf = table(
    "SQLite: connections that failed, of 100",
    Unit::Percent,
    MeasureOf::Figure("errors_percent"),
);
const TIME: FigureOf = table("SQLite: connection time", Unit::Nanoseconds, MeasureOf::MeanTime);
const RESPONSE: FigureOf =
    table("SQLite: reply time, response", Unit::Nanoseconds, MeasureOf::Figure("response_p50_ns"));
const CPU: FigureOf = table(
    "SQLite: CPU of the load generator",
    Unit::Percent,
    MeasureOf::Figure("client_cpu_percent"),
);

/// A table that was published, with neither rows nor figures.
const fn table(group: &'static str, unit: Unit, measure: MeasureOf) -> FigureOf {
    FigureOf { group, unit, measure, published: None, ..time("", 0.0, "", "") }
}

/// A row of the view's tables, or of SQLite's: the rate, the place, and the figure.
macro_rules! row {
    ($table:ident, $original:literal, $native:literal, $rate:literal, disk, $published:expr) => {
        FigureOf {
            what: concat!($rate, "/s, disk"),
            published: Some($published),
            original: concat!("serve/command variant=", $original, " rate=", $rate, " @disk"),
            native: concat!("serve/", $native, " rate=", $rate, " @disk"),
            ..$table
        }
    };
    ($table:ident, $original:literal, $native:literal, $rate:literal, tmpfs, $published:expr) => {
        FigureOf {
            what: concat!($rate, "/s, tmpfs"),
            against: concat!($rate, "/s, disk"),
            published: $published,
            original: concat!("serve/command variant=", $original, " rate=", $rate, " @ram"),
            native: concat!("serve/", $native, " rate=", $rate, " @ram"),
            ..$table
        }
    };
}

macro_rules! view {
    ($table:ident, $rate:literal, $place:ident, $published:expr) => {
        row!($table, "django-runserver", "page", $rate, $place, $published)
    };
}

macro_rules! sqlite {
    ($table:ident, $rate:literal, $place:ident, $published:expr) => {
        row!($table, "lighttpd-php-cgi", "sqlite", $rate, $place, $published)
    };
}

const fn ms(figure: f64) -> f64 {
    figure * MILLISECOND
}

const fn of(name: &'static str, is: Is, original: &'static str, native: &'static str) -> TestOf {
    TestOf { measure: MeasureOf::Figure(name), original, native, is }
}

/// How long connections take, those that waited for their turn included.
const fn takes(is: Is, original: &'static str, native: &'static str) -> TestOf {
    TestOf { measure: MeasureOf::MeanTime, original, native, is }
}

/// That so many of the connections fail.
const fn fails(is: Is, original: &'static str, native: &'static str) -> TestOf {
    TestOf { measure: MeasureOf::FailedShare, original, native, is }
}

/// A conclusion that depends on some of what was so for the article.
const fn where_so(
    preconditions: &'static [PreconditionOf],
    says: &'static str,
    tests: &'static [TestOf],
) -> Conclusion {
    Conclusion { preconditions, ..conclusion(says, tests) }
}

/// That a server keeps pace: connections hardly wait for each other.
macro_rules! keeps_pace {
    ($original:literal, $native:literal, $rate:literal, $seconds:expr) => {
        PreconditionOf {
            says: concat!("the server keeps pace at ", $rate, " requests a second, as theirs did"),
            test: Some(takes(
                Is::AtMost($seconds * SECOND),
                concat!("serve/command variant=", $original, " rate=", $rate, " @disk"),
                concat!("serve/", $native, " rate=", $rate, " @disk"),
            )),
        }
    };
}

/// That the view's server is saturated, so that connections wait for as long as theirs did.
macro_rules! view_waits {
    ($place:literal, $where:literal) => {
        PreconditionOf {
            says: concat!(
                "the server is saturated ",
                $where,
                " as theirs was, whose connections took 1.5 s",
            ),
            test: Some(takes(
                Is::AtLeast(SECOND),
                concat!("serve/command variant=django-runserver rate=300 ", $place),
                concat!("serve/page rate=300 ", $place),
            )),
        }
    };
}

/// The article's server of SQLite at a rate and a place, and ours.
macro_rules! php {
    ($rate:literal, $place:literal) => {
        concat!("serve/command variant=lighttpd-php-cgi rate=", $rate, " ", $place)
    };
}

macro_rules! native {
    ($rate:literal, $place:literal) => {
        concat!("serve/sqlite rate=", $rate, " ", $place)
    };
}

/// That SQLite's server is saturated at a rate: connections take so many times as long as
/// at the lowest one.
macro_rules! sqlite_is_saturated {
    ($rate:literal, $place:literal, $says:literal) => {
        PreconditionOf {
            says: $says,
            test: Some(takes(
                Is::AtLeast(5.0),
                concat!(php!($rate, $place), " over ", php!(20, $place)),
                concat!(native!($rate, $place), " over ", native!(20, $place)),
            )),
        }
    };
}

/// That a request takes so many times as long in tmpfs.
macro_rules! sqlite_in_tmpfs {
    ($rate:literal, $is:expr) => {
        is(
            $is,
            concat!(php!($rate, "@ram"), " over ", php!($rate, "@disk")),
            concat!(native!($rate, "@ram"), " over ", native!($rate, "@disk")),
        )
    };
}

macro_rules! none_fails_in_tmpfs {
    ($rate:literal) => {
        fails(Is::AtMost(4.0), php!($rate, "@ram"), native!($rate, "@ram"))
    };
}

const WRITTEN: &str = "device_written_bytes_per_connection";

pub(super) static SPEC: ArticleSpec = ArticleSpec {
    name: "plain-files-and-sqlite",
    title: "Plain files: server I/O benchmarks",
    year: 2008,
    original: "Django, PHP",
    question: "What do files that are read on every request cost a web server, and does tmpfs \
               help?",
    plan: include_str!("plain-files-and-sqlite.toml"),
    places: &[],
    tenth: &["connections"],
    scaled: &[
        ScaledRates { arms: "serve/page", held: VIEW_HELD },
        ScaledRates { arms: "serve/sqlite", held: SQLITE_HELD },
        ScaledRates { arms: "serve/command variant=django-runserver", held: VIEW_HELD },
        ScaledRates { arms: "serve/command variant=lighttpd-php-cgi", held: SQLITE_HELD },
    ],
    needs: &[
        Need {
            studies: &[2],
            places: &[],
            what: "Django",
            test: "for python in python3 /usr/bin/python3; do $python -c 'import django, gunicorn' \
                   && exit; done; exit 1",
            install: "apt install python3-django gunicorn",
        },
        Need {
            studies: &[3],
            places: &[],
            what: "lighttpd and php-cgi with SQLite",
            test: "command -v lighttpd && php-cgi -m | grep -qx pdo_sqlite",
            install: "apt install lighttpd php-cgi php-sqlite3",
        },
    ],
    figures: &[
        view!(VIEW_FAILED, 200, disk, 0.0),
        view!(VIEW_FAILED, 200, tmpfs, Some(0.0)),
        view!(VIEW_FAILED, 300, disk, 17_244.0),
        view!(VIEW_FAILED, 300, tmpfs, Some(17_210.0)),
        view!(VIEW_TIME, 200, disk, ms(6.3)),
        view!(VIEW_TIME, 200, tmpfs, Some(ms(5.0))),
        view!(VIEW_TIME, 300, disk, ms(1_462.6)),
        view!(VIEW_TIME, 300, tmpfs, Some(ms(1_446.9))),
        view!(VIEW_RESPONSE, 200, disk, ms(3.5)),
        view!(VIEW_RESPONSE, 200, tmpfs, Some(ms(3.4))),
        view!(VIEW_RESPONSE, 300, disk, ms(187.8)),
        view!(VIEW_RESPONSE, 300, tmpfs, Some(ms(136.4))),
        view!(VIEW_TRANSFER, 200, disk, ms(1.5)),
        view!(VIEW_TRANSFER, 200, tmpfs, Some(ms(1.5))),
        view!(VIEW_TRANSFER, 300, disk, ms(15.7)),
        view!(VIEW_TRANSFER, 300, tmpfs, Some(ms(16.1))),
        sqlite!(FAILED, 20, disk, 0.0),
        sqlite!(FAILED, 20, tmpfs, Some(0.0)),
        sqlite!(FAILED, 30, disk, 2.0),
        sqlite!(FAILED, 30, tmpfs, Some(0.0)),
        sqlite!(FAILED, 40, disk, 0.0),
        sqlite!(FAILED, 40, tmpfs, Some(0.0)),
        sqlite!(FAILED, 50, disk, 31.0),
        sqlite!(FAILED, 50, tmpfs, Some(0.0)),
        sqlite!(FAILED, 60, disk, 4.0),
        sqlite!(FAILED, 60, tmpfs, Some(0.0)),
        sqlite!(FAILED, 70, disk, 6.0),
        sqlite!(FAILED, 70, tmpfs, Some(0.0)),
        sqlite!(TIME, 20, disk, ms(82.7)),
        sqlite!(TIME, 20, tmpfs, Some(ms(28.9))),
        sqlite!(TIME, 30, disk, ms(1_937.9)),
        sqlite!(TIME, 30, tmpfs, Some(ms(588.8))),
        sqlite!(TIME, 40, disk, ms(1_567.8)),
        sqlite!(TIME, 40, tmpfs, Some(ms(798.5))),
        sqlite!(TIME, 50, disk, ms(1_628.4)),
        sqlite!(TIME, 50, tmpfs, Some(ms(986.2))),
        sqlite!(TIME, 60, disk, ms(1_047.6)),
        sqlite!(TIME, 60, tmpfs, None),
        sqlite!(TIME, 70, disk, ms(1_344.3)),
        sqlite!(TIME, 70, tmpfs, Some(ms(1_511.5))),
        sqlite!(RESPONSE, 20, disk, ms(80.8)),
        sqlite!(RESPONSE, 20, tmpfs, Some(ms(28.8))),
        sqlite!(RESPONSE, 30, disk, ms(1_930.1)),
        sqlite!(RESPONSE, 30, tmpfs, Some(ms(523.8))),
        sqlite!(RESPONSE, 40, disk, ms(1_523.0)),
        sqlite!(RESPONSE, 40, tmpfs, Some(ms(746.5))),
        sqlite!(RESPONSE, 50, disk, ms(3_003.3)),
        sqlite!(RESPONSE, 50, tmpfs, Some(ms(837.9))),
        sqlite!(RESPONSE, 60, disk, ms(2_570.4)),
        sqlite!(RESPONSE, 60, tmpfs, None),
        sqlite!(RESPONSE, 70, disk, ms(2_579.9)),
        sqlite!(RESPONSE, 70, tmpfs, Some(ms(1_232.7))),
        sqlite!(CPU, 20, disk, 38.6),
        sqlite!(CPU, 20, tmpfs, Some(42.9)),
        sqlite!(CPU, 30, disk, 42.8),
        sqlite!(CPU, 30, tmpfs, Some(39.1)),
        sqlite!(CPU, 40, disk, 41.9),
        sqlite!(CPU, 40, tmpfs, Some(21.8)),
        sqlite!(CPU, 50, disk, 50.8),
        sqlite!(CPU, 50, tmpfs, Some(1.8)),
        sqlite!(CPU, 60, disk, 42.3),
        sqlite!(CPU, 60, tmpfs, None),
        sqlite!(CPU, 70, disk, 32.7),
        sqlite!(CPU, 70, tmpfs, Some(1.2)),
    ],
    conclusions: &[
        where_so(
            &[keeps_pace!("django-runserver", "page", 200, 0.1)],
            "The view of five files does not care where they are: at 200 requests a second, tmpfs \
             makes less than a quarter of a difference.",
            &[is(
                Is::Between(0.75, 1.0 / 0.75),
                "serve/command variant=django-runserver rate=200 @ram over serve/command \
                 variant=django-runserver rate=200 @disk",
                "serve/page rate=200 @ram over serve/page rate=200 @disk",
            )],
        ),
        where_so(
            &[view_waits!("@disk", "on disk"), view_waits!("@ram", "in tmpfs")],
            "At 300 requests a second the view fails many of them, wherever its files are.",
            &[
                fails(
                    Is::AtLeast(1.0),
                    "serve/command variant=django-runserver rate=300 @disk",
                    "serve/page rate=300 @disk",
                ),
                fails(
                    Is::AtLeast(1.0),
                    "serve/command variant=django-runserver rate=300 @ram",
                    "serve/page rate=300 @ram",
                ),
            ],
        ),
        where_so(
            &[keeps_pace!("lighttpd-php-cgi", "sqlite", 20, 0.5)],
            "SQLite does care: at 20 requests a second, one takes less than half as long in tmpfs.",
            &[sqlite_in_tmpfs!(20, Is::AtMost(0.5))],
        ),
        where_so(
            &[sqlite_is_saturated!(
                30,
                "@disk",
                "SQLite's server is saturated on disk at 30 requests a second, as theirs was \
                 (connections took 23 times as long as at 20)"
            )],
            "At 30, 40 and 50 requests a second as well, tmpfs saves SQLite more than a quarter.",
            &[
                sqlite_in_tmpfs!(30, Is::AtMost(0.75)),
                sqlite_in_tmpfs!(40, Is::AtMost(0.75)),
                sqlite_in_tmpfs!(50, Is::AtMost(0.75)),
            ],
        ),
        where_so(
            &[sqlite_is_saturated!(
                70,
                "@ram",
                "SQLite's server is saturated in tmpfs at 70 requests a second, as theirs was \
                 (connections took 52 times as long as at 20)"
            )],
            "With its database in tmpfs, no request on SQLite fails: less than 4% do, and 100 \
             connections cannot show less.",
            &[
                none_fails_in_tmpfs!(20),
                none_fails_in_tmpfs!(30),
                none_fails_in_tmpfs!(40),
                none_fails_in_tmpfs!(50),
                none_fails_in_tmpfs!(60),
                none_fails_in_tmpfs!(70),
            ],
        ),
        conclusion(
            "With the database on disk there is a lot of disk activity, and with it in tmpfs the \
             disk is silent.",
            &[
                of(WRITTEN, Is::AtLeast(4096.0), php!(20, "@disk"), native!(20, "@disk")),
                of(WRITTEN, Is::AtMost(0.0), php!(20, "@ram"), native!(20, "@ram")),
            ],
        ),
    ],
};
