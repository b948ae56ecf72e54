//! Lists the files of a trace by how long the calls on each took: `summarise FILE.trace`.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use iotoll_trace::{TraceReader, bill_of};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: summarise FILE.trace")?;
    let mut reader = TraceReader::new(BufReader::new(File::open(path)?))?;
    let bill = bill_of(&mut reader, |_, _| String::new())?;
    println!("{}: {} calls on files", bill.header.program, bill.files.calls);
    for file in &bill.top_files {
        println!("{:>10} ns  {:>6} calls  {}", file.summed_ns, file.calls, file.path);
    }
    Ok(())
}
