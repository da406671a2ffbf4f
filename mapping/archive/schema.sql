-- The archive (NAME.perfmap): one SQLite file. Users may query it with any SQLite client; docs/formats/archive.md explains it.
-- application_id is 0x50464d50 ("PFMP"), user_version the schema's version. Times are integers in nanoseconds; *_ns of processes
-- and threads named start/end count from the execution's start. Ids of nouns in PIF (64 bits) are kept as signed integers.

CREATE TABLE executions (            -- one run of `perfmap run`
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,              -- of the run folder or archive
    command TEXT NOT NULL,           -- shell-quoted
    cwd TEXT, host TEXT, mode TEXT NOT NULL,
    start_realtime_ns INTEGER, wall_ns INTEGER,
    user_cpu_ns INTEGER, system_cpu_ns INTEGER, max_rss_bytes INTEGER,
    exit_status INTEGER, exit_signal INTEGER  -- NULL: unknown or not that way
);
CREATE TABLE execution_attributes (
    execution INTEGER NOT NULL REFERENCES executions, key TEXT NOT NULL, value TEXT,
    PRIMARY KEY (execution, key)
) WITHOUT ROWID;
CREATE TABLE processes (             -- one process image (a run file)
    id INTEGER PRIMARY KEY,
    execution INTEGER NOT NULL REFERENCES executions,
    pid INTEGER NOT NULL, parent_pid INTEGER, image INTEGER NOT NULL, -- image: N of PID.N.pmr
    exe TEXT, argv TEXT,
    start_ns INTEGER, end_ns INTEGER,
    end_kind TEXT NOT NULL,          -- 'exit', 'exec', 'killed' (end is then the last that is known)
    user_cpu_ns INTEGER, system_cpu_ns INTEGER, max_rss_bytes INTEGER,
    n_sleds INTEGER, n_events INTEGER,
    added_ns INTEGER,                -- estimated CPU time that the measurement itself added: table overheads says for what
    n_lost_contexts INTEGER, n_unmatched INTEGER, n_healed INTEGER
);
CREATE TABLE ranks (                 -- processes that were started as one of many (MPI), by their environment
    process INTEGER PRIMARY KEY REFERENCES processes,
    rank INTEGER NOT NULL
);
CREATE TABLE nodes (                 -- machines of processes that did not run where `perfmap run` did (executions.host)
    process INTEGER PRIMARY KEY REFERENCES processes,
    node TEXT NOT NULL
);
CREATE TABLE members (               -- ranks that processes have in communicators of MPI
    process INTEGER NOT NULL REFERENCES processes, communicator INTEGER NOT NULL REFERENCES nouns,
    rank INTEGER NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (process, communicator)
) WITHOUT ROWID;
CREATE TABLE overheads (             -- what measuring a process cost, estimated; NULL: not known
    process INTEGER PRIMARY KEY REFERENCES processes,
    budget_ppm INTEGER,              -- of its CPU time, for all of it; NULL: none was to be kept
    events_ns INTEGER, samples_ns INTEGER, -- CPU time: calls and loop entries that sleds saw; samples
    active_pair_ps INTEGER,          -- picoseconds: of one call in mode active, as the process found when it started
    count_pair_ps INTEGER            -- the same in mode count
);
CREATE TABLE probe_costs (           -- mode exact: what measuring one call costs, as the process found when it started
    process INTEGER PRIMARY KEY REFERENCES processes,
    pair_ps INTEGER NOT NULL,        -- picoseconds
    inner_ps INTEGER NOT NULL        -- the part that is in the own time of what is called; the rest is in its caller's
);
CREATE TABLE sampling (              -- how a process was sampled; no row: it was not
    process INTEGER PRIMARY KEY REFERENCES processes,
    source TEXT NOT NULL,            -- 'perf', 'timer', 'none' (was asked for and could not be had)
    clock TEXT NOT NULL,             -- 'cpu', 'wall'
    period_ns INTEGER NOT NULL,
    has_kernel INTEGER NOT NULL,     -- 1: time in the kernel is sampled
    has_switches INTEGER NOT NULL,   -- 1: off-CPU times are known
    n_samples INTEGER NOT NULL, n_lost INTEGER NOT NULL,
    problem TEXT                     -- why the source is not perf, for people
);
CREATE TABLE counters (              -- events that a process counted (run --metric, --sample-by), beside the clock of samples
    process INTEGER NOT NULL REFERENCES processes,
    metric TEXT NOT NULL,            -- name of the metric that has them
    period INTEGER,                  -- a sample for so many events; NULL: the counter was read
    n_threads INTEGER NOT NULL, n_threads_failed INTEGER NOT NULL, -- counted in; could not be
    n_closed INTEGER NOT NULL,       -- threads whose counter the program closed: their last events are missing
    count INTEGER NOT NULL,          -- as the counter had it when threads ended
    enabled_ns INTEGER NOT NULL, running_ns INTEGER NOT NULL, -- less running: the kernel let it take turns, and costs are scaled up
    is_user_only INTEGER NOT NULL,   -- 1: the kernel may not be measured
    problem TEXT,                    -- why it could not be had in some thread
    PRIMARY KEY (process, metric)
) WITHOUT ROWID;
CREATE TABLE noun_modes (            -- nouns that were in another mode than their process, from the start or for a while
    process INTEGER NOT NULL REFERENCES processes,
    noun INTEGER NOT NULL REFERENCES nouns,
    mode TEXT NOT NULL,              -- 'off': its calls of this time are missing, 'count': they have no contexts, 'active', 'exact', 'trace'
    reason TEXT NOT NULL,            -- 'asked', 'budget'
    from_ns INTEGER NOT NULL,        -- from the execution's start
    until_ns INTEGER,                -- NULL: to the end
    n_events INTEGER NOT NULL        -- calls before, as far as they were counted
);
CREATE VIEW disarmed AS              -- of these, what was left to sampling to keep the budget
    SELECT process, noun, from_ns AS at_ns, until_ns, n_events FROM noun_modes WHERE mode = 'off' AND reason = 'budget';
CREATE TABLE threads (
    id INTEGER PRIMARY KEY,
    process INTEGER NOT NULL REFERENCES processes,
    tid INTEGER, n_threads INTEGER NOT NULL, name TEXT,
    start_ns INTEGER, end_ns INTEGER, cpu_ns INTEGER
);
CREATE TABLE binaries (              -- programs and libraries that had nouns or sleds, once per (path, build_id)
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL, build_id TEXT,
    n_sleds INTEGER, n_bad_sleds INTEGER,
    pif_state TEXT NOT NULL,         -- 'read', 'missing', 'changed' (file is not the one that ran), 'damaged'
    map_state TEXT NOT NULL,         -- the late map: the same words
    debug_file TEXT, debug_problem TEXT -- where debug information was read, what could not be
);
CREATE TABLE levels (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, above INTEGER REFERENCES levels);
CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL); -- that nouns lie in
CREATE TABLE nouns (                 -- the view named_nouns has their names and files in full
    id INTEGER PRIMARY KEY,
    pif_id INTEGER NOT NULL,         -- pm_id as a signed integer
    binary INTEGER REFERENCES binaries, -- NULL: holds for all (user's PIF, processes)
    level INTEGER NOT NULL REFERENCES levels,
    name TEXT,                       -- NULL: FILE:LINE:COLUMN
    kind TEXT, description TEXT, type TEXT, linkage TEXT,
    file,                            -- a row of files; a text is the file itself
    line INTEGER, "column" INTEGER, end_line INTEGER,
    parent INTEGER REFERENCES nouns  -- where axis
);
CREATE VIEW named_nouns AS
    SELECT n.id, n.pif_id, n.binary, n.level, coalesce(n.name, coalesce(f.name, n.file) || ':' || n.line || ':' || n."column") AS name,
        n.kind, n.description, n.type, n.linkage, coalesce(f.name, n.file) AS file, n.line, n."column", n.end_line, n.parent
    FROM nouns n LEFT JOIN files f ON f.id = n.file;
CREATE TABLE noun_attributes (
    noun INTEGER NOT NULL REFERENCES nouns, key TEXT NOT NULL, value TEXT, PRIMARY KEY (noun, key)
) WITHOUT ROWID;
CREATE TABLE verbs (id INTEGER PRIMARY KEY, level INTEGER NOT NULL REFERENCES levels, name TEXT NOT NULL, description TEXT);
CREATE TABLE sentences (             -- a verb and its nouns; nouns beyond the first are in sentence_nouns
    id INTEGER PRIMARY KEY, verb INTEGER NOT NULL REFERENCES verbs, noun INTEGER NOT NULL REFERENCES nouns
);
CREATE TABLE sentence_nouns (
    sentence INTEGER NOT NULL REFERENCES sentences, position INTEGER NOT NULL, noun INTEGER NOT NULL REFERENCES nouns,
    PRIMARY KEY (sentence, position)
) WITHOUT ROWID;
CREATE TABLE mappings (
    source INTEGER NOT NULL REFERENCES sentences, destination INTEGER NOT NULL REFERENCES sentences,
    weight REAL,
    origin TEXT NOT NULL,            -- 'compiler', 'debug' (debug information), 'run', 'user', 'inferred' (likely, not certain), 'possible' (one of several)
    reason TEXT,                     -- why a source has several destinations: 'vectorised together', ...; NULL: not stated
    PRIMARY KEY (source, destination)
) WITHOUT ROWID;
CREATE TABLE mapping_points (        -- where the program and its libraries say what maps to what (perfmap.h)
    name TEXT PRIMARY KEY,
    is_on INTEGER NOT NULL,          -- 0: no process was asked for it ('perfmap run --mapping-points')
    n_mappings INTEGER NOT NULL      -- that were said there, over all processes
) WITHOUT ROWID;
CREATE TABLE contexts (              -- calling-context tree over all processes and threads, merged by path
    id INTEGER PRIMARY KEY,
    parent INTEGER REFERENCES contexts, -- NULL: root (sentence: {process Executes})
    sentence INTEGER NOT NULL REFERENCES sentences,
    flags INTEGER NOT NULL DEFAULT 0 -- 1 folded (calls only, time is in the parent), 2 on a foreign stack, 4 found by samples
                                     -- (callers between it and its parent may be missing), 8 inlined into its parent,
                                     -- 16 calls that were counted without their callers, 32 begun and not ended
                                     -- (pm_begin): active with all that is below, in no order; with 1: how often it was begun there,
                                     -- 64 what is below is done on behalf of another context (table causes), 128 told by a text that
                                     -- came with the work: its run is not here, 256 (with 64) what the other context was done on behalf
                                     -- of does not count
);
CREATE TABLE causes (                -- work that was handed over: from where. No circles
    context INTEGER PRIMARY KEY REFERENCES contexts, -- of flag 64; its sentence is that of the code around it
    cause INTEGER NOT NULL REFERENCES contexts -- what was active there is so below `context`, too
);
CREATE TABLE metrics (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, unit TEXT NOT NULL,
    kind TEXT NOT NULL,              -- 'count', 'time', 'bytes'
    aggregation TEXT NOT NULL,       -- 'sum', 'average', 'minimum', 'maximum'
    description TEXT NOT NULL
);
CREATE TABLE cost_rows (             -- own (exclusive) cost of a context on a thread; inclusive is the sum over the subtree
    context INTEGER NOT NULL REFERENCES contexts, thread INTEGER NOT NULL REFERENCES threads,
    metric INTEGER NOT NULL REFERENCES metrics, value INTEGER NOT NULL,
    PRIMARY KEY (thread, metric, context)
) WITHOUT ROWID;
CREATE TABLE cost_lists (            -- the same of contexts whose ids follow each other: context, context + 1, ...
    thread INTEGER NOT NULL REFERENCES threads, metric INTEGER NOT NULL REFERENCES metrics,
    context INTEGER NOT NULL REFERENCES contexts,
    list TEXT NOT NULL,              -- '[12,0,7]': their values; 0: the context has none (it may be of another program)
    PRIMARY KEY (thread, metric, context)
) WITHOUT ROWID;
CREATE VIEW costs AS                 -- all of them
    SELECT context, thread, metric, value FROM cost_rows
    UNION ALL SELECT l.context + v.key, l.thread, l.metric, v.value FROM cost_lists l, json_each(l.list) v WHERE v.value <> 0;
CREATE TABLE cost_times (            -- how costs lie in time, as far as that is known
    thread INTEGER NOT NULL REFERENCES threads, metric INTEGER NOT NULL REFERENCES metrics,
    start_ns INTEGER NOT NULL,       -- of the first bucket, from the execution's start; may be negative
    bucket_ns INTEGER NOT NULL,      -- length of each bucket
    data BLOB NOT NULL,              -- what each context has in which bucket: mapping/archive/cost_times.h
    PRIMARY KEY (metric, thread)
) WITHOUT ROWID;
CREATE TABLE messages (process INTEGER REFERENCES processes, code INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE traces (                -- mode trace: a thread's events are in trace_blocks
    thread INTEGER PRIMARY KEY REFERENCES threads,
    process_start_ns INTEGER NOT NULL, tick_hz INTEGER NOT NULL, -- a tick t of the blocks is at process_start_ns + t * 1e9 / tick_hz
    start_ns INTEGER, end_ns INTEGER, -- first and last event, from the execution's start; NULL: there is none
    n_events INTEGER NOT NULL,       -- enters and leaves
    n_cut INTEGER NOT NULL,          -- of these, made up: of what was open before the first event or behind the last one
    n_dropped_calls INTEGER NOT NULL, -- calls that have contexts and no events: the trace was limited
    has_begin INTEGER NOT NULL, has_end INTEGER NOT NULL, -- 0: events were dropped there
    data_bytes INTEGER NOT NULL
);
CREATE TABLE trace_blocks (          -- some 65536 events each; data: mapping/archive/trace_block.h
    thread INTEGER NOT NULL REFERENCES threads, number INTEGER NOT NULL, -- from 0
    start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
    n_events INTEGER NOT NULL, n_open INTEGER NOT NULL, -- n_open: calls that had begun before
    data BLOB NOT NULL,
    PRIMARY KEY (thread, number)
);
CREATE TABLE trace_steps (           -- whose time it was, in steps of 2^level ns: threads with several blocks. data: mapping/archive/trace_steps.h
    thread INTEGER NOT NULL REFERENCES threads,
    level INTEGER NOT NULL,          -- 0: steps of 64 blocks, each of its own level
    first INTEGER NOT NULL,          -- number of the first step; with level 0 of the first block
    start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (thread, level, first)
);
