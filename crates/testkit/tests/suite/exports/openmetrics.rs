//! A strict reader of the text format of OpenMetrics 1.0, as far as it has gauges and
//! histograms without times; whatever else the format has is refused as well, for the older
//! Prometheus format lacks it.

use std::collections::{BTreeMap, BTreeSet};

/// A sample.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

/// A family of metrics while it is read.
#[derive(Default)]
struct Family {
    name: String,
    kind: String,
    told: BTreeSet<String>,
    samples: Vec<Sample>,
}

/// All samples of a text, or what is wrong with it.
pub(crate) fn read(text: &str) -> Result<Vec<Sample>, String> {
    let lines = text.strip_suffix("# EOF\n").ok_or("it does not end in # EOF")?;
    let mut families: Vec<Family> = Vec::new();
    for line in lines.split_inclusive('\n') {
        let line = line.strip_suffix('\n').ok_or("a line has no end")?;
        if line.contains('\r') || line.is_empty() || line == "# EOF" {
            return Err(format!("no line of the format: {line:?}"));
        }
        take(line, &mut families).map_err(|why| format!("{why}: {line}"))?;
    }
    let mut names = BTreeSet::new();
    for family in &families {
        if !names.insert(&family.name) {
            return Err(format!("{} comes twice", family.name));
        }
        check(family).map_err(|why| format!("{why}: {}", family.name))?;
    }
    Ok(families.into_iter().flat_map(|family| family.samples).collect())
}

fn take(line: &str, families: &mut Vec<Family>) -> Result<(), String> {
    let Some(comment) = line.strip_prefix("# ") else {
        let sample = sample(line)?;
        let family = families.last_mut().ok_or("a sample before any family")?;
        let suffix = sample.name.strip_prefix(&family.name).ok_or("of another family")?;
        let suffixes: &[&str] = match family.kind.as_str() {
            "gauge" => &[""],
            "histogram" => &["_bucket", "_count", "_sum"],
            kind => return Err(format!("no type for both formats: {kind:?}")),
        };
        if !suffixes.contains(&suffix) {
            return Err(format!("no sample of a {}", family.kind));
        }
        family.samples.push(sample);
        return Ok(());
    };
    let [what, name, text] = comment.splitn(3, ' ').collect::<Vec<_>>()[..] else {
        return Err("a comment of one or two words".to_owned());
    };
    if !is_name(name, true) {
        return Err("no name of a metric".to_owned());
    }
    if families.last().is_none_or(|family| family.name != name) {
        families.push(Family { name: name.to_owned(), ..Family::default() });
    }
    let family = families.last_mut().ok_or("no family")?;
    if !family.samples.is_empty() || !family.told.insert(what.to_owned()) {
        return Err("told twice, or after a sample".to_owned());
    }
    match what {
        "TYPE" => text.clone_into(&mut family.kind),
        "UNIT" if name.ends_with(&format!("_{text}")) => {}
        "UNIT" => return Err("the name does not end in its unit".to_owned()),
        "HELP" => drop(unescaped(text)?),
        _ => return Err("no comment of the format".to_owned()),
    }
    Ok(())
}

/// `name{label="value",label="value"} 1.5`
fn sample(line: &str) -> Result<Sample, String> {
    let (name, rest) = line.split_once('{').ok_or("no labels")?;
    if !is_name(name, true) {
        return Err("no name of a metric".to_owned());
    }
    let mut labels = BTreeMap::new();
    let mut rest = rest;
    loop {
        let (label, after) = rest.split_once("=\"").ok_or("no label")?;
        let is_quoted = |at: usize| {
            let before = after[..at].chars().rev().take_while(|c| *c == '\\').count();
            before % 2 == 0
        };
        let end = after.match_indices('"').map(|(at, _)| at).find(|at| is_quoted(*at));
        let end = end.ok_or("a value without an end")?;
        let known = labels.insert(label.to_owned(), unescaped(&after[..end])?);
        if known.is_some() || !is_name(label, false) || label.starts_with("__") {
            return Err(format!("the label {label:?}"));
        }
        rest = &after[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => break,
        }
    }
    let value = rest.strip_prefix("} ").ok_or("no value behind the labels")?;
    Ok(Sample { name: name.to_owned(), labels, value: number(value)? })
}

/// A number with nothing behind it, as a time would be.
fn number(text: &str) -> Result<f64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let allowed = |c: char| c.is_ascii_digit() || ".eE+-".contains(c);
    let is_number = digits == "Inf" || text == "NaN" || digits.chars().all(allowed);
    text.parse().ok().filter(|_| is_number).ok_or_else(|| format!("no number: {text:?}"))
}

fn unescaped(text: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some(quoted @ ('\\' | '"')) => quoted,
                other => return Err(format!("the escape {other:?}")),
            },
            letter => letter,
        });
    }
    Ok(plain)
}

fn is_name(text: &str, may_have_colons: bool) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || may_have_colons && c == ':';
    text.chars().all(fits) && text.starts_with(|c: char| !c.is_ascii_digit())
}

/// What is wrong with a family that was read to its end.
fn check(family: &Family) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for sample in &family.samples {
        if !seen.insert((&sample.name, &sample.labels)) {
            return Err(format!("a sample comes twice: {:?}", sample.labels));
        }
    }
    if !["TYPE", "HELP"].iter().all(|what| family.told.contains(*what)) || seen.is_empty() {
        return Err("no type, no help or no sample".to_owned());
    }
    if family.kind != "histogram" {
        return Ok(());
    }
    let mut metrics: BTreeMap<BTreeMap<String, String>, Vec<&Sample>> = BTreeMap::new();
    for sample in &family.samples {
        let mut of = sample.labels.clone();
        of.remove("le");
        metrics.entry(of).or_default().push(sample);
    }
    metrics.values().try_for_each(|samples| check_histogram(samples))
}

fn check_histogram(samples: &[&Sample]) -> Result<(), String> {
    let of =
        |suffix: &'static str| samples.iter().filter(move |sample| sample.name.ends_with(suffix));
    let bucket = |sample: &&&Sample| Some((number(sample.labels.get("le")?).ok()?, sample.value));
    let buckets: Vec<(f64, f64)> = of("_bucket").filter_map(|sample| bucket(&sample)).collect();
    let grows = buckets.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
    let [count, sum] =
        ["_count", "_sum"].map(|suffix| of(suffix).map(|s| s.value).collect::<Vec<_>>());
    let (Some((last, all)), [count], [sum]) = (buckets.last(), &count[..], &sum[..]) else {
        return Err("no buckets, no count or no sum".to_owned());
    };
    let fits = last.is_infinite() && (all - count).abs() < 0.5 && *sum >= 0.0;
    if grows && fits && buckets.len() == of("_bucket").count() {
        return Ok(());
    }
    Err("its buckets do not grow to its count".to_owned())
}
