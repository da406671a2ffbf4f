-- A heat program that was sampled in mode active: sweep's two loops with relax inlined and two statements vectorised together, a loop
-- that became memset, a norm whose calls were too many, the kernel, PerfMap itself, start-up code, and a statement that was removed.
INSERT INTO executions VALUES (1, 'heat', './heat 100 20', '/home/user/heat', 'node1', 'active', 1700000000000000000, 2345000000,
                               2290000000, 11000000, 4194304, 0, NULL);
INSERT INTO processes VALUES (1, 1, 4711, 4710, 0, '/home/user/heat/heat', './heat 100 20', 0, 2345000000, 'exit', 2290000000, 11000000,
                              4194304, 12, 300406, 6000000, 0, 0, 0);
INSERT INTO threads VALUES (1, 1, 4711, 1, 'heat', 0, 2345000000, 2290000000);
INSERT INTO sampling VALUES (1, 'perf', 'cpu', 2004008, 1, 1, 1144, 3, NULL);
INSERT INTO binaries(id, path, build_id, n_sleds, n_bad_sleds, pif_state, map_state) VALUES
    (1, '/home/user/heat/heat', 'abcd', 12, 0, 'read', 'read'), (2, '/lib/x86_64-linux-gnu/libc.so.6', 'ef01', 0, 0, 'read', 'missing'), (3, '/lib64/ld-linux-x86-64.so.2', 'ef02', 0, 0, 'read', 'missing');
INSERT INTO levels VALUES (1, 'Base', NULL), (2, 'Source', 1);
INSERT INTO verbs VALUES (1, 1, 'Executes', NULL), (2, 2, 'Executes', NULL), (3, 2, 'Reads', NULL), (4, 2, 'Writes', NULL);
INSERT INTO nouns(id, pif_id, binary, level, name, kind, file, line, "column", end_line, parent, type) VALUES
    (1, 1, NULL, 1, 'heat', 'process', NULL, NULL, NULL, NULL, NULL, NULL),
    (2, 2, 1, 1, 'main', 'symbol', NULL, NULL, NULL, NULL, NULL, NULL),
    (3, 3, 1, 1, 'init', 'symbol', NULL, NULL, NULL, NULL, NULL, NULL),
    (4, 4, 1, 1, 'sweep', 'symbol', NULL, NULL, NULL, NULL, NULL, NULL),
    (5, 5, 1, 1, 'norm', 'symbol', NULL, NULL, NULL, NULL, NULL, NULL),
    (6, 6, 1, 1, 'sweep/heat.c:40', 'loopcode', NULL, NULL, NULL, NULL, 4, NULL),
    (7, 7, 1, 1, 'relax', 'inline', NULL, NULL, NULL, NULL, 4, NULL),
    (20, 20, 1, 1, 'sweep+0x40', 'code', NULL, NULL, NULL, NULL, 4, NULL),
    (21, 21, 1, 1, 'sweep+0x90', 'code', NULL, NULL, NULL, NULL, 4, NULL),
    (22, 22, 1, 1, 'sweep+0xc0', 'code', NULL, NULL, NULL, NULL, 4, NULL),
    (23, 23, 1, 1, 'norm+0x10', 'code', NULL, NULL, NULL, NULL, 5, NULL),
    (24, 24, 1, 1, 'init+0x8', 'code', NULL, NULL, NULL, NULL, 3, NULL),
    (25, 25, 2, 1, 'memset (libc.so.6)', 'code', NULL, NULL, NULL, NULL, NULL, NULL),
    (26, 26, NULL, 1, 'kernel', 'kernel', NULL, NULL, NULL, NULL, NULL, NULL),
    (27, 27, NULL, 1, 'PerfMap itself', 'perfmap', NULL, NULL, NULL, NULL, NULL, NULL),
    (28, 28, 3, 1, 'do_lookup_x (ld-linux-x86-64.so.2)', 'code', NULL, NULL, NULL, NULL, NULL, NULL),
    (29, 29, 1, 1, 'sweep+0xe0', 'code', NULL, NULL, NULL, NULL, 4, NULL),
    (100, 100, 1, 2, 'heat.c', 'file', 'heat.c', NULL, NULL, NULL, NULL, NULL),
    (101, 101, 1, 2, 'main', 'function', 'heat.c', 60, 5, 70, 100, NULL),
    (102, 102, 1, 2, 'init', 'function', 'heat.c', 18, 6, 24, 100, NULL),
    (103, 103, 1, 2, 'sweep', 'function', 'heat.c', 36, 6, 46, 100, NULL),
    (104, 104, 1, 2, 'norm', 'function', 'heat.c', 48, 8, 56, 100, NULL),
    (105, 105, 1, 2, 'relax', 'function', 'heat.c', 8, 22, 11, 100, NULL),
    (110, 110, 1, 2, 'heat.c:40', 'loop', 'heat.c', 40, 5, 44, 103, NULL),
    (111, 111, 1, 2, 'heat.c:41', 'loop', 'heat.c', 41, 7, 44, 110, NULL),
    (112, 112, 1, 2, 'heat.c:50', 'loop', 'heat.c', 50, 5, 51, 104, NULL),
    (113, 113, 1, 2, 'heat.c:20', 'loop', 'heat.c', 20, 5, 21, 102, NULL),
    (120, 120, 1, 2, 'heat.c:42:9', 'statement', 'heat.c', 42, 9, 42, 111, NULL),
    (121, 121, 1, 2, 'heat.c:43:9', 'statement', 'heat.c', 43, 9, 43, 111, NULL),
    (122, 122, 1, 2, 'heat.c:10:5', 'statement', 'heat.c', 10, 5, 10, 105, NULL),
    (123, 123, 1, 2, 'heat.c:51:9', 'statement', 'heat.c', 51, 9, 51, 112, NULL),
    (124, 124, 1, 2, 'heat.c:21:9', 'statement', 'heat.c', 21, 9, 21, 113, NULL),
    (125, 125, 1, 2, 'heat.c:38:5', 'statement', 'heat.c', 38, 5, 38, 103, NULL),
    (130, 130, 1, 2, 'sweep::u', 'array', 'heat.c', 36, 19, NULL, 103, 'double [100][100]'),
    (131, 131, 1, 2, 'sweep::v', 'array', 'heat.c', 36, 30, NULL, 103, 'double [100][100]'),
    (132, 132, 1, 2, 'sweep::w', 'array', 'heat.c', 36, 41, NULL, 103, 'double [100][100]'),
    (133, 133, 1, 2, 'norm::a', 'variable', 'heat.c', 48, 22, NULL, 104, 'double *'),
    (134, 134, 1, 2, 'norm::sum', 'variable', 'heat.c', 49, 12, NULL, 104, 'double'),
    (135, 135, 1, 2, 'init::p', 'variable', 'heat.c', 18, 19, NULL, 102, 'double *');
INSERT INTO noun_attributes VALUES (20, 'address', '0x1180-0x11c0,0x11d0-0x11d8'), (21, 'address', '0x11e0-0x1200'),
    (22, 'address', '0x1200-0x1220'), (23, 'address', '0x1310-0x1330'), (24, 'address', '0x1108-0x110d'), (29, 'address', '0x1220-0x1230');
INSERT INTO sentences VALUES (1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 1, 4), (5, 1, 5), (6, 1, 6), (7, 1, 7),
    (20, 1, 20), (21, 1, 21), (22, 1, 22), (23, 1, 23), (24, 1, 25), (26, 1, 26), (27, 1, 27), (28, 1, 28), (29, 1, 26), (30, 1, 29),
    (101, 2, 101), (102, 2, 102), (103, 2, 103), (104, 2, 104), (105, 2, 105), (110, 2, 110), (111, 2, 111), (112, 2, 112), (113, 2, 113),
    (120, 2, 120), (121, 2, 121), (122, 2, 122), (123, 2, 123), (124, 2, 124), (125, 2, 125),
    (130, 3, 130), (131, 3, 131), (132, 3, 132), (133, 3, 133), (134, 3, 134), (140, 4, 130), (141, 4, 131), (142, 4, 132), (144, 4, 134),
    (145, 4, 135);
INSERT INTO sentence_nouns VALUES (24, 1, 24), (29, 1, 22);
INSERT INTO mappings(source, destination, weight, origin, reason) VALUES
    (2, 101, NULL, 'compiler', NULL), (3, 102, NULL, 'compiler', NULL), (4, 103, NULL, 'compiler', NULL), (5, 104, NULL, 'compiler', NULL),
    (6, 110, NULL, 'compiler', NULL), (7, 105, NULL, 'compiler', NULL),
    -- relax, inlined into the inner loop's first statement: reads u
    (20, 122, NULL, 'compiler', NULL), (20, 111, NULL, 'compiler', NULL), (20, 130, NULL, 'compiler', NULL),
    -- two statements by the same vector instructions
    (21, 120, NULL, 'compiler', NULL), (21, 121, NULL, 'compiler', 'vectorised together'), (21, 111, NULL, 'compiler', NULL),
    (21, 131, NULL, 'compiler', NULL), (21, 141, NULL, 'compiler', NULL), (21, 142, NULL, 'compiler', NULL),
    (22, 120, NULL, 'compiler', NULL), (22, 111, NULL, 'compiler', NULL), (22, 141, NULL, 'compiler', NULL),
    (30, 121, NULL, 'compiler', NULL), (30, 111, NULL, 'compiler', NULL), (30, 142, NULL, 'inferred', NULL),
    (29, 120, NULL, 'inferred', NULL), (29, 111, NULL, 'inferred', NULL), (29, 141, NULL, 'inferred', NULL),
    (23, 123, NULL, 'compiler', NULL), (23, 112, NULL, 'compiler', NULL), (23, 133, NULL, 'compiler', NULL), (23, 134, NULL, 'compiler', NULL),
    (24, 124, NULL, 'inferred', 'the loop became a call'), (24, 113, NULL, 'inferred', NULL), (24, 145, NULL, 'inferred', NULL),
    -- the compiler's facts: what statements touch
    (120, 131, NULL, 'compiler', NULL), (120, 130, NULL, 'compiler', NULL), (121, 142, NULL, 'compiler', NULL), (122, 130, NULL, 'compiler', NULL),
    (123, 133, NULL, 'compiler', NULL), (123, 144, NULL, 'compiler', NULL), (124, 145, NULL, 'compiler', NULL);
INSERT INTO contexts VALUES (1, NULL, 1, 0), (2, 1, 2, 0), (3, 2, 4, 0), (4, 3, 6, 0), (5, 4, 7, 8), (6, 5, 20, 0), (7, 4, 21, 0), (8, 4, 22, 0),
    (9, 2, 5, 0), (10, 9, 23, 0), (11, 2, 3, 0), (12, 11, 24, 4), (13, 4, 29, 4), (14, 4, 27, 4), (15, 1, 28, 4), (16, 1, 26, 4), (17, 4, 30, 0),
    (18, 2, 5, 4), (19, 18, 23, 0); -- norm once more, when it was no longer followed
INSERT INTO noun_modes VALUES (1, 5, 'off', 'budget', 120000000, NULL, 200000);
INSERT INTO metrics VALUES (1, 'n_calls', '', 'count', 'sum', 'calls of functions and entries of loops'),
    (2, 'wall_ns', 'ns', 'time', 'sum', 'wall time'), (3, 'cpu_ns', 'ns', 'time', 'sum', 'sampled CPU time'),
    (4, 'n_samples', '', 'count', 'sum', 'samples'), (5, 'waiting_ns', 'ns', 'time', 'sum', 'time off the processor');
INSERT INTO cost_rows VALUES
    (1, 1, 2, 2345000000), (2, 1, 1, 1), (3, 1, 1, 100), (4, 1, 1, 100), (9, 1, 1, 200000), (11, 1, 1, 1),
    (6, 1, 3, 1002004000), (6, 1, 4, 500), (7, 1, 3, 601202400), (7, 1, 4, 300), (8, 1, 3, 200400800), (8, 1, 4, 100),
    (10, 1, 3, 120240480), (10, 1, 4, 60), (19, 1, 3, 200400800), (19, 1, 4, 100), (12, 1, 3, 60120240), (12, 1, 4, 30), (13, 1, 3, 24048096), (13, 1, 4, 12),
    (14, 1, 3, 30060120), (14, 1, 4, 15), (15, 1, 3, 14028056), (15, 1, 4, 7), (16, 1, 3, 4008016), (16, 1, 4, 2),
    (17, 1, 3, 36072144), (17, 1, 4, 18), (13, 1, 5, 45000000), (2, 1, 5, 8000000);
