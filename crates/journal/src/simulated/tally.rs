//! What crash tests have seen.

/// Counts, which add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sequences of transactions, checkpoints and reopenings.
    pub histories: u64,
    /// Transactions that were acknowledged.
    pub commits: u64,
    /// Disks as a crash left them, each recovered and compared with what it must hold.
    pub images: u64,
    /// Of these, disks of a crash during recovery.
    pub images_of_recovery: u64,
    /// Of these, disks on which nothing that was not synced was left.
    pub images_with_nothing: u64,
    /// Of these, disks on which later operations were left without earlier ones.
    pub images_reordered: u64,
    /// Of these, disks on which each sector was left by chance.
    pub images_torn: u64,
    /// Of these, disks whose transaction under way was there, whole.
    pub images_ahead: u64,
    /// Syncs that failed.
    pub failed_syncs: u64,
    /// Writes that found the disk full.
    pub full_disks: u64,
    /// Bits that were flipped.
    pub flips: u64,
    /// Of these, bits of which recovery told that something is damaged.
    pub flips_told: u64,
    /// Of these, bits of the last transaction, which was taken for one that was interrupted.
    pub flips_in_tail: u64,
}

impl Tally {
    /// Adds what another has counted.
    pub fn add(&mut self, other: &Self) {
        // Named one by one: a new count is an error here.
        let Self {
            histories,
            commits,
            images,
            images_of_recovery,
            images_with_nothing,
            images_reordered,
            images_torn,
            images_ahead,
            failed_syncs,
            full_disks,
            flips,
            flips_told,
            flips_in_tail,
        } = self;
        *histories += other.histories;
        *commits += other.commits;
        *images += other.images;
        *images_of_recovery += other.images_of_recovery;
        *images_with_nothing += other.images_with_nothing;
        *images_reordered += other.images_reordered;
        *images_torn += other.images_torn;
        *images_ahead += other.images_ahead;
        *failed_syncs += other.failed_syncs;
        *full_disks += other.full_disks;
        *flips += other.flips;
        *flips_told += other.flips_told;
        *flips_in_tail += other.flips_in_tail;
    }
}
