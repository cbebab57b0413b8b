//! Package registries.

use crate::policy::secrets::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::new("npm-token", &["npm_"], "npm_[A-Za-z0-9]{36,}")
        .finds("npm_`YzVhzRlR5BjfMfhVhY9G1JbQb5eLZtGYv1jz")
        .keeps("npm_`YzVh"),
    Rule::new("pypi-token", &["pypi-AgE"], "pypi-AgE[A-Za-z0-9_-]{40,}")
        .finds("pypi-AgE`GUs2AX3kFCpZoYIb7ddEGQtVczpHmYx2Qwj17Wmd")
        .keeps("pypi-AgE`GUs2"),
    Rule::new("rubygems-token", &["rubygems_"], "rubygems_[a-f0-9]{48}")
        .finds("rubygems_`46a3f89cd42d7691df070909fceca03b7203e2e9e3e3d75f")
        .keeps("rubygems_`46a3"),
    Rule::new("clojars-token", &["CLOJARS_"], "CLOJARS_[A-Za-z0-9]{60}")
        .finds("CLOJARS_`BUadQigavAJBg7bnTjdk7T2xKuRgDyOVYAL7iOQ744JYYEl1Hq0vNUaiDvWb")
        .keeps("CLOJARS_`BUad"),
    Rule::word("nuget-key", &["oy2"], "oy2[a-z0-9]{43}")
        .finds("oy2`sl4fz5m6od0m5lietppa5vhhhm8vzesvlp8jhwl7r26")
        .keeps("oy2`sl4f"),
    Rule::word("crates-token", &["cio"], "cio[A-Za-z0-9]{32}")
        .finds("cio`iniTPuiuYTK1V2TlVw9KUceJR1Nhork5")
        .keeps("cio`iniT"),
    Rule::new(
        "docker-token",
        &["dckr_pat_", "dckr_oat_"],
        "dckr_[po]at_[A-Za-z0-9_-]{27,}",
    )
    .finds("dckr_pat_`n3NEK5i1o6VvY3aNEyvIMQK855v")
    .keeps("dckr_pat_`n3NE"),
    Rule::word("artifactory-key", &["AKCp"], "AKCp[A-Za-z0-9]{60,}")
        .finds("AKCp`fXPKGnFyRLMyZD2CrG5e9y0xXH8RIFMmxTLntPFvV8DyCRzEK1N6Fk5Fl2dN")
        .keeps("AKCp`fXPK"),
    Rule::word(
        "artifactory-reference-token",
        &["cmVmd"],
        "cmVmd[A-Za-z0-9]{55,}",
    )
    .finds("cmVmd`jMT5FVVl1EvwGq7P3UUsdMsT0hdydcRCXzFUVbvSfHjDOKjFofA48E1")
    .keeps("cmVmd`jMT5"),
    Rule::new(
        "packagist-token",
        &["packagist_"],
        "packagist_[ou][ru]t_[a-f0-9]{68}",
    )
    .finds("packagist_`uut_bd15ec71bf736d5ad577de1a3e0e98762837a84ec12337501086b028e7990b236c43")
    .keeps("packagist_`uut_"),
    Rule::word("deno-token", &["ddp_", "ddo_"], "dd[po]_[A-Za-z0-9]{36,}")
        .finds("ddp_`hzIrk55iyHNesZLYBxTUvnqo4VPMYNvew1XD")
        .keeps("ddp_`hzIr"),
];
