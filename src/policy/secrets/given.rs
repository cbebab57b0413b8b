use super::known::KnownValues;
use super::user::UserRules;

/// What a caller adds to the table: values that are known to be secret, and rules of its own.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct Given {
    pub(in crate::policy) known: KnownValues,
    pub(in crate::policy) rules: UserRules,
}
