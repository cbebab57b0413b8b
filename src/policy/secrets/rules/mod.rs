//! The table of token formats, one file per trade. To add a row: the fixed text a token starts
//! with, a regular expression of the whole token, one example and one look-alike. A backtick in an
//! example is dropped; it keeps scanners from taking the example for a live token.

mod ai;
mod cloud;
mod formats;
mod hosts;
mod messages;
mod packages;
mod payments;
mod services;

use super::rule::Rule;

pub(super) const TABLES: &[&[Rule]] = &[
    ai::RULES,
    cloud::RULES,
    formats::RULES,
    hosts::RULES,
    messages::RULES,
    packages::RULES,
    payments::RULES,
    services::RULES,
];
