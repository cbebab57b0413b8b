//! Floor 6: what may mend a failure without a model, as one list that every surface tells and `fix` tries:
//! imports, what a module has to pass on, what a tool itself proposes, what a witness in the log names,
//! brackets, modes; and the lines for a person to type.

mod allowed;
mod await_edits;
mod candidate;
mod frames;
mod imports;
mod list;
mod log_file;
mod nearest;
mod syntax;
mod witness;

pub use allowed::{Judging, lies_where_it_shows, own_files};
pub use candidate::Candidate;
pub use list::{MAX_TRIES, Question, Remedies, remedies};
