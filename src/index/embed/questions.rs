//! A network of their own for questions, where it is there, works and is not far slower here than the one for texts. Where
//! it is not, that one answers them too: a question then takes longer, and nothing else is lost.
//!
//! What is not here: which networks these are (`minilm`).

use std::time::{Duration, Instant};

use super::{EmbedError, Embedder, Embedding, ModelId};

/// Asked of both when they are loaded; of the length of a usual question, some 16 tokens.
const TRIAL: &str = "why was the installation of the package refused for want of a permission";
/// How often it is asked of each. The quickest counts: the first is slower, and so is one that others disturb.
const ROUNDS: u32 = 4;
/// The least cosine between what the two make of [`TRIAL`]. Of 200 questions the least was .9988, so what is
/// under this was computed wrongly.
const COSINE_MIN: f32 = 0.99;

/// How many times as long as the other the network for questions may take. With products of bytes it takes half as
/// long, without them three times or more; the bound lies between, so that all processes of a machine choose alike,
/// however busy it is.
const TIMES_MAX: u32 = 2;

/// Texts by one network, questions by a quicker one while that works.
pub(super) struct QuickToAsk {
    texts: Box<dyn Embedder>,
    /// Or why there is none.
    questions: Result<Box<dyn Embedder>, String>,
}

impl QuickToAsk {
    /// Asks both something first, which takes some 30 ms, and lets go of `questions` where it is of no use.
    pub(super) fn of(
        mut texts: Box<dyn Embedder>,
        questions: Result<Box<dyn Embedder>, EmbedError>,
    ) -> Self {
        let questions = questions.map_err(|error| error.to_string()).and_then(|mut questions| {
            tried(texts.as_mut(), questions.as_mut())?;
            Ok(questions)
        });
        Self { texts, questions }
    }
}

impl Embedder for QuickToAsk {
    fn model_id(&self) -> &ModelId {
        self.texts.model_id()
    }

    fn told(&self) -> String {
        let texts = self.texts.told();
        match &self.questions {
            Ok(_) => texts,
            Err(why) => format!("{texts} (for questions too: {why})"),
        }
    }

    fn dims(&self) -> usize {
        self.texts.dims()
    }

    fn embed(&mut self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        self.texts.embed(texts)
    }

    fn ask(&mut self, question: &str) -> Result<Embedding, EmbedError> {
        if let Ok(questions) = &mut self.questions {
            match questions.ask(question) {
                Ok(meant) => return Ok(meant),
                // It will hardly do better next time, and what it holds may be what is wanting.
                Err(error) => self.questions = Err(error.to_string()),
            }
        }
        self.texts.ask(question)
    }
}

/// What a network made of [`TRIAL`], and in what time at least.
struct Trial {
    vector: Vec<f32>,
    least: Duration,
}

impl Trial {
    const NONE: Self = Self { vector: Vec::new(), least: Duration::MAX };

    fn once_more(&mut self, embedder: &mut dyn Embedder) -> Result<(), String> {
        let begun = Instant::now();
        self.vector = embedder.ask(TRIAL).map_err(|error| error.to_string())?.vector;
        self.least = self.least.min(begun.elapsed());
        Ok(())
    }
}

/// Asks both in turns, so that whoever disturbs one disturbs the other.
fn tried(texts: &mut dyn Embedder, questions: &mut dyn Embedder) -> Result<(), String> {
    let (mut of_texts, mut of_questions) = (Trial::NONE, Trial::NONE);
    for _ in 0..ROUNDS {
        of_questions.once_more(questions)?;
        of_texts.once_more(texts)?;
    }
    is_of_use(&of_texts, &of_questions)
}

/// Says why the network for questions is of no use, where it is of none.
fn is_of_use(texts: &Trial, questions: &Trial) -> Result<(), String> {
    let products = texts.vector.iter().zip(&questions.vector).map(|(left, right)| left * right);
    let cosine: f32 = products.sum();
    if cosine < COSINE_MIN {
        return Err(format!("what ONNX Runtime computes in bytes is wrong here, cosine {cosine}"));
    }
    if questions.least > texts.least * TIMES_MAX {
        return Err("in bytes they take far longer here".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one vector for everything, as often as it may.
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

    fn asked(embedder: &mut QuickToAsk) -> Vec<f32> {
        embedder.ask("a question").unwrap().vector
    }

    #[test]
    fn without_a_network_of_their_own_questions_are_answered_by_that_of_texts() {
        let none = Err(EmbedError::Runtime { why: "no kernel".to_owned() });
        let mut embedder = QuickToAsk::of(says(OF_TEXTS, u32::MAX), none);
        assert_eq!(asked(&mut embedder), OF_TEXTS);
        assert!(embedder.told().starts_with("says (for questions too: "), "{}", embedder.told());
        assert!(embedder.told().contains("no kernel"));
    }

    #[test]
    fn one_that_is_loaded_and_cannot_run_is_found_when_it_is_loaded() {
        let mut embedder = QuickToAsk::of(says(OF_TEXTS, u32::MAX), Ok(says(OF_QUESTIONS, 0)));
        assert!(embedder.told().contains("broken"), "{}", embedder.told());
        assert_eq!(asked(&mut embedder), OF_TEXTS);
    }

    #[test]
    fn one_that_fails_later_is_let_go_of() {
        let (texts, questions) = (says(OF_TEXTS, u32::MAX), Ok(says(OF_QUESTIONS, 1)));
        let mut embedder = QuickToAsk { texts, questions };
        assert_eq!((asked(&mut embedder), embedder.told()), (OF_QUESTIONS.to_vec(), "says".into()));
        assert_eq!(asked(&mut embedder), OF_TEXTS);
        assert!(embedder.questions.is_err());
        assert_eq!(embedder.embed(&["a text"]).unwrap().remove(0).vector, OF_TEXTS);
    }

    #[test]
    fn it_is_of_use_where_it_is_right_and_not_far_slower() {
        let trial = |vector: [f32; 2], least_ms| {
            let vector = vector.to_vec();
            Trial { vector, least: Duration::from_millis(least_ms) }
        };
        let texts = trial(OF_TEXTS, 4);
        assert_eq!(is_of_use(&texts, &trial(OF_QUESTIONS, 2)), Ok(()));
        assert_eq!(is_of_use(&texts, &trial(OF_QUESTIONS, 7)), Ok(()), "a busy moment");
        assert!(is_of_use(&texts, &trial(OF_QUESTIONS, 12)).unwrap_err().contains("longer"));
        assert!(is_of_use(&texts, &trial([0.6, 0.8], 2)).unwrap_err().contains("wrong"));
    }
}
