//! A secret that its context reveals in one place is masked in all others, and nothing else is.

use mendit::internals::policy::{Redactor, to_base64};

const TOKEN: &str = "q7Wm2Zx9Lk4Vt8Rb1Nc6Yp3Hs5Jd0Gf";
const HEX: &str = "5f1d0a9c3be7426d8f90ab12cd34ef56";
const PASSWORD: &str = "vK9#tmQ2!zr";
const PHRASE: &str = "tundra-velvet-anchor-mosaic-7";
const MACHINE: &str = "kQ8/zT3vWmX5+LpR9aYc2NdEfGh7JbUs4Oi6Vt1w";

// Texts whose context reveals a value.
const TOLD: &[(&str, &str)] = &[
    ("db_password = 'X'", PASSWORD),
    ("DB_PASSWORD=X", PASSWORD),
    ("{\"password\": \"X\", \"user\": \"app\"}", PASSWORD),
    ("postgres://app:X@db.internal:5432/shop", PASSWORD),
    ("export API_TOKEN=X", TOKEN),
    ("signing: X", TOKEN),
    ("NUGET_PAT=X", TOKEN),
    ("Authorization: Bearer X", TOKEN),
    ("secret_key: \"X\"", HEX),
    ("client_secret = X", HEX),
    ("token: >-\n  X\n", TOKEN),
    ("password: |\n  X\n", PASSWORD),
    ("passphrase = \"X\"", PHRASE),
    (
        "aws_access_key_id = ASIADITUJI4KZLQSGZ2X\nother = X\n",
        MACHINE,
    ),
    ("curl -u admin:X https://h/x", PASSWORD),
    ("<Password>X</Password>", PASSWORD),
];

// Where it says nothing of itself.
const ELSEWHERE: &[&str] = &[
    "E   assert 'X' == 'other'\nlogin with X failed\n",
    "DEBUG pool: connecting (app, X, retries=3)\n[\"app\",\"X\"]\n",
    "line 1\nwrote B to the vault\n\u{1b}[31mX\u{1b}[0m\n",
];

#[test]
fn masks_known_value_everywhere() {
    let mut missed = Vec::new();
    for (told, value) in TOLD {
        for elsewhere in ELSEWHERE {
            for text in [
                format!("{told}\n{elsewhere}"),
                format!("{elsewhere}\n{told}\n"),
            ] {
                let encoded = to_base64(format!("app:{value}!").as_bytes());
                let text = text.replace('X', value).replace("B to", &format!("{encoded} to"));
                let text = text.replace(
                    &format!("ASIADITUJI4KZLQSGZ2{value}"),
                    "ASIADITUJI4KZLQSGZ2X",
                );
                let out = Redactor::default().redact(&text).text.into_owned();
                if out.contains(value) || out.contains(&encoded) {
                    missed.push(out.clone());
                }
                assert_eq!(Redactor::default().redact(&out).text, out, "masked twice");
                assert_eq!(out.lines().count(), text.lines().count());
            }
        }
    }
    assert!(missed.is_empty(), "{}: {missed:#?}", missed.len());
}

#[test]
fn masks_value_in_all_strings() {
    let document = serde_json::json!({
        "log": format!("login with {PASSWORD} failed"),
        "lines": ["ok", format!("db_password = '{PASSWORD}'")],
    });
    let masked = Redactor::default().redact_json(&document.to_string());
    assert!(!masked.contains(PASSWORD), "{masked}");
    let value: serde_json::Value = serde_json::from_str(&masked).unwrap();
    assert_eq!(value["lines"][0], "ok");
    let redactor = Redactor::default().learning(&format!("PASSWORD={PASSWORD}"));
    assert!(!redactor.redact(&format!("got {PASSWORD}")).text.contains(PASSWORD));
}

#[test]
fn masks_recovery_phrase() {
    let words = "tilt amused velvet narrow bridge oxygen lunar fiscal paddle rookie unveil spice";
    for text in [
        format!("MNEMONIC='{words}'\n"),
        format!("mnemonic: \"{words}\"\n"),
    ] {
        let out = Redactor::default().redact(&text).text.into_owned();
        assert!(!out.contains("amused"), "{out}");
    }
    let prose = "the mnemonic: it is a word that helps one to remember a thing or so\n";
    assert_eq!(Redactor::default().redact(prose).text, prose);
}

// Values that are no secret, or are ordinary words.
const HARMLESS: &[&str] = &[
    "password = 'postgres'\nconnecting to postgres as postgres\n",
    "PASSWORD=changeme\nplease changeme later\n",
    "| token | meaning |\n|---|---|\n| NAME | an identifier |\n| NUMBER | digits |\n",
    "token,count\nidentifier,12\nnumber,99\n",
    "key,value\nretries,3\ntimeout,30\n",
    "path = src/pattern/patch.py\npattern: '*.rs'\npatch: 3\n",
    "signing: enabled\nsigning the package\n",
    "password: >-\n  see the vault\n",
    "| name | password policy |\n|---|---|\n| app | rotate every ninety days |\n",
    "commit 9c1185a5c5e9fc54612808977ee8f548b2258d31\nkey: value\n",
];

#[test]
fn keeps_other_text_everywhere() {
    let mut count = 0;
    for number in 0..20 {
        for text in HARMLESS {
            let text = format!("step {number} of 20: ok\n{text}done in {number}.{number} s\n");
            assert_eq!(Redactor::default().redact(&text).text, text);
            count += 1;
        }
    }
    assert_eq!(count, 200);
}
