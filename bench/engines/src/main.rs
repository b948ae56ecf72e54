//! One storage engine, which commits recorded transactions as it is told to.
//!
//! `cargo xtask bench journal` starts a process for each engine, so that what an engine does
//! in the background counts for it alone, and has them take turns. It writes a line, and
//! reads one of JSON:
//!
//! | line | what is done | what is told |
//! | --- | --- | --- |
//! | `commit N` | the next N transactions | time, processor time, bytes, syncs |
//! | `check` | the engine is opened again, and all items compared | how many there are |
//! | `recover` | the journal alone is read, where the engine is ours | time, bytes |

mod catalogue;
mod engine;
mod lmdb;
mod ours;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocks;
mod sqlite;
mod syncs;
mod usage;
mod work;

use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use catalogue::{Name, open};
use engine::Engine;
use usage::Usage;
use work::Work;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, folder, keys, items, in_one, seed] = &arguments[..] else {
        bail!("it is started as NAME FOLDER random|sequential ITEMS ITEMS-IN-ONE SEED");
    };
    let name: Name = name.parse()?;
    let folder = Path::new(folder);
    syncs::check(folder)?;
    let number = |text: &String| text.parse::<u64>().with_context(|| text.clone());
    let work = Work::new(keys, number(items)?, number(in_one)?, number(seed)?)?;
    let mut turns = Turns { name, folder, work, engine: Some(open(name, folder)?), done: 0 };
    for line in std::io::stdin().lock().lines() {
        let told = turns.take(&line?)?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{told}")?;
        out.flush()?;
    }
    Ok(())
}

/// The engine, and how far it has come.
struct Turns<'a> {
    name: Name,
    folder: &'a Path,
    work: Work,
    /// None where it is closed.
    engine: Option<Box<dyn Engine>>,
    /// Transactions that were committed.
    done: u64,
}

impl Turns<'_> {
    fn take(&mut self, line: &str) -> Result<Value> {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("commit", number) => self.commit(number.parse().context("how many to commit")?),
            ("check", "") => self.check(),
            ("recover", "") => {
                self.engine = None;
                ours::recovery(self.folder)
            }
            _ => bail!("nothing is called `{line}`"),
        }
    }

    fn commit(&mut self, number: u64) -> Result<Value> {
        let engine = self.engine.as_mut().context("the engine is closed")?;
        let transactions: Vec<_> =
            (self.done..self.done + number).map(|number| self.work.transaction(number)).collect();
        self.done += number;
        let mut syncs = Vec::with_capacity(transactions.len());
        let (before, bytes_before) = (Usage::now()?, engine.bytes());
        let began = Instant::now();
        for items in &transactions {
            let before = syncs::count();
            engine.commit(items)?;
            syncs.push(syncs::count() - before);
        }
        let elapsed = began.elapsed();
        // What it does in the background is its own, and must not be in others' way.
        engine.settle()?;
        let used = Usage::now()? - before;
        let bytes = engine.bytes() - bytes_before;
        Ok(json!({
            "elapsed_ns": elapsed.as_nanos() as u64,
            "cpu_ns": used.cpu_ns,
            "device_bytes": used.written_bytes,
            "syncs": syncs,
            "page_bytes": bytes.pages,
            "journal_bytes": bytes.journal,
        }))
    }

    /// Compares all items with what was committed, as the engine has them when it is opened
    /// again.
    fn check(&mut self) -> Result<Value> {
        self.engine = None;
        let engine = open(self.name, self.folder)?;
        let mut expected = self.work.items_before(self.done).into_iter();
        let mut items: u64 = 0;
        engine.each(&mut |key, value| {
            let item = expected.next().context("there are more items than were put")?;
            ensure!(key == item.key && value == item.value, "item {items} is another");
            items += 1;
            Ok(())
        })?;
        ensure!(expected.next().is_none(), "there are {items} items, fewer than were put");
        Ok(json!({ "items": items }))
    }
}
