use crate::model::Code;

/// One row of the built-in deny list.
#[derive(Debug, Clone, Copy)]
pub struct DenyRow {
    /// Lower-case globs; any of them denies. Paths are compared in lower case.
    pub globs: &'static [&'static str],
    /// Lower-case globs that are let through all the same.
    pub except: &'static [&'static str],
    /// How firm the denial is, and its code.
    pub class: DenyClass,
    /// What stands in such files, as the end of a sentence.
    pub reason: &'static str,
    /// Why a patch must not write them, after "the file".
    pub guarded: &'static str,
}

/// How firm a built-in denial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DenyClass {
    /// Holds credentials by its nature: never read, whatever the user allows.
    Credentials,
    /// Internals of git and other version control: never read.
    Internals,
    /// Not worth sending, or often private: a user's allow re-admits it.
    Policy,
}

impl DenyClass {
    /// The code of a refusal.
    pub(super) fn code(self) -> Code {
        match self {
            Self::Credentials => Code::C201,
            Self::Internals => Code::C202,
            Self::Policy => Code::C203,
        }
    }
}

/// The built-in deny list, in the order in which it is asked.
#[must_use]
pub fn deny_table() -> &'static [DenyRow] {
    TABLE
}

// To add a row: write its globs in lower case, and a path it must and one it must not match into
// the test below.
const TABLE: &[DenyRow] = &[
    DenyRow {
        globs: &[
            "**/.git",
            "**/.git/**",
            "**/.jj/**",
            "**/.hg/**",
            "**/.svn/**",
        ],
        except: &[],
        class: DenyClass::Internals,
        reason: "version control keeps its own data there, tokens of the checkout included",
        guarded: "belongs to version control",
    },
    DenyRow {
        globs: &[
            "**/.env",
            "**/.env.*",
            "**/.env-*",
            "**/.env_*",
            "**/.envrc",
            "**/.env*local",
            "**/.envs/**",
            "**/.flaskenv",
            "**/*.env",
        ],
        except: &[
            "**/.env.example",
            "**/.env.sample",
            "**/.env.template",
            "**/.env.dist",
            "**/.env.*.example",
            "**/.env.*.sample",
            "**/.env.*.template",
            "**/example.env",
            "**/sample.env",
        ],
        class: DenyClass::Credentials,
        reason: "environment files hold credentials",
        guarded: "holds credentials",
    },
    DenyRow {
        globs: &[
            "**/*.pem",
            "**/*.key",
            "**/*.ppk",
            "**/*.p12",
            "**/*.pfx",
            "**/*.p8",
            "**/*.jks",
            "**/*.keystore",
            "**/*.kdbx",
            "**/*.pkcs12",
            "**/*.keytab",
            "**/id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}",
            "**/id_{rsa,dsa,ecdsa,ed25519}[._-]*",
            "**/.ssh/**",
            "**/.gnupg/**",
            "**/.putty/**",
        ],
        except: &["**/id_*.pub", "**/.ssh/*.pub", "**/.ssh/known_hosts"],
        class: DenyClass::Credentials,
        reason: "the file is a private key or a store of keys",
        guarded: "holds credentials",
    },
    DenyRow {
        globs: &[
            "**/.npmrc",
            "**/.pypirc",
            "**/.gem/credentials",
            "**/.cargo/credentials",
            "**/.cargo/credentials.toml",
            "**/.composer/auth.json",
            "**/nuget.config.user",
            "**/.yarnrc.local.yml",
            "**/.m2/settings.xml",
            "**/.m2/settings-security.xml",
            "**/.bundle/config",
        ],
        except: &[],
        class: DenyClass::Credentials,
        reason: "package registries keep their tokens there",
        guarded: "holds credentials",
    },
    DenyRow {
        globs: &[
            "**/.netrc",
            "**/_netrc",
            "**/.git-credentials",
            "**/.config/git/credentials",
            "**/.config/gh/hosts.yml",
            "**/.config/hub",
            "**/.config/glab-cli/config.yml",
            "**/.vault-token",
            "**/.htpasswd",
            "**/.pgpass",
            "**/.my.cnf",
            "**/.mylogin.cnf",
            "**/.esmtprc",
            "**/.msmtprc",
            "**/.fetchmailrc",
            "**/.s3cfg",
            "**/.boto",
            "**/.tugboat",
            "**/.ftpconfig",
            "**/sftp-config.json",
            "**/.remote-sync.json",
            "**/.vscode/sftp.json",
            "**/.idea/webservers.xml",
            "**/.idea/datasources.local.xml",
            "**/filezilla/**/*.xml",
            "**/filezilla.xml",
            "**/recentservers.xml",
            "**/sitemanager.xml",
            "**/logins.json",
            "**/key3.db",
            "**/key4.db",
            "**/etc/shadow",
            "**/etc/gshadow",
            "**/.{bash,zsh,sh,psql,mysql,python,node_repl}_history",
        ],
        except: &[],
        class: DenyClass::Credentials,
        reason: "a program keeps its passwords there",
        guarded: "holds credentials",
    },
    DenyRow {
        globs: &[
            "**/.aws/**",
            "**/.azure/**",
            "**/.config/gcloud/**",
            "**/.kube/**",
            "**/kubeconfig",
            "**/*.kubeconfig",
            "**/.docker/config.json",
            "**/.dockercfg",
            "**/.dockerconfigjson",
            "**/.terraformrc",
            "**/terraform.rc",
            "**/credentials.tfrc.json",
            "**/*.tfstate",
            "**/*.tfstate.backup",
            "**/*.auto.tfvars",
            "**/terraform.tfvars",
            "**/application_default_credentials.json",
            "**/service-account*.json",
            "**/service_account*.json",
            "**/gha-creds-*.json",
            "**/.oci/**",
            "**/.databrickscfg",
            "**/.pulumi/credentials.json",
            "**/heroku.json",
        ],
        except: &[],
        class: DenyClass::Credentials,
        reason: "cloud tools keep their credentials there",
        guarded: "holds credentials",
    },
    DenyRow {
        globs: &[
            "**/.credentials",
            "**/.credentials.*",
            "**/.secrets",
            "**/.secrets/**",
            "**/credentials.json",
            "**/credentials.{yml,yaml,xml,ini,csv,toml,properties}",
            "**/secrets.{yml,yaml,json,toml,ini,properties,xml}",
            "**/client_secret*.json",
            "**/master.key",
            "**/credentials",
        ],
        except: &[],
        class: DenyClass::Credentials,
        reason: "its name says that it holds credentials",
        guarded: "holds credentials",
    },
    DenyRow {
        globs: &[
            "secrets/**",
            "**/secrets/*.{yml,yaml,json,toml,ini,txt,env,enc}",
        ],
        except: &[],
        class: DenyClass::Policy,
        reason: "folders called `secrets` usually hold some",
        guarded: "stands where secrets usually are",
    },
    DenyRow {
        globs: &["**/.mendit/**"],
        except: &[],
        class: DenyClass::Policy,
        reason: "it is this program's own state",
        guarded: "is this program's own state or policy",
    },
    DenyRow {
        globs: &["**/node_modules/**"],
        except: &[],
        class: DenyClass::Policy,
        reason: "installed packages are not part of the repository",
        guarded: "belongs to an installed package",
    },
    DenyRow {
        globs: &["drizzle/**"],
        except: &[],
        class: DenyClass::Policy,
        reason: "the top-level folder `drizzle` holds generated migrations",
        guarded: "is a generated migration",
    },
];
