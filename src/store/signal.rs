//! The signals that are not left to do what they would: the one that kills a writer in the middle of a line,
//! and those that ask a server to stop. Not here: what is done when a write falls short (`append`).

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

/// Calls `then` once, on a thread of its own, when the system or a person asks this process to stop.
///
/// # Errors
/// What the system said; then the signals end the process as they would.
#[cfg(unix)]
pub fn when_asked_to_stop(then: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    let (mut asked, asks) = UnixStream::pair()?;
    for signal in [libc::SIGTERM, libc::SIGINT] {
        signal_hook::low_level::pipe::register(signal, asks.try_clone()?)?;
    }
    let wait = move || {
        // Nobody can be told of what is wrong with a socket that only this process has.
        let _ = asked.read(&mut [0]);
        then();
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

/// Nothing to do: elsewhere the signals end the process.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn when_asked_to_stop(then: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    drop(then);
    Ok(())
}
