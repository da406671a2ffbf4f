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
CREATE TABLE runs (                  -- what comparing needs of a member beside its cells
    member INTEGER PRIMARY KEY REFERENCES members,
    slow_down_pct REAL,              -- NULL: not known
    period_ns INTEGER NOT NULL,      -- between samples; 0: none
    metric TEXT NOT NULL             -- what its report shows first
);
CREATE TABLE metrics (name TEXT PRIMARY KEY, unit TEXT NOT NULL, kind TEXT NOT NULL, description TEXT NOT NULL, aggregation TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE constructs (            -- of what a build consists; the first build is the reference that others are matched with
    build INTEGER PRIMARY KEY REFERENCES builds,
    n_matchable INTEGER NOT NULL, n_matched INTEGER NOT NULL, n_functions_left_out INTEGER NOT NULL, n_renamed INTEGER NOT NULL,
    added BLOB NOT NULL, removed BLOB NOT NULL -- keys, 8 bytes each, sorted: what it has and the reference has not, and the reverse
);
CREATE TABLE rows (                  -- of the cells: a row of a report
    id INTEGER PRIMARY KEY,
    grouping TEXT NOT NULL,          -- 'function', 'loop', 'statement', 'array'
    key INTEGER NOT NULL,            -- of the row, as the reference names what is in it
    parts BLOB NOT NULL,             -- keys of the constructs that it is made of; empty: it can be in any build
    UNIQUE (grouping, key)
);
CREATE TABLE names (                 -- of rows, in a build
    row INTEGER NOT NULL REFERENCES rows, build INTEGER NOT NULL REFERENCES builds, what TEXT NOT NULL, place TEXT NOT NULL,
    PRIMARY KEY (row, build)
) WITHOUT ROWID;
CREATE TABLE cells (                 -- what a member has of a metric, by row, at the level of the source
    grouping TEXT NOT NULL, metric TEXT NOT NULL REFERENCES metrics, member INTEGER NOT NULL REFERENCES members,
    total REAL NOT NULL, is_sampled INTEGER NOT NULL,
    data BLOB NOT NULL,              -- docs/formats/experiment.md
    PRIMARY KEY (grouping, metric, member)
) WITHOUT ROWID;
