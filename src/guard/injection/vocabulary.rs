//! The words that rules know, by number, and the classes that rules name in capitals. Not here: the
//! rules (`phrases`, `signals`).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

/// The number of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct WordId(pub u16);

/// Words that rules treat alike. A rule names a class in capitals.
pub(super) const CLASSES: &[(&str, &str)] = &[
    // To set aside what was said before.
    ("IGNORE", "ignore ignoring disregard disregarding"),
    ("PUSH", "and then please must should also now always immediately to you next"),
    (
        "OVERRIDE",
        "override overriding bypass bypassing overrule circumvent violate break breaking drop evade",
    ),
    (
        "BEFORE",
        "previous prior above earlier preceding original initial former past foregoing aforementioned",
    ),
    ("SAY", "print say output reply respond write tell translate return answer state"),
    ("ANSWER", "response responses reply replies answer answers"),
    (
        "READER",
        "ai ais chatgpt gpt gpt3 gpt4 llm llms chatbot chatbots assistant assistants copilot dan",
    ),
    ("PRIOR", "all any every existing other old your those these standing current foregoing"),
    (
        "RULES",
        "instruction instructions directive directives direction directions rule rules guideline \
        guidelines prompt prompts command commands policy policies restriction restrictions constraint \
        constraints programming guidance order orders message messages training limitation limitations \
        safeguard safeguards input inputs conversation conversations request requests",
    ),
    (
        "FIRM",
        "instruction instructions directive directives guideline guidelines prompt prompts programming safeguard safeguards restrictions ethics morals alignment",
    ),
    (
        "AUTHORITY",
        "maintainer maintainers owner admin administrator security manager ceo cto team lead boss",
    ),
    (
        "RULEFILE",
        "eslintrc eslint lint linter gitignore dockerignore npmignore stylelint prettier biome ruff clippy \
        firewall iptables nginx css selector robots webpack eslintignore editorconfig rulesets ruleset",
    ),
    (
        "FILE",
        "env ssh rsa mcp aws gnupg credentials netrc pem keychain kubeconfig passwd shadow wallet",
    ),
    ("YOUR", "your ur its chatgpts openais openai"),
    // The reader.
    ("YOU", "you u ya thou youll"),
    (
        "MACHINE",
        "ai ais chatgpt gpt gpt3 gpt4 llm llms chatbot chatbots assistant assistants bot model models \
        agent agents copilot claude gemini bard dan robot simulator virtual",
    ),
    ("ROLE", "role persona character identity personality alter position perspective"),
    (
        "ACT",
        "act behave pretend roleplay role respond answer speak reply talk simulate impersonate imagine \
        emulate play be become",
    ),
    ("WILL", "will must should shall can to may now going gonna would ll"),
    ("NOT", "not never dont wont doesnt cannot cant no without nor"),
    // What the reader says, and ways to steer it.
    (
        "REPLY",
        "response responses reply replies answer answers message messages output outputs wording words \
        sentence sentences text conclusion explanation summary",
    ),
    (
        "STEER",
        "add include incorporate integrate embed insert append modify adjust enhance augment enrich \
        blend mention encode encrypt translate convert transform render express write provide craft deliver \
        present compose shift scramble jumble group combine remove replace substitute use reverse swap mix \
        start begin end finish prefix format limit restrict conclude sprinkle infuse weave supplement alter \
        change rearrange rewrite misspell mask obfuscate hide conceal emphasize emphasise highlight fuse \
        introduce inject slip tailor customize spread direct redirect link advertise promote recommend share \
        spell space capitalize join merge concatenate invert mirror flip rotate apply utilize employ inject \
        interject offer give put place work throw drop sneak attach prepend integrate elevate make turn \
        frame shape phrase paraphrase reword answer respond reply return output print say state tell announce \
        switch eliminate delete omit strip drop rephrase communicate convey pad double triple repeat cite \
        refer reference quote disguise distort skew slant bias",
    ),
    ("SPEAK", "reply respond answer speak talk communicate"),
    // Code that the reader is to put somewhere.
    (
        "FOLLOWING",
        "following below subsequent ensuing attached next given succeeding this provided above \
        aforementioned upcoming said mentioned",
    ),
    (
        "SNIPPET",
        "snippet snippets block blocks excerpt excerpts section fragment fragments segment piece chunk",
    ),
    (
        "WORK",
        "code solution response answer reply algorithm codebase implementation program project output \
        script function application app software design programming development work framework structure elucidation explanation exposition walkthrough \
        system logic architecture build creation source",
    ),
    (
        "INSERTION",
        "add include incorporate integrate embed insert append merge blend fuse meld inject weave \
        infuse introduce adopt use utilize deploy leverage apply employ implement place put make ensure \
        consider enrich enhance augment improve refine strengthen fortify optimize elevate develop attach \
        boost bolster upgrade combine supplement addition inclusion incorporation integration embedding \
        incorporating adding including inserting integrating utilizing using presence manifestation \
        insertion introducing employing validate confirm verify guarantee deepen",
    ),
    // Data, and ways to give it away.
    ("SEND", "send email mail forward upload post transfer leak exfiltrate transmit dm beam"),
    (
        "PRIVATE",
        "password passwords secret secrets token tokens credential credentials contents inbox emails conversation history passport bank account accounts personal private cookies wallet seed ssn transcript chat",
    ),
    (
        "SECRET",
        "password passwords passphrase passcode secret secrets apikey token tokens credential credentials \
        login logins pin otp cvv ssn seed",
    ),
    (
        "DEMAND",
        "give tell provide reveal send show enter share paste print output disclose post type submit \
        supply confirm verify hand surrender list dump expose extract leak reply respond ask request \
        requests collect obtain get",
    ),
    ("ADDRESS", "<email> <url> attacker webhook pastebin"),
    (
        "MONEY",
        "transaction transactions money payment payments funds usd dollars eur bitcoin btc crypto refund \
        wire iban ibans",
    ),
    // People.
    (
        "USER",
        "user users human humans owner operator customer anyone anybody person admin maintainer developer",
    ),
    (
        "PERSON",
        "user users human humans owner operator developer customer anyone anybody person admin them me \
        maintainer reviewer",
    ),
    // Tests and gates.
    (
        "GATE",
        "validation validations check checks gate gates review reviews test tests verification approval \
        quality qa lint ci signoff guardrail guardrails policy policies control controls authentication \
        authorization scan scans scanner audit audits",
    ),
    (
        "SUCCESS",
        "successful success passed passing pass ok final validated ready green complete completed \
        approved done valid true verified sanitized sanitised anonymized clean compliant reviewed",
    ),
    (
        "OFF",
        "skip skips skipping bypass bypasses bypassing disable disables disabling suppress suppressing \
        circumvent ignore remove",
    ),
    // Requests that are no lesson.
    (
        "ASKS",
        "what whats how why who whom whose when where which can could is are do does did should would \
        will am has have may might was were",
    ),
    (
        "CONTENT",
        "write compose create generate draft provide give make prepare craft produce design develop \
        offer list share suggest recommend come put build construct invent narrate tell plan find supply present show state outline",
    ),
    (
        "GENRE",
        "story stories poem poems haiku sonnet limerick essay letter email speech song lyrics joke jokes \
        blog article articles review summary overview itinerary recipe recipes dialogue script slogan tagline headline \
        caption tweet post paragraph quiz riddle biography report example examples synopsis outline insights \
        analysis tips advice list ideas newsletter memo agenda presentation essay synonym synonyms antonym \
        definition equivalent translation playlist schedule menu description facts news statistics function \
        program regex query tutorial guide plan budget workout haiku name names forecast weather comparison \
        pros translations proposal cover resume invitation announcement ad advertisement pitch monologue",
    ),
    (
        "TEACH",
        "explain describe summarize summarise translate discuss outline define compare analyze analyse \
        paraphrase proofread brainstorm classify illustrate elaborate contrast interpret calculate compute \
        solve convert evaluate assess determine identify predict rate rank name recite detail demonstrate \
        simplify clarify examine explore research investigate correct conjugate spell transcribe rewrite \
        rephrase recount highlight estimate list count debate critique suggest recommend propose",
    ),
    (
        "TOPICAL",
        "step steps process processes difference differences similarities concept concepts basics principle principles \
        history plot theme themes role importance impact impacts benefit benefits cause causes effect effects \
        significance meaning life works structure relationship functions features advantages disadvantages pros \
        symptoms definition origin origins contributions events ending characters findings trends recipe \
        instructions ways overview summary sentiment stages theory purpose characteristics factors challenges",
    ),
    (
        "TECH",
        "test tests file files config configuration commit commits build builds error errors branch \
        command commands script scripts log logs cache server database migration query schema api endpoint \
        function module package dependency dependencies version lockfile container image deploy pipeline job \
        hook hooks flag option argument variable environment path directory port type types class method \
        repo repository code token permission permissions ownership npm cargo git docker pip yarn node rust python \
        ci lint compiler parser thread lock timeout retry mock fixture snapshot index column table row key json \
        yaml toml sql http url host process memory exit status stack trace debug release binary library \
        null string integer queue socket kernel thread process async await promise callback component props state store \
         router client daemon  worker cluster node pod volume mount network proxy port dns tls ssl cert \
        certificate cookie session auth oauth jwt header body payload stream buffer byte bytes byte utf8 encoding regex \
        glob shell bash terminal stdin stdout stderr pipe signal sigterm cpu disk heap leak crash panic timeouts deadlock \
         mutex transaction rollback backup restore replica shard partition  offset consumer producer webhook \
        cron locale timezone utc timestamp float decimal enum struct trait interface import export lib sdk cli gui css html \
        dom react vue typescript javascript java kotlin swift golang ruby php helm terraform ansible kubernetes kubectl \
        aws gcp azure s3 ec2 lambda iam linter formatter typecheck coverage benchmark profiler metric metrics dashboard alert \
        bucket buckets packet readme changelog semver tag tags release rebase merge cherry stash submodule worktree  remote   \
        default fallback  flag toggle env var vars sandbox permission chmod chown sudo root systemd ssh pem \
        model prompt embedding vector tokenizer tokens llm mcp tool tools server hooks plugin extension assertion exception failure bug regression step steps pr diff doc docs comment \
        comments browser mozilla crawler googlebot useragent header headers request requests field fields input inputs reviewer",
    ),
    (
        "BECAUSE",
        "because since so otherwise before after when if unless until instead never always must \
        avoid rather than first only while then via else",
    ),
    ("ME", "me my mine us our i"),
    (
        "ERRAND",
        "calendar reservation hotel restaurant flight appointment invoice rent slack inbox unread friend friends booking iban taxi thermostat grocery prescription",
    ),
    (
        "DO",
        "send make transfer pay book reserve invite schedule buy order post delete email forward cancel \
        refund update change grant share download upload visit subscribe withdraw deposit unlock open turn \
        set say get read search call remind move rename append search sign register check retrieve fetch \
        transfer remove block add recommend click go follow look message log export purchase modify disable \
        enable reset wire arrange create",
    ),
];

/// FNV-1a: quick on short words, and nobody chooses what is in the table.
#[derive(Clone, Copy)]
struct Quick(u64);

impl Default for Quick {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Ids = HashMap<&'static str, WordId, BuildHasherDefault<Quick>>;

struct Vocabulary {
    ids: Ids,
    classes: HashMap<&'static str, Vec<WordId>, BuildHasherDefault<Quick>>,
}

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut ids = Ids::with_capacity_and_hasher(4096, BuildHasherDefault::default());
    let mut classes = HashMap::default();
    for (class, words) in CLASSES {
        let words = words.split_whitespace().map(|word| number(&mut ids, word));
        classes.insert(*class, words.collect());
    }
    for item in
        super::rule_items().filter(|item| !item.starts_with(|c: char| c.is_ascii_uppercase()))
    {
        number(&mut ids, item);
    }
    Vocabulary { ids, classes }
});

fn number(ids: &mut Ids, word: &'static str) -> WordId {
    // There are far fewer words than numbers.
    let next = WordId(u16::try_from(ids.len()).unwrap_or(u16::MAX));
    *ids.entry(word).or_insert(next)
}

/// Returns how many words are known; their numbers are all below it.
pub(super) fn len() -> usize {
    VOCABULARY.ids.len()
}

/// Returns the words of a class, or the one word that a name is.
pub(super) fn named(name: &str) -> &'static [WordId] {
    if name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return VOCABULARY.classes.get(name).map(Vec::as_slice).unwrap_or_default();
    }
    VOCABULARY.ids.get(name).map(std::slice::from_ref).unwrap_or_default()
}

/// Returns the number of a word that is already in lower case: as it stands, without a plural `s`, or
/// with the letters that its digits stand for.
pub(super) fn id(word: &str) -> Option<WordId> {
    let known = |word: &str| VOCABULARY.ids.get(word).copied();
    let stem = || word.strip_suffix('s').filter(|stem| stem.len() > 3).and_then(known);
    known(word).or_else(stem).or_else(|| {
        let has = |test: fn(&u8) -> bool| word.as_bytes().iter().any(test);
        let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
        is_mixed.then(|| known(&spelled_out(word))).flatten()
    })
}

fn spelled_out(word: &str) -> String {
    let letter = |c| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        other => other,
    };
    word.chars().map(letter).collect()
}
