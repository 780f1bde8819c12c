-- Contents of attachments, where machines share no directory. A content is there once its row is; its pieces come before it, under
-- the name of their own upload, so that what somebody else began under the same digest is never mixed with it.
CREATE TABLE blobs (
    project TEXT    NOT NULL,
    sha256  TEXT    NOT NULL,
    upload  TEXT    NOT NULL,
    size    BIGINT  NOT NULL,
    kept_at BIGINT  NOT NULL,
    PRIMARY KEY (project, sha256)
);

CREATE TABLE blob_pieces (
    upload  TEXT    NOT NULL,
    number  BIGINT  NOT NULL,
    kept_at BIGINT  NOT NULL,
    bytes   BYTEA   NOT NULL,
    PRIMARY KEY (upload, number)
);
-- They do not become smaller, and a server that tries takes time for it.
ALTER TABLE blob_pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;
