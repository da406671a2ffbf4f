-- A small heat program: main calls init once and sweep a hundred times; sweep has two loops, of which the compiler fused the code of the
-- first with its neighbour (one loop code for lines 42 and 43); relax calls itself; 'memory' is not mapped to any source.
INSERT INTO executions VALUES (1, 'heat', './heat 100 20', '/home/user/heat', 'node1', 'exact', 1700000000000000000, 2345000000,
                               2290000000, 11000000, 4194304, 0, NULL);
INSERT INTO processes VALUES (1, 1, 4711, 4710, 0, '/home/user/heat/heat', './heat 100 20', 0, 2345000000, 'exit', 2290000000, 11000000,
                              4194304, 12, 300406, 6000000, 0, 0, 0);
INSERT INTO threads VALUES (1, 1, 4711, 1, 'heat', 0, 2345000000, 2290000000);
INSERT INTO binaries(id, path, build_id, n_sleds, n_bad_sleds, pif_state, map_state) VALUES (1, '/home/user/heat/heat', 'abcd', 12, 0, 'read', 'read');
INSERT INTO levels VALUES (1, 'Base', NULL), (2, 'Source', 1);
INSERT INTO verbs VALUES (1, 1, 'Executes', NULL), (2, 2, 'Executes', NULL);
INSERT INTO nouns(id, pif_id, binary, level, name, kind, file, line, "column", end_line, parent) VALUES
    (1, 1, NULL, 1, 'heat', 'process', NULL, NULL, NULL, NULL, NULL),
    (2, 2, 1, 1, 'main', 'symbol', NULL, NULL, NULL, NULL, NULL),
    (3, 3, 1, 1, 'init', 'symbol', NULL, NULL, NULL, NULL, NULL),
    (4, 4, 1, 1, 'sweep', 'symbol', NULL, NULL, NULL, NULL, NULL),
    (5, 5, 1, 1, 'sweep/heat.c:42', 'loopcode', NULL, NULL, NULL, NULL, 4),
    (6, 6, 1, 1, 'sweep/heat.c:50', 'loopcode', NULL, NULL, NULL, NULL, 4),
    (7, 7, 1, 1, 'relax', 'symbol', NULL, NULL, NULL, NULL, NULL),
    (8, 8, 1, 1, 'memory', 'symbol', NULL, NULL, NULL, NULL, NULL),
    (10, 10, 1, 2, 'heat.c', 'file', 'heat.c', NULL, NULL, NULL, NULL),
    (11, 11, 1, 2, 'tools.c', 'file', 'tools.c', NULL, NULL, NULL, NULL),
    (12, 12, 1, 2, 'main', 'function', 'heat.c', 60, 5, 70, 10),
    (13, 13, 1, 2, 'init', 'function', 'tools.c', 5, 6, 12, 11),
    (14, 14, 1, 2, 'sweep', 'function', 'heat.c', 38, 6, 55, 10),
    (15, 15, 1, 2, 'heat.c:42', 'loop', 'heat.c', 42, 5, 42, 14),
    (16, 16, 1, 2, 'heat.c:43', 'loop', 'heat.c', 43, 5, 43, 14),
    (17, 17, 1, 2, 'heat.c:50', 'loop', 'heat.c', 50, 5, 53, 14),
    (18, 18, 1, 2, 'relax', 'function', 'heat.c', 20, 15, 34, 10);
INSERT INTO sentences VALUES (1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 1, 4), (5, 1, 5), (6, 1, 6), (7, 1, 7), (8, 1, 8),
    (12, 2, 12), (13, 2, 13), (14, 2, 14), (15, 2, 15), (16, 2, 16), (17, 2, 17), (18, 2, 18);
INSERT INTO mappings(source, destination, weight, origin) VALUES (2, 12, NULL, 'compiler'), (3, 13, NULL, 'compiler'), (4, 14, NULL, 'compiler'), (5, 15, 3, 'compiler'),
    (5, 16, 1, 'compiler'), (6, 17, NULL, 'compiler'), (7, 18, NULL, 'compiler');
INSERT INTO contexts VALUES (1, NULL, 1, 0), (2, 1, 2, 0), (3, 2, 3, 0), (4, 2, 4, 0), (5, 4, 5, 0), (6, 4, 6, 0), (7, 6, 7, 0), (8, 7, 7, 0),
    (9, 2, 8, 0);
INSERT INTO metrics VALUES (1, 'n_calls', '', 'count', 'sum', 'calls of functions and entries of loops'),
    (2, 'wall_ns', 'ns', 'time', 'sum', 'wall time');
INSERT INTO processes SELECT 2, execution, 4712, parent_pid, image, exe, argv, start_ns, end_ns, end_kind, user_cpu_ns, system_cpu_ns,
    max_rss_bytes, n_sleds, n_events, added_ns, n_lost_contexts, n_unmatched, n_healed FROM processes;
INSERT INTO threads SELECT 2, 2, 4712, n_threads, name, start_ns, end_ns, cpu_ns FROM threads;
INSERT INTO cost_lists VALUES
    (1, 1, 2, '[1,1,100,100,100,200000,100000,4]'),
    (1, 2, 1, '[4000000,1000000,20000000,3000001,1600000001,200000000,300000000,150000000,66999998]');
INSERT INTO cost_rows VALUES (9, 2, 2, 5), (5, 2, 1, 7);
INSERT INTO cost_lists VALUES (2, 2, 3, '[1,0,0,2]');
