//! Payment and commerce.

use crate::policy::secrets::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "stripe-key",
        &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"],
        "[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}",
    )
    .finds("sk_prod_`hJaAfkosK7")
    .keeps("sk_prod_`hJaA"),
    Rule::new(
        "stripe-webhook-secret",
        &["whsec_"],
        "whsec_[A-Za-z0-9+/]{30,}={0,2}",
    )
    .finds("whsec_`mrDhqjjbegjkBPpOahDU9zExGBnsbU")
    .keeps("whsec_`mrDh"),
    Rule::word(
        "square-token",
        &["EAAA"],
        "EAAA[A-Za-z0-9_-]{22,}",
    )
    .finds("EAAA`2t5DqS43BBwwHdAnsK3UdR")
    .keeps("EAAA`2t5D"),
    Rule::new(
        "square-secret",
        &["sq0atp-", "sq0csp-"],
        "sq0(?:atp|csp)-[A-Za-z0-9_-]{22,}",
    )
    .finds("sq0atp-`HgDyVVbjhKGIbENlOujzXG")
    .keeps("sq0atp-`HgDy"),
    Rule::new(
        "braintree-token",
        &["access_token$"],
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}",
    )
    .finds("access_token$`production$h34dhora03mff0ec$32cc3124a632c188091cf4af926d6f19")
    .keeps("access_token$`prod"),
    Rule::new(
        "plaid-token",
        &["access-sandbox-", "access-development-", "access-production-"],
        "access-(?:sandbox|development|production)-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",
    )
    .finds("access-sandbox-`d168b247-f1c7-4881-0d83-583aad49b084")
    .keeps("access-sandbox-`d168"),
    Rule::new(
        "razorpay-key",
        &["rzp_live_", "rzp_test_"],
        "rzp_(?:live|test)_[A-Za-z0-9]{14,24}",
    )
    .finds("rzp_live_`IXF5IZOI0p8ghq")
    .keeps("rzp_live_`IXF5"),
    Rule::word(
        "payment-key",
        &["live_", "test_"],
        "(?:live|test)_(?:pub_[a-f0-9]{31}|[a-f0-9]{35}|[A-Za-z0-9]{30})",
    )
    .finds("test_`lOthgbz7xsHm5c0Z1x1Wp3qDzb8awh")
    .keeps("test_`lOth"),
    Rule::word(
        "gocardless-token",
        &["live_"],
        "live_[A-Za-z0-9_=-]{40}",
    )
    .finds("live_`rRpTv71zT9h67sWcO66XTsc714LIYgh04FrL0Naj")
    .keeps("live_`rRpT"),
    Rule::new(
        "shopify-token",
        &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"],
        "shp(?:at|ca|pa|ss|tka)_[A-Fa-f0-9]{32}",
    )
    .finds("shptka_`dABEaD404eeBb0DE7b4cFdD31CA224dc")
    .keeps("shptka_`dABE"),
    Rule::new(
        "flutterwave-key",
        &["FLWSECK_TEST-", "FLWPUBK_TEST-", "FLWSECK-", "FLWPUBK-"],
        "FLW(?:SEC|PUB)K(?:_TEST)?-[A-Fa-f0-9]{12,32}(?:-X)?",
    )
    .finds("FLWPUBK-`EF0bDbDdEcfB")
    .keeps("FLWPUBK-`EF0b"),
    Rule::new(
        "shippo-token",
        &["shippo_live_", "shippo_test_"],
        "shippo_(?:live|test)_[a-f0-9]{40}",
    )
    .finds("shippo_live_`3158ba62573ad703deb634bcac2c97d15a22cdea")
    .keeps("shippo_live_`3158"),
    Rule::word(
        "easypost-key",
        &["EZAK", "EZTK"],
        "EZ[AT]K[A-Za-z0-9]{54}",
    )
    .finds("EZAK`3SBAZGdxnrBa9M7dgxxhdo8N5rzhwugP9lFGnTzd9vUpj03VNbQpG2")
    .keeps("EZAK`3SBA"),
    Rule::new(
        "duffel-token",
        &["duffel_test_", "duffel_live_"],
        "duffel_(?:test|live)_[A-Za-z0-9_=-]{43}",
    )
    .finds("duffel_live_`R4TevJEOFkyQIs4WqdfGZIFJTHwaxPemk6de2QfDEiu")
    .keeps("duffel_live_`R4Te"),
    Rule::new(
        "paddle-key",
        &["pdl_live_", "pdl_sdbx_"],
        "pdl_(?:live|sdbx)_apikey_[A-Za-z0-9_]{40,}",
    )
    .finds("pdl_sdbx_`apikey_csIOYsrfDMPq5BFtzugV2ch6u35x2pjOGIACRqhQ")
    .keeps("pdl_sdbx_`apik"),
];
