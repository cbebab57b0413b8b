//! Code hosts and continuous integration.

use crate::policy::secrets::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        "gh[pousr]_[A-Za-z0-9]{30,}",
    )
    .finds("gho_`yV9XKZmPEUOXW3bMLnnX74QOPtZHfX")
    .keeps("gho_`yV9X"),
    Rule::new(
        "github-fine-grained-token",
        &["github_pat_"],
        "github_pat_[A-Za-z0-9_]{36,}",
    )
    .finds("github_pat_`sHTGTQZzU7iwthqefwYvpCPnuymHftTvpECi")
    .keeps("github_pat_`sHTG"),
    Rule::new(
        "gitlab-token",
        &[
            "glpat-", "gldt-", "glptt-", "glcbt-", "glrt-", "glft-", "glimt-", "glagent-",
            "gloas-", "glsoat-", "glffct-", "glwt-",
        ],
        "gl(?:pat|dt|ptt|cbt|rt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_.-]{18,}",
    )
    .finds("glffct-`MhCzKgr5LKx9n2oc1q")
    .keeps("glffct-`MhCz"),
    Rule::new(
        "gitlab-runner-token",
        &["GR1348941"],
        "GR1348941[A-Za-z0-9_-]{20,}",
    )
    .finds("GR1348941`2GxkzlUm2kg5gqRExrUD")
    .keeps("GR1348941`2Gxk"),
    Rule::new(
        "gitlab-session",
        &["_gitlab_session="],
        "_gitlab_session=[0-9a-z]{32}",
    )
    .finds("_gitlab_session=`yttk7bt1fxrkp30izmvubejdile1twgy")
    .keeps("_gitlab_session=`yttk"),
    Rule::word(
        "bitbucket-app-password",
        &["ATBB"],
        "ATBB[A-Za-z0-9_=.-]{24,}",
    )
    .finds("ATBB`Y2JdZU2L4W1aSeaUgeom6jK7")
    .keeps("ATBB`Y2Jd"),
    Rule::new(
        "atlassian-token",
        &["ATATT3", "ATCTT3"],
        "AT[AC]TT3[A-Za-z0-9_=.-]{60,}",
    )
    .finds("ATATT3`ciFrayn1jTcarAXb5KZ987AQovkncKffyoRizr1FwsmfNra3PzIJDN6Iw0n8")
    .keeps("ATATT3`ciFr"),
    Rule::new(
        "azure-devops-token",
        &["AZDO"],
        "[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
    )
    .back(76)
    .finds("Z5blB5jVJHTloyhW11GXv5P4ZvA4HvwpHmDXVdeTkkFspBpNXUv4vaVCLH64LQXhhOYD4Y1u63tWAZDO`h8lN")
    .keeps("tWAZDO`h8lN"),
    Rule::new(
        "sourcegraph-token",
        &["sgp_"],
        "sgp_(?:(?:[A-Fa-f0-9]{16}|local)_)?[A-Fa-f0-9]{40}",
    )
    .finds("sgp_`c9C7a5b19368d30E33cABdA01D05fBb89FFc9d65")
    .keeps("sgp_`c9C7"),
    Rule::new("sourcegraph-cody-token", &["slk_"], "slk_[a-f0-9]{64}")
        .finds("slk_`42be77cb12343967f72daafc89cb92d8e6e388ac44ed8ffdf218442c6a638d16")
        .keeps("slk_`42be"),
    Rule::new(
        "buildkite-token",
        &["bkua_", "bkaj_", "bkct_"],
        "bk(?:ua|aj|ct)_[A-Za-z0-9]{40,}",
    )
    .finds("bkaj_`w0sTX2ZKFiEGhe149239xDkIHJUmQU6BP1O7ibrh")
    .keeps("bkaj_`w0sT"),
    Rule::new(
        "circleci-token",
        &["CCIPAT_", "CCIPRJ_"],
        "CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[a-fA-F0-9]{40}",
    )
    .finds("CCIPRJ_`sfbsjONBFya5GCqBFNRB3k_e41AAEd23b6Cd235c15e1C33eae3b8bCEcFa121D")
    .keeps("CCIPRJ_`sfbs"),
    Rule::new(
        "sonar-token",
        &["sqp_", "squ_", "sqa_"],
        "sq[pua]_[A-Za-z0-9]{40}",
    )
    .finds("sqa_`Q6nYC74qXAGDkdgFAsLSFqqgmpq1u130uTcEonIY")
    .keeps("sqa_`Q6nY"),
    Rule::word("octopus-deploy-key", &["API-"], "API-[A-Z0-9]{25,27}")
        .finds("API-`PJJP8SBY1YNJ2890EJ7FK2UL4")
        .keeps("API-`PJJP"),
    Rule::new(
        "harness-token",
        &["pat.", "sat."],
        r"[ps]at\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}",
    )
    .finds("sat.`xP0hfRRniSZ0FgnknuhGiO.5b77cd24e088e1db0b86b430.g7RoviAx58Fkh23pn8I5")
    .keeps("sat.`xP0h"),
    Rule::word(
        "localstack-token",
        &["ls-"],
        "ls-[A-Za-z]{4}[0-9]{4}-[A-Za-z0-9]{4}-[0-9]{4}-[A-Za-z0-9]{4}-[A-Za-z0-9]{12}",
    )
    .finds("ls-`KLRG4944-pPJj-8783-ZWL0-14jqqGySRVUA")
    .keeps("ls-`KLRG"),
    Rule::new(
        "snyk-token",
        &["snyk_uat.", "snyk_sat."],
        r"snyk_[us]at\.[0-9a-f]{8}\.[A-Za-z0-9_.-]{60,}",
    )
    .finds("snyk_sat.`14203e4a.8FEROqUrNUWEsa0unscRSmpavJgPDLZiWfarecuQkd9rRNlECfIEG3UsHIcu")
    .keeps("snyk_sat.`1420"),
];
