use super::global::Global;
use super::{AppError, Exit, Output};
use crate::app::{Input, ask_model, awaited};

/// Ask a model at an endpoint that speaks the chat completions of `OpenAI`
///
/// The prompt is read from standard input, what the model says is printed. It is what `--agent
/// openai:URL#MODEL` runs, confined as any agent. The key is that of `OPENAI_API_KEY`.
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct Args {
    /// The address above `/chat/completions` and the model, such as `http://localhost:11434/v1#qwen3`
    #[arg(value_name = "URL#MODEL")]
    endpoint: String,
}

pub(crate) fn run(args: &Args, _: &Global, output: &Output) -> Result<Exit, AppError> {
    awaited("a prompt", output);
    let prompt = Input::standard().read()?;
    let reply = ask_model(&args.endpoint, &String::from_utf8_lossy(&prompt))?;
    output.text(&reply)?;
    Ok(Exit::Yes)
}
