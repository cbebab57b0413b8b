use serde::de::DeserializeOwned;
use serde_json::{Error, Value, from_value};

/// Reads a table of the sources, as the build has written it: by a value, whose reader is compiled once.
pub(crate) fn read_table<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    text.parse::<Value>().and_then(from_value)
}
