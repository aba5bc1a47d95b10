//! The protocols in which rerankers take a query with texts and return a score for each text. Pure.
//!
//! Cohere, Voyage and Jina take the same three fields. Voyage says `top_k` where the others say `top_n`, and `data` where they say
//! `results`. Jina repeats the texts unless it is told not to. Compared by hand, once, with what the vendors' Python clients send to a
//! server of ours and read from it (cohere 7.3.1, voyageai 0.5.0). No test repeats that, and no vendor's server was asked.
//!
//! Not here: sending (`remote_reranker`).

use serde_json::{Value, json};

use crate::provider_error::ProviderError;
use guard::secrets::RedactedText;
use settings::RerankForm;

/// Returns the body of a request.
pub(crate) fn body(
    form: RerankForm,
    model: &str,
    query: &RedactedText,
    texts: &[RedactedText],
) -> Value {
    let count = texts.len();
    match form {
        RerankForm::Cohere => {
            json!({ "model": model, "query": query, "documents": texts, "top_n": count })
        }
        RerankForm::Voyage => {
            json!({ "model": model, "query": query, "documents": texts, "top_k": count,
                "return_documents": false, "truncation": true })
        }
        RerankForm::Jina => {
            json!({ "model": model, "query": query, "documents": texts, "top_n": count,
                "return_documents": false })
        }
        RerankForm::Command => json!({ "model": model, "query": query, "documents": texts }),
    }
}

/// Finds the score of each of `sent` texts in an answer, in the order of the texts.
///
/// # Errors
/// What is odd about the answer; nothing is guessed.
pub(crate) fn scores(
    form: RerankForm,
    answer: &Value,
    (who, sent): (&str, usize),
) -> Result<Vec<f64>, ProviderError> {
    let (place, what) = match form {
        RerankForm::Voyage => ("data", "data[].relevance_score"),
        RerankForm::Cohere | RerankForm::Jina => ("results", "results[].relevance_score"),
        RerankForm::Command => ("results", "scores"),
    };
    let plain = answer.get("scores").filter(|_| form == RerankForm::Command);
    let list = plain.or_else(|| answer.get(place)).and_then(Value::as_array);
    let list = list.ok_or_else(|| ProviderError::OtherForm { who: who.to_owned(), what })?;
    let got = list.len();
    if got != sent {
        return Err(ProviderError::ScoreCount { who: who.to_owned(), sent, got });
    }
    let odd = |what| ProviderError::OddScore { who: who.to_owned(), what };
    let mut scores: Vec<Option<f64>> = vec![None; sent];
    for (at, item) in list.iter().enumerate() {
        let (index, score) = match plain {
            Some(_) => (Some(at), Some(item)),
            None => (index_of(item), item.get("relevance_score").or_else(|| item.get("score"))),
        };
        let score = score.and_then(Value::as_f64).filter(|score| score.is_finite());
        let score = score.ok_or_else(|| odd("a score that is no number"))?;
        let Some(free @ None) = index.and_then(|index| scores.get_mut(index)) else {
            return Err(odd("an index that is of no text, or of one that has a score already"));
        };
        *free = Some(score);
    }
    // As many as texts, and none twice: none is missing.
    Ok(scores.into_iter().flatten().collect())
}

fn index_of(item: &Value) -> Option<usize> {
    usize::try_from(item.get("index")?.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<RedactedText> {
        vec!["a".into(), "b".into()]
    }

    fn found(form: RerankForm, answer: &Value) -> Result<Vec<f64>, String> {
        scores(form, answer, ("p", 2)).map_err(|error| error.to_string())
    }

    // S-RERANK-2
    #[test]
    fn each_reranker_has_its_own_fields() {
        let of = |form| body(form, "m", &"q".into(), &texts());
        let same = json!({ "model": "m", "query": "q", "documents": ["a", "b"] });
        let with = |more: Value| {
            let mut all = same.clone();
            let more = more.as_object().unwrap().clone();
            all.as_object_mut().unwrap().extend(more);
            all
        };
        assert_eq!(of(RerankForm::Cohere), with(json!({ "top_n": 2 })));
        let voyage = json!({ "top_k": 2, "return_documents": false, "truncation": true });
        assert_eq!(of(RerankForm::Voyage), with(voyage));
        let jina = json!({ "top_n": 2, "return_documents": false });
        assert_eq!(of(RerankForm::Jina), with(jina));
        assert_eq!(of(RerankForm::Command), same);
    }

    // S-RERANK-2
    #[test]
    fn scores_stand_in_the_order_of_texts() {
        let list =
            json!([{ "index": 1, "relevance_score": 0.9 }, { "index": 0, "relevance_score": -2 }]);
        for (form, answer) in [
            (RerankForm::Cohere, json!({ "id": "x", "results": list, "meta": {} })),
            (RerankForm::Voyage, json!({ "object": "list", "data": list, "model": "m" })),
            (RerankForm::Jina, json!({ "model": "m", "results": list, "usage": {} })),
            (RerankForm::Command, json!({ "results": list })),
            (RerankForm::Command, json!({ "scores": [-2, 0.9] })),
        ] {
            assert_eq!(found(form, &answer), Ok(vec![-2.0, 0.9]), "{form:?}");
            let none = found(form, &json!({ "answer": list })).unwrap_err();
            assert!(none.starts_with("p answered with JSON without "), "{none}");
        }
        let voyage_says_data = found(RerankForm::Voyage, &json!({ "results": list }));
        assert!(voyage_says_data.is_err());
    }

    // S-RERANK-5
    #[test]
    fn odd_scores_are_refused_and_never_guessed() {
        let of = |list: Value| found(RerankForm::Jina, &json!({ "results": list })).unwrap_err();
        let good = json!({ "index": 0, "relevance_score": 0.5 });
        let with = |other: Value| of(json!([good, other]));
        assert_eq!(of(json!([good])), "p returned 1 scores for 2 texts");
        assert_eq!(of(json!([good, good, good])), "p returned 3 scores for 2 texts");
        let no_number = "p returned a score that is no number";
        for odd in [json!(null), json!("0.4"), json!("NaN")] {
            assert_eq!(with(json!({ "index": 1, "relevance_score": odd })), no_number);
        }
        assert_eq!(with(json!({ "index": 1 })), no_number);
        let no_text = "p returned an index that is of no text, or of one that has a score already";
        for index in [json!(0), json!(2), json!(-1), json!("1"), json!(0.5), json!(null)] {
            assert_eq!(with(json!({ "index": index, "relevance_score": 0.4 })), no_text);
        }
    }
}
