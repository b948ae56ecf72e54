//! Does a page load faster with its cache in /dev/shm? Apache, PHP 5.3 and a database on a laptop.

use model::article::Is;
use model::article_spec::{ArticleSpec, Conclusion, FigureOf, Need, PreconditionOf, TestOf};

use super::{MILLISECOND, conclusion, is, only_with, time};

const LOAD: &str = "page load";
const REBUILD: &str = "cache rebuild";

const LOADED_ON_DISK: &str = "serve/command url=/ variant=included-opcache-off @disk";
const LOADED_IN_RAM: &str = "serve/command url=/ variant=included-opcache-off @ram";
const REBUILT_ON_DISK: &str = "serve/command url=/?rebuild @disk";
const REBUILT_IN_RAM: &str = "serve/command url=/?rebuild @ram";

const WITH_PHP: PreconditionOf = only_with("PHP makes the pages, as it made theirs");

/// What a conclusion about the time of PHP's pages depends on.
const fn of_php(says: &'static str, tests: &'static [TestOf]) -> Conclusion {
    Conclusion { preconditions: &[WITH_PHP], ..conclusion(says, tests) }
}

pub(super) static SPEC: ArticleSpec = ArticleSpec {
    name: "shm-cache",
    title: "Memory is fast and disk is dangerous: /dev/shm for PHP's temporary and cache files",
    year: 2013,
    original: "PHP",
    question: "Do pages speed up when temporary and cache files are moved to /dev/shm?",
    plan: include_str!("shm-cache.toml"),
    places: &[],
    tenth: &["connections"],
    scaled: &[],
    needs: &[Need {
        studies: &[1, 2],
        places: &[],
        what: "lighttpd and php-cgi with opcache",
        test: "command -v lighttpd && php-cgi -m | grep -qx 'Zend OPcache'",
        install: "apt install lighttpd php-cgi php-opcache",
    }],
    figures: &[
        FigureOf {
            group: LOAD,
            ..time(
                "disk",
                78.812 * MILLISECOND,
                LOADED_ON_DISK,
                "cache/rename operation=load @disk",
            )
        },
        FigureOf {
            group: LOAD,
            against: "disk",
            ..time(
                "/dev/shm",
                86.1456 * MILLISECOND,
                LOADED_IN_RAM,
                "cache/rename operation=load @ram",
            )
        },
        FigureOf {
            group: REBUILD,
            ..time(
                "disk",
                142.502 * MILLISECOND,
                REBUILT_ON_DISK,
                "cache/rename operation=rebuild @disk",
            )
        },
        FigureOf {
            group: REBUILD,
            against: "disk",
            ..time(
                "/dev/shm",
                141.187 * MILLISECOND,
                REBUILT_IN_RAM,
                "cache/rename operation=rebuild @ram",
            )
        },
    ],
    conclusions: &[
        of_php(
            "/dev/shm does not speed the page up by more than 15%.",
            &[is(
                Is::AtLeast(0.85),
                "serve/command url=/ variant=included-opcache-off @ram over serve/command url=/ \
                 variant=included-opcache-off @disk",
                "cache/rename operation=load @ram over cache/rename operation=load @disk",
            )],
        ),
        of_php(
            "The page even takes longer with its cache in /dev/shm.",
            &[is(
                Is::Slower,
                "serve/command url=/ variant=included-opcache-off @ram over serve/command url=/ \
                 variant=included-opcache-off @disk",
                "cache/rename operation=load @ram over cache/rename operation=load @disk",
            )],
        ),
        of_php(
            "A rebuild of the cache takes as long in /dev/shm as on disk: within 15%.",
            &[is(
                Is::Between(0.85, 1.0 / 0.85),
                "serve/command url=/?rebuild @ram over serve/command url=/?rebuild @disk",
                "cache/rename operation=rebuild @ram over cache/rename operation=rebuild @disk",
            )],
        ),
        of_php(
            "To keep compiled code in memory (opcache) saves what /dev/shm does not: more than a \
             quarter.",
            &[is(
                Is::AtMost(0.75),
                "serve/command url=/ variant=included-opcache-on @disk over serve/command url=/ \
                 variant=included-opcache-off @disk",
                "",
            )],
        ),
    ],
};
