use std::fs;
use std::io::ErrorKind;

use handoff_testkit::{Need, Tmpfs, skip_without};

#[test]
fn a_full_filesystem_refuses_writes_until_space_is_given_back() {
    if skip_without(&[Need::Root]) {
        return;
    }
    let tmpfs = Tmpfs::mount(1 << 20);
    let file = tmpfs.path().join("file");
    tmpfs.fill();
    assert_eq!(
        fs::write(&file, "x").unwrap_err().kind(),
        ErrorKind::StorageFull
    );
    tmpfs.free();
    fs::write(&file, "x").unwrap();
}

#[test]
fn a_dropped_filesystem_is_unmounted_even_when_it_is_in_use() {
    if skip_without(&[Need::Root]) {
        return;
    }
    let tmpfs = Tmpfs::mount(1 << 20);
    let path = tmpfs.path();
    let open = fs::File::create(path.join("open")).unwrap();
    drop(tmpfs);
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(path.to_str().unwrap()), "{mounts}");
    assert!(!path.exists());
    drop(open);
}
