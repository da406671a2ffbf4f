.open x.db
PRAGMA cache_size = 10
CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, name TEXT)
CREATE TABLE log(id INTEGER PRIMARY KEY, what TEXT)
BEGIN IMMEDIATE
INSERT INTO t(n, name) VALUES (1, 'one')
INSERT INTO t(n, name) VALUES (22, 'it''s; two')
INSERT INTO t(n, name) VALUES (3.5e3, '')
INSERT INTO t(n, name) SELECT v % 97, 'row ' || v * 7919 % 3001 || hex(zeroblob(60)) FROM (WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM c WHERE v < 3000) SELECT v FROM c)
COMMIT
INSERT INTO t(n, name) VALUES (4, 'no transaction')
CREATE INDEX t_by_n ON t(n)
CREATE TRIGGER t_log AFTER UPDATE ON t WHEN old.id % 10 = 0 BEGIN INSERT INTO log(what) VALUES (old.name || '; was'); DELETE FROM log WHERE id < 3; END
.open x.db
PRAGMA cache_size = 10
SELECT count(*), sum(length(name)) FROM t
select count(*), max(name) from t where n = 7
select count(*), max(name) from t where n = 8
SELECT n FROM t WHERE id < 60
UPDATE t SET name = name || 'x' WHERE n < 5
UPDATE t SET name = name || 'longer' WHERE n < 50
DELETE FROM t WHERE id % 3 = 0
WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM c WHERE v < 500) SELECT sum(v), count(name) FROM c JOIN t ON t.id = v
SELECT id, name FROM t ORDER BY name || hex(zeroblob(500)) DESC, n
SELECT a.n, count(*) FROM t a JOIN t b ON a.name = b.name GROUP BY a.n
INSERT INTO t(n, name) VALUES (5, 'five'), (6, 'six') RETURNING id
BEGIN IMMEDIATE
UPDATE t SET n = n + 1, name = upper(name)
ROLLBACK
ALTER TABLE t ADD COLUMN extra DEFAULT 'none'
ANALYZE
VACUUM
PRAGMA journal_mode = WAL
INSERT INTO log(what) SELECT name FROM t WHERE n = 9
REINDEX t_by_n
PRAGMA wal_checkpoint(TRUNCATE)
PRAGMA journal_mode = DELETE
PRAGMA integrity_check
DROP TABLE log
