//! Secrets that say by their first characters what they are. The beginnings, lengths and alphabets
//! are those which the providers publish or show in their documentation. Not here: secrets that are
//! known only by the name before them (`provider`).

use super::alphabet::{ALNUM, Alphabet, BASE64, DOTTED, HEX, OPEN, PARTS, UPPER, URL, UUID, WORD};
use super::hit::{Hit, Rank};
use super::judge::{JUDGED_BYTES_MAX, Make, is_stand_in, says_stand_in};
use super::text::Text;

/// A kind of secret with a beginning of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefixed {
    pub(super) rule: &'static str,
    /// How it begins; three characters at least.
    pub(super) start: &'static str,
    /// What stands after the beginning, and how many bytes of it at least and at most.
    pub(super) body: Alphabet,
    pub(super) least: usize,
    pub(super) most: usize,
}

/// A body whose length has no bound, or one that providers change.
const ANY: usize = usize::MAX;

/// Beginnings this long are no accident, so that even a dull body is believed.
const TELLING_START_BYTES: usize = 15;

/// Breaks inside one secret that are stepped over: a terminal 40 columns wide needs as many for the
/// longest keys of fixed length.
const JOINTS_MAX: usize = 8;

const fn row(
    rule: &'static str,
    start: &'static str,
    body: Alphabet,
    least: usize,
    most: usize,
) -> Prefixed {
    Prefixed { rule, start, body, least, most }
}

/// Every kind. Where one beginning continues another, the longer one stands first.
pub(super) const PREFIXED: &[Prefixed] = &[
    // Clouds.
    row("aws-access-key", "AKIA", UPPER, 16, 16),
    row("aws-access-key", "ASIA", UPPER, 16, 16),
    row("aws-access-key", "ABIA", UPPER, 16, 16),
    row("aws-access-key", "ACCA", UPPER, 16, 16),
    row("aws-access-key", "A3T", UPPER, 17, 17),
    row("aws-bedrock-key", "ABSKQmVkcm9ja0FQSUtleS", BASE64.and("-"), 60, ANY),
    row("aws-bedrock-key", "bedrock-api-key-", BASE64.and("-_"), 40, ANY),
    row("gcp-api-key", "AIza", URL, 35, ANY),
    row("gcp-oauth-token", "ya29.", URL, 20, ANY),
    row("gcp-oauth-secret", "GOCSPX-", URL, 24, ANY),
    row("gcp-refresh-token", "1//0", URL, 30, ANY),
    row("alibaba-access-key", "LTAI", ALNUM, 12, 24),
    row("tencent-secret-id", "AKID", ALNUM, 32, 32),
    row("volcengine-access-key", "AKLT", ALNUM, 38, 60),
    row("yandex-api-key", "AQVN", URL, 35, 38),
    row("yandex-token", "t1.", OPEN.and("."), 80, ANY),
    row("yandex-token", "y0_", URL, 40, ANY),
    row("yandex-access-key", "YCA", URL, 37, 37),
    row("yandex-access-key", "YCM", URL, 37, 37),
    row("yandex-access-key", "YCN", URL, 37, 37),
    row("yandex-access-key", "YCO", URL, 37, 37),
    row("yandex-access-key", "YCP", URL, 37, 37),
    row("digitalocean-token", "dop_v1_", HEX, 40, ANY),
    row("digitalocean-token", "doo_v1_", HEX, 40, ANY),
    row("digitalocean-token", "dor_v1_", HEX, 40, ANY),
    row("heroku-key", "HRKU-", URL, 30, ANY),
    row("flyio-token", "fo1_", URL, 30, ANY),
    row("flyio-token", "fm1_", PARTS, 60, ANY),
    row("flyio-token", "fm1a_", PARTS, 60, ANY),
    row("flyio-token", "fm1r_", PARTS, 60, ANY),
    row("flyio-token", "fm2_", PARTS, 60, ANY),
    row("scaleway-access-key", "SCW", UPPER, 17, 17),
    row("scalingo-token", "tk-us-", URL, 40, ANY),
    row("exoscale-key", "EXO", ALNUM, 24, 32),
    row("aiven-password", "AVNS_", URL, 15, ANY),
    row("cloudflare-origin-key", "v1.0-", HEX.and("-"), 100, ANY),
    row("netlify-token", "nfp_", ALNUM, 30, ANY),
    row("netlify-token", "nfc_", ALNUM, 30, ANY),
    row("render-key", "rnd_", ALNUM, 24, ANY),
    row("vercel-token", "vcp_", ALNUM, 24, ANY),
    row("vercel-token", "vci_", ALNUM, 24, ANY),
    row("vercel-token", "vca_", ALNUM, 24, ANY),
    row("vercel-token", "vcr_", ALNUM, 24, ANY),
    row("vercel-token", "vck_", ALNUM, 24, ANY),
    row("vercel-blob-token", "vercel_blob_rw_", WORD, 30, ANY),
    // Code and its builds.
    row("github-token", "github_pat_", WORD, 50, ANY),
    row("github-token", "ghp_", ALNUM, 30, ANY),
    row("github-token", "gho_", ALNUM, 30, ANY),
    row("github-token", "ghu_", ALNUM, 30, ANY),
    row("github-token", "ghs_", PARTS, 30, ANY),
    row("github-token", "ghr_", ALNUM, 30, ANY),
    row("gitlab-token", "glpat-", DOTTED, 20, ANY),
    row("gitlab-token", "gldt-", DOTTED, 20, ANY),
    row("gitlab-token", "glrt-", DOTTED, 20, ANY),
    row("gitlab-token", "glrtr-", DOTTED, 20, ANY),
    row("gitlab-token", "glptt-", DOTTED, 20, ANY),
    row("gitlab-token", "glft-", DOTTED, 20, ANY),
    row("gitlab-token", "glffct-", DOTTED, 20, ANY),
    row("gitlab-token", "glimt-", DOTTED, 20, ANY),
    row("gitlab-token", "glagent-", DOTTED, 20, ANY),
    row("gitlab-token", "glsoat-", DOTTED, 20, ANY),
    row("gitlab-token", "gloas-", DOTTED, 20, ANY),
    row("gitlab-token", "glcbt-", DOTTED, 20, ANY),
    row("gitlab-token", "glwt-", DOTTED, 20, ANY),
    row("gitlab-runner-token", "GR1348941", URL, 20, ANY),
    row("gitlab-session", "_gitlab_session=", URL, 20, ANY),
    row("bitbucket-password", "ATBB", ALNUM, 28, 40),
    row("atlassian-token", "ATATT3", OPEN, 60, ANY),
    row("atlassian-token", "ATCTT3", OPEN, 60, ANY),
    row("atlassian-token", "ATSTT3", OPEN, 60, ANY),
    row("trello-token", "ATTA", ALNUM, 60, 80),
    row("npm-token", "npm_", ALNUM, 30, ANY),
    row("pypi-token", "pypi-AgE", URL, 40, ANY),
    row("crates-io-token", "cio", ALNUM, 32, 32),
    row("rubygems-key", "rubygems_", HEX, 40, ANY),
    row("nuget-key", "oy2", ALNUM, 43, 43),
    row("clojars-token", "CLOJARS_", ALNUM, 40, ANY),
    row("docker-token", "dckr_pat_", URL, 20, ANY),
    row("docker-token", "dckr_oat_", URL, 20, ANY),
    row("artifactory-key", "AKCp", ALNUM, 60, ANY),
    row("artifactory-token", "cmVmd", ALNUM, 59, 59),
    row("cloudsmith-key", "csmith_", URL, 24, ANY),
    row("sourcegraph-token", "sgp_local_", HEX, 40, 40),
    row("sourcegraph-token", "sgp_", HEX.and("_"), 40, 57),
    row("sourcegraph-token", "slk_", HEX, 64, ANY),
    row("sonar-token", "squ_", OPEN, 40, ANY),
    row("sonar-token", "sqp_", OPEN, 40, ANY),
    row("sonar-token", "sqa_", OPEN, 40, ANY),
    row("sonar-token", "sqb_", OPEN, 40, ANY),
    row("buildkite-token", "bkua_", HEX, 40, ANY),
    row("buildkite-token", "bkct_", URL, 40, ANY),
    row("circleci-token", "CCIPAT_", URL, 40, ANY),
    row("circleci-token", "CCIPRJ_", URL, 40, ANY),
    row("harness-key", "pat.", DOTTED, 60, 68),
    row("harness-key", "sat.", DOTTED, 60, 68),
    row("octopus-key", "API-", UPPER, 26, 26),
    row("postman-key", "PMAK-", HEX.and("-"), 50, ANY),
    row("postman-token", "PMAT-", ALNUM, 24, ANY),
    row("readme-key", "rdme_", ALNUM, 60, ANY),
    row("snyk-token", "snyk_uat.", DOTTED, 30, ANY),
    row("snyk-token", "snyk_sat.", DOTTED, 30, ANY),
    row("semgrep-token", "sgcli_", ALNUM, 40, ANY),
    row("openshift-token", "sha256~", URL, 43, 43),
    // Infrastructure.
    row("age-key", "AGE-SECRET-KEY-1", UPPER, 58, 58),
    row("age-key", "AGE-SECRET-KEY-PQ-1", UPPER, 58, ANY),
    row("vault-token", "hvs.", URL, 22, ANY),
    row("vault-token", "hvb.", URL, 60, ANY),
    row("vault-token", "hvr.", URL, 22, ANY),
    row("1password-token", "ops_eyJ", BASE64.and("-_"), 100, ANY),
    row("pulumi-token", "pul-", HEX, 40, 40),
    row("doppler-token", "dp.pt.", ALNUM, 35, ANY),
    row("doppler-token", "dp.st.", DOTTED, 35, ANY),
    row("doppler-token", "dp.ct.", ALNUM, 35, ANY),
    row("doppler-token", "dp.sa.", ALNUM, 35, ANY),
    row("doppler-token", "dp.scim.", ALNUM, 35, ANY),
    row("doppler-token", "dp.audit.", ALNUM, 35, ANY),
    row("infisical-token", "st.", DOTTED.and("="), 80, ANY),
    row("infracost-token", "ico-", ALNUM, 32, 32),
    row("planetscale-token", "pscale_tkn_", DOTTED.and("="), 32, ANY),
    row("planetscale-token", "pscale_oauth_", DOTTED.and("="), 32, ANY),
    row("planetscale-password", "pscale_pw_", DOTTED.and("="), 32, ANY),
    row("prefect-key", "pnu_", ALNUM, 32, ANY),
    row("prefect-key", "pnb_", ALNUM, 32, ANY),
    row("tailscale-key", "tskey-", URL, 20, ANY),
    row("defined-networking-token", "dnkey-", OPEN, 60, ANY),
    row("1password-key", "A3-", UPPER.and("-"), 33, 40),
    row("databricks-token", "dapi", HEX.and("-"), 32, 34),
    row("databricks-secret", "dose", HEX, 32, 32),
    row("clickhouse-key", "4b1d", ALNUM, 38, 38),
    row("neon-key", "napi_", ALNUM, 40, ANY),
    row("supabase-key", "sbp_", HEX, 40, ANY),
    row("supabase-key", "sb_secret_", URL, 20, ANY),
    row("dynatrace-token", "dt0c01.", DOTTED, 60, ANY),
    row("dynatrace-token", "dt0s01.", DOTTED, 60, ANY),
    row("dynatrace-token", "dt0s16.", DOTTED, 60, ANY),
    row("grafana-key", "eyJrIjoi", BASE64, 60, ANY),
    row("grafana-token", "glc_", BASE64, 32, ANY),
    row("grafana-token", "glsa_", WORD, 40, ANY),
    row("new-relic-key", "NRAK-", ALNUM, 24, ANY),
    row("new-relic-key", "NRII-", URL, 24, ANY),
    row("new-relic-key", "NRJS-", ALNUM, 16, ANY),
    row("new-relic-key", "NRAA-", ALNUM, 24, ANY),
    row("new-relic-key", "NRRA-", ALNUM, 24, ANY),
    row("sentry-token", "sntrys_", PARTS, 60, ANY),
    row("sentry-token", "sntryu_", HEX, 50, ANY),
    row("honeycomb-key", "hcaik_", ALNUM, 40, ANY),
    row("honeycomb-key", "hcamk_", ALNUM, 40, ANY),
    row("axiom-token", "xaat-", UUID, 36, 36),
    row("axiom-token", "xapt-", UUID, 36, 36),
    row("logfire-token", "pylf_v1_", WORD, 30, ANY),
    row("posthog-key", "phx_", ALNUM, 32, ANY),
    row("launchdarkly-key", "sdk-", UUID, 36, 36),
    row("launchdarkly-key", "api-", UUID, 36, 36),
    // Models.
    row("anthropic-key", "sk-ant-", URL, 32, ANY),
    row("openai-key", "sk-proj-", URL, 32, ANY),
    row("openai-key", "sk-svcacct-", URL, 32, ANY),
    row("openai-key", "sk-admin-", URL, 32, ANY),
    row("openrouter-key", "sk-or-v1-", HEX, 40, ANY),
    row("langfuse-key", "sk-lf-", UUID, 36, 36),
    row("langfuse-key", "pk-lf-", UUID, 36, 36),
    row("openai-key", "sk-", URL, 32, ANY),
    row("huggingface-token", "hf_", ALNUM, 30, ANY),
    row("huggingface-token", "api_org_", ALNUM, 30, ANY),
    row("perplexity-key", "pplx-", ALNUM, 40, ANY),
    row("groq-key", "gsk_", ALNUM, 40, ANY),
    row("xai-key", "xai-", ALNUM, 60, ANY),
    row("replicate-token", "r8_", ALNUM, 36, 40),
    row("together-key", "tgp_v1_", URL, 40, ANY),
    row("nvidia-key", "nvapi-", URL, 50, ANY),
    row("langsmith-key", "lsv2_pt_", WORD, 40, ANY),
    row("langsmith-key", "lsv2_sk_", WORD, 40, ANY),
    row("pinecone-key", "pcsk_", WORD, 40, ANY),
    row("tavily-key", "tvly-", URL, 24, ANY),
    row("cerebras-key", "csk-", ALNUM, 40, ANY),
    row("jina-key", "jina_", URL, 40, ANY),
    row("fireworks-key", "fw_", ALNUM, 22, 24),
    row("runpod-key", "rpa_", ALNUM, 40, ANY),
    row("wandb-key", "wandb_v1_", WORD, 40, ANY),
    // Talking.
    row("slack-token", "xoxe.xoxb-", URL, 20, ANY),
    row("slack-token", "xoxe.xoxp-", URL, 20, ANY),
    row("slack-token", "xoxb-", URL, 10, ANY),
    row("slack-token", "xoxp-", URL, 10, ANY),
    row("slack-token", "xoxa-", URL, 10, ANY),
    row("slack-token", "xoxr-", URL, 10, ANY),
    row("slack-token", "xoxs-", URL, 10, ANY),
    row("slack-token", "xoxo-", URL, 30, ANY),
    row("slack-token", "xoxe-", URL, 20, ANY),
    row("slack-token", "xoxc-", URL, 20, ANY),
    row("slack-token", "xoxd-", BASE64.and("-_%"), 40, ANY),
    row("slack-token", "xapp-", URL, 24, ANY),
    row("sendgrid-key", "SG.", DOTTED.and("="), 60, ANY),
    row("sendinblue-key", "xkeysib-", URL, 60, ANY),
    row("sendinblue-key", "xsmtpsib-", URL, 60, ANY),
    row("mailgun-key", "key-", HEX, 32, 32),
    row("mailgun-key", "pubkey-", HEX, 32, 32),
    row("resend-key", "re_", WORD, 30, 40),
    row("typeform-token", "tfp_", OPEN.and("."), 50, ANY),
    row("intercom-token", "dG9rOj", BASE64, 50, ANY),
    // Money.
    row("stripe-key", "sk_live_", ALNUM, 10, ANY),
    row("stripe-key", "sk_test_", ALNUM, 10, ANY),
    row("stripe-key", "sk_prod_", ALNUM, 10, ANY),
    row("stripe-key", "rk_live_", ALNUM, 10, ANY),
    row("stripe-key", "rk_test_", ALNUM, 10, ANY),
    row("stripe-key", "rk_prod_", ALNUM, 10, ANY),
    row("stripe-webhook-secret", "whsec_", BASE64, 24, ANY),
    row("square-token", "sq0atp-", URL, 20, ANY),
    row("square-secret", "sq0csp-", URL, 30, ANY),
    row("square-or-facebook-token", "EAA", OPEN, 57, ANY),
    row("paypal-braintree-token", "access_token$production$", ALNUM.and("$"), 40, ANY),
    row("paypal-braintree-token", "access_token$sandbox$", ALNUM.and("$"), 40, ANY),
    row("plaid-token", "access-sandbox-", UUID, 36, 36),
    row("plaid-token", "access-development-", UUID, 36, 36),
    row("plaid-token", "access-production-", UUID, 36, 36),
    row("flutterwave-key", "FLWSECK", ALNUM.and("-_"), 12, ANY),
    row("flutterwave-key", "FLWPUBK", ALNUM.and("-_"), 24, ANY),
    row("razorpay-key", "rzp_live_", ALNUM, 14, ANY),
    row("razorpay-key", "rzp_test_", ALNUM, 14, ANY),
    row("easypost-key", "EZAK", ALNUM, 54, ANY),
    row("easypost-key", "EZTK", ALNUM, 54, ANY),
    row("shippo-token", "shippo_live_", HEX, 30, ANY),
    row("shippo-token", "shippo_test_", HEX, 30, ANY),
    row("shopify-token", "shpat_", HEX, 30, ANY),
    row("shopify-token", "shpca_", HEX, 30, ANY),
    row("shopify-token", "shppa_", HEX, 30, ANY),
    row("shopify-token", "shpss_", HEX, 30, ANY),
    row("duffel-token", "duffel_test_", OPEN, 40, ANY),
    row("duffel-token", "duffel_live_", OPEN, 40, ANY),
    row("settlemint-token", "sm_aat_", ALNUM, 16, ANY),
    row("settlemint-token", "sm_pat_", ALNUM, 16, ANY),
    row("settlemint-token", "sm_sat_", ALNUM, 16, ANY),
    // Work.
    row("linear-key", "lin_api_", ALNUM, 32, ANY),
    row("linear-key", "lin_oauth_", ALNUM, 32, ANY),
    row("notion-token", "ntn_", ALNUM, 40, ANY),
    row("notion-token", "secret_", ALNUM, 43, 43),
    row("airtable-token", "pat", ALNUM.and("."), 79, 79),
    row("asana-token", "1/1", HEX.and(":/"), 40, ANY),
    row("figma-token", "figd_", URL, 36, ANY),
    row("frameio-token", "fio-u-", OPEN, 50, ANY),
    row("contentful-token", "CFPAT-", URL, 40, ANY),
    row("hubspot-token", "pat-na1-", UUID, 36, 36),
    row("hubspot-token", "pat-eu1-", UUID, 36, 36),
    row("mapbox-token", "pk.ey", DOTTED, 60, ANY),
    row("mapbox-token", "sk.ey", DOTTED, 60, ANY),
    row("mapbox-token", "tk.ey", DOTTED, 60, ANY),
    row("adobe-secret", "p8e-", ALNUM, 32, 32),
    row("authress-key", "authress_", DOTTED.and("="), 50, ANY),
    row("authress-key", "scauth_", DOTTED.and("="), 50, ANY),
    row("intra42-secret", "s-s4t2ud-", HEX, 60, ANY),
    row("intra42-secret", "s-s4t2af-", HEX, 60, ANY),
    row("facebook-token", "EAACEdEose0cBA", ALNUM, 20, ANY),
    // More clouds, registries and tools.
    row("aws-session-token", "IQoJb3JpZ2lu", BASE64, 100, ANY),
    row("aws-session-token", "FwoGZXIvYXdz", BASE64, 100, ANY),
    row("aws-session-token", "FQoGZXIvYXdz", BASE64, 100, ANY),
    row("gcp-auth-code", "4/0A", URL, 50, ANY),
    row("cloudflare-token", "cfut_", ALNUM, 30, ANY),
    row("cloudflare-token", "cfat_", ALNUM, 30, ANY),
    row("cloudflare-key", "cfk_", ALNUM, 30, ANY),
    row("cloudflare-tunnel-token", "eyJhIjoi", BASE64, 100, ANY),
    row("baidu-key", "bce-v3/ALTAK-", ALNUM.and("/"), 40, ANY),
    row("upcloud-token", "ucat_", ALNUM, 20, ANY),
    row("akamai-token", "akab-", URL, 28, ANY),
    row("porkbun-key", "pk1_", HEX, 60, ANY),
    row("porkbun-key", "sk1_", HEX, 60, ANY),
    row("deno-token", "ddp_", ALNUM, 30, ANY),
    row("deno-token", "ddo_", ALNUM, 30, ANY),
    row("valtown-token", "vtwn_", ALNUM, 20, ANY),
    row("xata-key", "xau_", ALNUM, 30, ANY),
    row("tinybird-token", "p.ey", DOTTED, 60, ANY),
    row("cockroach-key", "CCDB1_", WORD, 40, ANY),
    row("mongodb-atlas-secret", "mdb_sa_sk_", URL, 30, ANY),
    row("confluent-secret", "cflt", BASE64, 60, 60),
    row("elastic-key", "essu_", BASE64, 40, ANY),
    row("netlify-token", "nfo_", ALNUM, 30, ANY),
    row("netlify-token", "nfu_", ALNUM, 30, ANY),
    row("netlify-token", "nfb_", ALNUM, 30, ANY),
    row("honeycomb-key", "hcxik_", ALNUM, 40, ANY),
    row("honeycomb-key", "hcxmk_", ALNUM, 40, ANY),
    row("honeycomb-key", "hcalk_", ALNUM, 40, ANY),
    row("coralogix-key", "cxtp_", ALNUM, 24, ANY),
    row("coralogix-key", "cxup_", ALNUM, 24, ANY),
    row("checkly-key", "cu_", HEX, 32, 32),
    row("pagerduty-key", "pdus+", URL.and("+"), 20, ANY),
    row("rootly-key", "rootly_", HEX, 40, ANY),
    row("datadog-token", "ddpat_", URL, 30, ANY),
    row("datadog-token", "ddapp_", ALNUM, 30, ANY),
    row("buildkite-token", "bkaj_", URL, 30, ANY),
    row("depot-token", "depot_", WORD, 30, ANY),
    row("chromatic-token", "chpt_", ALNUM, 12, ANY),
    row("packagist-token", "packagist_", WORD, 40, ANY),
    row("jsr-token", "jsrp_", ALNUM, 30, ANY),
    row("hex-pm-key", "hxtp_", ALNUM, 40, ANY),
    row("hex-pm-key", "hxtw_", ALNUM, 40, ANY),
    row("dbt-token", "dbtc_", URL, 30, ANY),
    row("dbt-token", "dbtu_", URL, 30, ANY),
    row("metabase-key", "mb_", BASE64, 40, ANY),
    row("retool-token", "retool_", WORD, 24, ANY),
    row("endorlabs-key", "endr+", ALNUM, 16, ANY),
    row("phylum-token", "ph0_", URL, 40, ANY),
    row("socket-key", "sktsec_", URL, 40, ANY),
    row("aikido-token", "AIK_", WORD, 30, ANY),
    row("stackhawk-key", "hawk.", DOTTED, 36, ANY),
    row("censys-key", "censys_", WORD, 20, ANY),
    row("netbird-token", "nbp_", ALNUM, 30, ANY),
    row("docker-swarm-token", "SWMTKN-1-", URL, 60, ANY),
    row("k3s-token", "K10", ALNUM.and(":"), 70, ANY),
    row("jetbrains-token", "perm:", BASE64.and(".-_"), 40, ANY),
    row("jetbrains-token", "perm-", BASE64.and("._"), 40, ANY),
    row("ory-token", "ory_pat_", ALNUM, 30, ANY),
    row("ory-token", "ory_at_", URL, 40, ANY),
    row("ory-token", "ory_st_", ALNUM, 30, ANY),
    row("stytch-secret", "secret-live-", URL, 30, ANY),
    row("stytch-secret", "secret-test-", URL, 30, ANY),
    row("statsig-key", "secret-", ALNUM, 40, ANY),
    row("permit-key", "permit_key_", ALNUM, 40, ANY),
    row("rfc8959-url", "secret-token:", URL, 12, ANY),
    row("elevenlabs-key", "sk_", HEX, 48, 48),
    row("freemius-secret", "sk_", WORD.and("#@*$&^"), 29, 29),
    row("clickup-token", "pk_", UPPER.and("_"), 38, 44),
    row("klaviyo-key", "pk_", HEX, 34, 34),
    row("modal-token", "ak-", ALNUM, 22, 22),
    row("modal-token", "as-", ALNUM, 22, 22),
    row("voyage-key", "pa-", URL, 43, 43),
    row("firecrawl-key", "fc-", HEX, 32, 32),
    row("brave-key", "BSA", URL, 28, 28),
    row("apify-token", "apify_api_", ALNUM, 30, ANY),
    row("browserbase-key", "bb_live_", URL, 20, ANY),
    row("e2b-key", "e2b_", HEX, 40, ANY),
    row("daytona-key", "dtn_", ALNUM, 40, ANY),
    row("cursor-key", "crsr_", HEX, 40, ANY),
    row("mem0-key", "m0-", ALNUM, 40, ANY),
    row("context7-key", "ctx7sk-", UUID, 36, 36),
    row("anyscale-key", "esecret_", ALNUM, 24, ANY),
    row("anyscale-key", "aph0_", ALNUM, 24, ANY),
    row("paddle-key", "pdl_live_", WORD, 40, ANY),
    row("paddle-key", "pdl_sdbx_", WORD, 40, ANY),
    row("polar-token", "polar_oat_", ALNUM, 30, ANY),
    row("polar-token", "polar_pat_", ALNUM, 30, ANY),
    row("lob-key", "live_pub_", HEX, 31, 31),
    row("lob-key", "test_pub_", HEX, 31, 31),
    row("lob-key", "live_", HEX, 35, 35),
    row("lob-key", "test_", HEX, 35, 35),
    row("mollie-key", "live_", ALNUM, 30, 30),
    row("mollie-key", "test_", ALNUM, 30, 30),
    row("woocommerce-key", "ck_", HEX, 40, 40),
    row("woocommerce-key", "cs_", HEX, 40, 40),
    row("onesignal-key", "os_v2_app_", ALNUM, 60, ANY),
    row("ramp-secret", "ramp_sec_", ALNUM, 30, ANY),
    row("brex-token", "bxt_", WORD, 30, ANY),
    row("calcom-key", "cal_live_", ALNUM, 20, ANY),
    row("calcom-key", "cal_test_", ALNUM, 20, ANY),
    row("nylas-key", "nyk_v0_", ALNUM, 40, ANY),
    row("tally-key", "tly-", ALNUM, 20, ANY),
    row("gitbook-token", "gb_api_", ALNUM, 30, ANY),
    row("inngest-key", "signkey-prod-", HEX, 32, ANY),
    row("inngest-key", "signkey-test-", HEX, 32, ANY),
    row("trigger-key", "tr_dev_", ALNUM, 18, ANY),
    row("trigger-key", "tr_prod_", ALNUM, 18, ANY),
    row("trigger-key", "tr_pat_", ALNUM, 30, ANY),
    row("liveblocks-key", "sk_dev_", URL, 30, ANY),
    row("alchemy-key", "alcht_", ALNUM, 30, ANY),
    row("quicknode-key", "QN_", HEX, 32, 32),
    row("zoho-token", "1000.", HEX.and("."), 65, 65),
    row("telnyx-key", "KEY0", WORD, 40, ANY),
    row("linkedin-secret", "WPL_AP1.", BASE64.and("."), 16, ANY),
    row("instagram-token", "IGQ", ALNUM, 100, ANY),
    row("vk-token", "vk1.a.", URL, 60, ANY),
    row("matrix-token", "syt_", WORD, 30, ANY),
    row("matrix-token", "mct_", WORD, 30, ANY),
    row("dropbox-token", "sl.", DOTTED, 120, ANY),
    row("hubspot-token", "pat-na2-", UUID, 36, 36),
    row("hubspot-token", "pat-na3-", UUID, 36, 36),
    row("hubspot-token", "pat-ap1-", UUID, 36, 36),
    row("figma-token", "figu_", URL, 36, ANY),
    row("posthog-key", "phs_", ALNUM, 32, ANY),
    row("minisign-key", "RWRTY0Iy", BASE64, 100, ANY),
    row("nostr-key", "nsec1", ALNUM, 58, 58),
    row("bitcoin-key", "xprv", ALNUM, 107, 107),
    row("base64-jwt", "ZXlK", PARTS, 60, ANY),
];

/// Looks for a secret of one kind at its beginning. `place` is where the beginning stands.
pub(super) fn found(text: Text<'_>, place: usize, kind: &Prefixed) -> Option<Hit> {
    let body = place + kind.start.len();
    let before = text.before(place);
    // A short beginning is also found in names of files and in base64.
    let is_short = kind.start.len() < 5;
    // Inside a run of its own characters it would be one of many that walk the same run.
    let is_inside = matches!(before, b'-' | b'_') && kind.body.has(before);
    let continues =
        before.is_ascii_alphanumeric() || is_inside || (is_short && matches!(before, b'.' | b'+'));
    if continues || text.slice(place, body) != kind.start.as_bytes() {
        return None;
    }
    let enough = body_end(text, body, kind)?;
    let value = text.slice(body, text.run(enough, kind.body, JUDGED_BYTES_MAX));
    let is_telling = kind.start.len() >= TELLING_START_BYTES;
    let make = Make::of(value);
    let is_dull = make.distinct < 5 || (make.digits < 2 && !make.is_unlike_words(80));
    if (!is_telling && (is_dull || is_stand_in(value))) || says_stand_in(value) {
        return None;
    }
    // Only a secret is walked to its end, behind which the pass goes on.
    let end = text.run(enough, kind.body, usize::MAX);
    // A point or hyphen at the end belongs to the sentence.
    let body = text.slice(body, end);
    let trailing = body.iter().rev().take_while(|byte| matches!(byte, b'.' | b'-' | b',')).count();
    Some(Hit { rule: kind.rule, from: place, to: end - trailing, rank: Rank::Telling })
}

/// Returns where enough of a body ends, over breaks that a terminal or a program put into it; of a
/// kind whose length is known, where the whole body ends.
fn body_end(text: Text<'_>, body: usize, kind: &Prefixed) -> Option<usize> {
    let (mut end, mut length, mut joints) = (body, 0, 0);
    let is_exact = kind.most != ANY;
    let most = if is_exact { kind.most + 1 } else { kind.least };
    loop {
        let part = text.run(end, kind.body, most - length);
        length += part - end;
        end = part;
        if length >= kind.least {
            let goes_on = is_exact && (length > kind.most || text.at(end).is_ascii_alphanumeric());
            return (!goes_on).then_some(end);
        }
        if length == 0 || joints == JOINTS_MAX {
            return None;
        }
        joints += 1;
        end = joint_end(text, end)?;
    }
}

/// Returns the end of a break inside a string: a line break and what indents the next line, or a
/// closing quote, `+`, and an opening one.
pub(super) fn joint_end(text: Text<'_>, place: usize) -> Option<usize> {
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let quote = text.at(place);
    if matches!(quote, b'"' | b'\'' | b'`') {
        let operator = text.run_while(place + 1, 32, is_blank);
        let next = text.run_while(operator, 2, |byte| matches!(byte, b'+' | b'.' | b'&' | b'\\'));
        let opening = text.run_while(next, 32, is_blank);
        let joined = opening > place + 1 && matches!(text.at(opening), b'"' | b'\'' | b'`');
        return joined.then_some(opening + 1);
    }
    let line = text.run_while(place, 2, |byte| matches!(byte, b'\\' | b'\r'));
    (text.at(line) == b'\n').then(|| text.run_while(line, 32, is_blank))
}
