//! The files of the dashboard, which the program contains: those below `page`, and the parts of others that
//! `scripts/fetch-dashboard` brought before the build. Not here: who may read them and under which headers
//! (`web::static_files`).

mod table {
    //! Written by the build script.
    include!(concat!(env!("OUT_DIR"), "/table.rs"));
}

/// A file of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    /// Its media type.
    pub content_type: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
    /// A mark of its content, in quotation marks as the header `ETag` has it.
    pub etag: &'static str,
}

/// The page itself.
const PAGE: &str = "index.html";

/// The part without which the page shows nothing.
const PART: &str = "parts/preact.js";

/// What is shown where the program was built without its parts.
const WITHOUT_PARTS: Asset = Asset {
    content_type: "text/html; charset=utf-8",
    bytes: include_bytes!("without_parts.html"),
    etag: "\"without-parts\"",
};

/// Returns a file by its path below the page, such as `app.js`.
#[must_use]
pub fn asset(path: &str) -> Option<Asset> {
    let place = table::ASSETS.binary_search_by(|(name, _)| (*name).cmp(path)).ok()?;
    table::ASSETS.get(place).map(|(_, asset)| *asset)
}

/// Returns the page: the one with everything, or one that says which command brings what is missing.
#[must_use]
pub fn page() -> Asset {
    asset(PART).and_then(|_| asset(PAGE)).unwrap_or(WITHOUT_PARTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_found_by_its_path() {
        assert!(table::ASSETS.is_sorted_by(|one, next| one.0 < next.0));
        for (path, asset) in table::ASSETS {
            assert_eq!(super::asset(path), Some(*asset), "{path}");
            assert!(asset.etag.len() == 18 && asset.etag.starts_with('"'), "{}", asset.etag);
        }
        let page = asset(PAGE).unwrap();
        assert_eq!(page.bytes, include_bytes!("page/index.html"));
        assert_eq!(page.content_type, "text/html; charset=utf-8");
        assert_eq!(asset("app.js").unwrap().content_type, "text/javascript; charset=utf-8");
    }

    #[test]
    fn only_an_exact_path_is_found() {
        for path in ["", ".", "../lib.rs", "./app.js", "/app.js", "App.js", "app.js/", "screens"] {
            assert_eq!(asset(path), None, "{path}");
        }
    }

    #[test]
    fn without_parts_the_page_names_the_command() {
        let is_whole = asset(PART).is_some();
        assert_eq!(page() == WITHOUT_PARTS, !is_whole);
        let text = std::str::from_utf8(WITHOUT_PARTS.bytes).unwrap();
        assert!(text.contains("scripts/fetch-dashboard"), "{text}");
    }
}
