-- An experiment (NAME.perfexp): archives that belong together, and what is asked of them again and again. docs/formats/experiment.md
-- explains it. application_id is 0x50464d58 ("PFMX"). Archives are referred to, and never changed.

CREATE TABLE builds (                -- of members whose binaries are the same
    id INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL UNIQUE
);
CREATE TABLE members (               -- one archive each; ids are not used again
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,       -- from the experiment's folder, or absolute
    size_bytes INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, sum INTEGER NOT NULL, -- XXH3 of its bytes: the same archive
    build INTEGER NOT NULL REFERENCES builds,
    poor TEXT                        -- how it was measured badly; NULL: well
);
CREATE TABLE attributes (            -- what members are selected by
    member INTEGER NOT NULL REFERENCES members, key TEXT NOT NULL, value TEXT NOT NULL,
    origin TEXT NOT NULL,            -- 'run', 'binary', 'user'
    PRIMARY KEY (member, key)
) WITHOUT ROWID;
