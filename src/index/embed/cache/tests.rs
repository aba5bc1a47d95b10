//! Tests of the vector cache's promises, without a model.

use super::record::{CHECKSUM_BYTES, KEY_BYTES, MAGIC};
use super::*;
use crate::late::TOKENS_KEPT_MAX;
use std::fs;
use tempfile::TempDir;

const DIMS: usize = 3;
const RECORD_BYTES: usize = KEY_BYTES + DIMS * 4 + CHECKSUM_BYTES;

/// The standard library's file lock stands in for the one `store` brings.
struct TestLock;

impl AppendLock for TestLock {
    fn with_lock(
        &self,
        file: &File,
        body: &mut dyn FnMut(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        file.lock()?;
        let result = body(file);
        file.unlock()?;
        result
    }
}

fn model(seed: u8) -> ModelId {
    ModelId::new("test", [seed; 32])
}

fn open(dir: &TempDir) -> VectorCache {
    VectorCache::open(dir.path(), &model(1), DIMS, Arc::new(TestLock)).unwrap()
}

fn row(number: u16) -> (TextKey, Vec<f32>) {
    (TextKey::from_text(&format!("text {number}")), vec![f32::from(number), 0.5, -1.0])
}

/// The file of vectors, of which there is one; the other is that of signs.
fn only_file(dir: &TempDir) -> PathBuf {
    only(dir, "vectors")
}

fn only(dir: &TempDir, extension: &str) -> PathBuf {
    let paths = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    let path = paths.next().unwrap();
    assert!(paths.next().is_none());
    path
}

#[test]
fn a_restart_finds_every_vector_again() {
    let dir = TempDir::new().unwrap();
    let rows: Vec<_> = (0..2000).map(row).collect();
    let mut cache = open(&dir);
    cache.append(&rows[..1]).unwrap();
    cache.append(&rows).unwrap();
    let mut again = open(&dir);
    for (key, vector) in &rows {
        assert_eq!(cache.get(*key).as_ref(), Some(vector));
        assert_eq!(again.get(*key).as_ref(), Some(vector));
    }
    assert_eq!(again.get(TextKey::from_text("never seen")), None);
    assert_eq!(again.stats(), CacheStats { rows: 2000, damaged: 0, refused: 0 });
    let bytes = fs::metadata(only_file(&dir)).unwrap().len();
    assert_eq!(bytes, to_u64(HEADER_BYTES + 2000 * RECORD_BYTES), "nothing is written twice");
}

#[test]
fn a_torn_file_keeps_whole_records_and_takes_new_ones() {
    let dir = TempDir::new().unwrap();
    open(&dir).append(&[row(1), row(2)]).unwrap();
    let whole = fs::read(only_file(&dir)).unwrap();
    for cut in 0..=whole.len() {
        fs::write(only_file(&dir), &whole[..cut]).unwrap();
        let kept = cut.saturating_sub(HEADER_BYTES) / RECORD_BYTES;
        let mut cache = open(&dir);
        assert_eq!(cache.stats().rows, kept, "cut at {cut}");
        cache.append(&[row(3)]).unwrap();
        let mut again = open(&dir);
        assert_eq!(again.get(row(3).0), Some(row(3).1), "cut at {cut}");
        assert_eq!(again.stats().rows, kept + 1, "cut at {cut}");
        let torn = cut > HEADER_BYTES && !(cut - HEADER_BYTES).is_multiple_of(RECORD_BYTES);
        assert_eq!(again.stats().damaged, usize::from(torn), "cut at {cut}");
    }
}

#[test]
fn a_flipped_bit_costs_one_record_and_is_counted() {
    let dir = TempDir::new().unwrap();
    open(&dir).append(&[row(1), row(2), row(3)]).unwrap();
    let path = only_file(&dir);
    let whole = fs::read(&path).unwrap();
    for byte in 0..RECORD_BYTES {
        let mut damaged = whole.clone();
        damaged[HEADER_BYTES + RECORD_BYTES + byte] ^= 0x10;
        fs::write(&path, damaged).unwrap();
        let mut cache = open(&dir);
        assert_eq!(cache.stats(), CacheStats { rows: 2, damaged: 1, refused: 0 });
        assert_eq!((cache.get(row(2).0), cache.get(row(3).0)), (None, Some(row(3).1)));
    }
}

#[test]
fn damage_after_opening_is_repaired_by_the_next_append() {
    let dir = TempDir::new().unwrap();
    let mut cache = open(&dir);
    cache.append(&[row(1), row(2)]).unwrap();
    let path = only_file(&dir);
    let mut bytes = fs::read(&path).unwrap();
    bytes[HEADER_BYTES + KEY_BYTES] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(cache.get(row(1).0), None);
    assert_eq!(cache.stats().damaged, 1);
    cache.append(&[row(1)]).unwrap();
    assert_eq!(cache.get(row(1).0), Some(row(1).1));
}

#[test]
fn a_foreign_or_newer_header_is_left_alone() {
    let dir = TempDir::new().unwrap();
    open(&dir).append(&[row(1)]).unwrap();
    let path = only_file(&dir);
    let mut newer = fs::read(&path).unwrap();
    newer[MAGIC.len()] += 1;
    fs::write(&path, &newer).unwrap();
    let mut cache = open(&dir);
    assert_eq!(cache.stats().rows, 0);
    cache.append(&[row(2)]).unwrap();
    assert_eq!(fs::read(&path).unwrap(), newer);
    assert_eq!(open(&dir).get(row(2).0), Some(row(2).1));
    // Each has its file of signs beside it.
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4);
}

#[test]
fn foreign_files_under_every_name_are_an_error_and_survive() {
    let dir = TempDir::new().unwrap();
    for attempt in 0..NAMES_MAX {
        fs::write(dir.path().join(file_name(&model(1), attempt)), "diary").unwrap();
    }
    let opened = VectorCache::open(dir.path(), &model(1), DIMS, Arc::new(TestLock));
    assert!(matches!(opened, Err(CacheError::NoFreeName { .. })));
    assert_eq!(fs::read(dir.path().join(file_name(&model(1), 0))).unwrap(), b"diary");
}

#[test]
fn models_never_see_each_others_vectors() {
    let dir = TempDir::new().unwrap();
    open(&dir).append(&[row(1)]).unwrap();
    let mut other = VectorCache::open(dir.path(), &model(2), DIMS, Arc::new(TestLock)).unwrap();
    assert_eq!(other.get(row(1).0), None);
    let mut wider = VectorCache::open(dir.path(), &model(1), DIMS + 1, Arc::new(TestLock)).unwrap();
    assert_eq!(wider.get(row(1).0), None);
}

#[test]
fn appenders_at_once_lose_nothing_and_write_nothing_twice() {
    let dir = TempDir::new().unwrap();
    let appender = |start: u16| {
        let mut cache = open(&dir);
        // Ranges overlap, so that each row is offered by two or three appenders.
        for first in (start..start + 100).step_by(7) {
            let batch: Vec<_> = (first..first + 7).map(row).collect();
            cache.append(&batch).unwrap();
        }
    };
    std::thread::scope(|scope| {
        for start in [0, 50, 100, 150] {
            scope.spawn(move || appender(start));
        }
    });
    let mut cache = open(&dir);
    let last = 150 + 105;
    for number in 0..last {
        assert_eq!(cache.get(row(number).0), Some(row(number).1), "row {number}");
    }
    let stats = CacheStats { rows: usize::from(last), damaged: 0, refused: 0 };
    assert_eq!(cache.stats(), stats);
    let bytes = fs::metadata(only_file(&dir)).unwrap().len();
    assert_eq!(bytes, to_u64(HEADER_BYTES + usize::from(last) * RECORD_BYTES));
}

#[test]
fn vectors_that_make_no_sense_are_not_kept() {
    let dir = TempDir::new().unwrap();
    let mut cache = open(&dir);
    let bad = [vec![1.0, 2.0], vec![f32::NAN, 0.0, 0.0], vec![0.0, f32::INFINITY, 0.0]];
    let batch: Vec<_> = bad.into_iter().map(|vector| (TextKey::from_text("bad"), vector)).collect();
    cache.append(&batch).unwrap();
    assert_eq!(cache.get(TextKey::from_text("bad")), None);
    assert_eq!(fs::metadata(only_file(&dir)).unwrap().len(), 0);
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let outer = TempDir::new().unwrap();
    let dir = outer.path().join("cache");
    VectorCache::open(&dir, &model(1), DIMS, Arc::new(TestLock)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files: Vec<u32> =
        fs::read_dir(&dir).unwrap().map(|entry| mode(&entry.unwrap().path())).collect();
    assert_eq!((mode(&dir), files), (0o700, vec![0o600, 0o600]));
}

#[cfg(unix)]
#[test]
fn a_planted_link_pipe_or_device_is_refused() {
    let dir = TempDir::new().unwrap();
    drop(open(&dir));
    let path = only_file(&dir);
    let elsewhere = TempDir::new().unwrap();
    let target = elsewhere.path().join("target");
    fs::write(&target, "").unwrap();
    let plants: [&dyn Fn(); 4] = [
        &|| std::os::unix::fs::symlink(&target, &path).unwrap(),
        &|| fs::hard_link(&target, &path).unwrap(),
        &|| assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success()),
        &|| fs::create_dir(&path).unwrap(),
    ];
    fs::remove_file(&path).unwrap();
    for plant in plants {
        plant();
        let opened = VectorCache::open(dir.path(), &model(1), DIMS, Arc::new(TestLock));
        assert!(matches!(opened, Err(CacheError::Io { .. })), "{opened:?}");
        assert_eq!(fs::read(&target).unwrap(), b"");
        fs::remove_file(&path).or_else(|_| fs::remove_dir(&path)).unwrap();
    }
}

/// Signs that are another's for another number.
fn signs(number: u16) -> TokenSigns {
    let count = usize::from(number) % (TOKENS_KEPT_MAX + 1);
    let word =
        |at: usize| (u64::from(number) << 32 | to_u64(at)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    TokenSigns::new((0..count).map(|token| std::array::from_fn(|at| word(8 * token + at))))
}

fn keep(cache: &mut VectorCache, numbers: impl Iterator<Item = u16> + Clone) {
    cache.append(&numbers.clone().map(row).collect::<Vec<_>>()).unwrap();
    let batch: Vec<_> = numbers.map(|number| (row(number).0, signs(number))).collect();
    cache.keep_signs(&batch).unwrap();
}

/// Reads the signs of a row.
fn found(cache: &VectorCache, number: u16) -> Option<TokenSigns> {
    cache.tokens().unwrap().signs(cache.place(row(number).0)?)
}

// S-RANK-8
#[test]
fn signs_return_after_a_restart_with_their_text() {
    let dir = TempDir::new().unwrap();
    let mut cache = open(&dir);
    // The last has no tokens at all; of 200 to 209 there are only vectors.
    keep(&mut cache, 0..200);
    cache.append(&(200..210).map(row).collect::<Vec<_>>()).unwrap();
    keep(&mut cache, [300, 65].into_iter());
    for cache in [cache, open(&dir)] {
        for number in (0..200).chain([300, 65]) {
            assert_eq!(found(&cache, number), Some(signs(number)), "{number}");
        }
        assert!((200..210).all(|number| cache.place(row(number).0).is_none()));
        assert_eq!(cache.place(TextKey::from_text("never seen")), None);
    }
}

// S-RANK-8
#[test]
fn signs_of_texts_without_a_vector_have_no_place() {
    let dir = TempDir::new().unwrap();
    let cache = open(&dir);
    cache.keep_signs(&[(row(1).0, signs(1))]).unwrap();
    assert_eq!(cache.place(row(1).0), None);
    assert_eq!(fs::metadata(only(&dir, "tokens")).unwrap().len(), 0);
}

// S-RANK-8
#[test]
fn damaged_signs_are_ignored_and_can_be_written_again() {
    let dir = TempDir::new().unwrap();
    let mut cache = open(&dir);
    keep(&mut cache, 1..4);
    let path = only(&dir, "tokens");
    let whole = fs::read(&path).unwrap();
    // Every byte of the last record, its checksum and count included.
    let last = HEADER_BYTES + 2 * sign_file::RECORD_BYTES;
    assert_eq!(whole.len(), last + 16 + 3 * 48);
    for at in last..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        fs::write(&path, &damaged).unwrap();
        assert_eq!((found(&cache, 3), found(&cache, 2)), (None, Some(signs(2))), "byte {at}");
    }
    for cut in [last - 1, last, last + 7, last + 20, whole.len() - 1] {
        fs::write(&path, &whole[..cut]).unwrap();
        let mut torn = open(&dir);
        assert_eq!(found(&torn, 3), None, "{cut}");
        keep(&mut torn, 1..4);
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
}

// S-RANK-8
#[test]
fn a_file_of_signs_torn_in_its_header_is_begun_again() {
    let dir = TempDir::new().unwrap();
    keep(&mut open(&dir), 1..3);
    let whole = fs::read(only(&dir, "tokens")).unwrap();
    for cut in 0..HEADER_BYTES {
        fs::write(only(&dir, "tokens"), &whole[..cut]).unwrap();
        keep(&mut open(&dir), 1..3);
        assert_eq!(fs::read(only(&dir, "tokens")).unwrap(), whole, "{cut}");
    }
}

// S-RANK-8
#[test]
fn after_a_lost_file_no_text_gets_the_signs_of_another() {
    let dir = TempDir::new().unwrap();
    keep(&mut open(&dir), 1..9);
    fs::remove_file(only(&dir, "vectors")).unwrap();
    let mut cache = open(&dir);
    cache.append(&[5, 3, 3, 1].map(row)).unwrap();
    // The first three rows are now of 5, 3 and 1, and hold the signs of 1, 2 and 3.
    for number in [5, 3, 1] {
        assert_eq!(cache.place(row(number).0), None);
    }
    keep(&mut cache, [5, 1].into_iter());
    assert_eq!((found(&cache, 5), found(&cache, 1)), (Some(signs(5)), Some(signs(1))));
    fs::remove_file(only(&dir, "tokens")).unwrap();
    assert_eq!(found(&open(&dir), 5), None);
}

// S-RANK-8
#[test]
fn a_foreign_sign_file_is_left_alone() {
    let dir = TempDir::new().unwrap();
    drop(open(&dir));
    let path = only(&dir, "tokens");
    for foreign in [vec![b'x'; 3], vec![b'x'; 100]] {
        fs::write(&path, &foreign).unwrap();
        let mut cache = open(&dir);
        assert!(cache.tokens().unwrap_err().contains("move it away"));
        keep(&mut cache, 1..3);
        assert_eq!((cache.place(row(1).0), cache.get(row(1).0)), (None, Some(row(1).1)));
        assert_eq!(fs::read(&path).unwrap(), foreign);
    }
    fs::remove_file(&path).unwrap();
    keep(&mut open(&dir), 1..3);
    // Another model has another file, and this one has another model's bytes then.
    let copy = fs::read(&path).unwrap();
    let other = TempDir::new().unwrap();
    VectorCache::open(other.path(), &model(2), DIMS, Arc::new(TestLock)).unwrap();
    fs::write(only(&other, "tokens"), copy).unwrap();
    let cache = VectorCache::open(other.path(), &model(2), DIMS, Arc::new(TestLock)).unwrap();
    assert!(cache.tokens().is_err());
}

// S-RANK-8
#[test]
fn writers_of_signs_at_once_lose_nothing() {
    let dir = TempDir::new().unwrap();
    std::thread::scope(|scope| {
        for start in [0_u16, 20, 40] {
            let dir = &dir;
            scope.spawn(move || {
                let mut cache = open(dir);
                (start..start + 40).for_each(|number| keep(&mut cache, number..number + 1));
            });
        }
    });
    let cache = open(&dir);
    assert!((0..80).all(|number| found(&cache, number) == Some(signs(number))));
}
