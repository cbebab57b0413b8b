//! mendit
pub mod model;
pub mod policy;
pub mod source;
