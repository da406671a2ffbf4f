/* All adapters: what they wrap, and the words that are theirs. This is the only place that names
 * them: `perfmap run` finds here which ones a program or a question needs, and each adapter
 * defines its level and its verbs from here (docs/ADAPTERS.md).
 *
 *     #define WORD(NAME, word) word,
 *     static const char *const names[] = {PM_IO_VERBS(WORD)};
 *     #define VERB(NAME, word) IO_##NAME,
 *     enum { PM_IO_VERBS(VERB) N_IO_VERBS };
 */
#ifndef PM_ADAPTERS_H
#define PM_ADAPTERS_H

/* Everybody's level: at it an adapter is known by its verbs, elsewhere by its level. */
#define PM_BASE_LEVEL "Base"

#define PM_SQL_LIBRARY "libsqlite3.so.0"
#define PM_SQL_LEVEL "SQL"
#define PM_SQL_VERBS(X)     \
    X(prepares, "Prepares") \
    X(executes, "Executes") \
    X(ends, "Ends")         \
    X(reads, "Reads")       \
    X(writes, "Writes")     \
    X(commits, "Commits")

#define PM_LUA_LIBRARY "liblua5.4.so.0"
#define PM_LUA_LEVEL "Lua"
#define PM_LUA_VERBS(X)     \
    X(executes, "Executes") \
    X(continues, "Continues")

#define PM_IO_VERBS(X)    \
    X(OPEN, "Open")       \
    X(CLOSE, "Close")     \
    X(READ, "ReadFile")   \
    X(WRITE, "WriteFile") \
    X(SYNC, "Sync")       \
    X(RESIZE, "Resize")   \
    X(CONNECT, "Connect") \
    X(ACCEPT, "Accept")   \
    X(RECEIVE, "Receive") \
    X(SEND, "Send")       \
    X(WAIT, "Wait")

#define PM_LOCKS_VERBS(X) \
    X(ACQUIRE, "Acquire") \
    X(WAIT, "Wait")       \
    X(HOLD, "Hold")       \
    X(SIGNAL, "Signal")

#define PM_MEMORY_VERBS(X)  \
    X(ALLOCATE, "Allocate") \
    X(FREE, "Free")

#define PM_MPI_LIBRARIES "libmpi.so.40 libmpich.so.12 libmpi.so.12 libmpi_cray.so.12"
#define PM_MPI_LEVEL "MPI"
#define PM_MPI_VERBS(X)                \
    X(SEND, "Send")                    \
    X(PREPARE, "Prepare")              \
    X(RECEIVE, "Receive")              \
    X(ARRIVE, "Arrive")                \
    X(PROBE, "Probe")                  \
    X(START, "Start")                  \
    X(WAIT, "Wait")                    \
    X(TEST, "Test")                    \
    X(CANCEL, "Cancel")                \
    X(BARRIER, "Barrier")              \
    X(BROADCAST, "Broadcast")          \
    X(GATHER, "Gather")                \
    X(ALL_GATHER, "AllGather")         \
    X(SCATTER, "Scatter")              \
    X(ALL_TO_ALL, "AllToAll")          \
    X(REDUCE, "Reduce")                \
    X(ALL_REDUCE, "AllReduce")         \
    X(REDUCE_SCATTER, "ReduceScatter") \
    X(SCAN, "Scan")                    \
    X(PUT, "Put")                      \
    X(GET, "Get")                      \
    X(ACCUMULATE, "Accumulate")        \
    X(SYNCHRONISE, "Synchronise")      \
    X(CREATE, "Create")                \
    X(FREE, "Free")                    \
    X(NAME, "Name")                    \
    X(OPEN, "Open")                    \
    X(CLOSE, "Close")                  \
    X(READ_FILE, "ReadFile")           \
    X(WRITE_FILE, "WriteFile")         \
    X(RESIZE, "Resize")                \
    X(INITIALISE, "Initialise")        \
    X(FINALISE, "Finalise")

#define PM_COARRAY_LIBRARIES "libcaf_openmpi.so.3 libcaf_mpich.so.3 libcaf_mpi.so.3"
#define PM_COARRAY_LEVEL "Coarray"
#define PM_COARRAY_VERBS(X)        \
    X(ALLOCATE, "Allocate")        \
    X(DEALLOCATE, "Deallocate")    \
    X(SEND, "Send")                \
    X(GET, "Get")                  \
    X(TRANSFER, "Transfer")        \
    X(CO_SUM, "CoSum")             \
    X(CO_MAX, "CoMax")             \
    X(CO_MIN, "CoMin")             \
    X(CO_REDUCE, "CoReduce")       \
    X(CO_BROADCAST, "CoBroadcast") \
    X(SYNC_ALL, "SyncAll")         \
    X(SYNC_IMAGES, "SyncImages")   \
    X(SYNC_MEMORY, "SyncMemory")   \
    X(POST, "Post")                \
    X(WAIT, "Wait")                \
    X(QUERY, "Query")              \
    X(LOCK, "Lock")                \
    X(UNLOCK, "Unlock")            \
    X(ATOMIC, "Atomic")

#define PM_OPENMP_LIBRARIES "libgomp.so.1 libomp.so.5 libomp.so libiomp5.so"
#define PM_OPENMP_LEVEL "OpenMP"
#define PM_OPENMP_VERBS(X)   \
    X(PARALLEL, "Parallel")  \
    X(LOOP, "Loop")          \
    X(SECTIONS, "Sections")  \
    X(SINGLE, "Single")      \
    X(MASKED, "Masked")      \
    X(CRITICAL, "Critical")  \
    X(ORDERED, "Ordered")    \
    X(TASK, "Task")          \
    X(CREATE, "Create")      \
    X(BARRIER, "Barrier")    \
    X(TASK_WAIT, "TaskWait") \
    X(REDUCE, "Reduce")      \
    X(TEAMS, "Teams")        \
    X(TARGET, "Target")      \
    X(ACQUIRE, "Acquire")

/* Programs that start others, whose libraries are not known: the adapter's name, and theirs. The
 * adapter comes along, and does nothing in a program that does not need it. */
#define PM_MPI_LAUNCHERS "mpirun mpiexec orterun prterun prun srun cafrun"
#define PM_ADAPTER_LAUNCHERS(X) X("mpi", PM_MPI_LAUNCHERS) X("coarray", PM_MPI_LAUNCHERS)

/* NAME of libperfmap-NAME.so; the libraries that it wraps (NULL: libc, so it is taken only when it
 * is named); a symbol that a program exports which has that library built in (NULL: it cannot);
 * what it costs (NULL: little, so it is taken without being asked for); level; verbs; what the help
 * of `perfmap run` says that it is for. */
#define PM_ADAPTERS(X)                                                                        \
    X(sql, PM_SQL_LIBRARY, NULL, NULL, PM_SQL_LEVEL, PM_SQL_VERBS,                            \
      "libsqlite3: statements, tables")                                                       \
    X(lua, PM_LUA_LIBRARY, "lua_sethook", "60 to 80 ns for each call of a Lua function",      \
      PM_LUA_LEVEL, PM_LUA_VERBS,                                                             \
      "Lua 5.4: functions; lua:lines and lua:sampled-lines: lines, too")                      \
    X(io, NULL, NULL, NULL, PM_BASE_LEVEL, PM_IO_VERBS,                                       \
      "files, sockets, pipes: calls, bytes, time")                                            \
    X(locks, NULL, NULL, NULL, PM_BASE_LEVEL, PM_LOCKS_VERBS,                                 \
      "mutexes, conditions, semaphores: waiting; locks:hold: holding, too")                   \
    X(memory, NULL, NULL, NULL, PM_BASE_LEVEL, PM_MEMORY_VERBS, "malloc, new: blocks, bytes") \
    X(mpi, PM_MPI_LIBRARIES, NULL, NULL, PM_MPI_LEVEL, PM_MPI_VERBS,                          \
      "MPI: messages, bytes, time by operation")                                              \
    X(coarray, PM_COARRAY_LIBRARIES, NULL, NULL, PM_COARRAY_LEVEL, PM_COARRAY_VERBS,          \
      "coarrays of Fortran (OpenCoarrays): transfers, reductions, synchronisation")           \
    X(openmp, PM_OPENMP_LIBRARIES, NULL, NULL, PM_OPENMP_LEVEL, PM_OPENMP_VERBS,              \
      "OpenMP: regions, loops, tasks, waiting (GCC's and LLVM's library)")

/* What an adapter does only where it is asked for: `--adapter locks:hold`. The adapter's name, the
 * option's, and how the adapter learns of it: a variable of the environment, and its value. */
#define PM_LUA_LINES "PERFMAP_LUA_LINES"
#define PM_LUA_LINES_ALL "1"
#define PM_LUA_LINES_SAMPLED "sampled"
#define PM_LOCKS_HOLD "PERFMAP_LOCKS_HOLD"
#define PM_LOCKS_HOLD_TOLD "1"
#define PM_ADAPTER_OPTIONS(X)                                     \
    X("lua", "lines", PM_LUA_LINES, PM_LUA_LINES_ALL)             \
    X("lua", "sampled-lines", PM_LUA_LINES, PM_LUA_LINES_SAMPLED) \
    X("locks", "hold", PM_LOCKS_HOLD, PM_LOCKS_HOLD_TOLD)

#endif
