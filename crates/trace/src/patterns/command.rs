//! The command that answers a pattern.

use units::quoted;

use crate::inner::inner;

/// A comparison that `iotoll compare` can run.
pub(super) struct Command {
    study: &'static str,
    strategies: &'static str,
    settings: Vec<String>,
    /// The folder of the files that it is about.
    folder: Option<String>,
    per_second: f64,
}

impl Command {
    pub(super) fn new(study: &'static str, strategies: &'static str) -> Self {
        Self { study, strategies, settings: Vec::new(), folder: None, per_second: 0.0 }
    }

    pub(super) fn set(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        self.settings.push(format!("{}.{name}={value}", self.study));
        self
    }

    /// Where it shall be measured, against RAM.
    pub(super) fn at(mut self, folder: String) -> Self {
        self.folder = Some(folder);
        self
    }

    pub(super) fn per_second(mut self, rate: f64) -> Self {
        self.per_second = rate;
        self
    }

    /// As it is pasted into a shell. Without places, it compares the working folder with RAM.
    pub(super) fn text(&self, working_folder: Option<&str>) -> String {
        let mut words = vec!["iotoll".to_owned(), "compare".to_owned()];
        if let Some(folder) = self.folder.as_deref()
            && let Some(folder) = relative(folder, working_folder)
        {
            words.extend([format!("disk={folder}"), "ram=/dev/shm".to_owned()]);
        }
        words.extend(["--study", self.study].map(str::to_owned));
        if !self.strategies.is_empty() {
            words.extend(["--strategy", self.strategies].map(str::to_owned));
        }
        for setting in &self.settings {
            words.extend(["--set".to_owned(), setting.clone()]);
        }
        if let Some(rate) = rate(self.per_second) {
            words.extend(["--per-second".to_owned(), rate]);
        }
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// A folder as it is named from the working folder; none where it is that one. What is not
/// absolute, or no text, names nothing for sure.
fn relative<'a>(folder: &'a str, working_folder: Option<&str>) -> Option<&'a str> {
    if !folder.starts_with('/') || folder.contains(['\u{fffd}', '\n']) {
        return None;
    }
    match working_folder.and_then(|working| inner(working, folder)) {
        Some("") => None,
        named => named.or(Some(folder)),
    }
}

/// To two digits: it is what one recording had. None where it is nothing.
fn rate(per_second: f64) -> Option<String> {
    if !per_second.is_finite() || per_second < 1e-3 {
        return None;
    }
    let unit = 10_f64.powf(per_second.log10().floor() - 1.0);
    let rounded = (per_second / unit).round() * unit;
    Some(if rounded >= 10.0 { format!("{rounded:.0}") } else { trimmed(&format!("{rounded:.5}")) })
}

fn trimmed(number: &str) -> String {
    number.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted() {
        let command = Command::new("log", "held")
            .set("sync", "each,every 100")
            .set("record", 137)
            .at("/srv/it's/logs".into())
            .per_second(231.7);
        assert_eq!(
            command.text(Some("/srv")),
            r"iotoll compare 'disk=it'\''s/logs' ram=/dev/shm --study log --strategy held --set 'log.sync=each,every 100' --set log.record=137 --per-second 230"
        );
        let here = Command::new("files", "").at("/srv".into());
        assert_eq!(here.text(Some("/srv")), "iotoll compare --study files");
    }

    #[test]
    fn folders_are_named_from_where_one_stands() {
        let from = |folder| relative(folder, Some("/srv/app"));
        assert_eq!(from("/srv/app"), None);
        assert_eq!(from("/srv/app/data"), Some("data"));
        assert_eq!(from("/srv/application"), Some("/srv/application"));
        assert_eq!(from("data"), None);
        assert_eq!(relative("/srv", None), Some("/srv"));
    }

    #[test]
    fn rates_have_two_digits() {
        let written = [12_345.0, 231.7, 9.96, 0.512, 0.033_33].map(rate);
        let expected = ["12000", "230", "10", "0.51", "0.033"].map(|text| Some(text.to_owned()));
        assert_eq!(written, expected);
        assert_eq!([0.0, f64::NAN, f64::INFINITY].map(rate), [None, None, None]);
    }
}
