//! One reader for each runner: from what it printed to an [`TestAccount`](super::account::TestAccount).
//! `None` when nothing of it is there. Every reader is linear in the text.

mod ava;
mod checkers;
mod jasmine;
mod jest;
mod mocha;
mod native;
mod node_test;
mod outline;
mod playwright;
mod pytest;
mod unittest;
mod vitest;

pub(super) use ava::ava;
pub(super) use checkers::{checker, is_checker};
pub(super) use jasmine::jasmine;
pub(super) use jest::jest;
pub(super) use mocha::mocha;
pub(super) use native::{cargo_test, go_test};
pub(super) use node_test::node_test;
pub(super) use playwright::playwright;
pub(super) use pytest::{dotted, pytest};
pub(super) use unittest::unittest;
pub(super) use vitest::vitest;
