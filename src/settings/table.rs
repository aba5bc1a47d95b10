//! Every setting of the configuration file, once. A row is the parser of its key, what `agent-knowledge config` shows and changes,
//! its line in `docs/settings.md`, and its part of the JSON schema. The key of a row is the name of its field, and its documentation
//! is what people read. Not here: what values may be (`value_kinds`), what makes sense only together (`config`), variables that set
//! nothing in a file (`variables`).

use super::memory_mib::MemoryMib;
use super::provider_form::{EmbeddingPrecision, ProviderForm, RerankForm};
use super::section_budgets::SectionTokens;
use super::setting::Setting;
use super::setting_fields::SettingFields;
use super::setting_macro::settings;
use super::team_trust::{SharedFields, SignatureRule, TeamTrust};
use super::value_kinds::{
    Address, Age, Directories, Directory, FilePath, KeyFile, Name, Number, RepoPatterns, Switch,
    Text, Texts, TrustedFolders, TrustedGroups, ValueKind, ValueSource, VariableName, WrongValue,
};
use super::variables::{CACHE, LOGS, TRUSTED_FOLDERS, TRUSTED_GROUPS};

settings! {
    /// The settings that belong to no table.
    struct GeneralSettings;

    general {
        /// The directory of the logs; the system's directory for data unless it is set.
        logs: Option<Directory>, "an absolute path, or one that begins with ~/", "~/knowledge/logs", env LOGS,
            else "must be an absolute path, or begin with ~/, for example logs = \"~/knowledge/logs\"";
        /// The directory of the embedding model; the system's directory for data unless it is set.
        model: Option<Directory>, "an absolute path, or one that begins with ~/", "~/knowledge/model", env "AGENT_KNOWLEDGE_MODEL_DIR",
            else "must be an absolute path, or begin with ~/, for example model = \"~/knowledge/model\"";
        /// The directory of vectors and indexes, which may be deleted at any time; the system's directory for caches unless it is set.
        cache: Option<Directory>, "an absolute path, or one that begins with ~/", "~/.cache/agent-knowledge", env CACHE,
            else "must be an absolute path, or begin with ~/, for example cache = \"~/knowledge/cache\"";
        /// Groups that count as the user alone, so that they may write to our folders, such as the fsGroup of a volume. Others may still not.
        trusted_groups: TrustedGroups, "numbers or names of groups", "2000", env TRUSTED_GROUPS,
            else "takes texts that are numbers or names of groups, for example [\"2000\"]";
        /// Folders that are trusted with all that is in them, whoever may write there, such as a Windows drive in WSL.
        trusted_folders: TrustedFolders, "absolute paths, or ones that begin with ~/", "/mnt/c/Users/me/knowledge", env TRUSTED_FOLDERS,
            else "takes absolute paths, or ones that begin with ~/, for example [\"/mnt/c/Users/me/knowledge\"]";
        /// How much memory the memories and their indexes may take in the retriever, in MiB. Half a million memories fit in 1,024 when they are searched by words only.
        memory_mib: MemoryMib, "a number of MiB from 16 to 1048576", "2048", env "AGENT_KNOWLEDGE_MEMORY_MIB",
            else "must be a whole number of MiB from 16 to 1048576, for example 1024";
        /// How the model of this machine computes vectors: `int8` takes less time and memory, with slightly lower recall. Beside a table `[embedding]` it is written `precision` in that table.
        embedding: EmbeddingPrecision, "fp32 or int8", "int8", for replicas true, else "must be \"fp32\" or \"int8\"";
        /// After how many minutes without a query and without a new memory the model of this machine leaves memory. The next query is answered by words, and loads it again.
        model_idle_minutes: Number<1, 1_000_000> = 10, "a number of minutes from 1 to 1000000", "30",
            else "must be a whole number of minutes from 1 to 1000000, for example 30";
    }

    /// Which model makes vectors, and how precisely the model of this machine does.
    table "embedding" EmbeddingSource {
        /// How the model of this machine computes vectors, as `embedding` says it where there is no such table.
        precision: EmbeddingPrecision, "fp32 or int8", "int8", else "must be \"fp32\" or \"int8\"";
        /// Who makes vectors: `local` is the model of this machine; `openai` is any server with `/v1/embeddings`.
        provider: Option<ProviderForm>, "local, openai, ollama, voyage, cohere, gemini or command; agent-knowledge model use tells the cost first",
            "ollama embedding.model NAME";
    }

    /// An external model that makes vectors.
    table "embedding" EmbeddingProvider with {
        /// How it is asked.
        form: ProviderForm,
    } {
        /// The address of the server, up to what its protocol adds; that of its maker unless it is set.
        url: Address, "an address", "http://127.0.0.1:11434",
            else "must begin with https://, or http:// on this machine, without a name or password (@), ? and #; put a key into a variable, and set key_env to the name of that variable";
        /// The name of the model; for a program whatever tells its models apart.
        model: Text, "the name of a model", "nomic-embed-text";
        /// The program that makes vectors, with its arguments.
        command: Texts, "a program and its arguments", "embed,-q";
        /// The environment variable that holds the key.
        key_env: Option<VariableName>, "the name of a variable", "MODEL_KEY",
            else "must be the name of a variable in capital letters, never the key itself";
        /// Numbers per vector, which are asked for only if they are set.
        dimensions: Option<Number<1, { EmbeddingProvider::DIMENSIONS_MAX }>>, "numbers per vector, up to 4096", "768";
        /// Most texts in one request: few enough for local servers, and enough that the way counts little.
        batch: Number<1, 512> = 32, "texts in one request, up to 512", "16";
        /// Characters of a text that are sent; the rest is cut here. Local servers refuse what is too long, and all texts with it.
        max_chars: Number<1, 100_000> = 6_000, "characters of a text that are sent", "2000";
        /// Stands before each query, for models that tell queries from texts that way.
        query_prefix: Text, "a text", "search_query:";
        /// Stands before each text.
        text_prefix: Text, "a text", "search_document:";
        /// Repositories whose memories and queries are never sent; `*` stands for any text.
        off_repos: RepoPatterns, "keys of repositories that are never sent, with * for any text", "github.com/acme/*",
            else "takes keys of repositories in lower case, and * for any text";
    }

    /// Who orders likely hits.
    table "rerank" RerankSource {
        /// Who puts likely hits into another order.
        provider: Option<RerankForm>, "cohere, voyage, jina (also llama.cpp and vLLM), command or off",
            "jina rerank.model NAME rerank.url http://127.0.0.1:8080";
    }

    /// An external model that orders likely hits.
    table "rerank" RerankProvider with {
        /// How it is asked.
        form: RerankForm,
    } {
        /// The name of the model; for a program whatever tells its models apart.
        model: Text, "the name of a model", "rerank-v3.5";
        /// The address of the server, up to what its protocol adds; that of its maker unless it is set.
        url: Address, "an address that begins with https://, or with http:// on this machine", "http://127.0.0.1:8080";
        /// The program that orders hits, with its arguments.
        command: Texts, "a program and its arguments", "order,-q";
        /// The environment variable that holds the key.
        key_env: Option<VariableName>, "the name of a variable in capital letters, never the key itself", "COHERE_API_KEY";
        /// Repositories whose memories and queries are never sent; `*` stands for any text.
        off_repos: RepoPatterns, "keys of repositories in lower case that are never sent, with * for any text", "github.com/acme/*";
        /// How long a search waits for it: what somebody who waits for an answer hardly notices beside the model that reads it.
        timeout_ms: Number<1, 4_000> = 1_500, "a number of milliseconds from 1 to 4000", "800",
            else "must be a number of milliseconds from 1 to 4000";
    }

    general {
        /// Archives a log when it has more lines than this; never unless it is set. A lower bound would make a segment every few writes.
        archive_above_lines: Option<Number<100, 1_000_000_000>>, "a number of lines, at least 100", "10000";
        /// Archives lines that are older than this; never unless it is set.
        archive_older_than: Option<Age>, "an age", "90d", else "must be an age, for example \"90d\"";
        /// Whether searches that found nothing, and what agents asked, are recorded on this machine.
        query_log: Switch, "on or off", "off", env "AGENT_KNOWLEDGE_QUERY_LOG";
        /// Whether it is recorded on this machine what happened to memories and what agents were shown; without it there are no events.
        journal: Switch, "on or off", "off", env "AGENT_KNOWLEDGE_JOURNAL";
    }

    /// The language model that judges memories and writes lessons: a program, or a server with its model.
    table "judge" JudgeSettings {
        /// The program that reads a request on its standard input and writes the answer to its standard output.
        command: Texts, "a program and its arguments", "ask,--short";
        /// The address of a server with the chat completions protocol of OpenAI, up to `/chat/completions`.
        url: Text, "an address with http:// or https://, together with judge.model", "http://localhost:11434/v1 judge.model NAME";
        /// The name of the server's model.
        model: Text, "the name of a model, together with judge.url", "NAME judge.url http://localhost:11434/v1";
        /// The environment variable that holds the key.
        key_env: Option<Text>, "the name of a variable", "MODEL_KEY";
    }

    /// The engine that searches ask besides the memories of this machine.
    table "engine" EngineSettings {
        /// Its address, such as `postgres://user@127.0.0.1/database` or `https://qdrant.example.org/collection`, without a password.
        url: Text, "the address of an engine, without a password", "postgres://me@127.0.0.1/agent_knowledge";
        /// The environment variable that holds the password or key.
        password_env: Option<Text>, "the name of a variable, together with engine.url", "ENGINE_PASSWORD engine.url postgres://me@127.0.0.1/agent_knowledge";
    }

    /// Which past sessions of other tools are left out of an import, and of the answers with it.
    table "sessions" SessionPolicy with {
        /// Whether a key or value that this version does not know holds the table: then every session is left out.
        is_held: bool,
    } {
        /// Tools whose sessions are left out.
        exclude_tools: Texts, "names of tools", "codex,cline";
        /// Directories: transcripts below them, and sessions that began in them.
        exclude_paths: Directories, "directories", "~/private";
        /// Repositories whose sessions are left out.
        exclude_repos: Texts, "keys of repositories", "github.com/acme/api";
        /// Whether sessions that belong to no repository are read too.
        private: Switch = Switch::Off, "on or off", "on";
    }

    /// What is shared with a team, and how far the team is trusted. Nothing is shared unless it is named.
    table "sync" SyncPolicy with {
        /// Whether a key or value that this version does not know holds the table: then nothing leaves and nothing is taken.
        is_held: bool,
    } {
        /// Where lines are exchanged: the address of a git repository, a folder or a stream, or `origin` for that of the code's own repository.
        remote: Option<Name>, "the address of a git repository, or origin", "git@example.com:team/memory.git";
        /// The file with the key for a stream (`.creds`).
        credentials: Option<FilePath>, "the absolute path of a .creds file, or one that begins with ~/", "/home/me/team.creds";
        /// The repositories that are shared; `*` stands for any text. `global`, and a repository without a remote, must be named as they are.
        share: RepoPatterns, "keys of repositories, with * for any text", "github.com/acme/*", for replicas true,
            else "takes keys of repositories in lower case, and * for any text, for example \"github.com/acme/*\"";
        /// Fields that are left out of what is shared: of `branch`, `commit`, `host` and `session_id`.
        strip: SharedFields, "names of fields", "branch,session_id", else "takes names of fields, of branch, commit, host, session_id";
        /// How often a server exchanges lines by itself, in seconds.
        every_seconds: Number<0, 86_400> = 300, "a number of seconds up to 86400; 0 exchanges nothing by itself", "60",
            else "must be a number of seconds up to 86400, for example 300; 0 exchanges nothing by itself";
        /// Whose actions (forget, supersede, pin and the like) count like our own.
        trust: TeamTrust, "whole origins of other stores, or full", "laptop-3fa9c1d2e5b60718", for replicas true,
            else "takes \"full\" or whole origins, as show --json prints them, for example \"laptop-3fa9c1d2e5b60718\"";
        /// The SSH key with which our trees are signed in git: a private key, or a public one whose private half an agent has.
        signing_key: Option<KeyFile>, "the absolute path of an SSH key, or of its .pub", "/home/me/.ssh/id_ed25519",
            else "must be the absolute path of an SSH key, for example \"/home/me/.ssh/id_ed25519\", or of its .pub if ssh-agent has the key";
        /// Whether trees of others must be signed. An origin that signed once must go on in either case.
        require_signatures: SignatureRule, "on or off", "on";
    }

    names {
        /// Most tokens of a section of each briefing. A project may set it too.
        "section_budgets.*": SectionTokens, "a number of tokens; 0 leaves a section out", "120", for projects true, for replicas true;
        /// The current key of a renamed repository, beside its old one.
        "aliases.*": Text, "the key of a repository", "github.com/acme/new-name", for projects false, for replicas true;
    }
}

impl Setting {
    /// Returns all settings of the configuration file.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        GROUPS.iter().copied().flatten()
    }

    /// Finds the setting of a key, such as `logs`, `judge.model` or `aliases.old-name`.
    #[must_use]
    pub fn named(key: &str) -> Option<&'static Self> {
        Self::all().find(|setting| match setting.key.strip_suffix('*') {
            Some(table) => key.strip_prefix(table).is_some_and(|name| !name.is_empty()),
            None => setting.key == key,
        })
    }
}
