//! Tests of an import whose files cannot be read, or take long. Not here: what an import keeps (`session_import_tests`).

use std::sync::atomic::AtomicUsize;

use super::*;

/// Reads as [`Plain`] does, after something else has happened.
struct After<F>(F);

impl<F: Fn(&TranscriptFile) -> Result<(), ReadError> + Send + Sync> TranscriptReader for After<F> {
    fn tool(&self) -> &'static Tool {
        &PLAIN
    }

    fn roots(&self, places: &TranscriptPlaces<'_>) -> Vec<PathBuf> {
        Plain.roots(places)
    }

    fn find(&self, root: &Path) -> Result<Vec<TranscriptFile>, ReadError> {
        Plain.find(root)
    }

    fn read(
        &self,
        file: &TranscriptFile,
        resume: Option<&Resume>,
        sink: &mut dyn TranscriptSink,
    ) -> Result<Resume, ReadError> {
        let end = Plain.read(file, resume, sink)?;
        self.0(file).map(|()| end)
    }
}

fn after<F>(happens: F) -> &'static dyn TranscriptReader
where
    F: Fn(&TranscriptFile) -> Result<(), ReadError> + Send + Sync + 'static,
{
    Box::leak(Box::new(After(happens)))
}

/// The number of an error of a disk.
const EIO: i32 = 5;

/// A reader whose disk fails.
pub(super) fn broken() -> &'static dyn TranscriptReader {
    after(|file| Err(ReadError::io(&file.path)(std::io::Error::from_raw_os_error(EIO))))
}

/// Most looks for something that another thread does: far more than it takes.
const LOOKS_MAX: usize = 20_000_000;

/// Waits until something is so; tells whether it is.
fn comes(is_so: impl Fn() -> bool) -> bool {
    let looks = (0..LOOKS_MAX).inspect(|_| std::thread::yield_now());
    looks.into_iter().any(|_| is_so())
}

// S-SESS-5
#[test]
fn a_file_that_could_not_be_read_is_tried_again() {
    let mut desk = Desk::new();
    desk.write("a", TWO);
    let broken = broken();
    let progress = desk.import_with(broken);
    assert_eq!((progress.files, progress.errors.len()), (1, 1), "{progress:?}");
    assert_eq!(desk.import_with(broken).errors.len(), 1, "each time");
    let progress = desk.import();
    assert_eq!((progress.files, progress.errors.len()), (1, 0), "{progress:?}");
    assert_eq!(desk.texts()["a"], ["one", "1", "two"]);
    assert_eq!(desk.import().files, 0);
    assert!(desk.kept.censuses().unwrap()["plain"].errors.is_empty());
    // What a file says stays the same, so it is not read each time.
    desk.write("b", TWO);
    let odd = after(|file| Err(ReadError::form(&file.path, "odd")));
    assert_eq!(desk.import_with(odd).errors.len(), 1);
    assert_eq!(desk.import_with(odd).files, 0);
}

// S-SESS-5
#[test]
fn reading_does_not_run_ahead_of_writing() {
    const THREADS: usize = 2;
    let mut desk = Desk::new();
    for place in 0..60 {
        desk.write(&format!("s{place:02}"), &format!("{{\"ask\":\"{place:02}\"}}\n"));
    }
    let begun: &AtomicUsize = Box::leak(Box::default());
    let most: &AtomicUsize = Box::leak(Box::default());
    let reader = after(|file| {
        begun.fetch_add(1, Ordering::SeqCst);
        if file.stem() == Some("s00") {
            // All that may be read is read, and whoever would read more has time to.
            assert!(comes(|| begun.load(Ordering::SeqCst) >= QUEUE_FILES + THREADS));
            let more = || begun.load(Ordering::SeqCst) > QUEUE_FILES + THREADS;
            let _ = (0..200_000).inspect(|_| std::thread::yield_now()).any(|_| more());
            most.store(begun.load(Ordering::SeqCst), Ordering::SeqCst);
        }
        Ok(())
    });
    assert_eq!(desk.import_with(reader).files, 60);
    assert_eq!(most.load(Ordering::SeqCst), QUEUE_FILES + THREADS);
}
