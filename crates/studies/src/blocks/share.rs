//! Which blocks of a file are whose, where several clients have one between them.
//!
//! No block has two owners, so that each can be held against what its owner last wrote to it.

use engine::study::Part;

use super::spec::ClientsFile;

/// A client's blocks, which it numbers by itself from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    layout: ClientsFile,
    part: Part,
    /// How many each client has.
    blocks: u64,
}

impl Share {
    /// Those of whoever has a file of so many alone, until others have a [`part`](Self::of) in it.
    pub(super) fn whole(layout: ClientsFile, blocks: u64) -> Self {
        Self { layout, part: Part::WHOLE, blocks }
    }

    /// Those of one of several clients: the file is as much larger.
    pub(super) fn of(self, part: Part) -> Self {
        Self { part, ..self }
    }

    pub(super) fn part(self) -> Part {
        self.part
    }

    /// How many there are.
    pub(super) fn count(self) -> u64 {
        self.blocks
    }

    /// How many the file has.
    pub(super) fn in_file(self) -> u64 {
        self.blocks * self.part.of
    }

    /// Where in the file one of them is.
    #[inline]
    pub(super) fn block(self, own: u64) -> u64 {
        match self.layout {
            ClientsFile::Own | ClientsFile::Stretch => self.part.number * self.blocks + own,
            ClientsFile::Same => own * self.part.of + self.part.number,
        }
    }

    /// Which of them is there.
    #[inline]
    pub(super) fn own(self, block: u64) -> u64 {
        match self.layout {
            ClientsFile::Own | ClientsFile::Stretch => block - self.part.number * self.blocks,
            ClientsFile::Same => block / self.part.of,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_one_owner_who_finds_it_again() {
        for (layout, first) in [(ClientsFile::Stretch, [0, 5, 10]), (ClientsFile::Same, [0, 1, 2])]
        {
            let shares = [0, 1, 2].map(|number| Share::whole(layout, 5).of(Part { number, of: 3 }));
            assert_eq!(shares.map(|share| share.block(0)), first);
            let mut owned: Vec<u64> = Vec::new();
            for share in shares {
                owned.extend((0..share.count()).map(|own| share.block(own)));
                assert!((0..share.count()).all(|own| share.own(share.block(own)) == own));
            }
            owned.sort_unstable();
            assert_eq!(owned, (0..shares[0].in_file()).collect::<Vec<_>>());
        }
    }
}
