//! Layer 6: fixes that need no LLM, as one list that every command prints and `fix` tries: missing imports, names
//! that a tool proposes or that a message names. Each passes the validator with tests closed.

mod candidate;
mod imports;
mod list;
mod log_file;
mod nearest;
mod witness;

pub use candidate::Candidate;
pub use candidate::{Judging, lies_where_it_shows, own_files};
pub use list::{Fixes, MAX_TRIES, Question, find_fixes};
