use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;

use handoff_testkit::{Filesystem, LoopImage, Need, Prefix, skip_without};

fn loses_what_was_not_synced(filesystem: Filesystem) {
    let mut image = LoopImage::create(filesystem);
    let (synced, lost) = (image.path().join("synced"), image.path().join("lost"));
    write_synced(&synced).expect("the image is writable");
    fs::write(&lost, "gone").expect("the image is writable");

    image.go_down();
    assert!(fs::write(image.path().join("late"), "x").is_err());
    image.remount();

    assert_eq!(fs::read_to_string(synced).ok().as_deref(), Some("kept"));
    assert!(fs::read_to_string(lost).unwrap_or_default().is_empty());
    fs::write(image.path().join("again"), "x").expect("the image is writable again");
}

fn write_synced(path: &Path) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(b"kept")?;
    file.sync_all()?;
    File::open(path.parent().expect("the file is in a directory"))?.sync_all()
}

#[test]
fn ext4_loses_what_was_not_synced() {
    if skip_without(&[Need::LoopDevice]) {
        return;
    }
    loses_what_was_not_synced(Filesystem::Ext4);
}

#[test]
fn xfs_loses_what_was_not_synced() {
    if skip_without(&[Need::LoopDevice, Need::Xfs]) {
        return;
    }
    loses_what_was_not_synced(Filesystem::Xfs);
}

#[test]
fn a_clean_remount_loses_nothing() {
    if skip_without(&[Need::LoopDevice]) {
        return;
    }
    let mut image = LoopImage::ext4();
    fs::write(image.path().join("file"), "kept").unwrap();
    image.remount();
    assert_eq!(
        fs::read_to_string(image.path().join("file")).unwrap(),
        "kept"
    );
}

#[test]
fn a_namespace_with_a_copy_of_the_mount_is_waited_for() {
    if skip_without(&[Need::LoopDevice, Need::MountNamespace]) {
        return;
    }
    let mut image = LoopImage::ext4();
    let mut other = Prefix::of(["unshare", "--mount"])
        .command("sh")
        .args(["-c", "echo there; read gone; sleep 0.1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("unshare is installed");
    let mut said = [0; 6];
    let output = other.stdout.as_mut().expect("its output is a pipe");
    output.read_exact(&mut said).expect("it says that it lives");

    image.go_down();
    drop(other.stdin.take());
    image.remount();

    other.wait().expect("it ends with its input");
    fs::write(image.path().join("again"), "x").expect("the power is back");
}
