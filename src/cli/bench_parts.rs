use std::num::NonZeroU32;

use super::{AppError, Exit, Output};
use crate::report::{Parts, parts_github, parts_kubernetes, parts_parallel, parts_slurm};

/// Print what runs a bench in N parts on many machines.
///
/// Each part is `mendit bench ... --partition K/N --save part-K.json`; `mendit bench merge` joins them
/// and names a part that is missing, which is then run alone. Nothing is run here.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mendit bench parts --count 8 --engine github -- real benches/real --clones clones --agent oracle")]
pub(crate) struct Args {
    /// How many parts
    #[arg(long, value_name = "N")]
    count: NonZeroU32,
    /// What runs them
    #[arg(long, value_enum)]
    engine: Engine,
    /// The image with mendit in it, for kubernetes
    #[arg(long, value_name = "IMAGE", default_value = "mendit:latest")]
    image: String,
    /// What follows `mendit bench`
    #[arg(value_name = "ARGS", last = true, required = true)]
    words: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Engine {
    /// A workflow with a matrix
    Github,
    /// An indexed job
    Kubernetes,
    /// A line for GNU parallel
    Parallel,
    /// A job array
    Slurm,
}

pub(super) fn run(args: &Args, output: &Output) -> Result<Exit, AppError> {
    let parts = Parts {
        count: args.count.get(),
        words: &args.words,
        image: &args.image,
    };
    output.text(&match args.engine {
        Engine::Github => parts_github(&parts),
        Engine::Kubernetes => parts_kubernetes(&parts),
        Engine::Parallel => parts_parallel(&parts),
        Engine::Slurm => parts_slurm(&parts),
    })?;
    Ok(Exit::Yes)
}
