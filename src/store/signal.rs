//! Signals whose default action is replaced: the one that kills a writer in the middle of a line, and those
//! that ask a server to stop. Not here: how a short write is handled (`append`).

/// Makes a write past the file size limit fail with an error instead of killing the process. The write is then
/// rolled back and reported. The mains call it before the first write.
#[cfg(unix)]
pub fn survive_the_file_size_limit() {
    let nobody_asks = std::sync::Arc::default();
    // Without the handler a write past the limit kills the process. The torn line is sealed like any other.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, nobody_asks);
}

/// Nothing to do: only Unix systems have the signal.
#[cfg(not(unix))]
pub fn survive_the_file_size_limit() {}

/// Lets the first signal that would end this process set a flag instead, so that it can tidy up and leave. Once the flag is set, by
/// whoever, such signals end the process as usual.
///
/// # Errors
/// The system's error. The signals then keep their default action.
#[cfg(unix)]
pub fn set_on_first_end_signal(
    flag: &std::sync::Arc<std::sync::atomic::AtomicBool>,
) -> std::io::Result<()> {
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
        signal_hook::flag::register_conditional_default(signal, flag.clone())?;
        // Actions run in their order: the first signal finds the flag unset.
        signal_hook::flag::register(signal, flag.clone())?;
    }
    Ok(())
}

/// Calls `then` once, on its own thread, when the system or a person asks this process to stop.
///
/// # Errors
/// The system's error. The signals then keep their default action.
#[cfg(unix)]
pub fn on_stop_signal(then: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    let (mut asked, asks) = UnixStream::pair()?;
    for signal in [libc::SIGTERM, libc::SIGINT] {
        signal_hook::low_level::pipe::register(signal, asks.try_clone()?)?;
    }
    let wait = move || {
        // Only this process has the socket, so there is nobody to report a failure to.
        let _ = asked.read(&mut [0]);
        then();
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

/// Does nothing: on other systems the signals end the process.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn on_stop_signal(then: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    drop(then);
    Ok(())
}
