//! Formats that no single company owns.

use crate::policy::secrets::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "jwt",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{8,}={0,2}\.[A-Za-z0-9_-]{8,}={0,2}\.[A-Za-z0-9_-]{8,}={0,2}",
    )
    .finds("eyJ`hbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiIsIm4iOjF9.q83vEjRWeJCrze8SNFZ4kA")
    .keeps("eyJ`hbGc"),
    Rule::new(
        "jwe",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{0,}\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    )
    .finds("eyJ`vXput7IdUcqB40mZ..ZU2P85yzCo0VOiVg.raiHjAxamvvjxMRk.tgle0IIirQxBYEzf")
    .keeps("eyJ`vXpu"),
    Rule::new(
        "crypt-hash",
        &["$1$", "$5$", "$6$", "$7$", "$y$", "$gy$", "$apr1$"],
        r"\$(?:1|5|6|7|y|gy|apr1)\$(?:rounds=[0-9]{1,9}\$)?(?:[./A-Za-z0-9]{1,8}\$)?[./A-Za-z0-9]{2,32}\$[./A-Za-z0-9]{22,}",
    )
    .finds("$6$`Zq8Lw2xT$k3J9vQp7Xr5Bn1Ws0Yd6Fh4Gt2Mz8Lc")
    .keeps("$6$`Zq8L"),
    Rule::new(
        "bcrypt-hash",
        &["$2a$", "$2b$", "$2x$", "$2y$"],
        r"\$2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}",
    )
    .finds("$2b$`50$hROAqfgycKIEmnJJLYgwLnjAfCa2VwtnDNFTMFnKtPhCypBd9PaYR")
    .keeps("$2b$`50$h"),
    Rule::new(
        "argon2-hash",
        &["$argon2"],
        r"\$argon2(?:i|d|id)\$v=[0-9]{1,3}\$m=[0-9]{1,9},t=[0-9]{1,5},p=[0-9]{1,3}\$[A-Za-z0-9+/=]{8,}\$[A-Za-z0-9+/=]{16,}",
    )
    .finds("$argon2`id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b6dWRWJTmaaqIs")
    .keeps("$argon2`id$v"),
    Rule::new(
        "django-hash",
        &["pbkdf2_sha", "pbkdf2:", "scrypt:"],
        r"(?:pbkdf2_sha(?:1|256|512)\$[0-9]{3,8}\$[A-Za-z0-9]{6,}\$[A-Za-z0-9+/=]{27,}|pbkdf2:sha(?:1|256|512):[0-9]{3,8}\$[A-Za-z0-9]{6,}\$[a-f0-9]{40,}|scrypt:[0-9:]{5,20}\$[A-Za-z0-9]{6,}\$[a-f0-9]{64,})",
    )
    .finds("pbkdf2_sha`512$794$ru6IrL$PkxrtlK5GnY9auuMvMzYO9Xz4yd")
    .keeps("pbkdf2_sha`512$"),
    Rule::new(
        "ldap-hash",
        &["{SSHA", "{SHA", "{SMD5}", "{CRYPT}"],
        r"\{(?:SSHA(?:256|384|512)?|SHA(?:256|384|512)?|SMD5)\}[A-Za-z0-9+/]{24,}={0,2}",
    )
    .finds("{SSHA`}IKjFnuNPZefgxo5zejBO3UZI")
    .keeps("{SSHA`}IKj"),
    Rule::new(
        "presigned-url-signature",
        &["X-Amz-Signature=", "X-Goog-Signature="],
        "X-(?:Amz|Goog)-Signature=[A-Fa-f0-9]{64,}",
    )
    .finds("X-Amz-Signature=`daDF3dd1ed0990B943fcdB8d7EB2f706E71dBc597eFE7c3F2acfEdaB72dc2c3b")
    .keeps("X-Amz-Signature=`daDF"),
    Rule::new(
        "paseto",
        &["v1.local.", "v2.local.", "v3.local.", "v4.local.", "v1.public.", "v2.public.", "v3.public.", "v4.public."],
        r"v[1-4]\.(?:local|public)\.[A-Za-z0-9_-]{32,}",
    )
    .finds("v2.local.`yCyWTGEnYWz1iyvhL5FdwK9bwmdol9Gx")
    .keeps("v2.local.`yCyW"),
];
