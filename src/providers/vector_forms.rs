//! The protocols in which providers take texts and return vectors: for each the path, the body and where the vectors stand. Pure.
//!
//! Compared by hand, once, with what the Python clients of Ollama, Voyage, Cohere and Google send to a server of ours and read from it:
//! paths, fields and places are the same; Voyage's asks for base64, which we do not. No test repeats that, and no vendor's server was
//! asked. OpenAI's client runs in the integration tests, but against our server (`retriever::http`).
//!
//! Not here: sending (`http_client`).

use serde_json::{Map, Value, json};

use guard::secrets::RedactedText;
use settings::ProviderForm;

/// What a text is to its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// Something that is searched for.
    Query,
    /// Something that is found.
    Text,
}

/// What is asked, whatever the form.
pub(crate) struct VectorRequest<'a> {
    pub(crate) model: &'a str,
    pub(crate) texts: &'a [RedactedText],
    pub(crate) kind: TextKind,
    /// Asked for where it is set.
    pub(crate) dimensions: Option<u32>,
}

impl VectorRequest<'_> {
    /// Returns the path behind the address.
    pub(crate) fn path(&self, form: ProviderForm) -> String {
        match form {
            ProviderForm::OpenAi | ProviderForm::Voyage => "/embeddings".to_owned(),
            ProviderForm::Ollama => "/api/embed".to_owned(),
            ProviderForm::Cohere => "/v2/embed".to_owned(),
            ProviderForm::Gemini => format!("/models/{}:batchEmbedContents", self.model),
            ProviderForm::Command => String::new(),
        }
    }

    /// Returns the body.
    pub(crate) fn body(&self, form: ProviderForm) -> Value {
        let (model, texts) = (self.model, self.texts);
        let kind = |query: &'static str, text: &'static str| match self.kind {
            TextKind::Query => query,
            TextKind::Text => text,
        };
        let (body, dimensions) = match form {
            ProviderForm::OpenAi => (
                json!({ "model": model, "input": texts, "encoding_format": "float" }),
                "dimensions",
            ),
            ProviderForm::Ollama => {
                (json!({ "model": model, "input": texts, "truncate": true }), "dimensions")
            }
            ProviderForm::Voyage => (
                json!({ "model": model, "input": texts, "input_type": kind("query", "document"),
                    "truncation": true }),
                "output_dimension",
            ),
            ProviderForm::Cohere => (
                json!({ "model": model, "texts": texts, "embedding_types": ["float"],
                    "input_type": kind("search_query", "search_document"), "truncate": "END" }),
                "output_dimension",
            ),
            ProviderForm::Gemini => {
                return self.gemini(kind("RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"));
            }
            ProviderForm::Command => (
                json!({ "model": model, "input": texts, "input_type": kind("query", "document") }),
                "dimensions",
            ),
        };
        with(body, dimensions, self.dimensions)
    }

    fn gemini(&self, task: &str) -> Value {
        let model = format!("models/{}", self.model);
        let request = |text: &RedactedText| {
            let one = json!({ "model": model, "content": { "parts": [{ "text": text }] },
                "taskType": task });
            with(one, "outputDimensionality", self.dimensions)
        };
        json!({ "requests": self.texts.iter().map(request).collect::<Vec<Value>>() })
    }
}

fn with(body: Value, name: &str, dimensions: Option<u32>) -> Value {
    let Value::Object(mut fields) = body else { return body };
    if let Some(dimensions) = dimensions {
        fields.insert(name.to_owned(), dimensions.into());
    }
    Value::Object(fields)
}

/// Finds the vectors in an answer, each with its place where the form has one. `None` where the answer is of another form.
pub(crate) fn vectors_in(form: ProviderForm, answer: &Value) -> Option<Vec<(Option<u64>, &Value)>> {
    let list = |place: &str, field: Option<&str>| -> Option<Vec<(Option<u64>, &Value)>> {
        let one = |item| -> Option<(Option<u64>, &Value)> {
            let item: &Value = item;
            let index =
                item.as_object().and_then(|fields: &Map<String, Value>| fields.get("index"));
            let vector = field.map_or(Some(item), |field| item.get(field))?;
            Some((index.and_then(Value::as_u64), vector))
        };
        answer.pointer(place)?.as_array()?.iter().map(one).collect()
    };
    match form {
        ProviderForm::OpenAi | ProviderForm::Voyage => list("/data", Some("embedding")),
        ProviderForm::Ollama => list("/embeddings", None),
        ProviderForm::Cohere => list("/embeddings/float", None),
        ProviderForm::Gemini => list("/embeddings", Some("values")),
        ProviderForm::Command => {
            list("/embeddings", None).or_else(|| list("/data", Some("embedding")))
        }
    }
}

/// Names what [`vectors_in`] looks for, for messages.
pub(crate) fn place_of_vectors(form: ProviderForm) -> &'static str {
    match form {
        ProviderForm::OpenAi | ProviderForm::Voyage => "data[].embedding",
        ProviderForm::Cohere => "embeddings.float",
        ProviderForm::Gemini => "embeddings[].values",
        ProviderForm::Ollama | ProviderForm::Command => "embeddings",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(form: ProviderForm, kind: TextKind) -> Value {
        let texts = ["a".into(), "b".into()];
        VectorRequest { model: "m", texts: &texts, kind, dimensions: Some(8) }.body(form)
    }

    // S-PROVIDER-3
    #[test]
    fn each_form_has_its_own_fields() {
        let openai = body(ProviderForm::OpenAi, TextKind::Query);
        let expected = json!({ "model": "m", "input": ["a", "b"], "encoding_format": "float", "dimensions": 8 });
        assert_eq!(openai, expected);
        let voyage = body(ProviderForm::Voyage, TextKind::Query);
        assert_eq!(
            (&voyage["input_type"], &voyage["output_dimension"]),
            (&json!("query"), &json!(8))
        );
        let cohere = body(ProviderForm::Cohere, TextKind::Text);
        assert_eq!(cohere["input_type"], "search_document");
        assert_eq!(cohere["texts"], json!(["a", "b"]));
        let gemini = body(ProviderForm::Gemini, TextKind::Text);
        assert_eq!(gemini["requests"][1]["content"]["parts"][0]["text"], "b");
        assert_eq!(gemini["requests"][0]["outputDimensionality"], 8);
        assert_eq!(body(ProviderForm::Ollama, TextKind::Text)["truncate"], true);
    }

    // S-PROVIDER-3
    #[test]
    fn vectors_are_found_where_the_form_has_them() {
        let one = json!([1.0]);
        for (form, answer) in [
            (ProviderForm::OpenAi, json!({ "data": [{ "index": 0, "embedding": one }] })),
            (ProviderForm::Voyage, json!({ "data": [{ "index": 0, "embedding": one }] })),
            (ProviderForm::Ollama, json!({ "embeddings": [one] })),
            (ProviderForm::Cohere, json!({ "embeddings": { "float": [one] } })),
            (ProviderForm::Gemini, json!({ "embeddings": [{ "values": one }] })),
            (ProviderForm::Command, json!({ "embeddings": [one] })),
        ] {
            let found = vectors_in(form, &answer).unwrap();
            assert_eq!(found.iter().map(|(_, vector)| *vector).collect::<Vec<_>>(), [&one]);
            assert_eq!(vectors_in(form, &json!({ "result": [] })), None, "{form:?}");
            assert_eq!(vectors_in(form, &json!([])), None, "{form:?}");
        }
    }
}
