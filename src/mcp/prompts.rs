use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

/// Lists the prompts that a user can call by name in a client.
pub(super) fn list() -> Vec<Prompt> {
    let argument = PromptArgument::new("log")
        .with_description("a log of the failure in this repository; without one, the last run")
        .with_required(false);
    vec![
        Prompt::new(
            FIX,
            Some("Find out why the tests fail and fix them, in few tokens"),
            Some(vec![argument]),
        )
        .with_title("Fix the failing tests"),
    ]
}

/// The prompt of this name; `runs` says whether tests can be run by a tool.
pub(super) fn get(name: &str, arguments: &JsonObject, runs: bool) -> Option<GetPromptResult> {
    if name != FIX {
        return None;
    }
    let log = arguments.get("log").and_then(|it| it.as_str());
    let start = match log {
        Some(log) => format!("1. Call `build_context` with `logFile` `{log}`."),
        None if runs => {
            "1. Call `run_tests`. When it passes, say so and stop; when `certain` names an \
                         import, call `fix_tests` first."
                .to_owned()
        }
        None => "1. Call `build_context` without a log: it uses the last run.".to_owned(),
    };
    let end = if runs {
        "4. Call `run_tests` again. Stop when it passes, or after three attempts; then report what still fails."
    } else {
        "4. Run the test command. Stop when it passes, or after three attempts; then report what still fails."
    };
    let text = format!(
        "Make the failing tests of this repository pass.\n\n{start}\n2. Read what it shows before you \
         open files. Correct the code; leave tests, their settings and lock files alone.\n3. Call \
         `check_patch` on your patch. When it does not apply, send what `feedback` says. Then apply \
         it.\n{end}"
    );
    let messages = vec![PromptMessage::new_text(Role::User, text)];
    Some(GetPromptResult::new(messages).with_description("Fix the failing tests"))
}

const FIX: &str = "fix-tests";
