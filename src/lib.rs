//! mendit
pub mod graph;
pub mod lang;
pub mod model;
pub mod resolve;
pub mod source;
