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
    Rule::word("fireworks-key", &["fw_"], "fw_[A-Za-z0-9]{22,24}")
        .finds("fw_`ZvClfZkpfWvVrZb3NYOpFv")
        .keeps("fw_`ZvCl"),
    Rule::new("nvidia-key", &["nvapi-"], "nvapi-[A-Za-z0-9_-]{60,}")
        .finds("nvapi-`9LivicXvxhdwV28bQlyEwF8hSJOYR3tBeGmXidUvA5qyx57BuQiv1GUvMtsx")
        .keeps("nvapi-`9Liv"),
    Rule::new("cerebras-key", &["csk-"], "csk-[a-z0-9]{48}")
        .finds("csk-`ydmb080m5if3us9ni37l0nb6205d9tscvoq3wtyzt4cdozbl")
        .keeps("csk-`ydmb"),
    Rule::new(
        "langsmith-key",
        &["lsv2_pt_", "lsv2_sk_"],
        "lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
    )
    .finds("lsv2_sk_`dc88384dd2d23fcef80b67ec609b00f9_cc4eb72430")
    .keeps("lsv2_sk_`dc88"),
    Rule::new("pinecone-key", &["pcsk_"], "pcsk_[A-Za-z0-9_]{60,}")
        .finds("pcsk_`kDTrNEChKojAXtwR6pR76CULmHWJXWrRPumNN9o3bzVjJ27ZD8y0N5Sl2ChB")
        .keeps("pcsk_`kDTr"),
    Rule::word("voyage-key", &["pa-"], "pa-[A-Za-z0-9_-]{43}")
        .finds("pa-`ySsDIoyKpVndpOQxTjKOI2zHI82mhJ2mvYqxWsVDUyP")
        .keeps("pa-`ySsD"),
    Rule::word("elevenlabs-key", &["sk_"], "sk_[a-f0-9]{48}")
        .finds("sk_`23d1b5e52cb8b97379eebee59cdb11da4d0ed8807d9b3fa0")
        .keeps("sk_`23d1"),
    Rule::new("jina-key", &["jina_"], "jina_[A-Za-z0-9_-]{50,}")
        .finds("jina_`OMSHXynfVV2IpIV7pPxjHFmxUi2LVwVoEO6zJBdeBuwB12BhoY")
        .keeps("jina_`OMSH"),
    Rule::new(
        "tavily-key",
        &["tvly-"],
        "tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}",
    )
    .finds("tvly-`Qajol3g5AavWnEDduNYpIsa8fuf7jfDZ")
    .keeps("tvly-`Qajo"),
    Rule::word("firecrawl-key", &["fc-"], "fc-[a-f0-9]{32}")
        .finds("fc-`9aa1b6348e6f86a2604ff5d77bd1c95a")
        .keeps("fc-`9aa1"),
    Rule::new("wandb-key", &["wandb_v1_"], "wandb_v1_[A-Za-z0-9_-]{40,}")
        .finds("wandb_v1_`OefAZiVe0XB9ks6yIk0WAfT-Q6dMQiZw4j3OMhJ9")
        .keeps("wandb_v1_`OefA"),
    Rule::new("e2b-key", &["e2b_"], "e2b_[a-f0-9]{40}")
        .finds("e2b_`3f7825a7455e36a1107aa0f4ad6eb28f453c8849")
        .keeps("e2b_`3f78"),
];
