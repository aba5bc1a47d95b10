//! Secrets that are known by the provider's name before them: for each provider, the forms of its
//! keys as it documents them. Not here: how a name, an operator and a value are found (`assigned`).

use super::alphabet::{ALNUM, Alphabet, BASE64, DIGIT, DOTTED, HEX, OPEN, PARTS, UPPER, URL, UUID};
use super::judge::{Make, is_stand_in};

/// What a provider's secrets look like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Provider {
    pub(super) rule: &'static str,
    pub(super) forms: &'static [Form],
}

/// One form of a key: its characters, and how many at least and at most.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    pub(super) alphabet: Alphabet,
    pub(super) least: usize,
    pub(super) most: usize,
}

impl Form {
    /// The form of nothing.
    pub(super) const NONE: Self = form(Alphabet::of(""), 0, 0);
}

const fn form(alphabet: Alphabet, least: usize, most: usize) -> Form {
    Form { alphabet, least, most }
}

/// A provider, behind how it is written in names of variables: in lower case, three characters at least.
type Row = (&'static [&'static str], Provider);

const fn of(rule: &'static str, names: &'static [&'static str], forms: &'static [Form]) -> Row {
    (names, Provider { rule, forms })
}

const HEX_32: Form = form(HEX, 32, 32);
const HEX_40: Form = form(HEX, 40, 40);
const HEX_64: Form = form(HEX, 64, 64);
const A_UUID: Form = form(UUID, 36, 36);
const ANY_32: Form = form(OPEN, 32, 32);
const ANY_40: Form = form(OPEN, 40, 40);
const ANY_64: Form = form(OPEN, 64, 64);

/// Every provider.
pub(super) const PROVIDERS: &[Row] = &[
    of("1password-key", &["1password", "onepassword"], &[form(DOTTED, 26, 64)]),
    of("adafruit-key", &["adafruit"], &[ANY_32]),
    of("adobe-key", &["adobe"], &[HEX_32, form(URL, 36, 36)]),
    of("adyen-key", &["adyen"], &[form(PARTS, 40, 400)]),
    of("airtable-key", &["airtable"], &[form(ALNUM, 17, 17)]),
    of("aiven-key", &["aiven"], &[form(BASE64, 200, 600), form(URL, 20, 40)]),
    of("algolia-key", &["algolia"], &[form(ALNUM, 32, 32)]),
    of("alibaba-secret", &["alibaba", "aliyun"], &[form(ALNUM, 30, 30)]),
    of("amplitude-key", &["amplitude"], &[HEX_32]),
    of(
        "artifactory-token",
        &["jfrog", "artifactory", "bintray", "xray"],
        &[form(ALNUM, 64, 64), form(ALNUM, 73, 73)],
    ),
    of("asana-secret", &["asana"], &[form(DIGIT, 16, 16), form(ALNUM, 32, 32)]),
    of("assemblyai-key", &["assemblyai", "assembly_ai"], &[HEX_32]),
    of(
        "atlassian-token",
        &["atlassian", "confluence", "jira"],
        &[form(ALNUM, 20, 24), form(PARTS, 100, 200)],
    ),
    of("auth0-secret", &["auth0"], &[form(URL, 32, 64)]),
    of("aws-secret", &["aws", "amazon", "bedrock"], &[form(BASE64, 40, 40)]),
    of(
        "azure-key",
        &["azure", "cosmos"],
        &[
            HEX_32,
            form(BASE64, 43, 44),
            form(BASE64, 86, 88),
            form(ALNUM, 84, 84),
            form(ALNUM, 52, 52),
        ],
    ),
    of("baidu-key", &["baidu"], &[form(ALNUM, 24, 24), HEX_32]),
    of("beamer-token", &["beamer"], &[form(OPEN, 44, 48)]),
    of("bitbucket-secret", &["bitbucket"], &[form(ALNUM, 32, 32), ANY_64]),
    of("bitly-token", &["bitly"], &[HEX_40]),
    of("bittrex-key", &["bittrex"], &[form(ALNUM, 32, 32)]),
    of("box-secret", &["boxapp", "box_client", "box-client"], &[form(ALNUM, 32, 32)]),
    of("braintree-key", &["braintree"], &[HEX_32]),
    of("branchio-key", &["branchio", "branch_io"], &[form(URL, 32, 48)]),
    of("bugsnag-key", &["bugsnag"], &[HEX_32, A_UUID]),
    of("buildkite-token", &["buildkite"], &[HEX_40, form(ALNUM, 50, 50)]),
    of("bybit-key", &["bybit"], &[form(ALNUM, 18, 36)]),
    of("binance-key", &["binance"], &[form(ALNUM, 64, 64)]),
    of("circleci-token", &["circleci", "circle_ci", "circle-ci"], &[HEX_40]),
    of("cisco-meraki-key", &["meraki"], &[HEX_40]),
    of("clarifai-key", &["clarifai"], &[HEX_32]),
    of("clerk-key", &["clerk"], &[form(URL, 40, 60)]),
    of("clickup-token", &["clickup"], &[form(URL.and("."), 32, 60)]),
    of("cloudflare-key", &["cloudflare", "cf_api"], &[form(HEX, 37, 37), form(URL, 40, 40)]),
    of("cloudinary-secret", &["cloudinary"], &[form(DIGIT, 15, 15), form(URL, 27, 27)]),
    of("codacy-token", &["codacy"], &[HEX_32, form(ALNUM, 20, 20)]),
    of(
        "codeclimate-token",
        &["codeclimate", "code_climate", "cc_test_reporter"],
        &[HEX_64, HEX_40],
    ),
    of("codecov-token", &["codecov"], &[form(ALNUM, 32, 32), A_UUID]),
    of("cohere-key", &["cohere", "co_api_key"], &[form(ALNUM, 40, 40)]),
    of("coinbase-key", &["coinbase"], &[ANY_64, A_UUID, form(BASE64, 86, 88)]),
    of("confluent-key", &["confluent"], &[form(ALNUM, 16, 16), form(BASE64, 64, 64)]),
    of("contentful-token", &["contentful"], &[form(OPEN, 43, 43), form(OPEN, 64, 64)]),
    of("coveralls-token", &["coveralls"], &[form(ALNUM, 32, 37)]),
    of("databricks-token", &["databricks"], &[form(HEX.and("-"), 32, 40)]),
    of("datadog-key", &["datadog", "dd_api", "dd_app"], &[HEX_32, form(ALNUM, 40, 40)]),
    of("deepgram-key", &["deepgram"], &[HEX_40]),
    of("deepl-key", &["deepl"], &[form(UUID.and(":fx"), 36, 39)]),
    of(
        "discord-secret",
        &["discord"],
        &[form(DIGIT, 17, 20), ANY_32, HEX_64, form(DOTTED, 58, 76)],
    ),
    of("docker-token", &["dockerhub", "docker_hub", "docker_pat"], &[A_UUID, form(URL, 36, 44)]),
    of("droneci-token", &["droneci", "drone"], &[form(ALNUM, 32, 32)]),
    of(
        "dropbox-token",
        &["dropbox"],
        &[form(ALNUM, 15, 15), form(OPEN, 60, 68), form(DOTTED.and("="), 130, 180)],
    ),
    of("ebay-key", &["ebay"], &[form(URL, 36, 44)]),
    of("elastic-key", &["elasticsearch", "elastic_"], &[form(BASE64, 56, 64)]),
    of("elevenlabs-key", &["elevenlabs", "eleven_labs", "xi-api"], &[HEX_32, form(URL, 51, 51)]),
    of("etsy-token", &["etsy"], &[form(ALNUM, 24, 24)]),
    of(
        "facebook-secret",
        &["facebook", "fb_app", "meta_app"],
        &[HEX_32, form(OPEN.and("|"), 40, 60)],
    ),
    of("fastly-token", &["fastly"], &[ANY_32]),
    of("figma-token", &["figma"], &[form(URL, 40, 50)]),
    of("finicity-secret", &["finicity"], &[form(ALNUM, 20, 20), HEX_32]),
    of("finnhub-token", &["finnhub"], &[form(ALNUM, 20, 20)]),
    of("firebase-key", &["firebase", "fcm_server"], &[form(URL.and(":"), 39, 170)]),
    of("flickr-token", &["flickr"], &[form(ALNUM, 32, 32), form(ALNUM, 16, 16)]),
    of("foursquare-key", &["foursquare"], &[form(ALNUM, 48, 48)]),
    of("freemius-secret", &["freemius"], &[form(PARTS, 32, 40)]),
    of("freshbooks-token", &["freshbooks"], &[form(ALNUM, 64, 64)]),
    of("freshdesk-key", &["freshdesk", "freshservice"], &[form(ALNUM, 18, 24)]),
    of("gemini-key", &["gemini"], &[form(URL, 35, 44)]),
    of("gitea-token", &["gitea", "forgejo"], &[HEX_40]),
    of("github-secret", &["github", "gh_token", "gh_pat"], &[HEX_40, form(URL, 36, 40)]),
    of("gitlab-secret", &["gitlab"], &[form(URL, 20, 20), HEX_64]),
    of("gitter-token", &["gitter"], &[ANY_40]),
    of("gocardless-token", &["gocardless", "go_cardless"], &[form(OPEN, 40, 60)]),
    of("grafana-token", &["grafana"], &[form(BASE64, 60, 400)]),
    of("heroku-key", &["heroku"], &[A_UUID]),
    of("hetzner-token", &["hetzner", "hcloud"], &[form(ALNUM, 64, 64)]),
    of("honeycomb-key", &["honeycomb"], &[form(ALNUM, 22, 22), HEX_32, form(ALNUM, 64, 64)]),
    of("hubspot-key", &["hubspot"], &[A_UUID]),
    of("ibm-key", &["ibmcloud", "ibm_cloud", "ibm-cloud", "watson"], &[form(URL, 44, 44)]),
    of("instagram-secret", &["instagram"], &[HEX_32]),
    of("intercom-key", &["intercom"], &[form(OPEN, 58, 62)]),
    of("ipstack-key", &["ipstack", "ipinfo", "ipgeolocation"], &[HEX_32, form(ALNUM, 14, 14)]),
    of("jenkins-token", &["jenkins"], &[form(HEX, 32, 34)]),
    of("jumpcloud-key", &["jumpcloud"], &[HEX_40]),
    of("kaggle-key", &["kaggle"], &[HEX_32]),
    of("klaviyo-key", &["klaviyo"], &[form(URL, 34, 40)]),
    of("kraken-token", &["kraken"], &[form(PARTS, 56, 92)]),
    of("kucoin-key", &["kucoin"], &[form(HEX, 24, 24), A_UUID]),
    of("langfuse-key", &["langfuse"], &[A_UUID, form(URL, 40, 48)]),
    of(
        "launchdarkly-token",
        &["launchdarkly", "launch_darkly"],
        &[ANY_40, form(UUID.and("sdkmoapi"), 40, 40)],
    ),
    of("line-token", &["line_channel", "linebot"], &[HEX_32, form(BASE64, 100, 200)]),
    of("linear-secret", &["linear"], &[HEX_32]),
    of(
        "linkedin-secret",
        &["linkedin", "linked_in", "linked-in"],
        &[form(ALNUM, 14, 14), form(ALNUM, 16, 16)],
    ),
    of("linode-token", &["linode"], &[HEX_64]),
    of("lob-key", &["lob", "lob_api"], &[form(URL, 40, 44)]),
    of("logdna-key", &["logdna", "mezmo"], &[HEX_32]),
    of("loggly-token", &["loggly"], &[A_UUID]),
    of("looker-key", &["looker"], &[form(ALNUM, 20, 20), form(ALNUM, 24, 24)]),
    of("mailchimp-key", &["mailchimp"], &[form(URL, 35, 38)]),
    of(
        "mailgun-key",
        &["mailgun"],
        &[form(HEX.and("-"), 50, 50), form(HEX, 32, 32), form(URL, 36, 39)],
    ),
    of("mailjet-key", &["mailjet"], &[HEX_32]),
    of("mandrill-key", &["mandrill"], &[form(URL, 22, 22)]),
    of("mapbox-token", &["mapbox"], &[form(DOTTED, 60, 160)]),
    of("mattermost-token", &["mattermost"], &[form(ALNUM, 26, 26)]),
    of("maxmind-key", &["maxmind", "geoip"], &[form(URL, 40, 40), form(ALNUM, 16, 16)]),
    of(
        "messagebird-key",
        &["messagebird", "message_bird", "message-bird"],
        &[form(ALNUM, 25, 25), A_UUID],
    ),
    of("mistral-key", &["mistral"], &[form(ALNUM, 32, 32)]),
    of("mixpanel-secret", &["mixpanel"], &[HEX_32]),
    of("monday-token", &["monday"], &[form(PARTS, 100, 300)]),
    of("mongodb-key", &["mongodb", "atlas"], &[A_UUID]),
    of("netlify-token", &["netlify"], &[form(OPEN, 40, 46)]),
    of(
        "new-relic-key",
        &["newrelic", "new_relic", "new-relic"],
        &[form(ALNUM, 32, 32), HEX_40, HEX_64, form(ALNUM, 64, 64), form(URL, 24, 47)],
    ),
    of("ngrok-token", &["ngrok"], &[form(URL, 43, 49)]),
    of("notion-token", &["notion"], &[form(URL, 43, 50)]),
    of(
        "npm-token",
        &["npm_token", "npm_auth", "npm-token", "_authtoken"],
        &[A_UUID, form(URL, 36, 40), form(BASE64, 20, 80)],
    ),
    of("nytimes-key", &["nytimes", "new-york-times", "newyorktimes"], &[form(OPEN, 32, 32)]),
    of("okta-token", &["okta"], &[form(OPEN, 40, 42)]),
    of("onfido-token", &["onfido"], &[form(DOTTED, 40, 60)]),
    of("openai-key", &["openai"], &[form(URL, 40, 200)]),
    of("openweather-key", &["openweather"], &[HEX_32]),
    of("opsgenie-key", &["opsgenie"], &[A_UUID]),
    of("oracle-secret", &["oracle_", "oci_"], &[form(BASE64, 40, 48)]),
    of(
        "pagerduty-key",
        &["pagerduty", "pager_duty", "pd_api"],
        &[form(URL.and("+"), 20, 20), HEX_32],
    ),
    of("paypal-secret", &["paypal"], &[form(URL, 80, 80)]),
    of("pinterest-token", &["pinterest"], &[form(URL, 40, 80)]),
    of("plaid-secret", &["plaid"], &[form(ALNUM, 24, 24), form(ALNUM, 30, 30)]),
    of("postmark-token", &["postmark"], &[A_UUID]),
    of("privateai-token", &["privateai", "private_ai", "private-ai"], &[form(ALNUM, 32, 32)]),
    of("pubnub-key", &["pubnub"], &[form(URL, 36, 56)]),
    of("pusher-secret", &["pusher"], &[form(HEX, 20, 20)]),
    of("quay-token", &["quay"], &[form(ALNUM, 40, 80)]),
    of("rapidapi-key", &["rapidapi", "rapid_api", "rapid-api"], &[form(OPEN, 50, 50)]),
    of("raygun-key", &["raygun"], &[form(BASE64, 22, 24)]),
    of("reddit-secret", &["reddit"], &[form(URL, 14, 14), form(URL, 22, 31)]),
    of("replicate-token", &["replicate"], &[HEX_40]),
    of("ringcentral-secret", &["ringcentral"], &[form(URL, 22, 24)]),
    of("rollbar-token", &["rollbar"], &[HEX_32]),
    of(
        "salesforce-token",
        &["salesforce", "sfdc"],
        &[form(ALNUM, 24, 25), form(DOTTED.and("!"), 80, 130)],
    ),
    of("scaleway-secret", &["scaleway", "scw_secret"], &[A_UUID]),
    of("segment-key", &["segment"], &[form(ALNUM, 32, 32)]),
    of("sendbird-token", &["sendbird"], &[HEX_40, A_UUID]),
    of("sendgrid-key", &["sendgrid"], &[form(OPEN.and("."), 66, 72)]),
    of("sentry-token", &["sentry"], &[HEX_32, HEX_64]),
    of("shodan-key", &["shodan"], &[form(ALNUM, 32, 32)]),
    of("shopify-secret", &["shopify"], &[HEX_32]),
    of("sidekiq-secret", &["contribsys"], &[form(HEX.and(":"), 17, 17)]),
    of("slack-secret", &["slack"], &[HEX_32, form(ALNUM, 24, 24)]),
    of("snowflake-key", &["snowflake"], &[form(PARTS, 80, 400)]),
    of("snyk-token", &["snyk"], &[A_UUID]),
    of("sonar-token", &["sonar"], &[HEX_40, form(OPEN, 40, 44)]),
    of("sourcegraph-token", &["sourcegraph"], &[HEX_40]),
    of("splunk-token", &["splunk", "hec_token"], &[A_UUID]),
    of("spotify-secret", &["spotify"], &[HEX_32]),
    of("square-token", &["square"], &[form(OPEN, 60, 64), form(URL, 22, 50)]),
    of("squarespace-token", &["squarespace"], &[A_UUID]),
    of("stability-key", &["stability"], &[form(URL, 48, 56)]),
    of("statuspage-key", &["statuspage"], &[A_UUID, HEX_32]),
    of("steam-key", &["steam_api", "steamapi", "steam_web"], &[HEX_32]),
    of("sumologic-key", &["sumologic", "sumo"], &[form(ALNUM, 14, 14), form(ALNUM, 64, 64)]),
    of("telegram-token", &["telegram"], &[form(URL.and(":"), 36, 52)]),
    of("tencent-secret", &["tencent", "qcloud"], &[form(ALNUM, 32, 36)]),
    of("terraform-token", &["terraform", "tfe_token", "atlas_token"], &[form(DOTTED, 80, 95)]),
    of("todoist-token", &["todoist"], &[HEX_40]),
    of("travisci-token", &["travis"], &[form(OPEN, 22, 22)]),
    of("trello-token", &["trello"], &[form(URL, 32, 32), HEX_64]),
    of("twilio-secret", &["twilio"], &[HEX_32, form(ALNUM, 34, 34)]),
    of("twitch-token", &["twitch"], &[form(ALNUM, 30, 30)]),
    of(
        "twitter-secret",
        &["twitter"],
        &[form(ALNUM, 25, 25), form(URL, 35, 60), form(ALNUM.and("%"), 80, 140)],
    ),
    of("typeform-token", &["typeform"], &[form(OPEN.and("."), 40, 64)]),
    of("unsplash-key", &["unsplash"], &[form(URL, 43, 43), HEX_64]),
    of("vercel-token", &["vercel"], &[form(ALNUM, 24, 24)]),
    of("virustotal-key", &["virustotal"], &[HEX_64]),
    of("vultr-key", &["vultr"], &[form(UPPER, 36, 36)]),
    of("wakatime-key", &["wakatime"], &[A_UUID]),
    of("wandb-key", &["wandb"], &[HEX_40]),
    of("webflow-token", &["webflow"], &[HEX_64]),
    of("yandex-key", &["yandex"], &[form(OPEN, 38, 60), form(PARTS, 60, 300)]),
    of("yelp-key", &["yelp"], &[form(URL, 128, 128)]),
    of("youtube-key", &["youtube"], &[form(URL, 39, 39)]),
    of("zapier-key", &["zapier"], &[form(ALNUM, 32, 64)]),
    of("zendesk-secret", &["zendesk"], &[form(ALNUM, 40, 40), form(ALNUM, 64, 64)]),
    of("zoom-secret", &["zoom"], &[form(ALNUM, 32, 32), form(URL, 22, 22)]),
    // Providers of which no more is known than that their keys are digests or UUIDs.
    of(
        "provider-key",
        &[
            "anthropic",
            "bitrise",
            "browserstack",
            "chargebee",
            "clearbit",
            "clickhouse",
            "deepseek",
            "digitalocean",
            "doppler",
            "duffel",
            "dynatrace",
            "easypost",
            "endorlabs",
            "etherscan",
            "flutterwave",
            "honeybadger",
            "huggingface",
            "infracost",
            "infura",
            "lambdatest",
            "mollie",
            "moralis",
            "onesignal",
            "papertrail",
            "paystack",
            "perplexity",
            "pinecone",
            "pingdom",
            "planetscale",
            "plivo",
            "pulumi",
            "qdrant",
            "razorpay",
            "recurly",
            "rubygems",
            "saucelabs",
            "scalingo",
            "sendinblue",
            "shippo",
            "storyblok",
            "stripe",
            "supabase",
            "telnyx",
            "upstash",
            "uptimerobot",
            "vonage",
            "weaviate",
        ],
        &[HEX_32, HEX_40, HEX_64, A_UUID],
    ),
];

impl Provider {
    /// Tells whether a value has one of the forms and is not a word or a stand-in.
    pub(super) fn accepts(&self, value: &[u8]) -> bool {
        let fits = |form: &Form| {
            (form.least..=form.most).contains(&value.len())
                && value.iter().all(|byte| form.alphabet.has(*byte))
        };
        if !self.forms.iter().any(fits) {
            return false;
        }
        let make = Make::of(value);
        // Several of fewer characters are no lot; words have few digits and common pairs.
        let is_word = make.digits < 3
            && make.pairs >= 8
            && make.hex_letters < make.letters()
            && !make.is_unlike_words(75);
        make.distinct >= 5 && !is_word && !is_stand_in(value)
    }
}
