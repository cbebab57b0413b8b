use std::path::Path;

use super::context_request::{ContextRequest, previous, to_request};
use super::files::{to_json, write_file};
use super::open::with_known;
use super::{App, AppError, Progress, runs};
use crate::context::{
    Built, Request, add_history, build, change_under_test, estimate_tokens, failure_packet,
};
use crate::model::{Code, ContextDocument, FailurePacket, PacketBudget, PreviousAttempt};
use crate::policy::Redactor;
use crate::report::context_markdown;
use crate::workspace::{At, Workspace};

/// A packet, and the same as it is given to an agent.
#[derive(Debug)]
pub struct Packed {
    /// The packet.
    pub context: ContextDocument,
    /// The packet with the log, the commands and what was tried before.
    pub packet: FailurePacket,
}

impl Packed {
    /// Estimated tokens of the whole prompt: files, log and what is said of both.
    #[must_use]
    pub fn prompt_tokens(&self) -> u64 {
        prompt_tokens(&self.context, &self.packet)
    }
}

/// The same of a packet and what it was made from.
pub(super) fn prompt_tokens(context: &ContextDocument, packet: &FailurePacket) -> u64 {
    estimate_tokens(context_markdown(context, packet).len() as u64)
}

/// Builds the packet of a failure, and writes it where the request says.
///
/// # Errors
/// A target outside the repository, a level that is not permitted, a log without a word, or a
/// folder that cannot be written.
pub fn build_context(
    app: &App,
    query: &ContextRequest,
    progress: &dyn Progress,
) -> Result<Packed, AppError> {
    let at = query.rev.as_deref().map_or(At::Worktree, At::Revision);
    let workspace = app.workspace(at, progress)?;
    let mut request = to_request(query, app, &workspace, progress)?;
    let previous = previous(query, &mut request)?;
    let revision = query.rev.as_deref().unwrap_or("HEAD");
    if request.says_nothing() {
        progress.note(
            "without a log, a target or a request the packet holds only the repository's index \
             (hint: `--log FILE`, or pipe the failing command into `--log -`)",
        );
    }
    let policy = app.read_policy(request.profile)?;
    if let Some(base) = &query.diff {
        let git = workspace.git.as_ref().ok_or_else(|| {
            AppError::new(
                Code::U204,
                "`--diff` compares with a commit, and this is no git repository",
            )
        })?;
        let tree = git.tree(base)?;
        let source = workspace.source.as_ref();
        request.change = Some(change_under_test(
            base,
            &tree,
            source,
            &policy,
            app.redactor(),
        ));
    }
    super::progress::go_on(progress, "choosing files")?;
    let cached = (revision, !query.no_cache);
    let (built, packet) = packed(
        app,
        &workspace,
        &mut request,
        app.redactor(),
        cached,
        previous,
    )?;
    keep(app, &workspace, query, (&built, &packet), progress)?;
    say_odd(&built, progress);
    Ok(Packed {
        context: built.context,
        packet,
    })
}

// Writes the packet where the request asks for that.
fn keep(
    app: &App,
    workspace: &Workspace,
    query: &ContextRequest,
    (built, packet): (&Built, &FailurePacket),
    progress: &dyn Progress,
) -> Result<(), AppError> {
    let own = || runs::own_folder(app, workspace, true).map(|own| own.join("context"));
    let directory = match &query.out {
        Some(directory) => Some(app.directory().join(directory)),
        None if query.shown => own(),
        None => None,
    };
    let written = directory.as_deref().map(|at| write(at, built, packet));
    let written_to = match written.transpose() {
        Err(error) if query.out.is_some() => return Err(error),
        Err(error) => {
            progress.note(&format!("the packet was not written: {}", error.message));
            None
        }
        Ok(_) => directory,
    };
    if let Some(directory) = &written_to {
        progress.note(&format!(
            "wrote context.json and failure-packet.json to {}",
            directory.display()
        ));
    }
    Ok(())
}

// A packet without the files that the log is about.
fn say_odd(built: &Built, progress: &dyn Progress) {
    if built.context.files.is_empty() && built.log.is_some() {
        progress.note("the log names no file of this repository (hint: name one with `--target`)");
    }
}

/// Chooses the files of a revision and packs them; with `cached` what is known of files has a say.
pub(super) fn packed(
    app: &App,
    workspace: &Workspace,
    request: &mut Request,
    redactor: &Redactor,
    (revision, cached): (&str, bool),
    previous: Option<PreviousAttempt>,
) -> Result<(Built, FailurePacket), AppError> {
    let policy = app.read_policy(request.profile)?;
    let built = with_known(app, cached, |cache| {
        add_history(request, workspace.git.as_ref(), revision, cache);
        let source = workspace.source.as_ref();
        build(source, cache, &policy, redactor, request)
    })?;
    let commands = &request.test_commands;
    let budget = PacketBudget::default();
    let packet = failure_packet(&built, redactor, commands, &[], previous, budget);
    Ok((built, packet))
}

fn write(directory: &Path, built: &Built, packet: &FailurePacket) -> Result<(), AppError> {
    write_file(&directory.join("context.json"), to_json(&built.context)?)?;
    write_file(&directory.join("failure-packet.json"), to_json(packet)?)?;
    Ok(())
}
