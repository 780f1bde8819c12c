use std::path::Path;
use std::time::Duration;

use handoff_testkit::postgres::{self, Cluster, Database, Disk};
use handoff_testkit::{Need, skip_without};

#[test]
fn a_cluster_serves_databases_and_is_gone_when_dropped() {
    if skip_without(&[Need::PostgresPrograms]) {
        return;
    }
    let cluster = Cluster::start(Disk::Synced).unwrap();
    let url = cluster.url();
    let socket_directory = url
        .split("host=")
        .nth(1)
        .unwrap()
        .split('&')
        .next()
        .unwrap();
    let process = format!("/proc/{}", cluster.pid());
    assert!(socket_directory.len() < 80, "{url}");
    assert!(Path::new(&process).exists());

    let database = Database::create(url.clone()).unwrap();
    let show = |setting| database.execute(&format!("SHOW {setting}")).unwrap();
    assert_eq!(show("listen_addresses"), "\n");
    for setting in ["fsync", "synchronous_commit", "full_page_writes"] {
        assert_eq!(show(setting), "on\n", "{setting}");
    }

    let oid = |database: &Database| {
        let own = "SELECT oid FROM pg_database WHERE datname = current_database()";
        database.execute(own).unwrap()
    };
    let first = oid(&database);
    database.execute("CREATE SCHEMA handoff").unwrap();
    drop(database);
    let again = Database::create(url.clone()).unwrap();
    assert_eq!(oid(&again), first, "what is empty again is used again");
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'handoff'";
    assert_eq!(again.execute(schemas).unwrap(), "0\n");
    again.pass(Duration::from_secs(1)).unwrap();
    drop(again);
    let other = Database::create(url.clone()).unwrap();
    assert_ne!(oid(&other), first, "what has its own clock is not");

    drop(other);
    drop(cluster);
    assert!(!Path::new(&process).exists());
    assert!(!Path::new(socket_directory).exists());
}

#[test]
fn databases_are_apart_from_each_other_and_dropped() {
    let Some(one) = postgres::fresh_database() else {
        return;
    };
    let Some(two) = postgres::fresh_database() else {
        return;
    };
    one.execute("CREATE TABLE only_here (id int)").unwrap();
    assert!(two.execute("SELECT * FROM only_here").is_err());

    let count = "SELECT count(*) FROM pg_database WHERE datname = ";
    let name = one.execute("SELECT current_database()").unwrap();
    let count = format!("{count} '{}'", name.trim_end());
    assert_eq!(two.execute(&count).unwrap(), "1\n");
    drop(one);
    assert_eq!(two.execute(&count).unwrap(), "0\n");
}
