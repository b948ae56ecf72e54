//! The record of a run within its page: the JSON that `--json` writes, with its slices as [`columns`] and
//! without the analysis, or as it is where columns would take too much memory; compressed (zstd, RFC 8878) and in
//! letters (Base64, RFC 4648), in an element that browsers leave alone. Many slices are kept
//! [by stretch](Run::by_stretch). Pages of before have it in zlib (RFC 1950).
//!
//! Whatever else is on a page is escaped, so that nothing there can begin such an element.

use std::borrow::Cow;
use std::io::{self, BufWriter, Read as _, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use model::analysis::Analysis;
use model::document::Document;
use model::run::Run;
use serde::Serialize;
use thiserror::Error;
use zstd::stream::read::Decoder;
use zstd::stream::write::Encoder;

use super::markup::{Markup, el};
use super::{Sheet, columns};

/// What the element says that it holds.
const TYPE: &str = "application/vnd.iotoll.record";
/// How it begins.
const BEGIN: &str = "<script type=\"application/vnd.iotoll.record\"";
/// What is packed: JSON as `--json` writes it, or with its slices as columns.
const ROWS: &str = "rows";
const COLUMNS: &str = "columns";
/// The analysis, which is made again from the record.
const MADE_ANEW: [&str; 6] = ["arms", "comparisons", "scaling", "noise", "check", "reproduction"];
/// Slices that take some 100 KB.
const SLICES_MAX: usize = 800;
/// Columns are read into memory piece by piece, which takes some twenty times their size.
/// Longer ones are not read.
const COLUMNS_BYTES_MAX: usize = 32 << 20;
/// To make columns takes a dozen times what the rows are as JSON. Of more they are not made.
const ROWS_BYTES_MAX: u64 = 32 << 20;
/// How it is compressed; an element that does not say has zlib.
const ZSTD: &str = "zstd";
/// What is compressed at a time.
const PIECE_BYTES: usize = 64 << 10;
/// Slower levels save no more than a thousandth, and need more memory to be read.
const LEVEL: i32 = 19;
/// A frame that asks its reader for more memory than this level does was not written here.
const WINDOW_LOG_MAX: u32 = 23;

/// Why a page has no record that can be read.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RecordError {
    /// There is none.
    #[error("it is not an iotoll report: it contains no run record")]
    None,
    /// There are several.
    #[error("it has the records of {0} runs: name one after a #, as in report.html#{1}")]
    Several(usize, String),
    /// None of them has the name.
    #[error("it has no record of a run whose name begins with {0}; it has {1}")]
    NoSuchRun(String, String),
    /// It is not what was written.
    #[error("the record inside it is damaged: {0}")]
    Damaged(&'static str),
    /// It would be larger than any record is.
    #[error("the record inside it would take {0} bytes, which is over the limit")]
    TooLarge(u64),
}

/// Whether all slices of a run are in its page, which else would be larger than is sent by mail.
pub(super) fn is_whole(run: &Run) -> bool {
    run.slices.len() <= SLICES_MAX || !run.has_stretches()
}

/// A run that takes less. Why an arm drifts, or takes one of two times, only its slices tell.
fn short(run: &Run, analysis: &Analysis) -> Run {
    run.by_stretch(|arm| {
        let arm = analysis.arms.get(arm);
        arm.is_some_and(|arm| arm.modes.is_some() || arm.drift.is_some())
    })
}

/// The element with a run's record.
pub(super) fn embedded(sheet: &Sheet) -> Markup {
    let (id, form, packed) = match sheet {
        Sheet::Comparison { run, analysis } => {
            let kept =
                if is_whole(run) { Cow::Borrowed(*run) } else { Cow::Owned(short(run, analysis)) };
            let document = Document::new(&kept, analysis);
            let (form, packed) = if size(&document) <= ROWS_BYTES_MAX {
                // A record has no keys that are no texts, and nothing else fails in memory.
                let mut document = serde_json::to_value(document).unwrap_or_default();
                if let Some(object) = document.as_object_mut() {
                    object.retain(|name, _| !MADE_ANEW.contains(&name.as_str()));
                }
                (COLUMNS, compressed(&columns::packed(document)))
            } else {
                (ROWS, compressed(&document))
            };
            (&run.run.id, form, packed)
        }
        Sheet::Load { run, analysis } => {
            (&run.run.id, ROWS, compressed(&run.with_analysis(analysis)))
        }
    };
    let letters = STANDARD.encode(packed.bytes);
    let script = el("script").attr("type", TYPE).attr("data-run", id).attr("data-form", form);
    let script = script.attr("data-packed", ZSTD).attr("data-bytes", packed.taken);
    script.text(letters).into()
}

/// How long the JSON of a record is.
fn size(record: &impl Serialize) -> u64 {
    struct Counted(u64);

    impl Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut counted = Counted(0);
    let _ = serde_json::to_writer(&mut counted, record);
    counted.0
}

/// A record's JSON, compressed.
struct Compressed {
    bytes: Vec<u8>,
    /// How long the JSON is.
    taken: u64,
}

/// The JSON of a record, compressed as it is written: it is never whole in memory.
fn compressed(record: &impl Serialize) -> Compressed {
    let taken = size(record);
    let written = || -> io::Result<Vec<u8>> {
        let mut encoder = Encoder::new(Vec::new(), LEVEL)?;
        // A short text gets small tables.
        encoder.set_pledged_src_size(Some(taken))?;
        let mut buffered = BufWriter::with_capacity(PIECE_BYTES, encoder);
        serde_json::to_writer(&mut buffered, record)?;
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?.finish()
    };
    // Memory takes all that is written to it.
    Compressed { bytes: written().unwrap_or_default(), taken }
}

/// Whether a file that begins so may be a page.
pub fn is_page(beginning: &[u8]) -> bool {
    let text = beginning.trim_ascii_start();
    text.get(..9).is_some_and(|start| start.eq_ignore_ascii_case(b"<!doctype"))
}

/// The JSON of a run's record in a page: of the one whose name begins so, where there are
/// several. One that would have more than so many bytes is refused before it is unpacked.
pub fn read(page: &str, name: Option<&str>, bytes_max: u64) -> Result<Vec<u8>, RecordError> {
    let records: Vec<Packed> =
        page.split(BEGIN).skip(1).map(Packed::read).collect::<Result<_, _>>()?;
    let names = || records.iter().map(|r| r.run).collect::<Vec<_>>().join(", ");
    let record = match (records.as_slice(), name) {
        ([], _) => return Err(RecordError::None),
        ([one], None) => one,
        (several, None) => {
            return Err(RecordError::Several(several.len(), several[0].run.to_owned()));
        }
        (all, Some(name)) => {
            let found = all.iter().find(|record| record.run.starts_with(name));
            found.ok_or_else(|| RecordError::NoSuchRun(name.to_owned(), names()))?
        }
    };
    record.unpacked(bytes_max)
}

/// What zstd made of a text, as a text again: of one that is longer than it says, the beginning
/// and a byte.
fn decompressed(packed: &[u8], bytes: u64) -> io::Result<Vec<u8>> {
    let mut decoder = Decoder::new(packed)?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    let mut text = Vec::new();
    decoder.take(bytes.saturating_add(1)).read_to_end(&mut text)?;
    Ok(text)
}

/// A record as it is in the page.
struct Packed<'a> {
    run: &'a str,
    has_columns: bool,
    has_zstd: bool,
    bytes: u64,
    letters: &'a str,
}

impl<'a> Packed<'a> {
    /// Reads what follows the beginning of the element.
    fn read(text: &'a str) -> Result<Self, RecordError> {
        let (attributes, rest) =
            text.split_once('>').ok_or(RecordError::Damaged("it is truncated"))?;
        let (letters, _) = rest.split_once('<').ok_or(RecordError::Damaged("it is truncated"))?;
        let attribute = |name: &str| {
            let (_, value) = attributes.split_once(name)?;
            value.strip_prefix("=\"")?.split('"').next()
        };
        let bytes = attribute("data-bytes").and_then(|bytes| bytes.parse().ok());
        let bytes = bytes.ok_or(RecordError::Damaged("it has no valid size"))?;
        let has_columns = attribute("data-form") == Some(COLUMNS);
        let has_zstd = match attribute("data-packed") {
            None => false,
            Some(ZSTD) => true,
            Some(_) => return Err(RecordError::Damaged("a newer iotoll compressed it")),
        };
        let run = attribute("data-run").unwrap_or_default();
        Ok(Self { run, has_columns, has_zstd, bytes, letters })
    }

    fn unpacked(&self, bytes_max: u64) -> Result<Vec<u8>, RecordError> {
        let most = if self.has_columns { COLUMNS_BYTES_MAX as u64 } else { bytes_max };
        if self.bytes > most {
            return Err(RecordError::TooLarge(self.bytes));
        }
        let letters: Vec<u8> = self.letters.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        let packed = STANDARD.decode(letters);
        let packed = packed.map_err(|_| RecordError::Damaged("it is not valid Base64"))?;
        let json = if self.has_zstd {
            decompressed(&packed, self.bytes).ok()
        } else {
            decompress_to_vec_zlib_with_limit(&packed, self.bytes as usize).ok()
        };
        let json = json.ok_or(RecordError::Damaged("it cannot be decompressed"))?;
        if json.len() as u64 != self.bytes {
            return Err(RecordError::Damaged("its size is not the stated one"));
        }
        if !self.has_columns {
            return Ok(json);
        }
        let rows = columns::unpacked(&json, bytes_max);
        rows.ok_or(RecordError::Damaged("its columns are inconsistent"))
    }
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::*;

    fn page(run: &str, json: &str, bytes: usize) -> String {
        let packed = STANDARD.encode(compress_to_vec_zlib(json.as_bytes(), 9));
        format!(
            "<!doctype html>\n{BEGIN} data-run=\"{run}\" data-bytes=\"{bytes}\">{packed}</script>"
        )
    }

    #[test]
    fn a_record_is_read_back_as_it_was_written() {
        let json = "{\"schema\": \"iotoll.result/2\"}".repeat(99);
        let page = page("ab12", &json, json.len());
        assert!(is_page(page.as_bytes()));
        assert_eq!(read(&page, None, 1 << 20).as_deref(), Ok(json.as_bytes()));
        // An editor may have broken the line.
        let broken = page.replace(">e", ">\ne");
        assert_eq!(read(&broken, Some("ab"), 1 << 20).as_deref(), Ok(json.as_bytes()));
    }

    /// The same page, compressed as pages are now.
    fn page_of_now(json: &str, bytes: usize) -> String {
        let packed = zstd::bulk::compress(json.as_bytes(), LEVEL).unwrap_or_default();
        let letters = STANDARD.encode(packed);
        format!(
            "{BEGIN} data-run=\"a\" data-packed=\"zstd\" data-bytes=\"{bytes}\">{letters}</script>"
        )
    }

    #[test]
    fn a_record_in_zstd_is_read_back_and_refused_where_it_lies() {
        let json = "{\"schema\": \"iotoll.result/2\"}".repeat(99);
        let page = page_of_now(&json, json.len());
        assert_eq!(read(&page, None, 1 << 20).as_deref(), Ok(json.as_bytes()));
        let longer = RecordError::Damaged("its size is not the stated one");
        assert_eq!(read(&page_of_now(&json, 100), None, 1 << 20), Err(longer));
        let damaged = RecordError::Damaged("it cannot be decompressed");
        assert_eq!(read(&page.replacen(">KLUv", ">KLUw", 1), None, 1 << 20), Err(damaged));
        let newer = RecordError::Damaged("a newer iotoll compressed it");
        assert_eq!(read(&page.replace("\"zstd\"", "\"zstd2\""), None, 1 << 20), Err(newer));
    }

    #[test]
    fn of_several_one_has_to_be_named() {
        let two = page("ab12", "1", 1) + &page("cd34", "2", 1);
        assert_eq!(read(&two, None, 9), Err(RecordError::Several(2, "ab12".to_owned())));
        assert_eq!(read(&two, Some("cd"), 9).as_deref(), Ok(&b"2"[..]));
        let none = RecordError::NoSuchRun("x".to_owned(), "ab12, cd34".to_owned());
        assert_eq!(read(&two, Some("x"), 9), Err(none));
    }

    #[test]
    fn a_record_that_lies_about_its_size_is_refused_before_it_is_unpacked() {
        let bomb = "0".repeat(1 << 20);
        assert_eq!(
            read(&page("a", &bomb, 1 << 40), None, 1 << 30),
            Err(RecordError::TooLarge(1 << 40))
        );
        let damaged = |page: &str| match read(page, None, 1 << 30) {
            Err(RecordError::Damaged(why)) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(damaged(&page("a", &bomb, 100)), "it cannot be decompressed");
        assert_eq!(damaged(&page("a", "12", 3)), "its size is not the stated one");
        assert_eq!(damaged(&page("a", "12", 2).replace(">e", ">!")), "it is not valid Base64");
        let columns = page("a", "12", 2).replace("data-run", "data-form=\"columns\" data-run");
        assert_eq!(damaged(&columns), "its columns are inconsistent");
        assert_eq!(damaged(BEGIN), "it is truncated");
        assert_eq!(read("<!doctype html>", None, 9), Err(RecordError::None));
    }
}
