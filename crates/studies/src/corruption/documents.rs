//! Of files: documents, a stream's blocks, a page's parts, a cache's templates.

use std::path::PathBuf;

use super::*;

const FILES: Slice = Slice {
    study: &crate::files::FILES,
    strategy: "rename",
    given: &[("operation", "write"), ("size", "2 KiB"), ("folders", "2")],
    operations: 6,
};
const BLOCK: usize = 512;
const STREAM: Slice = Slice {
    study: &crate::stream::STREAM,
    strategy: "sequential",
    given: &[("block", "512 B"), ("total", "8 KiB")],
    operations: 16,
};
const PAGE: Slice = Slice {
    study: &crate::page::PAGE,
    strategy: "read",
    given: &[("cache", "warm"), ("total", "9 kB")],
    operations: 2,
};
const CACHE: Slice = Slice {
    study: &crate::cache::CACHE,
    strategy: "rename",
    given: &[
        ("operation", "rebuild"),
        ("templates", "4"),
        ("template", "500 B"),
        ("classes", "2"),
        ("class", "300 B"),
        ("used", "2"),
    ],
    operations: 1,
};

/// All files below a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
    entries.into_iter().flat_map(below).collect()
}

fn any_file(folder: &Path, chance: &mut Chance) -> PathBuf {
    let files = files(folder);
    files[chance.random_range(0..files.len())].clone()
}

/// Plants a kind in one of the slice's files.
fn found_in(slice: &Slice, kind: &str, mut harm: impl FnMut(&mut Vec<u8>, &mut Chance)) {
    let kind = format!("{}: {kind}", slice.study.spec().name);
    all_found(&kind, |chance| {
        slice.after(|folder| {
            let file = any_file(folder, chance);
            rewrite(&file, |bytes| harm(bytes, chance))
        })
    });
}

#[test]
fn whole_files_are_whole() {
    for slice in [FILES, STREAM, PAGE, CACHE] {
        none_found(&slice.study.spec().name, |_| slice.after(|_| false));
    }
}

#[test]
fn what_happens_to_a_documents_bytes_is_found() {
    found_in(&FILES, "a bit flipped", |bytes, chance| flip_a_bit(bytes, chance));
    found_in(&FILES, "the end cut off", cut_the_end_off);
    found_in(&FILES, "some bytes more", put_some_in);
}

#[test]
fn what_happens_to_documents_is_found() {
    let found = |kind: &str, harm: &dyn Fn(&Path, &mut Chance)| {
        all_found(kind, |chance| {
            FILES.after(|folder| {
                harm(folder, chance);
                true
            })
        });
    };
    found("a document lost", &|folder, chance| {
        fs::remove_file(any_file(folder, chance)).unwrap();
    });
    found("two documents changed places", &|folder, chance| {
        let one = any_file(folder, chance);
        let others: Vec<PathBuf> = files(folder).into_iter().filter(|p| *p != one).collect();
        let other = &others[chance.random_range(0..others.len())];
        fs::rename(&one, folder.join("between")).unwrap();
        fs::rename(other, &one).unwrap();
        fs::rename(folder.join("between"), other).unwrap();
    });
    found("a file that nobody wrote", &|folder, chance| {
        let copy = format!("copy-{}", chance.random::<u32>());
        let file = any_file(folder, chance);
        fs::copy(&file, file.with_file_name(copy)).unwrap();
    });
    found("a document of another name", &|folder, chance| {
        let file = any_file(folder, chance);
        fs::rename(&file, file.with_extension(chance.random::<u32>().to_string())).unwrap();
    });
}

#[test]
fn what_happens_to_a_streams_blocks_is_found() {
    found_in(&STREAM, "blocks changed places", |bytes, chance| swap_two(bytes, BLOCK, chance));
    found_in(&STREAM, "old data", |bytes, chance| {
        let (from, to) = (chance.random_range(0..16), chance.random_range(0..16));
        bytes.copy_within(from * BLOCK..(from + 1) * BLOCK, to * BLOCK);
    });
    found_in(&STREAM, "zeros", |bytes, chance| zero_some(bytes, chance));
    found_in(&STREAM, "some bytes more", put_some_in);
    found_in(&STREAM, "the end cut off", cut_the_end_off);
}

#[test]
fn what_happens_to_a_pages_parts_is_found() {
    found_in(&PAGE, "a bit flipped", |bytes, chance| flip_a_bit(bytes, chance));
    found_in(&PAGE, "some bytes missing", take_some_out);
}

#[test]
fn what_happens_to_a_cache_is_found() {
    // Sources too: the cache is then not theirs any more.
    found_in(&CACHE, "a bit flipped", |bytes, chance| flip_a_bit(bytes, chance));
    found_in(&CACHE, "the end cut off", cut_the_end_off);
    all_found("cache: a template that nobody compiled", |chance| {
        CACHE.after(|folder| {
            let copy = format!("cache/templates0-9{}.tpl", chance.random::<u16>());
            fs::copy(any_file(&folder.join("cache"), chance), folder.join(copy)).unwrap();
            true
        })
    });
}
