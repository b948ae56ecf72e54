//! Defects that the crash tests plant in the library, to see that they are caught.
//!
//! Without the tests and the feature `simulated` nothing can plant one, and what asks for
//! them compiles to nothing.

/// What the library leaves undone where it is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defect {
    /// Recovery takes what stands there without comparing checksums.
    NoChecksum,
    /// Checksums do not depend on the number of what they are of.
    NoNumberInSeed,
    /// A sync that fails is done once more, and believed then.
    SyncsAgain,
    /// What cannot be read is the end, whatever stands behind it.
    NoLookBehind,
}

/// What is planted: nothing, outside of tests.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Planted {
    #[cfg(any(test, feature = "simulated"))]
    pub(crate) defect: Option<Defect>,
}

#[cfg(any(test, feature = "simulated"))]
impl Planted {
    pub(crate) fn has(self, defect: Defect) -> bool {
        self.defect == Some(defect)
    }
}

#[cfg(not(any(test, feature = "simulated")))]
impl Planted {
    #[inline]
    pub(crate) fn has(self, _: Defect) -> bool {
        let Self {} = self;
        false
    }
}
