//! Which engine an address is of: `postgres://…` is PostgreSQL, `http://…` and `https://…` are Qdrant. Each is a feature. Not here:
//! the engines.

use crate::contract::Corpus;
use crate::trouble::Trouble;

/// An engine that a server offers.
pub trait ServedEngine: Corpus {
    /// Makes what is missing before the first memory: tables or collections. Only who feeds an engine needs the right to do that.
    ///
    /// # Errors
    /// [`Trouble`].
    fn make_ready(&self) -> Result<(), Trouble>;
}

/// Returns the engine of an address, which is not asked yet. The password, or key, stands in no file: it is passed beside it.
///
/// # Errors
/// What is wrong, to be read behind "its url".
pub fn engine_at(url: &str, password: Option<&str>) -> Result<Box<dyn ServedEngine>, String> {
    let is_web = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    if is_web { qdrant(url, password) } else { postgres(url, password) }
}

#[cfg(feature = "postgres")]
fn postgres(url: &str, password: Option<&str>) -> Result<Box<dyn ServedEngine>, String> {
    use crate::postgres::{EngineAddress, PostgresCorpus};

    let address = EngineAddress::parse(url, password)?;
    let engine = PostgresCorpus::at(address).map_err(|error| format!("cannot be used: {error}"))?;
    Ok(Box::new(engine))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: &str, _: Option<&str>) -> Result<Box<dyn ServedEngine>, String> {
    Err(lacking("postgres"))
}

#[cfg(feature = "qdrant")]
fn qdrant(url: &str, key: Option<&str>) -> Result<Box<dyn ServedEngine>, String> {
    use crate::qdrant::{QdrantAddress, QdrantCorpus};

    Ok(Box::new(QdrantCorpus::at(QdrantAddress::parse(url, key)?)))
}

#[cfg(not(feature = "qdrant"))]
fn qdrant(_: &str, _: Option<&str>) -> Result<Box<dyn ServedEngine>, String> {
    Err(lacking("qdrant"))
}

#[cfg(not(all(feature = "postgres", feature = "qdrant")))]
fn lacking(feature: &str) -> String {
    format!("is of an engine that this build cannot ask, for it lacks the feature {feature}")
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-CORPUS-8
    #[test]
    fn the_scheme_chooses_the_engine() {
        let told = |url: &str| engine_at(url, None).err().unwrap_or_default();
        for (url, feature, is_built) in [
            ("postgres://me@127.0.0.1/ak", "postgres", cfg!(feature = "postgres")),
            ("http://127.0.0.1:6333", "qdrant", cfg!(feature = "qdrant")),
            ("https://qdrant.example.org", "qdrant", cfg!(feature = "qdrant")),
        ] {
            let lacking = format!("lacks the feature {feature}");
            assert_eq!(told(url).is_empty(), is_built, "{url}");
            assert!(is_built || told(url).ends_with(&lacking), "{url}");
        }
        assert!(!told("mysql://127.0.0.1").is_empty());
    }
}
