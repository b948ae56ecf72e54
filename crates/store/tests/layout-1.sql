-- The first version of the layout, as it was released: what must always be read.
CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    started TEXT NOT NULL,
    subject TEXT NOT NULL,
    state TEXT NOT NULL,
    seconds REAL NOT NULL,
    blocks INTEGER NOT NULL
) STRICT;
CREATE TABLE record (
    run INTEGER PRIMARY KEY REFERENCES run (number) ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT;
CREATE TABLE part (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    slices TEXT NOT NULL
) STRICT;
CREATE INDEX part_of_run ON part (run);
PRAGMA application_id = 1768911983;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
