//! Does it pay to compress the journal of a page store? Voron, on NTFS.

use model::article::Is;
use model::article_spec::{
    ArticleSpec, Conclusion, FigureOf, MadeFor, MeasureOf, Need, PreconditionOf, TestOf,
};
use model::figure::Unit;

use super::{SECOND, conclusion, is, only_with, time};

/// 500,000 items, 100 in each.
const TRANSACTIONS: f64 = 5000.0;
const PAGE_BYTES: f64 = 4096.0;
const MEGABYTE: f64 = 1e6;

const AMPLIFIED: &str = "written for 500,000 items, 100 to a transaction";
const PAGES: &str = "pages of a transaction in the journal";
const COMMITS: &str = "time in all commits of 500,000 items";

const SEQUENTIAL: &str = "sequential keys";
const WHOLE: &str = "as they are (100 to 121)";
const IO: &str = "I/O, pages as they are";

const WRITTEN: MeasureOf = MeasureOf::Figure("written_bytes");
const IN_IO: MeasureOf = MeasureOf::Sum(&["write_ns", "sync_ns"]);
const IN_IO_AND_COMPRESSION: MeasureOf = MeasureOf::Sum(&["write_ns", "sync_ns", "compression_ns"]);
const COLLECTIONS: &[&str] = &["tree_ns", "copy_ns"];

/// Random keys by one strategy at a place: `random!("pages-lz4", "@disk")`.
macro_rules! random {
    ($strategy:literal, $place:literal) => {
        concat!("journal/", $strategy, " keys=random modelled_mb=0 ", $place)
    };
}

/// A strategy against pages as they are, on disk.
macro_rules! over_pages {
    ($strategy:literal) => {
        concat!(random!($strategy, "@disk"), " over ", random!("pages", "@disk"))
    };
}

/// How far the journal shrinks is a matter of what is stored.
const FROM_VORONS_DATA: &str = "This depends on Voron's data, which was not published. The items here \
                                are generated.";
const FROM_VORONS_COLLECTIONS: &str = "This depends on Voron's collections and on .NET. The store here \
                                       has its own.";

/// That pages shrink as theirs did, which decides what compressing them costs and saves.
const SHRINKS: PreconditionOf = PreconditionOf {
    says: "LZ4 makes of the journal's pages what it made of those of Voron's data, about a tenth",
    test: Some(test(WRITTEN, Is::Between(0.05, 0.2), over_pages!("pages-lz4"))),
};

/// A conclusion that depends on how far pages shrink.
const fn of_shrinking(says: &'static str, tests: &'static [TestOf]) -> Conclusion {
    Conclusion { preconditions: &[SHRINKS], ..conclusion(says, tests) }
}

/// A row of native arms: the original's own store cannot be had here.
const fn row(
    group: &'static str,
    what: &'static str,
    unit: Unit,
    published: f64,
    native: &'static str,
) -> FigureOf {
    FigureOf { group, unit, times: TRANSACTIONS, ..time(what, published, "", native) }
}

const fn test(measure: MeasureOf, is: Is, native: &'static str) -> TestOf {
    TestOf { measure, original: "", native, is }
}

pub(super) static SPEC: ArticleSpec = ArticleSpec {
    name: "journal-compression",
    title: "Reducing the cost of writing to disk",
    year: 2014,
    original: "Voron",
    question: "Random writes cost a store a lot because of what they write to its journal: does \
               compressing the journal pay?",
    plan: include_str!("journal-compression.toml"),
    places: &[
        MadeFor { label: "btrfs", target: "image:btrfs:2G", studies: &[0] },
        MadeFor { label: "packed", target: "image:btrfs:2G:compress-force=zstd", studies: &[0] },
    ],
    tenth: &["items"],
    scaled: &[],
    needs: &[Need {
        studies: &[],
        places: &["btrfs", "packed"],
        what: "btrfs-progs",
        test: "command -v mkfs.btrfs",
        install: "apt install btrfs-progs",
    }],
    figures: &[
        FigureOf {
            measure: WRITTEN,
            ..row(
                AMPLIFIED,
                SEQUENTIAL,
                Unit::Bytes,
                300.0 * MEGABYTE,
                "journal/pages keys=sequential @disk",
            )
        },
        FigureOf {
            measure: WRITTEN,
            against: SEQUENTIAL,
            ..row(
                AMPLIFIED,
                "random keys (over 2.3 GB)",
                Unit::Bytes,
                2300.0 * MEGABYTE,
                random!("pages", "@disk"),
            )
        },
        FigureOf {
            measure: WRITTEN,
            times: 1.0 / PAGE_BYTES,
            ..row(PAGES, WHOLE, Unit::Count, 110.0, random!("pages", "@disk"))
        },
        FigureOf {
            measure: WRITTEN,
            times: 1.0 / PAGE_BYTES,
            against: WHOLE,
            note: FROM_VORONS_DATA,
            ..row(PAGES, "with LZ4 (10 to 13)", Unit::Count, 11.0, random!("pages-lz4", "@disk"))
        },
        FigureOf {
            measure: IN_IO,
            ..row(COMMITS, IO, Unit::Nanoseconds, 8.0 * SECOND, random!("pages", "@disk"))
        },
        FigureOf {
            measure: IN_IO,
            against: IO,
            note: FROM_VORONS_DATA,
            ..row(
                COMMITS,
                "I/O, with LZ4",
                Unit::Nanoseconds,
                3.8 * SECOND,
                random!("pages-lz4", "@disk"),
            )
        },
        FigureOf {
            measure: MeasureOf::Figure("compression_ns"),
            note: FROM_VORONS_DATA,
            ..row(
                COMMITS,
                "compressing, with LZ4",
                Unit::Nanoseconds,
                2.6 * SECOND,
                random!("pages-lz4", "@disk"),
            )
        },
        FigureOf {
            measure: MeasureOf::Sum(COLLECTIONS),
            published: None,
            note: FROM_VORONS_COLLECTIONS,
            ..row(
                COMMITS,
                "the store's own collections, with LZ4",
                Unit::Nanoseconds,
                0.0,
                random!("pages-lz4", "@disk"),
            )
        },
    ],
    conclusions: &[
        conclusion(
            "Random keys write more than five times what sequential ones do.",
            &[test(
                WRITTEN,
                Is::AtLeast(5.0),
                concat!(random!("pages", "@disk"), " over journal/pages keys=sequential @disk"),
            )],
        ),
        Conclusion {
            preconditions: &[only_with("Voron's data is stored, of which the article says it")],
            ..conclusion(
                "LZ4 makes about a tenth of a transaction's pages: from 5% to 20%.",
                &[test(WRITTEN, Is::Between(0.05, 0.2), over_pages!("pages-lz4"))],
            )
        },
        of_shrinking(
            "LZ4 and Snappy write far less, and take about as long on a fast local disk: within a \
             quarter.",
            &[
                test(WRITTEN, Is::AtMost(0.5), over_pages!("pages-snappy")),
                is(Is::Between(0.75, 1.0 / 0.75), "", over_pages!("pages-lz4")),
                is(Is::Between(0.75, 1.0 / 0.75), "", over_pages!("pages-snappy")),
            ],
        ),
        of_shrinking(
            "Compression by the file system (NTFS then, btrfs here) makes it considerably slower: \
             by more than a quarter.",
            &[is(
                Is::AtLeast(1.25),
                "",
                concat!(random!("pages", "@packed"), " over ", random!("pages", "@btrfs")),
            )],
        ),
        of_shrinking(
            "What LZ4 saves of I/O is more than what compressing costs: 3.8 s and 2.6 s instead of \
             8 s.",
            &[test(IN_IO_AND_COMPRESSION, Is::Faster, over_pages!("pages-lz4"))],
        ),
        Conclusion {
            preconditions: &[only_with("the store is Voron, whose collections these were")],
            ..conclusion(
                "With LZ4 the store's own collections in memory cost the most: at least half of a \
                 transaction's time.",
                &[test(
                    MeasureOf::Share(COLLECTIONS),
                    Is::AtLeast(50.0),
                    random!("pages-lz4", "@disk"),
                )],
            )
        },
        of_shrinking(
            "Compression pays where I/O is dearer, as on a cloud's virtual disk (here one of 100 \
             MB/s, with 2 ms for a sync).",
            &[is(
                Is::Faster,
                "",
                "journal/pages-lz4 modelled_mb=100 @disk over journal/pages modelled_mb=100 @disk",
            )],
        ),
    ],
};
