-- The program database (docs/formats/pdb.md). Places are a file with line and column from 1; a macro's
-- expansion is where its name is written. Columns that are 0 or 1 begin with is_.

CREATE TABLE facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID; -- perfmap, libclang, root

-- What was read. hash: XXH3 of the contents, NULL for headers of the system.
CREATE TABLE files (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_system INTEGER NOT NULL,
    size_bytes INTEGER, mtime_ns INTEGER, hash INTEGER);
CREATE TABLE includes (file INTEGER NOT NULL, line INTEGER NOT NULL, included INTEGER NOT NULL); -- files.id
-- One for each command. key: of the command and of who read it. state: read, errors (it does not
-- compile: what was understood is here), failed (nothing is).
CREATE TABLE units (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, directory TEXT NOT NULL, command TEXT NOT NULL,
    key INTEGER NOT NULL, state TEXT NOT NULL, n_errors INTEGER NOT NULL, problem TEXT);
CREATE TABLE unit_files (unit INTEGER NOT NULL, file INTEGER NOT NULL);
-- What a unit said of one file, as read; equal ones once. For the next build, which reads no unit
-- again that is as it was.
CREATE TABLE groups (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, data BLOB NOT NULL);
CREATE TABLE unit_groups (unit INTEGER NOT NULL, "group" INTEGER NOT NULL);

CREATE TABLE macros (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_function INTEGER NOT NULL, text TEXT NOT NULL,
    file INTEGER NOT NULL, line INTEGER NOT NULL, column INTEGER NOT NULL);
CREATE TABLE pragmas (id INTEGER PRIMARY KEY, text TEXT NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL);
CREATE TABLE namespaces (id INTEGER PRIMARY KEY, name TEXT NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL,
    column INTEGER NOT NULL);
-- As written. kind: libclang's name of it. canonical: without typedefs. n_elements: of an array.
CREATE TABLE types (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, canonical TEXT NOT NULL,
    size_bytes INTEGER, n_elements INTEGER);
CREATE TABLE typedefs (id INTEGER PRIMARY KEY, name TEXT NOT NULL, type INTEGER NOT NULL, file INTEGER NOT NULL,
    line INTEGER NOT NULL, column INTEGER NOT NULL);
CREATE TABLE enums (id INTEGER PRIMARY KEY, name TEXT NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL,
    column INTEGER NOT NULL, end_line INTEGER NOT NULL);
CREATE TABLE enumerators (enum INTEGER NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL);
-- kind: struct, class, union. is_template: a class template or a partial specialization. parent: the
-- class around it.
CREATE TABLE classes (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, is_template INTEGER NOT NULL,
    is_defined INTEGER NOT NULL, parent INTEGER, size_bytes INTEGER, file INTEGER, line INTEGER, column INTEGER,
    end_line INTEGER);
CREATE TABLE bases (class INTEGER NOT NULL, base INTEGER, name TEXT NOT NULL, access TEXT NOT NULL,
    is_virtual INTEGER NOT NULL);

-- Functions, methods, and templates of them. kind: function, method, constructor, destructor,
-- conversion, template. linkage_name: the symbol, of constructors and destructors that of the
-- complete object (C1, D1); empty: templates and what depends on their parameters. linkage: external,
-- internal, none. storage: what is written: extern, static, none. A body reaches from body_line, body_column to end_line, end_column. n_variants: how many
-- different texts its file gave it, by other macros; the first is here.
CREATE TABLE routines (id INTEGER PRIMARY KEY, usr TEXT NOT NULL, name TEXT NOT NULL, full_name TEXT NOT NULL,
    linkage_name TEXT NOT NULL, kind TEXT NOT NULL, type INTEGER, linkage TEXT NOT NULL, storage TEXT NOT NULL, access TEXT NOT NULL, class INTEGER,
    is_defined INTEGER NOT NULL, is_system INTEGER NOT NULL, is_inline INTEGER NOT NULL, is_virtual INTEGER NOT NULL,
    is_pure INTEGER NOT NULL, is_static INTEGER NOT NULL, is_const INTEGER NOT NULL, is_variadic INTEGER NOT NULL,
    is_template INTEGER NOT NULL, is_address_taken INTEGER NOT NULL, n_parameters INTEGER NOT NULL,
    n_statements INTEGER NOT NULL, n_returns INTEGER NOT NULL, n_variants INTEGER NOT NULL,
    file INTEGER, line INTEGER, column INTEGER, body_line INTEGER, body_column INTEGER, end_line INTEGER,
    end_column INTEGER);
-- kind: for, while, do, range; loop: of facts, which do not tell. depth: 1 is outermost.
CREATE TABLE loops (id INTEGER PRIMARY KEY, routine INTEGER NOT NULL, parent INTEGER, depth INTEGER NOT NULL,
    kind TEXT NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL, column INTEGER NOT NULL, end_line INTEGER NOT NULL,
    end_column INTEGER NOT NULL);
-- kind: direct; virtual (callee: the method as named); pointer (callee NULL, type: of the function
-- that is called: see pointer_targets); dependent (within a template: callee NULL). is_ambiguous: the
-- callee's name has several definitions, none in this file. routine NULL: an initial value's.
CREATE TABLE calls (id INTEGER PRIMARY KEY, routine INTEGER, loop INTEGER, kind TEXT NOT NULL, callee INTEGER,
    type INTEGER, text TEXT NOT NULL, is_ambiguous INTEGER NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL,
    column INTEGER NOT NULL);
CREATE TABLE call_arguments (call INTEGER NOT NULL, position INTEGER NOT NULL, text TEXT NOT NULL); -- of MPI
-- Which routines a call through a pointer to this type may reach: all of that type whose address is
-- taken. One alone is settled by the type.
CREATE TABLE pointer_targets (type INTEGER NOT NULL, routine INTEGER NOT NULL, n_targets INTEGER NOT NULL);
-- A method that overrides another one; and all that a virtual call of a method may reach besides the
-- method itself. n_targets: of the call in all.
CREATE TABLE overrides (routine INTEGER NOT NULL, method INTEGER NOT NULL);
CREATE TABLE virtual_targets (method INTEGER NOT NULL, routine INTEGER NOT NULL, n_targets INTEGER NOT NULL);
-- kind: global, static, local, parameter, field.
CREATE TABLE variables (id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, type INTEGER NOT NULL,
    is_array INTEGER NOT NULL, is_pointer INTEGER NOT NULL, is_static INTEGER NOT NULL, routine INTEGER, class INTEGER,
    access TEXT NOT NULL, offset_bits INTEGER, file INTEGER, line INTEGER, column INTEGER);
-- kind: subscript, dereference, member, whole (its address goes elsewhere). mode: read, write, update,
-- address (neither here), unknown. base: the variable that a member was reached from.
CREATE TABLE accesses (variable INTEGER NOT NULL, base INTEGER, routine INTEGER, loop INTEGER, kind TEXT NOT NULL,
    mode TEXT NOT NULL, subscripts TEXT, file INTEGER NOT NULL, line INTEGER NOT NULL, column INTEGER NOT NULL);
CREATE TABLE directives (id INTEGER PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, routine INTEGER, loop INTEGER,
    file INTEGER NOT NULL, line INTEGER NOT NULL, column INTEGER NOT NULL, end_line INTEGER NOT NULL); -- OpenMP

CREATE VIEW call_edges AS SELECT c.id AS call, c.routine AS caller, c.callee, c.kind, 1 AS n_targets FROM calls c
    WHERE c.callee IS NOT NULL UNION ALL SELECT c.id, c.routine, t.routine, c.kind, t.n_targets FROM calls c
    JOIN pointer_targets t ON t.type = c.type WHERE c.kind = 'pointer' UNION ALL SELECT c.id, c.routine, v.routine,
    c.kind, v.n_targets FROM calls c JOIN virtual_targets v ON v.method = c.callee WHERE c.kind = 'virtual';
