//! Model providers and their tools.

use crate::policy::secrets::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "anthropic-key",
        &["sk-ant-"],
        "sk-ant-[a-z0-9]{3,10}-[A-Za-z0-9_-]{60,}",
    )
    .finds("sk-ant-`dei-s9wmZ3mO70AZgrGMsEjHI1sicFZNMSRydpJmkCKT8o94unoY6nM19BtsgZ9U")
    .keeps("sk-ant-`dei-"),
    Rule::new(
        "openai-key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"],
        "sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}",
    )
    .finds("sk-admin-`zLHV9iIvqqTqMImlB6DA")
    .keeps("sk-admin-`zLHV"),
    Rule::new(
        "openai-legacy-key",
        &["T3BlbkFJ"],
        "sk-[A-Za-z0-9_-]{20}T3BlbkFJ[A-Za-z0-9_-]{20,}",
    )
    .back(23)
    .finds("sk-k7KSgwx7i4vvgwGJK4xPT3BlbkFJ`UjG2ocYgBsLveSxF42Sd")
    .keeps("xPT3BlbkFJ`UjG2ocYgBsLveSxF42Sd"),
    Rule::word(
        "model-provider-key",
        &["sk-"],
        "sk-(?:[A-Za-z0-9]{46,}|[a-f0-9]{32})",
    )
    .finds("sk-`doJiBi0ovd8RrgyBPcGdI2SKyp8D03xwoEwwJijbg0HcRP")
    .keeps("sk-`doJi"),
    Rule::new("openrouter-key", &["sk-or-"], "sk-or-(?:v1-)?[a-f0-9]{64}")
        .finds("sk-or-`1140e1f7bd772509e329d24cdb2d70f025f69eba542987d03e12dedae16cf609")
        .keeps("sk-or-`1140"),
    Rule::new(
        "langfuse-key",
        &["sk-lf-"],
        "sk-lf-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",
    )
    .finds("sk-lf-`ba07f3f3-79f4-f96b-eea7-f2705256844d")
    .keeps("sk-lf-`ba07"),
    Rule::new(
        "huggingface-token",
        &["hf_", "api_org_"],
        "(?:hf|api_org)_[A-Za-z0-9]{30,}",
    )
    .finds("hf_`3oCTZGSsA848lIoKWOzhSFUOkf9vse")
    .keeps("hf_`3oCT"),
    Rule::new("replicate-token", &["r8_"], "r8_[A-Za-z0-9]{37}")
        .finds("r8_`JKmGufUYkISLHf1r7ZvLdG3zQE4hiO2BDwR2x")
        .keeps("r8_`JKmG"),
    Rule::new("groq-key", &["gsk_"], "gsk_[A-Za-z0-9]{50,}")
        .finds("gsk_`avc4ggphUXFP7FXPxBnL8HSwbqIpGeqqsQN0mgWqefQAN8V7YC")
        .keeps("gsk_`avc4"),
    Rule::new("xai-key", &["xai-"], "xai-[A-Za-z0-9]{80}")
        .finds(
            "xai-`Zokvkvzx7k51A4A4BMJZXXGIRhYjSJTeEVJsU0t820GyhGvK1hGBjRKdmtryoRRkiDs0l5rAZ3oyXDON",
        )
        .keeps("xai-`Zokv"),
    Rule::new("perplexity-key", &["pplx-"], "pplx-[A-Za-z0-9]{48}")
        .finds("pplx-`TSVrs8iYkpyLXyvYnnKvCWG0ZNu2Ej9cv6mVgXhVa866u3IR")
        .keeps("pplx-`TSVr"),
    Rule::new("together-key", &["tgp_v1_"], "tgp_v1_[A-Za-z0-9_-]{40,}")
        .finds("tgp_v1_`T22UgdeDF1OarCZ50xmlPVt7Z0VVeEtsxWO1QaFC")
        .keeps("tgp_v1_`T22U"),
    Rule::new("nvidia-key", &["nvapi-"], "nvapi-[A-Za-z0-9_-]{60,}")
        .finds("nvapi-`ZvClfZkp_W7AO33NYOpFv9LivicXvxhdwV28bQlyEwF8hSJOYR3tBeGmXidU")
        .keeps("nvapi-`ZvCl"),
    Rule::new("cerebras-key", &["csk-"], "csk-[a-z0-9]{48}")
        .finds("csk-`pucp9msl8gubezifhdmb080m5if3us9ni37l0nb6205d9tsc")
        .keeps("csk-`pucp"),
    Rule::new(
        "langsmith-key",
        &["lsv2_pt_", "lsv2_sk_"],
        "lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
    )
    .finds("lsv2_sk_`128536639bb16affdc88384dd2d23fce_f80b67ec60")
    .keeps("lsv2_sk_`1285"),
    Rule::new("pinecone-key", &["pcsk_"], "pcsk_[A-Za-z0-9_]{60,}")
        .finds("pcsk_`ekZYMLfwiEVs71sbRU4b7TDTrNEChKojAXtwR6pR76CULmHWJXWrRPumNN9o")
        .keeps("pcsk_`ekZY"),
    Rule::word("voyage-key", &["pa-"], "pa-[A-Za-z0-9_-]{43}")
        .finds("pa-`3bzVjJ27ZD8y0N5Sl2ChBySsDIoyKpVndpOQxTjKOI2")
        .keeps("pa-`3bzV"),
    Rule::word("elevenlabs-key", &["sk_"], "sk_[a-f0-9]{48}")
        .finds("sk_`ded5de4be877fb4223d1b5e52cb8b97379eebee59cdb11da")
        .keeps("sk_`ded5"),
    Rule::new("jina-key", &["jina_"], "jina_[A-Za-z0-9_-]{50,}")
        .finds("jina_`9wTNJGddNjgBgiZvtKAqrdH7LL2Oqm835Uw5LzFktULKO0R2LV")
        .keeps("jina_`9wTN"),
    Rule::new(
        "tavily-key",
        &["tvly-"],
        "tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}",
    )
    .finds("tvly-`wVoEOudzJBdeBuwB12BhoYQajol3g5Aa")
    .keeps("tvly-`wVoE"),
    Rule::word("firecrawl-key", &["fc-"], "fc-[a-f0-9]{32}")
        .finds("fc-`623b8168e7819b69aa1b6348e6f86a26")
        .keeps("fc-`623b"),
    Rule::new("wandb-key", &["wandb_v1_"], "wandb_v1_[A-Za-z0-9_-]{40,}")
        .finds("wandb_v1_`b5A6KXHa4RWbPu9fXBOefAZiVe0XB9ks6yIk0WAf")
        .keeps("wandb_v1_`b5A6"),
    Rule::new("e2b-key", &["e2b_"], "e2b_[a-f0-9]{40}")
        .finds("e2b_`3924403f092a101a8f7825a7455e36a1107aa0f4")
        .keeps("e2b_`3924"),
];
