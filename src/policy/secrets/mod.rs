//! Finds secrets in text. One scanner ([`scan`]) asks four sources:
//!
//! - `formats`: tokens of a known shape, the rows of `rules/*.toml`; `user` adds a person's own;
//! - `known`: values of the environment, and values that their surroundings gave away elsewhere;
//! - `credentials`: URLs, headers, command lines, calls; `blocks`: keys and manifests of many lines;
//! - `pairs`: values given to names; `name` classifies the names, `value` rates the values.
//!
//! All are asked of the text and of its `readings`: with escapes, entities and base64 decoded.

/// Compiles a pattern of this program at its first use; letters and blanks are those of ASCII.
macro_rules! regex {
    ($pattern:expr) => {{
        static PATTERN: std::sync::LazyLock<Option<regex::bytes::Regex>> =
            std::sync::LazyLock::new(|| {
                regex::bytes::RegexBuilder::new($pattern).unicode(false).build().ok()
            });
        PATTERN.as_ref()
    }};
}

mod base64;
mod blocks;
mod credentials;
mod formats;
mod known;
mod name;
mod pairs;
mod readings;
mod scan;
mod user;
mod value;

pub use base64::{to_base64, to_base64_url};
pub(super) use known::{Learned, LearnedFinder};
pub use name::is_secret_name;
pub(super) use scan::{Hit, OwnSources, scan, scan_learned};
pub use user::UserRuleError;
pub(super) use user::UserRules;
