//! Chooses the environment variables of a command. Credentials are left out, because the command may be
//! untrusted code.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Which variables a command sees: those that tools need to work (search paths, locale, directories of
/// toolchains and caches, proxies; none is named like a secret), and more by name. Everything else of this
/// process's environment stays here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// More variables: `NAME` hands on this process's own, `NAME=VALUE` sets one.
    pub allow: Vec<String>,
}

impl Environment {
    /// The default one with more variables.
    pub fn with(allow: Vec<String>) -> Self {
        Self { allow }
    }

    /// The variables a command gets, of those that `parent` has. Sorted by name.
    pub fn variables(
        &self,
        parent: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let named: Vec<&str> = self
            .allow
            .iter()
            .filter(|name| !name.contains('='))
            .map(String::as_str)
            .collect();
        let mut variables = BTreeMap::new();
        variables.insert("TERM".into(), "dumb".into());
        for (name, value) in parent {
            let is_named = name.to_str().is_some_and(|name| named.contains(&name));
            if is_named || (is_default(&name) && !has_login(&value)) {
                variables.insert(name, value);
            }
        }
        for pair in &self.allow {
            if let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) {
                variables.insert(name.into(), value.into());
            }
        }
        variables
    }
}

fn is_default(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    name.starts_with("LC_") || DEFAULTS.contains(&name)
}

// Addresses of proxies and registries may carry a user name and a password.
fn has_login(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    value.match_indices("://").any(|(at, found)| {
        let rest = value.get(at + found.len()..).unwrap_or("");
        let authority = rest.split(['/', ' ', ',', '?', '#']).next().unwrap_or("");
        authority.contains('@')
    })
}

// One name a row of its kind. A name that speaks of a secret does not belong here.
#[rustfmt::skip]
const DEFAULTS: &[&str] = &[
    // The user and the system
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
    "CI", "NO_COLOR", "HOSTNAME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PKG_CONFIG_PATH",
    "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME", "SOURCE_DATE_EPOCH", "NIX_PATH", "NIX_SSL_CERT_FILE", "NIX_PROFILES",
    // Network
    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy",
    "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO", "PIP_CERT",
    // Rust
    "CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_JOBS", "CARGO_INCREMENTAL", "CARGO_NET_OFFLINE",
    "CARGO_TERM_COLOR", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUSTFLAGS", "RUST_BACKTRACE",
    "RUST_LOG", "RUST_TEST_THREADS", "RUSTC_WRAPPER", "SCCACHE_DIR",
    // JavaScript
    "NODE_ENV", "NODE_PATH", "NODE_OPTIONS", "NVM_DIR", "NVM_BIN", "FNM_DIR", "FNM_MULTISHELL_PATH",
    "VOLTA_HOME", "COREPACK_HOME", "PNPM_HOME", "BUN_INSTALL", "DENO_DIR", "YARN_CACHE_FOLDER",
    "npm_config_cache", "npm_config_registry", "npm_config_prefix", "npm_config_offline",
    "npm_config_store_dir", "NPM_CONFIG_CACHE", "NPM_CONFIG_REGISTRY", "NPM_CONFIG_PREFIX",
    "PLAYWRIGHT_BROWSERS_PATH", "PUPPETEER_EXECUTABLE_PATH", "CYPRESS_CACHE_FOLDER",
    // Python
    "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONHASHSEED",
    "PYTHONUTF8", "PYTHONIOENCODING", "PYTHONWARNINGS", "PYENV_ROOT", "PYENV_VERSION",
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_EXE", "PIPENV_VENV_IN_PROJECT",
    "POETRY_HOME", "POETRY_CACHE_DIR", "PIP_CACHE_DIR", "PIP_INDEX_URL", "PIP_NO_INDEX",
    "PIP_FIND_LINKS", "UV_CACHE_DIR", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_OFFLINE",
    "UV_PYTHON", "UV_PYTHON_INSTALL_DIR", "UV_PROJECT_ENVIRONMENT", "PYTEST_ADDOPTS", "TOX_ENV_DIR",
    // Go, Java, Ruby, PHP, .NET, C
    "GOPATH", "GOROOT", "GOBIN", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GONOSUMDB",
    "GOTOOLCHAIN", "CGO_ENABLED", "JAVA_HOME", "JAVA_TOOL_OPTIONS", "MAVEN_OPTS", "M2_HOME",
    "GRADLE_USER_HOME", "GRADLE_OPTS", "ANDROID_HOME", "ANDROID_SDK_ROOT", "GEM_HOME", "GEM_PATH",
    "BUNDLE_PATH", "RBENV_ROOT", "COMPOSER_HOME", "DOTNET_ROOT", "DOTNET_CLI_HOME", "NUGET_PACKAGES",
    "CC", "CXX", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS",
    "CMAKE_PREFIX_PATH", "CPATH", "LIBRARY_PATH", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
];

#[cfg(test)]
mod tests {
    use super::Environment;

    fn names(environment: &Environment, parent: &[(&str, &str)]) -> Vec<String> {
        let parent = parent
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        environment
            .variables(parent)
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect()
    }

    #[test]
    fn only_what_is_listed_or_named_is_handed_on() {
        let parent = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("TERM", "xterm"),
            ("GITHUB_TOKEN", "s3cret"),
            ("DATABASE_URL", "postgres://u:p@h/d"),
            ("HTTP_PROXY", "http://user:pass@proxy:1"),
            ("https_proxy", "http://proxy:1"),
        ];
        let plain = Environment::default();
        let usual = [
            "LC_ALL=C", "PATH=/bin", "TERM=dumb", "https_proxy=http://proxy:1",
        ];
        assert_eq!(names(&plain, &parent), usual);
        let more = Environment {
            allow: ["DATABASE_URL", "A=b=c", "GONE", "=x"]
                .map(str::to_owned)
                .to_vec(),
        };
        let named = ["A=b=c", "DATABASE_URL=postgres://u:p@h/d"];
        assert_eq!(names(&more, &parent), [&named[..], &usual[..]].concat());
    }

    #[test]
    fn no_default_is_named_like_a_secret() {
        for name in super::DEFAULTS {
            for word in ["TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "PRIVATE"] {
                assert!(!name.to_ascii_uppercase().contains(word), "{name}");
            }
        }
    }
}
