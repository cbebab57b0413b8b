use super::super::finding::Rule;
use super::rules;

pub(super) const GIT: &[Rule] = rules! {
    PatchError "new_file_depends" 86 | "depends on old contents" | r"error: new file (?<path>.+) depends on old contents",
        "error: new file utils/validateEmail.ts depends on old contents", "the patch creates a file yet carries old lines";
    PatchError "corrupt" 86 | "corrupt patch at" | r"error: corrupt (?:binary )?patch at ",
        "error: corrupt patch at line 12", "counts or lines do not fit";
    PatchError "corrupt" 86 | "patch fragment without header" | r"error: patch fragment without header at line",
        "error: patch fragment without header at line 3: @@ -1 +1 @@", "a hunk before any file";
    PatchError "corrupt" 86 | "git diff header lacks filename" | r"git diff header lacks filename information",
        "error: git diff header lacks filename information when removing 1 leading pathname component (line 4)", "a file without a name";
    PatchError "no_valid_patch" 86 | "No valid patches in input" | r"(?:error|fatal): No valid patches in input",
        "error: No valid patches in input (allow with \"--allow-empty\")", "it is not a patch";
    PatchError "no_valid_patch" 86 | "unrecognized input" | r"(?:error|fatal): unrecognized input",
        "fatal: unrecognized input", "it is not a patch";
    PatchError "path_escape" 87 | "invalid path '" | r"error: invalid path '",
        "error: invalid path '../outside.txt'", "the patch leaves the repository";
    PatchError "path_escape" 87 | "is beyond a symbolic link" | r"error: .+: is beyond a symbolic link|is beyond a symbolic link",
        "error: affected file 'l/x' is beyond a symbolic link", "the patch writes through a link";
    PatchError "already_exists" 86 | "already exists in" | r"error: (?<path>.+): already exists in (?:working directory|index)",
        "error: a.txt: already exists in working directory", "the file to create is there";
    PatchError "missing_target" 86 | ": No such file or directory" | r"^error: (?<path>[^:]+): No such file or directory",
        "error: src/gone.ts: No such file or directory", "the file to change is not there";
    PatchError "missing_target" 86 | "does not exist in index" | r"^error: (?<path>.+): does not exist in index",
        "error: src/gone.ts: does not exist in index", "the file to change is not there";
    PatchError "context_mismatch" 86 | "error: patch failed" | r"^error: patch failed: (?<path>.+):\d+",
        "error: patch failed: src/a.ts:3", "the old lines are not there";
    PatchError "context_mismatch" 85 | "patch does not apply" | r"^error: (?<path>.+): patch does not apply",
        "error: src/a.ts: patch does not apply", "the old lines are not there";
    PatchError "merge_conflict" 86 | "CONFLICT (" | r"^CONFLICT \([^)]+\): ",
        "CONFLICT (content): Merge conflict in a.txt", "both sides changed the same lines";
    PatchError "merge_conflict" 84 | "fix conflicts" | r"fix conflicts and then commit",
        "Automatic merge failed; fix conflicts and then commit the result.", "both sides changed the same lines";
    PatchError "merge_conflict" 84 | "could not apply" | r"^error: could not apply [0-9a-f]{7,}",
        "error: could not apply 1a2b3c4... change", "both sides changed the same lines";
    AuthFailed "" 86 | "Authentication failed for" | r"fatal: Authentication failed for ",
        "fatal: Authentication failed for 'https://x/y.git/'", "the server refused the credentials";
    AuthFailed "" 86 | "could not read " | r"fatal: could not read (?:Username|Password) for ",
        "fatal: could not read Username for 'https://github.com': terminal prompts disabled", "no credentials";
    AuthFailed "" 88 | "Permission denied (" | r"Permission denied \([\w,-]*(?:publickey|password)[\w,-]*\)",
        "git@github.com: Permission denied (publickey).", "the server knows no such key";
    NetworkError "" 70 | "ould not resolve host" | r"[Cc]ould not resolve host(?:name)?:? ",
        "fatal: unable to access 'https://x/': Could not resolve host: x", "the name does not resolve";
    ConfigError "" 82 | "not a git repository" | r"fatal: not a git repository",
        "fatal: not a git repository (or any of the parent directories): .git", "the command runs in the wrong place";
};

pub(super) const PATCH: &[Rule] = rules! {
    PatchError "context_mismatch" 86 | "FAILED at" | r"Hunk #\d+ FAILED at \d+",
        "Hunk #1 FAILED at 1.", "the old lines are not there";
    PatchError "context_mismatch" 85 | "FAILED -- saving rejects" | r"\d+ out of \d+ hunks? FAILED",
        "1 out of 1 hunk FAILED -- saving rejects to file a.txt.rej", "the old lines are not there";
    PatchError "context_mismatch" 85 | "patch detected!" | r"Reversed \(or previously applied\) patch detected!",
        "Reversed (or previously applied) patch detected!  Skipping patch.", "the change is there already";
    PatchError "corrupt" 86 | "malformed patch at line" | r"patch: \*{4} malformed patch at line",
        "patch: **** malformed patch at line 5: x", "counts or lines do not fit";
    PatchError "no_valid_patch" 86 | "Only garbage was found" | r"Only garbage was found in the patch input",
        "patch: **** Only garbage was found in the patch input.", "it is not a patch";
    PatchError "missing_target" 86 | "can't find file to patch" | r"can't find file to patch at input line",
        "can't find file to patch at input line 3", "the file to change is not there";
    PatchError "path_escape" 87 | "potentially dangerous file name" | r"Ignoring potentially dangerous file name",
        "Ignoring potentially dangerous file name ../x", "the patch leaves the directory";
};
