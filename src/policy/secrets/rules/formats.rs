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
    .finds("eyJ`8QH5YeSymkUtPhCy..pBd9PaYRsiz7GXkL.UnYrgW2QcEQs2lq0.P7HP28mru6IrLPkx")
    .keeps("eyJ`8QH5"),
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
    .finds("$2b$`28$FnuNPXedgxm5zejBO3UZGlKGsXHaQVpeYrryvoGh0TNTCfp7OzvTQ")
    .keeps("$2b$`28$F"),
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
    .finds("scrypt:`97447$RePiDy$b458159570443c86e25c146d6cd3672116528d4d14d1b7a0c9563367a552da8d")
    .keeps("scrypt:`9744"),
    Rule::new(
        "ldap-hash",
        &["{SSHA", "{SHA", "{SMD5}", "{CRYPT}"],
        r"\{(?:SSHA(?:256|384|512)?|SHA(?:256|384|512)?|SMD5)\}[A-Za-z0-9+/]{24,}={0,2}",
    )
    .finds("{SSHA`}u0qc718rIRQXaZ/mlZTspMmK")
    .keeps("{SSHA`}u0q"),
    Rule::new(
        "presigned-url-signature",
        &["X-Amz-Signature=", "X-Goog-Signature="],
        "X-(?:Amz|Goog)-Signature=[A-Fa-f0-9]{64,}",
    )
    .finds("X-Amz-Signature=`9AB3a24CDBebB143bb373431cbFBa2AaD3ffE1Dc7eEF8e0bBdEa1356BE17b0e2")
    .keeps("X-Amz-Signature=`9AB3"),
    Rule::new(
        "paseto",
        &["v1.local.", "v2.local.", "v3.local.", "v4.local.", "v1.public.", "v2.public.", "v3.public.", "v4.public."],
        r"v[1-4]\.(?:local|public)\.[A-Za-z0-9_-]{32,}",
    )
    .finds("v4.local.`6fllncrql21fnWuvPx83w6qBcgP2fYH1")
    .keeps("v4.local.`6fll"),
];
