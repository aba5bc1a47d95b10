//! The address of a provider: over TLS, or on this very machine; and the words for one that cannot be used. Pure. Not here: what an
//! address is (`http_client`).

use http_client::{PlainHttp, ServerUrl, UrlFault};

use crate::provider_error::ProviderError;

/// Checks the address of a provider. A name and a password in it are refused and not repeated.
///
/// # Errors
/// [`ProviderError::Url`].
pub fn provider_url(text: &str) -> Result<ServerUrl, ProviderError> {
    server_url(text, PlainHttp::ToThisMachine)
}

/// Checks the address of a model that may also be asked without TLS.
pub(crate) fn server_url(text: &str, plain: PlainHttp) -> Result<ServerUrl, ProviderError> {
    let wrong = |fault| {
        ProviderError::Url(format!(
            "url {}",
            match fault {
                UrlFault::NameOrPassword => {
                    "must not hold a name, password or key: set key_env instead"
                }
                UrlFault::NoServer => "is no address, such as https://api.example.com/v1",
                UrlFault::Query => "must end with its path, without ? and #",
                UrlFault::WithoutTls => "must begin with https:// unless it is on this machine",
                UrlFault::OtherScheme => "must begin with https://, or http:// on this machine",
            }
        ))
    };
    ServerUrl::parse(text, plain).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    // S-PROVIDER-2
    #[test]
    fn an_unusable_address_is_explained_in_words() {
        assert!(provider_url("http://localhost:8080/v1/").is_ok());
        let why = |text: &str| provider_url(text).unwrap_err().to_string();
        assert!(why("http://10.0.0.5:8080/v1").contains("https:// unless"));
        let message = why("https://me:secret9@api.example.com");
        assert!(message.contains("key_env") && !message.contains("secret9"), "{message}");
    }
}
