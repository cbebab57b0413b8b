use super::global::Global;
use super::patch_args::PatchArgs;
use super::{AppError, Exit, Output, open};
use crate::app::{check_batch, check_patch, to_json_line};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) patch: PatchArgs,
    /// Read JSON lines `{"id", "patch"}` and write one verdict a line
    #[arg(long)]
    batch: bool,
}

pub(crate) fn run(args: &Args, global: &Global, output: &Output) -> Result<Exit, AppError> {
    let request = args.patch.request()?;
    let app = open(global, &args.patch.request)?;
    if args.batch {
        let mut worst = Exit::Yes;
        check_batch(&app, &request, output, &mut |answers| {
            let mut text = String::new();
            for answer in &answers {
                text.push_str(&to_json_line(answer)?);
                if answer.verdict.exit() != Exit::Yes {
                    worst = Exit::No;
                }
            }
            output.data(&text)
        })?;
        return Ok(worst);
    }
    let mut judged = check_patch(&app, &request, output)?;
    args.patch.report(&request.patch, &mut judged, output)?;
    let exit = judged.verdict.exit();
    // The process ends here: to give the memory of a large patch back piece by piece takes time.
    std::mem::forget(judged);
    Ok(exit)
}
