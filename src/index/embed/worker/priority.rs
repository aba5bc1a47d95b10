//! The priority of the thread that embeds texts. Not here: what it does (`thread`).

/// The nice value that is added: the thread gets about a tenth of what a thread beside it gets on a busy processor, and
/// all of an idle one.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Lets this thread give way to all others. Only Linux has a nice value for each thread.
pub(super) fn give_way() {
    #[cfg(target_os = "linux")]
    {
        // Where it is refused, texts are embedded at the usual priority.
        let _ = rustix::process::nice(NICE);
    }
}
