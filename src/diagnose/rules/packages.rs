use super::super::finding::Rule;
use super::rules;

pub(super) const NPM: &[Rule] = rules! {
    DependencyError "peer_conflict" 70 | "ERESOLVE" | r"^npm (?:error|ERR!) (?:code )?ERESOLVE",
        "npm error code ERESOLVE", "peers that exclude each other";
    DependencyError "not_cached" 70 | "ENOTCACHED" | r"^npm (?:error|ERR!) code ENOTCACHED",
        "npm error code ENOTCACHED", "offline, and not in the cache";
    DependencyError "package_not_found" 70 | "npm " | r"^npm (?:error|ERR!) code E404",
        "npm error code E404", "the registry has no such package";
    DependencyError "no_version" 70 | "ETARGET" | r"^npm (?:error|ERR!) code (?:ETARGET|ENOVERSIONS)",
        "npm error code ETARGET", "the registry has no such version";
    DependencyError "lockfile_mismatch" 70 | "npm ci" | r"`npm ci` can only install packages when your package(?:\.json)?",
        "npm error `npm ci` can only install packages when your package.json and package-lock.json are in sync.", "manifest and lock disagree";
    DependencyError "lockfile_mismatch" 69 | "EUSAGE" | r"^npm (?:error|ERR!) code EUSAGE",
        "npm error code EUSAGE", "mostly manifest and lock that disagree";
    DependencyError "integrity" 70 | "EINTEGRITY" | r"^npm (?:error|ERR!) code EINTEGRITY",
        "npm error code EINTEGRITY", "the download is not what the lock says";
    DependencyError "engine" 70 | "EBADENGINE" | r"^npm (?:error|ERR!) code (?:EBADENGINE|EBADPLATFORM)",
        "npm error code EBADENGINE", "another version of node is wanted";
    AuthFailed "" 71 | "npm " | r"^npm (?:error|ERR!) code (?:E401|E403|ENEEDAUTH|EOTP)\b",
        "npm error code E401", "the registry refused the token";
    NetworkError "" 69 | "npm " | r"^npm (?:error|ERR!) code (?:ENOTFOUND|EAI_AGAIN|ECONNRESET|ERR_SOCKET_TIMEOUT|EPROTO|CERT_HAS_EXPIRED|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT_LOCALLY|E50\d)",
        "npm error code ENOTFOUND", "the registry is out of reach";
    Timeout "network" 69 | "npm " | r"^npm (?:error|ERR!) code (?:ETIMEDOUT|ESOCKETTIMEDOUT|FETCH_TIMEOUT)",
        "npm error code ETIMEDOUT", "the registry did not answer";
    ConfigError "" 84 | "EJSONPARSE" | r"^npm (?:error|ERR!) code EJSONPARSE",
        "npm error code EJSONPARSE", "package.json is not JSON";
    ConfigError "missing_script" 84 | "issing script" | r"(?i)(?:npm (?:error|ERR!) missing script|ERR_PNPM_NO_SCRIPT.*missing script|error missing script):? ?",
        "npm error Missing script: \"build:prod\"", "package.json has no such script";
    ConfigError "missing_script" 84 | "ERR_PNPM_NO_SCRIPT" | r"ERR_PNPM_NO_SCRIPT",
        " ERR_PNPM_NO_SCRIPT  Missing script: build", "package.json has no such script";
    ConfigError "missing_script" 84 | "not found." | "error Command \"[^\"]+\" not found\\.",
        "error Command \"build\" not found.", "package.json has no such script, in yarn's words";
    ConfigError "" 80 | "npm " | r"^npm (?:error|ERR!) (?:enoent )?Could not read package\.json",
        "npm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/a/package.json'", "there is no manifest here";
    DependencyError "package_not_found" 69 | "could not determine executable" | r"could not determine executable to run",
        "npm error could not determine executable to run", "npx found no program in the package";
    DependencyError "not_cached" 69 | "npx canceled" | r"npx canceled due to missing packages",
        "npm error npx canceled due to missing packages and no YES option: [\"x@1\"]", "npx would have to install it";
    DependencyError "lockfile_mismatch" 71 | "ERR_PNPM_OUTDATED_LOCKFILE" | r"ERR_PNPM_OUTDATED_LOCKFILE",
        " ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with \"frozen-lockfile\"", "manifest and lock disagree";
    DependencyError "lockfile_mismatch" 71 | "ERR_PNPM_NO_LOCKFILE" | r"ERR_PNPM_(?:NO_LOCKFILE|LOCKFILE_\w+|BROKEN_LOCKFILE)",
        " ERR_PNPM_NO_LOCKFILE  Cannot install with \"frozen-lockfile\" because pnpm-lock.yaml is absent", "there is no lock";
    DependencyError "lockfile_mismatch" 71 | "lockfile" | r"(?:Your lockfile needs to be updated|The lockfile would have been (?:modified|created) by this install|lockfile had changes, but lockfile is frozen)",
        "error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.", "manifest and lock disagree";
    DependencyError "package_not_found" 70 | "ERR_PNPM_FETCH_404" | r"ERR_PNPM_FETCH_404",
        " ERR_PNPM_FETCH_404  GET https://x: Not Found - 404", "the registry has no such package";
    DependencyError "no_version" 70 | "ERR_PNPM_NO_MATCHING_VERSION" | r"ERR_PNPM_NO_MATCHING_VERSION",
        " ERR_PNPM_NO_MATCHING_VERSION  No matching version found for x@9", "the registry has no such version";
    DependencyError "peer_conflict" 66 | "ERR_PNPM_PEER_DEP_ISSUES" | r"ERR_PNPM_PEER_DEP_ISSUES",
        " ERR_PNPM_PEER_DEP_ISSUES  Unmet peer dependencies", "peers that exclude each other";
    DependencyError "not_cached" 70 | "ERR_PNPM_NO_OFFLINE" | r"ERR_PNPM_NO_OFFLINE_(?:TARBALL|META)",
        " ERR_PNPM_NO_OFFLINE_TARBALL  A package is missing from the store", "offline, and not in the store";
    AuthFailed "" 71 | "ERR_PNPM_FETCH_40" | r"ERR_PNPM_FETCH_40[13]",
        " ERR_PNPM_FETCH_401  GET https://x: Unauthorized - 401", "the registry refused the token";
    RuntimeError "" 12 | "npm " | r"^npm (?:error|ERR!) (?:code ELIFECYCLE|Lifecycle script `[^`]+` failed|command failed|Test failed)",
        "npm error Lifecycle script `test` failed with error:", "npm passes a failure on";
};

pub(super) const PIP: &[Rule] = rules! {
    DependencyError "package_not_found" 70 | "No matching distribution found" | r"No matching distribution found for ",
        "ERROR: No matching distribution found for nope==1", "the index has no such package or version";
    DependencyError "package_not_found" 69 | "Could not find a version that satisfies" | r"Could not find a version that satisfies the requirement",
        "ERROR: Could not find a version that satisfies the requirement x (from versions: none)", "the index has no such package or version";
    DependencyError "version_conflict" 70 | "ResolutionImpossible" | r"ResolutionImpossible",
        "ERROR: ResolutionImpossible: for help visit https://pip.pypa.io", "requirements that exclude each other";
    DependencyError "version_conflict" 69 | "conflicting dependencies" | r"because these package versions have conflicting dependencies",
        "ERROR: Cannot install a and b because these package versions have conflicting dependencies.", "requirements that exclude each other";
    DependencyError "version_conflict" 69 | "No solution found when resolving" | r"No solution found when resolving (?:dependencies|tool)",
        "  × No solution found when resolving dependencies:", "uv's words for it";
    DependencyError "version_conflict" 60 | "dependency conflicts" | r"pip's dependency resolver does not currently take into account",
        "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed. This behaviour is the source of the following dependency conflicts.", "installed packages disagree";
    DependencyError "build_failed" 88 | "error: metadata-generation-failed" | r"^\s*error: metadata-generation-failed",
        "error: metadata-generation-failed", "a package could not be prepared";
    DependencyError "build_failed" 88 | "error: subprocess-exited-with-error" | r"^\s*error: subprocess-exited-with-error",
        "  error: subprocess-exited-with-error", "a package could not be built";
    DependencyError "build_failed" 88 | "Failed build" | r"Failed building wheel for ",
        "ERROR: Failed building wheel for x", "a package could not be built";
    DependencyError "version_mismatch" 70 | "requires a different Python" | r"requires a different Python",
        "ERROR: Package 'x' requires a different Python: 3.8.1 not in '>=3.10'", "another interpreter is wanted";
    DependencyError "version_mismatch" 68 | "VersionConflict" | r"pkg_resources\.(?:ContextualVersionConflict|VersionConflict|DistributionNotFound)",
        "pkg_resources.VersionConflict: (a 1, Requirement.parse('a>2'))", "installed packages disagree";
    DependencyError "integrity" 70 | "THESE PACKAGES DO NOT MATCH THE HASHES" | r"THESE PACKAGES DO NOT MATCH THE HASHES",
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "the download is not what the lock says";
    DependencyError "lockfile_mismatch" 70 | "lock" | r"(?:The lockfile at `uv\.lock` needs to be updated|pyproject\.toml changed significantly since poetry\.lock)",
        "error: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.", "manifest and lock disagree";
    DependencyError "externally_managed" 70 | "externally-managed-environment" | r"error: externally-managed-environment",
        "error: externally-managed-environment", "the system's interpreter must not be changed";
    FileNotFound "" 70 | "Could not open requirements file" | r"Could not open requirements file: .*'(?<path>[^']+)'",
        "ERROR: Could not open requirements file: [Errno 2] No such file or directory: 'requirements.txt'", "the list does not exist";
};
