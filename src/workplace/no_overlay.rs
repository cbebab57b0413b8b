use std::convert::Infallible;
use std::marker::PhantomData;
use std::path::Path;

use super::WorkplaceError;
use super::plan::{Edits, Plan};
use crate::exec::Job;
use crate::source::Overlay;

/// Nothing lies over a folder on this system: there is none of these.
pub(super) struct Overlaid<'s> {
    none: Infallible,
    source: PhantomData<&'s ()>,
}

impl<'s> Overlaid<'s> {
    pub(super) fn open(_: &Plan<'s>, _: &Path) -> Result<Self, String> {
        Err("this system has no overlays".to_owned())
    }

    pub(super) fn root(&self) -> &Path {
        match self.none {}
    }

    pub(super) fn confine(&self, _: &mut Job) {
        match self.none {}
    }

    pub(super) fn view(&self) -> Overlay<'s> {
        match self.none {}
    }

    pub(super) fn changed(&self) -> Result<Edits, WorkplaceError> {
        match self.none {}
    }

    pub(super) fn settle(&mut self) -> Result<(), WorkplaceError> {
        match self.none {}
    }

    pub(super) fn write(&mut self, _: Edits) -> Result<(), WorkplaceError> {
        match self.none {}
    }

    pub(super) fn adopt(&mut self) -> Result<(), WorkplaceError> {
        match self.none {}
    }

    pub(super) fn fresh(&mut self) -> Result<(), WorkplaceError> {
        match self.none {}
    }
}
