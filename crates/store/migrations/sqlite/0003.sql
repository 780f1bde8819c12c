-- Contents of attachments. An embedded store keeps them in files; the tables are here so that both engines have one schema.
CREATE TABLE blobs (
    project TEXT    NOT NULL,
    sha256  TEXT    NOT NULL,
    upload  TEXT    NOT NULL,
    size    INTEGER NOT NULL,
    kept_at INTEGER NOT NULL,
    PRIMARY KEY (project, sha256)
) WITHOUT ROWID;

CREATE TABLE blob_pieces (
    upload  TEXT    NOT NULL,
    number  INTEGER NOT NULL,
    kept_at INTEGER NOT NULL,
    bytes   BLOB    NOT NULL,
    PRIMARY KEY (upload, number)
);
