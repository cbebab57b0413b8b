//! Floor 3: what may be read and sent, and in which form.

mod deny;
mod invisible;
mod read;
mod redact;
mod sanitize;
mod secrets;

pub use deny::{DenyClass, DenyRow, deny_table};
pub use invisible::text_warnings;
pub use read::{PolicyError, ReadPolicy, Refusal};
pub use redact::{Finding, Redacted, RedactedBytes, Redactor};
pub use sanitize::sanitize_log;
