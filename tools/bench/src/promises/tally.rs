//! What became of a strategy over all cuts, as a line of a table.

use engine::power::Left;
use units::count;

/// What was found after a cut.
#[derive(Default)]
pub(super) struct Found {
    pub(super) left: Left,
    /// Whether the file system could not be mounted without.
    pub(super) was_repaired: bool,
}

/// What was found so far.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) recordings: u64,
    pub(super) cuts: u64,
    /// Cuts after which something acknowledged was lost, and the most that was.
    lossy: u64,
    lost_max: u64,
    /// Cuts after which something was not whole.
    damaged: u64,
    /// Cuts after which what was found is against the promise.
    against: u64,
    /// Cuts after which the file system had to be repaired before it could be mounted.
    repaired: u64,
    damage: Option<String>,
    refutation: Option<String>,
}

impl Tally {
    /// Above all lines.
    pub(super) const HEAD: &'static str = "\
| strategy | promise, as far as power goes | file system | cuts | tried | loses | not whole | repaired |\n\
| --- | --- | --- | ---: | --- | --- | ---: | ---: |";

    pub(super) fn add(&mut self, Found { left, was_repaired }: Found) {
        let Left { lost, damage, against } = left;
        self.repaired += u64::from(was_repaired);
        self.cuts += 1;
        self.lossy += u64::from(lost > 0);
        self.lost_max = self.lost_max.max(lost);
        self.damaged += u64::from(damage.is_some());
        self.against += u64::from(against.is_some());
        self.damage = self.damage.take().or(damage);
        self.refutation = self.refutation.take().or(against);
    }

    pub(super) fn is_refuted(&self) -> bool {
        self.against > 0
    }

    /// The first of what was found, in words.
    pub(super) fn examples(&self) -> impl Iterator<Item = String> {
        let told = |what: &'static str, text: &Option<String>| {
            text.as_ref().map(|text| format!("{what}: {text}"))
        };
        told("not whole", &self.damage).into_iter().chain(told("against", &self.refutation))
    }

    pub(super) fn line(&self, name: &str, system: &str, promise: &str) -> String {
        let Self { cuts, against, lossy, lost_max, damaged, repaired, .. } = *self;
        let verdict = match against {
            0 => "held".to_owned(),
            _ => format!("refuted by {}", count(against)),
        };
        let loses = match lossy {
            0 => "nothing".to_owned(),
            _ => format!("in {} cuts, up to {}", count(lossy), count(lost_max)),
        };
        let (broken, repaired) = (count(damaged), count(repaired));
        // What readers meanwhile and killed processes see is not tried here.
        let power = promise.split_once("power failure: ").map_or(promise, |(_, power)| power);
        let cuts = count(cuts);
        format!(
            "| `{name}` | {power} | {system} | {cuts} | {verdict} | {loses} | {broken} | {repaired} |"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_was_found() {
        let mut tally = Tally::default();
        let found = |left| Found { left, was_repaired: false };
        tally.add(Found::default());
        let line =
            tally.line("log/dsync", "ext4", "process crash: x; power failure: nothing is lost");
        assert_eq!(line, "| `log/dsync` | nothing is lost | ext4 | 1 | held | nothing | 0 | 0 |");
        let damage = Some("document 3 is empty".to_owned());
        let left = Left { lost: 7, damage, against: None };
        tally.add(Found { left, was_repaired: true });
        tally.add(found(Left { lost: 2, damage: None, against: Some("2 are lost".to_owned()) }));
        assert!(tally.is_refuted());
        let line = tally.line("files/direct", "xfs", "may be incomplete");
        let found = "3 | refuted by 1 | in 2 cuts, up to 7 | 1 | 1 |";
        assert_eq!(line, format!("| `files/direct` | may be incomplete | xfs | {found}"));
        let examples: Vec<String> = tally.examples().collect();
        assert_eq!(examples, ["not whole: document 3 is empty", "against: 2 are lost"]);
    }
}
