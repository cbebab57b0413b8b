//! Replaces overlays on systems without them.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use super::copy::Copied;
use super::plan::Plan;

/// An overlay, which this system does not have.
pub(super) struct Overlaid<'s> {
    instead: Copied,
    source: PhantomData<&'s ()>,
}

impl<'s> Overlaid<'s> {
    pub(super) fn open(_: &Plan<'s>, _: &Path) -> Result<Self, String> {
        Err("this system has no overlays".to_owned())
    }
}

impl Deref for Overlaid<'_> {
    type Target = Copied;

    fn deref(&self) -> &Copied {
        &self.instead
    }
}

impl DerefMut for Overlaid<'_> {
    fn deref_mut(&mut self) -> &mut Copied {
        &mut self.instead
    }
}
