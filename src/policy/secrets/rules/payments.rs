//! Payment and commerce.

use crate::policy::secrets::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "stripe-key",
        &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"],
        "[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}",
    )
    .finds("sk_prod_`xVp6rSa4je")
    .keeps("sk_prod_`xVp6"),
    Rule::new(
        "stripe-webhook-secret",
        &["whsec_"],
        "whsec_[A-Za-z0-9+/]{30,}={0,2}",
    )
    .finds("whsec_`WsEizeQt2KL863zTEyz005ubYpSLIb")
    .keeps("whsec_`WsEi"),
    Rule::word(
        "square-token",
        &["EAAA"],
        "EAAA[A-Za-z0-9_-]{22,}",
    )
    .finds("EAAA`ciNDPpOahDU9zExGBnsbU2")
    .keeps("EAAA`ciND"),
    Rule::new(
        "square-secret",
        &["sq0atp-", "sq0csp-"],
        "sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}",
    )
    .finds("sq0atp-`SpF76XYsA1T0Ess8uS7Rhx")
    .keeps("sq0atp-`SpF7"),
    Rule::new(
        "braintree-token",
        &["access_token$"],
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    )
    .finds("access_token$`sandbox$qbvv197kgi1enst5$91ed89bd12a780cc7cb32cc3124a632c")
    .keeps("access_token$`sand"),
    Rule::new(
        "plaid-token",
        &["access-sandbox-", "access-development-", "access-production-"],
        "access-(?:sandbox|development|production)-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",
    )
    .finds("access-production-`188091cf-4af9-26d6-f19d-168b247f1c74")
    .keeps("access-production-`1880"),
    Rule::new(
        "razorpay-key",
        &["rzp_live_", "rzp_test_"],
        "rzp_(?:live|test)_[A-Za-z0-9]{14,24}",
    )
    .finds("rzp_live_`ucPMG9m23iSBAq")
    .keeps("rzp_live_`ucPM"),
    Rule::word(
        "payment-key",
        &["live_", "test_"],
        "(?:live|test)_(?:pub_[a-f0-9]{31}|[a-f0-9]{35}|[A-Za-z0-9]{30})",
    )
    .finds("live_`pub_1db084e5ce61e85f218e35ed3f86038")
    .keeps("live_`pub_"),
    Rule::word(
        "gocardless-token",
        &["live_"],
        "live_[A-Za-z0-9_=-]{40}",
    )
    .finds("live_`DU2bAz0whrRpTv71zT9h67sWcO66XTsc714LIYgh")
    .keeps("live_`DU2b"),
    Rule::new(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"],
        "shp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{32}",
    )
    .finds("shpss_`e3AD4a53DF18aD404eeBb0DE7b4cFdD3")
    .keeps("shpss_`e3AD"),
    Rule::new(
        "flutterwave-key",
        &["FLWSECK_TEST-", "FLWPUBK_TEST-", "FLWSECK-", "FLWPUBK-"],
        "FLW(?:SEC|PUB)K(?:_TEST)?-[A-Fa-f0-9]{12,32}(?:-X)?",
    )
    .finds("FLWPUBK-`CA224dc5e50b")
    .keeps("FLWPUBK-`CA22"),
    Rule::new(
        "shippo-token",
        &["shippo_live_", "shippo_test_"],
        "shippo_(?:live|test)_[a-f0-9]{40}",
    )
    .finds("shippo_live_`1d3e25bd158ba62573ad703deb634bcac2c97d15")
    .keeps("shippo_live_`1d3e"),
    Rule::word(
        "easypost-key",
        &["EZAK", "EZTK"],
        "EZ[AT]K[A-Za-z0-9]{54}",
    )
    .finds("EZAK`8VJoiYmAO3SBAZGdxnrBa9M7dgxxhdo8N5rzhwugP9lFGnTzd9vUpj")
    .keeps("EZAK`8VJo"),
    Rule::new(
        "duffel-token",
        &["duffel_test_", "duffel_live_"],
        "duffel_(?:test|live)_[A-Za-z0-9_=-]{43}",
    )
    .finds("duffel_test_`D6CHqtNQR4TevJEOFkyQIs4WqdfGZIFJTHwaxPemk6d")
    .keeps("duffel_test_`D6CH"),
    Rule::new(
        "paddle-key",
        &["pdl_live_", "pdl_sdbx_"],
        "pdl_(?:live|sdbx)_apikey_[A-Za-z0-9_]{40,}",
    )
    .finds("pdl_sdbx_`apikey_2QfDEiuitz9MYetXLFrwQmbgviskWDEfitSZZlkt")
    .keeps("pdl_sdbx_`apik"),
];
