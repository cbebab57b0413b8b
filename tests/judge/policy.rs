//! What leaves the machine: masking keeps its promises on any text.

use crate::support;
use std::path::Path;

use mendit::internals::policy::{Redactor, sanitize_log, text_warnings};
use proptest::prelude::*;

// Written in two halves, so that no scanner takes this file for a leak.
fn token() -> String {
    ["ghp_", "oHBvRPOIvGrv5iFlbCBFNOgmBjMtps2jJyT3"].concat()
}

fn fragments() -> impl Strategy<Value = String> {
    let table: toml::Table = toml::from_str(include_str!("fragments.toml")).unwrap();
    let fragments = table["fragments"].as_array().unwrap().iter();
    let fragments: Vec<String> =
        fragments.map(|piece| piece.as_str().unwrap().to_owned()).collect();
    let fixed = prop::sample::select(fragments);
    let part = prop_oneof![8 => fixed, 1 => "[ -~]{0,12}", 1 => Just(token())];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

// Masking a known value everywhere exposes the text after it.
#[test]
fn masks_secret_beside_learned_value() {
    let key = ["AKIA", "PK5YROUDOCUZREN7"].concat();
    let text = format!(
        "hmac.new(\"14f46a1c1bdf6160d8852428c29ed685\"14f46a1c1bdf6160d8852428c29ed685{key}"
    );
    let once = Redactor::default().redact(&text).text.into_owned();
    assert!(!once.contains(&key), "{once}");
    assert_eq!(Redactor::default().redact(&once).text, once);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn masking_is_idempotent(text in fragments()) {
        let redactor = Redactor::new([("MY_TOKEN".to_owned(), "zq81-hunter".to_owned())]);
        let once = redactor.redact(&text);
        let twice = redactor.redact(&once.text);
        prop_assert_eq!(&twice.text, &once.text);
    }

    #[test]
    fn keeps_lines_and_ranges(text in fragments()) {
        let redacted = Redactor::default().redact(&text);
        prop_assert_eq!(redacted.text.matches('\n').count(), text.matches('\n').count());
        let mut rebuilt = String::new();
        let mut at = 0;
        for finding in &redacted.findings {
            prop_assert!(at <= finding.start && finding.start < finding.end);
            let line = text[..finding.start].matches('\n').count() + 1;
            prop_assert_eq!(usize::try_from(finding.line).unwrap(), line);
            prop_assert!(!text[finding.start..finding.end].contains('\n'));
            rebuilt.push_str(&text[at..finding.start]);
            rebuilt.push_str(&format!("[REDACTED:{}]", finding.rule));
            at = finding.end;
        }
        rebuilt.push_str(&text[at..]);
        prop_assert_eq!(rebuilt.as_str(), &*redacted.text);
    }

    #[test]
    fn masks_planted_token(before in fragments(), after in "[^A-Za-z0-9]?") {
        let text = format!("{before}{}{after}", token());
        prop_assert!(!Redactor::default().redact(&text).text.contains(&token()));
    }

    #[test]
    fn accepts_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let redacted = Redactor::default().redact_bytes(&bytes);
        let ends = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        prop_assert_eq!(ends(&redacted.bytes), ends(&bytes));
        let _ = text_warnings(&sanitize_log(&bytes));
    }
}

#[test]
fn hard_negatives_are_kept() {
    let text = "\
\"integrity\": \"sha512-zjVCXBU9EORFr+B/ZW0SlmLcwqxqBlvpmjVMkFozLpELykesBKdETJLAQQhju7PCIQBtsEH+CDF16DxIjWHZtw==\",
golang.org/x/sys v0.0.0 h1:p7vGnUJsDYQmTw1I9hvYP7lS9Xb9jh5VH+Ir3NoL03Q=
checksum = \"4493aa8507917130bcfebd92bebb9d578f348ed031133160d73ec82f5d103be3\"
HEAD is now at 403a1e261de371e7a219b8f96c53600d5bbedd8f fix key handling
request_id=0630a66c-5e8d-4cd4-a2b2-74f0118cdd39 status=500
FROM rust@sha256:a0231efe381087280a72a51819fcf726ee3dc93dc346f91ff8775ad5693e0285
password = os.environ[\"DB_PASSWORD\"]
token: ${{ secrets.GITHUB_TOKEN }}
let tokenizer = TokenizerBuilder::default().with_vocab_size(50257);
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
public_key = \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl user@host\"
-----BEGIN CERTIFICATE-----
MIIBszCCAVmgAwIBAgIUe3MIIBszCCAVmgAwIBAgIUe3MIIBszCCAVmgAwIBAgIU
-----END CERTIFICATE-----
test tests::token_roundtrip_0123456789abcdef ... FAILED
";
    assert_eq!(Redactor::default().redact(text).text, text);
}

#[test]
fn mask_names_own_rule() {
    let text = "machine host login me password uonnll86!QYK then other words behind it\n\
        apikey\",zq81Kd02LqPwx9Tr4vB,pk41Vd07MqTzc2Ws8n\n";
    let masked = "machine host login me password [REDACTED:password] then other words behind it\n\
        apikey\",[REDACTED:named-secret],pk41Vd07MqTzc2Ws8n\n";
    let redactor = Redactor::default();
    assert_eq!(redactor.redact(text).text, masked);
    assert_eq!(redactor.redact(masked).text, masked);
}

#[test]
fn masks_secrets_in_every_encoding() {
    let token = token();
    let spread: String = token.chars().map(|c| format!("%{:02X}", u32::from(c))).collect();
    let split = token.replace("oHB", "oHB\u{200b}");
    for text in [
        format!("\u{1b}[36mINFO\u{1b}[0m auth=\u{1b}[33m{token}\u{1b}[0m ok"),
        format!("{{\"log\":\"line1\\nTOKEN=\\\"{token}\\\"\\nline3\"}}"),
        format!("https://x-access-token:{token}@example.com/o/r.git"),
        format!("-TOKEN = \"{token}\""),
        format!("<add key=\"ApiToken\" value=\"{token}\"/>"),
        format!("src/{token}/f.py"),
        format!("q={spread}"),
        split.clone(),
    ] {
        let out = Redactor::default().redact(&text).text.into_owned();
        assert!(
            ![&token, &spread, &split].iter().any(|form| out.contains(form.as_str())),
            "{out}"
        );
    }
}

#[test]
fn utf16_is_masked_and_printed_as_utf8() {
    let text = format!("größe: {}\r\nnext line\r\n", token());
    let masked = text.replace(&token(), "[REDACTED:github-token]");
    let units = |text: &str, big: bool| -> Vec<u8> {
        let bytes = |unit: u16| {
            if big { unit.to_be_bytes() } else { unit.to_le_bytes() }
        };
        text.encode_utf16().flat_map(bytes).collect()
    };
    for big in [false, true] {
        let bytes = units(&format!("\u{feff}{text}"), big);
        let redacted = Redactor::default().redact_bytes(&bytes);
        assert_eq!(&*redacted.bytes, masked.as_bytes());
        assert_eq!(redacted.findings[0].line, 1);
    }
    // Inside other text, or read as if it were UTF-8, it is found all the same.
    let wide: String = token().chars().flat_map(|c| [c, '\0']).collect();
    assert!(!Redactor::default().redact(&format!("at {wide} end")).text.contains(&wide));
}

#[test]
fn masks_flag_values_in_every_form() {
    let value = "zq/So\"me+thing?1";
    let redactor = Redactor::default();
    assert!(redactor.redact(value).findings.is_empty());
    let redactor = redactor.know([("DEPLOY_TOKEN".to_owned(), value.to_owned())]);
    let redactor = redactor.know([("OTHER_TOKEN".to_owned(), "kq-second-value".to_owned())]);
    for text in [
        value.to_owned(),
        "zq%2FSo%22me%2Bthing%3F1".to_owned(),
        "enEvU28ibWUrdGhpbmc/MQ==".to_owned(),
        serde_json::to_string(value).unwrap(),
        "kq-second-value".to_owned(),
    ] {
        assert!(!redactor.redact(&text).findings.is_empty(), "{text}");
    }
}

#[test]
fn masked_document_keeps_form() {
    let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a \"b\" \\\\ \u{e9}\n+c\n";
    let plain = serde_json::to_string_pretty(&serde_json::json!({
        "canonicalPatch": patch, "digest": "14f46a1c1bdf6160d8852428c29ed685", "n": [1, null, ""]
    }))
    .unwrap();
    let redactor = Redactor::default();
    assert_eq!(redactor.redact_json(&plain), plain);
    let notes = format!("saw \"{}\"\nand more", token());
    let document = serde_json::json!({"notes": notes, "list": [token()], token(): 1});
    let masked = redactor.redact_json(&document.to_string());
    assert!(!masked.contains(&token()));
    let masked: serde_json::Value = serde_json::from_str(&masked).unwrap();
    assert_eq!(masked["notes"], "saw \"[REDACTED:github-token]\"\nand more");
    for broken in ["\"", "{\"a", "\"\\", "\"\\u12\" x"] {
        assert_eq!(redactor.redact_json(broken), broken);
    }
}

#[test]
fn redact_masks_lists_and_exits() {
    let run = |args: &[&str], input: &[u8]| {
        let mut command = support::command(Path::new("."), &["redact", "-"]);
        command.args(args).env("MY_DEPLOY_TOKEN", "zq-words-only");
        support::fed(command, input)
    };
    let text = format!("a {}\nat zq-words-only \u{fc}\n", token());
    let out = run(&[], text.as_bytes());
    assert!(out.status.success() && out.stderr.is_empty());
    let masked = "a [REDACTED:github-token]\nat [REDACTED:environment-variable] \u{fc}\n";
    assert_eq!(String::from_utf8(out.stdout).unwrap(), masked);
    let off = run(&["--env=off"], text.as_bytes());
    assert!(String::from_utf8(off.stdout).unwrap().contains("zq-words-only"));
    let list = run(&["--findings"], text.as_bytes());
    assert_eq!(list.status.code(), Some(1));
    let rows: serde_json::Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(rows[0]["rule"], "github-token");
    assert_eq!(rows[1]["line"], 2);
    assert!(!String::from_utf8(list.stdout).unwrap().contains("zq-words-only"));
    assert_eq!(run(&["--findings"], b"nothing\n").status.code(), Some(0));
    assert_eq!(
        run(&[], b"caf\xe9 password: 'uonnll86!QYK'\n").stdout,
        b"caf\xe9 password: '[REDACTED:password]'\n"
    );
}

#[test]
fn masks_credential_file_whole() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join(".npmrc"), "short=x\n\n//r/:_auth=abc\n").unwrap();
    let out = support::mendit(dir.path(), &["redact", ".npmrc"]);
    let masked = "[REDACTED:credential-file]\n\n[REDACTED:credential-file]\n";
    assert_eq!(String::from_utf8(out.stdout).unwrap(), masked);
}
