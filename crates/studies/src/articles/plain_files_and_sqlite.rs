//! What do files that are read for each request cost a web server, and does tmpfs help?
//! Django's own server, and PHP with SQLite on Cherokee, on a laptop.

use model::article::Is;
use model::article_spec::{ArticleSpec, FigureOf, MeasureOf, Need, TestOf};
use model::figure::Unit;

use super::{MILLISECOND, conclusion, is, time};

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

/// That in tmpfs so many of SQLite's connections fail, and take so many times as long.
macro_rules! sqlite_in_tmpfs {
    ($rate:literal, $is:expr) => {
        is(
            $is,
            concat!(
                "serve/command variant=lighttpd-php-cgi rate=",
                $rate,
                " @ram over serve/command variant=lighttpd-php-cgi rate=",
                $rate,
                " @disk",
            ),
            concat!("serve/sqlite rate=", $rate, " @ram over serve/sqlite rate=", $rate, " @disk"),
        )
    };
}

macro_rules! none_fails_in_tmpfs {
    ($rate:literal) => {
        of(
            "errors_percent",
            Is::AtMost(0.0),
            concat!("serve/command variant=lighttpd-php-cgi rate=", $rate, " @ram"),
            concat!("serve/sqlite rate=", $rate, " @ram"),
        )
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
        conclusion(
            "The view of five files does not care where they are: at 200 requests a second, tmpfs \
             makes less than a quarter of a difference.",
            &[is(
                Is::Between(0.75, 1.0 / 0.75),
                "serve/command variant=django-runserver rate=200 @ram over serve/command \
                 variant=django-runserver rate=200 @disk",
                "serve/page rate=200 @ram over serve/page rate=200 @disk",
            )],
        ),
        conclusion(
            "At 300 requests a second the view fails many of them, wherever its files are.",
            &[
                of(
                    "errors_percent",
                    Is::AtLeast(1.0),
                    "serve/command variant=django-runserver rate=300 @disk",
                    "serve/page rate=300 @disk",
                ),
                of(
                    "errors_percent",
                    Is::AtLeast(1.0),
                    "serve/command variant=django-runserver rate=300 @ram",
                    "serve/page rate=300 @ram",
                ),
            ],
        ),
        conclusion(
            "SQLite does care: at 20 requests a second, one takes less than half as long in tmpfs.",
            &[sqlite_in_tmpfs!(20, Is::AtMost(0.5))],
        ),
        conclusion(
            "At 30, 40 and 50 requests a second as well, tmpfs saves SQLite more than a quarter.",
            &[
                sqlite_in_tmpfs!(30, Is::AtMost(0.75)),
                sqlite_in_tmpfs!(40, Is::AtMost(0.75)),
                sqlite_in_tmpfs!(50, Is::AtMost(0.75)),
            ],
        ),
        conclusion(
            "With its database in tmpfs, no request on SQLite fails.",
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
                of(
                    WRITTEN,
                    Is::AtLeast(4096.0),
                    "serve/command variant=lighttpd-php-cgi rate=20 @disk",
                    "serve/sqlite rate=20 @disk",
                ),
                of(
                    WRITTEN,
                    Is::AtMost(0.0),
                    "serve/command variant=lighttpd-php-cgi rate=20 @ram",
                    "serve/sqlite rate=20 @ram",
                ),
            ],
        ),
    ],
};
