//! Queries use a network of their own (int8), where it loads, works and is not far slower on this machine than the
//! network for texts. Otherwise the network for texts embeds queries too: a query then takes longer, and nothing
//! else changes.
//!
//! What is not here: which networks these are (`minilm`).

use std::time::{Duration, Instant};

use super::embedder::{Embedder, Embedding, ModelId};
use super::error::EmbedError;

/// A query that both networks embed when they are loaded; of usual length, some 16 tokens.
const TRIAL: &str = "why was the installation of the package refused for want of a permission";
/// How often each network embeds it. The fastest counts, since other load slows some rounds down.
const ROUNDS: u32 = 4;
/// The least cosine between the two vectors of [`TRIAL`]. Of 200 queries the least was .9988, so a lower one was
/// computed wrongly.
const COSINE_MIN: f32 = 0.99;

/// How many times as long as the other the network for queries may take. On a processor with int8 products it takes
/// half as long, otherwise three times or more. The bound lies between, so that all processes of a machine choose
/// alike.
const TIMES_MAX: u32 = 2;

/// Embeds texts with one network, and queries with a faster one while that works.
pub(super) struct TwoNetworkEmbedder {
    texts: Box<dyn Embedder>,
    queries: QueryNetwork,
}

/// The network for queries.
enum QueryNetwork {
    /// It embeds queries here.
    Here(Box<dyn Embedder>),
    /// It was given away.
    Away,
    /// There is none, for this reason.
    None(String),
}

impl TwoNetworkEmbedder {
    /// Tries both networks first, which takes some 30 ms, and drops `questions` where it is of no use.
    pub(super) fn new(
        mut texts: Box<dyn Embedder>,
        questions: Result<Box<dyn Embedder>, EmbedError>,
    ) -> Self {
        let questions = questions.map_err(|error| error.to_string()).and_then(|mut questions| {
            tried(texts.as_mut(), questions.as_mut())?;
            Ok(questions)
        });
        Self { texts, queries: questions.map_or_else(QueryNetwork::None, QueryNetwork::Here) }
    }
}

impl Embedder for TwoNetworkEmbedder {
    fn model_id(&self) -> &ModelId {
        self.texts.model_id()
    }

    fn description(&self) -> String {
        let texts = self.texts.description();
        match &self.queries {
            QueryNetwork::Here(_) | QueryNetwork::Away => texts,
            QueryNetwork::None(why) => format!("{texts} (also for queries: {why})"),
        }
    }

    fn dims(&self) -> usize {
        self.texts.dims()
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.texts.embed(texts)
    }

    fn embed_query(&mut self, query: &str) -> Result<Embedding, EmbedError> {
        if let QueryNetwork::Here(queries) = &mut self.queries {
            match queries.embed_query(query) {
                Ok(meant) => return Ok(meant),
                // It would fail again, and dropping it frees its memory.
                Err(error) => self.queries = QueryNetwork::None(error.to_string()),
            }
        }
        self.texts.embed_query(query)
    }

    fn split_off_queries(&mut self) -> Option<Box<dyn Embedder>> {
        match std::mem::replace(&mut self.queries, QueryNetwork::Away) {
            QueryNetwork::Here(queries) => Some(queries),
            other => {
                self.queries = other;
                None
            }
        }
    }
}

/// The vector of [`TRIAL`] by one network, and its fastest time.
struct Trial {
    vector: Vec<f32>,
    least: Duration,
}

impl Trial {
    const NONE: Self = Self { vector: Vec::new(), least: Duration::MAX };

    fn once_more(&mut self, embedder: &mut dyn Embedder) -> Result<(), String> {
        let begun = Instant::now();
        self.vector = embedder.embed_query(TRIAL).map_err(|error| error.to_string())?.vector;
        self.least = self.least.min(begun.elapsed());
        Ok(())
    }
}

/// Tries both in turns, so that other load affects both.
fn tried(texts: &mut dyn Embedder, questions: &mut dyn Embedder) -> Result<(), String> {
    let (mut of_texts, mut of_questions) = (Trial::NONE, Trial::NONE);
    for _ in 0..ROUNDS {
        of_questions.once_more(questions)?;
        of_texts.once_more(texts)?;
    }
    is_of_use(&of_texts, &of_questions)
}

/// Checks that the network for queries is right and not far slower.
///
/// # Errors
/// Why it is of no use.
fn is_of_use(texts: &Trial, questions: &Trial) -> Result<(), String> {
    let products = texts.vector.iter().zip(&questions.vector).map(|(left, right)| left * right);
    let cosine: f32 = products.sum();
    if cosine < COSINE_MIN {
        return Err(format!("ONNX Runtime computes int8 wrongly here, cosine {cosine}"));
    }
    if questions.least > texts.least * TIMES_MAX {
        return Err("int8 is far slower here".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one vector for every text, a limited number of times.
    struct Says {
        model_id: ModelId,
        vector: [f32; 2],
        times: u32,
    }

    impl Embedder for Says {
        fn model_id(&self) -> &ModelId {
            &self.model_id
        }

        fn dims(&self) -> usize {
            self.vector.len()
        }

        fn embed(&mut self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            let broken = || EmbedError::Inference { why: "broken".to_owned() };
            self.times = self.times.checked_sub(1).ok_or_else(broken)?;
            let vector = self.vector.to_vec();
            Ok(texts.iter().map(|_| Embedding { vector: vector.clone(), tokens: vec![] }).collect())
        }
    }

    const OF_TEXTS: [f32; 2] = [1.0, 0.0];
    const OF_QUESTIONS: [f32; 2] = [0.999, 0.0447];

    fn says(vector: [f32; 2], times: u32) -> Box<dyn Embedder> {
        Box::new(Says { model_id: ModelId::new("says", [0; 32]), vector, times })
    }

    fn asked(embedder: &mut TwoNetworkEmbedder) -> Vec<f32> {
        embedder.embed_query("a question").unwrap().vector
    }

    #[test]
    fn without_a_query_network_the_other_embeds_queries() {
        let none = Err(EmbedError::Runtime { why: "no kernel".to_owned() });
        let mut embedder = TwoNetworkEmbedder::new(says(OF_TEXTS, u32::MAX), none);
        assert_eq!(asked(&mut embedder), OF_TEXTS);
        assert!(
            embedder.description().starts_with("says (also for queries: "),
            "{}",
            embedder.description()
        );
        assert!(embedder.description().contains("no kernel"));
    }

    #[test]
    fn a_network_that_cannot_run_is_found_at_load() {
        let mut embedder =
            TwoNetworkEmbedder::new(says(OF_TEXTS, u32::MAX), Ok(says(OF_QUESTIONS, 0)));
        assert!(embedder.description().contains("broken"), "{}", embedder.description());
        assert_eq!(asked(&mut embedder), OF_TEXTS);
    }

    #[test]
    fn a_network_that_fails_later_is_dropped() {
        let queries = QueryNetwork::Here(says(OF_QUESTIONS, 1));
        let mut embedder = TwoNetworkEmbedder { texts: says(OF_TEXTS, u32::MAX), queries };
        assert_eq!(
            (asked(&mut embedder), embedder.description()),
            (OF_QUESTIONS.to_vec(), "says".into())
        );
        assert_eq!(asked(&mut embedder), OF_TEXTS);
        assert!(matches!(embedder.queries, QueryNetwork::None(_)));
        assert_eq!(embedder.embed(&["a text"]).unwrap().remove(0).vector, OF_TEXTS);
    }

    #[test]
    fn a_network_that_is_given_away_answers_elsewhere() {
        let queries = QueryNetwork::Here(says(OF_QUESTIONS, u32::MAX));
        let mut embedder = TwoNetworkEmbedder { texts: says(OF_TEXTS, u32::MAX), queries };
        let mut given = embedder.split_off_queries().unwrap();
        assert_eq!(given.embed_query("why").unwrap().vector, OF_QUESTIONS);
        assert_eq!(
            (asked(&mut embedder), embedder.description()),
            (OF_TEXTS.to_vec(), "says".into())
        );
        assert!(embedder.split_off_queries().is_none());
    }

    #[test]
    fn it_is_used_where_it_is_right_and_not_far_slower() {
        let trial = |vector: [f32; 2], least_ms| {
            let vector = vector.to_vec();
            Trial { vector, least: Duration::from_millis(least_ms) }
        };
        let texts = trial(OF_TEXTS, 4);
        assert_eq!(is_of_use(&texts, &trial(OF_QUESTIONS, 2)), Ok(()));
        assert_eq!(is_of_use(&texts, &trial(OF_QUESTIONS, 7)), Ok(()), "a busy moment");
        assert!(is_of_use(&texts, &trial(OF_QUESTIONS, 12)).unwrap_err().contains("slower"));
        assert!(is_of_use(&texts, &trial([0.6, 0.8], 2)).unwrap_err().contains("wrong"));
    }
}
