//! Which engine an address is of: `postgres://…` is PostgreSQL, `http://…` and `https://…` are Qdrant. Qdrant is a
//! feature. Not here: the engines.

use crate::contract::ServedEngine;

/// Returns the engine of an address, which is not asked yet. The password, or key, stands in no file: it is passed beside it.
///
/// # Errors
/// What is wrong, to be read behind "its url".
pub fn engine_at(url: &str, password: Option<&str>) -> Result<Box<dyn ServedEngine>, String> {
    let is_web = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
    if is_web { qdrant(url, password) } else { postgres(url, password) }
}

fn postgres(url: &str, password: Option<&str>) -> Result<Box<dyn ServedEngine>, String> {
    use crate::postgres::{EngineAddress, PostgresCorpus};

    let address = EngineAddress::parse(url, password)?;
    let engine = PostgresCorpus::at(address).map_err(|error| format!("cannot be used: {error}"))?;
    Ok(Box::new(engine))
}

#[cfg(feature = "qdrant")]
fn qdrant(url: &str, key: Option<&str>) -> Result<Box<dyn ServedEngine>, String> {
    use crate::qdrant::{QdrantAddress, QdrantCorpus};

    Ok(Box::new(QdrantCorpus::at(QdrantAddress::parse(url, key)?)))
}

#[cfg(not(feature = "qdrant"))]
fn qdrant(_: &str, _: Option<&str>) -> Result<Box<dyn ServedEngine>, String> {
    Err("is of an engine that this build cannot ask, for it lacks the feature qdrant".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-CORPUS-8
    #[test]
    fn the_scheme_chooses_the_engine() {
        let refusal = |url: &str| engine_at(url, None).err().unwrap_or_default();
        for (url, feature, is_built) in [
            ("postgres://me@127.0.0.1/ak", "postgres", true),
            ("http://127.0.0.1:6333", "qdrant", cfg!(feature = "qdrant")),
            ("https://qdrant.example.org", "qdrant", cfg!(feature = "qdrant")),
        ] {
            let lacking = format!("lacks the feature {feature}");
            assert_eq!(refusal(url).is_empty(), is_built, "{url}");
            assert!(is_built || refusal(url).ends_with(&lacking), "{url}");
        }
        assert!(!refusal("mysql://127.0.0.1").is_empty());
    }
}
