//! Packages of repositories with several: which folder counts for somebody who stands in one. Not here: the table (`package_rows`).

use super::package_file_rows::FILE_ROWS;
use super::package_rows::{E, ROWS};
use super::scene::Scene;

// S-PATH-5
#[test]
fn packages_are_those_of_each_build_system() {
    let mut wrong = Vec::new();
    for row in ROWS.iter().chain(FILE_ROWS) {
        assert!(row.why.split(' ').count() >= 3, "{}", row.what);
        let scene = Scene::new();
        scene.repository("shop", Some("https://github.com/acme/shop"));
        for (file, text) in row.files {
            match file.strip_suffix('/') {
                Some(folder) => drop(scene.dir(&format!("shop/{folder}"))),
                None => scene.write(&format!("shop/{file}"), text),
            }
        }
        for (at, expected) in row.at {
            let directory = scene.dir(&format!("shop/{at}"));
            let place = scene.place(&directory, &mut Vec::new());
            let package = place.package().map(|package| package.to_string());
            if package.as_deref() != *expected {
                wrong.push(format!("{}, at {at:?}: {package:?}, expected {expected:?}", row.what));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// S-PATH-5
#[test]
fn files_of_one_package_tell_it() {
    let scene = Scene::new();
    let top = scene.repository("shop", Some("https://github.com/acme/shop"));
    scene.write("shop/package.json", r#"{"workspaces":["packages/*"]}"#);
    scene.write("shop/packages/web/package.json", E);
    scene.write("shop/packages/api/package.json", E);
    let place = scene.place(&top, &mut Vec::new());
    let of = |files: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        place.package_of_files(&files).map(|package| package.to_string())
    };
    let web = Some("packages/web".to_owned());
    assert_eq!(of(&["packages/web/src/a.ts:42", "packages/web/package.json"]), web);
    assert_eq!(of(&["packages/web"]), web);
    for others in [
        &["packages/web/a.ts", "packages/api/a.ts"][..],
        &["packages/web/a.ts", "package.json"],
        &["~/x", "/etc/hosts"],
        &["../other/a.ts"],
        &[],
    ] {
        assert_eq!(of(others), None, "{others:?}");
    }
}
