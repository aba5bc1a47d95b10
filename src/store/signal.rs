//! The one signal that would kill a writer in the middle of a line. Not here: what is done when a
//! write falls short (`append`).

/// Lets a write past the limit on the size of files fail with an error, which is taken back and told,
/// instead of ending the process where it stands. For the mains, before the first write.
#[cfg(unix)]
pub fn survive_the_file_size_limit() {
    let nobody_asks = std::sync::Arc::default();
    // Without the handler a write past the limit ends the process; its torn line is sealed as any.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, nobody_asks);
}

/// Nothing to do: only Unix systems have the signal.
#[cfg(not(unix))]
pub fn survive_the_file_size_limit() {}
