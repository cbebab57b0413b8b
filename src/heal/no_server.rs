use super::probe::Answer;
use super::{Endpoint, HealError, Probe};
use crate::exec::{Job, Stop};

/// Without the feature `mcp` there is no client to speak to a server with.
pub(super) fn try_server(_: &Endpoint, _: &Probe, _: &Job, _: &Stop) -> Result<Answer, HealError> {
    Err(HealError::NotBuilt("mcp"))
}
