//! Formats that no single company owns.

use crate::policy::secrets::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "jwt",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{8,}={0,2}\.(?:[A-Za-z0-9_-]{8,}={0,2}\.[A-Za-z0-9_-]{8,}={0,2}|eyJ[A-Za-z0-9_-]{8,}={0,2}\.)",
    )
    .finds("eyJ`hbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiIsIm4iOjF9.q83vEjRWeJCrze8SNFZ4kA")
    .keeps("eyJ`hbGc"),
    Rule::new(
        "jwe",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{0,}\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    )
    .finds("eyJ`KCN2HRaeWWJb7PwC..lSOqoZ9QFSIMbz1P.6Q1nO7Uc5yN6flln.crql21fnWuvPx83w")
    .keeps("eyJ`KCN2"),
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
    .finds("$2x$`86$mUdv6EGT4ZBaHLoNr3ANautwIs3MWooOiiNWc47UVzPW2y73GmshU")
    .keeps("$2x$`86$m"),
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
    .finds("scrypt:`54579$ddyIGd$1b0d62ff7b618256df8cd0c81ccb981069876b8abf710ad28c85d7ad3669ed19")
    .keeps("scrypt:`5457"),
    Rule::new(
        "ldap-hash",
        &["{SSHA", "{SHA", "{SMD5}", "{CRYPT}"],
        r"\{(?:SSHA(?:256|384|512)?|SHA(?:256|384|512)?|SMD5)\}[A-Za-z0-9+/]{24,}={0,2}",
    )
    .finds("{SSHA`}9Pzay8LN1eepUwAS8Cd2JzO4")
    .keeps("{SSHA`}9Pz"),
    Rule::new(
        "presigned-url-signature",
        &["X-Amz-Signature=", "X-Goog-Signature="],
        "X-(?:Amz|Goog)-Signature=[A-Fa-f0-9]{64,}",
    )
    .finds("X-Amz-Signature=`2a422EAbee1f98EAf9DC5E2AeFa4Bf1E77299Da7bdED35B58aea8faaA36e6810")
    .keeps("X-Amz-Signature=`2a42"),
    Rule::new(
        "paseto",
        &["v1.local.", "v2.local.", "v3.local.", "v4.local.", "v1.public.", "v2.public.", "v3.public.", "v4.public."],
        r"v[1-4]\.(?:local|public)\.[A-Za-z0-9_-]{32,}",
    )
    .finds("v3.local.`Y69T91NOlzbrgVOJOLyYjAOqM1UcaUQ8")
    .keeps("v3.local.`Y69T"),
];
