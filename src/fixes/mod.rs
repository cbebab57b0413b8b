//! Layer 6: fixes that need no LLM, as one list that every command prints and `fix` tries: missing imports, what
//! the latest changes explain, names that a tool proposes or that a message names. Each passes the validator with tests closed.

mod candidate;
mod imports;
mod list;
mod listed;
mod log_file;
mod recent;
mod tool_fix;
mod witness;

pub use candidate::Candidate;
pub use candidate::{Judging, lies_where_it_shows, own_files};
pub use list::{Fixes, MAX_TRIES, Question, find_fixes};
pub use tool_fix::fixing_line;
