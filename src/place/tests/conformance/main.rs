//! Places as users have them, as a table: what is set up, which repository, folder and kind are expected, and why a user expects
//! that. Repositories are made by the real git; those of Mercurial by `hg` where it is installed, else as files of its layout, as are
//! those of jj and Sapling. Not here: the parts (each file tests itself).
#![expect(clippy::unwrap_used, reason = "a row whose machine cannot be made fails")]
#![expect(clippy::too_many_lines, reason = "a table is as long as it has rows")]

mod any_files;
mod containers;
mod declared_places;
mod git_checkouts;
mod git_shapes;
mod gone_places;
mod other_programs;
mod package_file_rows;
mod package_rows;
mod packages;
mod remote_urls;
mod row;
mod scene;
mod user_settings;
mod without_control;

use row::{Row, differs_from_git, failures};

/// The fewest places that the suite must know.
const PLACES_MIN: usize = 150;

/// Where git gives up or knows no project, and an answer is expected all the same.
const NOT_AS_GIT: &[&str] = &[
    "an empty file .git in a subfolder",
    "the remains of a .git in an image, with nothing above",
    "a marked project below a home that is a repository",
    "dotfiles in a bare repository",
    "a folder of settings, with yadm",
];

fn tables() -> Vec<(&'static str, Vec<Row>)> {
    vec![
        ("remote URLs", remote_urls::rows()),
        ("settings of git and SSH", user_settings::rows()),
        ("shapes of git repositories", git_shapes::rows()),
        ("checkouts and remotes of git", git_checkouts::rows()),
        ("other programs", other_programs::rows()),
        ("without version control", without_control::rows()),
        ("declared places", declared_places::rows()),
        ("directories that are gone", gone_places::rows()),
        ("containers and shared disks", containers::rows()),
    ]
}

#[track_caller]
fn assert_table(name: &str) {
    let rows = tables().into_iter().find(|(own, _)| *own == name).unwrap().1;
    let wrong: Vec<String> = rows.iter().flat_map(failures).collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

// S-REPO-2
#[test]
fn every_spelling_of_a_remote_is_one_place() {
    assert_table("remote URLs");
}

// S-REPO-2
#[test]
fn settings_of_git_and_ssh_are_followed() {
    assert_table("settings of git and SSH");
}

// S-REPO-3
#[test]
fn git_decides_what_a_repository_is() {
    assert_table("shapes of git repositories");
}

// S-REPO-3
#[test]
fn git_says_the_same_of_every_directory() {
    let rows = git_shapes::rows().into_iter().chain(without_control::rows());
    let (on_purpose, others): (Vec<Row>, Vec<Row>) =
        rows.partition(|row| NOT_AS_GIT.contains(&row.place.as_str()));
    let differing: Vec<String> = others.iter().filter_map(differs_from_git).collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert_eq!(on_purpose.iter().filter_map(differs_from_git).count(), NOT_AS_GIT.len());
}

// S-REPO-2
#[test]
fn branches_and_the_best_remote_are_found() {
    assert_table("checkouts and remotes of git");
}

// S-REPO-3
#[test]
fn jj_hg_and_sapling_are_known() {
    assert_table("other programs");
}

// S-REPO-3
#[test]
fn a_project_needs_no_version_control() {
    assert_table("without version control");
}

// S-REPO-4
#[test]
fn what_a_client_declares_counts() {
    assert_table("declared places");
}

// S-REPO-3
#[test]
fn a_removed_directory_has_a_repository() {
    assert_table("directories that are gone");
}

// S-REPO-3
#[test]
fn containers_and_shared_disks_are_understood() {
    assert_table("containers and shared disks");
}

#[test]
fn the_table_is_long_and_says_why() {
    let tables = tables();
    let rows: Vec<&Row> = tables.iter().flat_map(|(_, rows)| rows).collect();
    assert!(rows.len() >= PLACES_MIN, "{} places", rows.len());
    let names: std::collections::BTreeSet<&str> = rows.iter().map(|row| &*row.place).collect();
    assert_eq!(names.len(), rows.len(), "two rows are the same");
    assert!(rows.iter().all(|row| row.why.split(' ').count() >= 3));
}
