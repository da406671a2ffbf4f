-- A shop's year, in memory: what a small business asks of its data base. Every number is made from a row's own number, so each run
-- does the same and prints the same (workload.expected). 200,000 orders, two to four seconds.
.output /dev/null
PRAGMA journal_mode = off; -- later versions answer with another word
.output stdout

CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, since INTEGER NOT NULL);
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price_cents INTEGER NOT NULL, stock INTEGER NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, day INTEGER NOT NULL, state TEXT NOT NULL);
CREATE TABLE items ("order" INTEGER NOT NULL, product INTEGER NOT NULL, quantity INTEGER NOT NULL, price_cents INTEGER NOT NULL);

BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
INSERT INTO customers
SELECT i, printf('customer %05d', i * 7919 % 20011), substr('AarauBaselBern Chur GenevLugan', 1 + i * 31 % 6 * 5, 5), 1990 + i * 17 % 30
FROM n;

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
INSERT INTO products SELECT i, printf('%s-%04d', substr('boltnut cog axle', 1 + i % 4 * 4, 4), i), 95 + i * 6151 % 9973, 4000 FROM n;

WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
INSERT INTO orders
SELECT i, 1 + (i * 1103515245 + 12345 >> 9) % 20000, i * 365 / 200001, CASE WHEN i % 11 = 0 THEN 'open' WHEN i % 97 = 0 THEN 'lost' ELSE 'paid' END FROM n;

INSERT INTO items
SELECT o.id, p.id, 1 + (o.id * 69069 + k.i * 7 >> 5) % 9, p.price_cents
FROM orders o, (SELECT 1 AS i UNION ALL SELECT 2 UNION ALL SELECT 3) k
JOIN products p ON p.id = 1 + (o.id * 1103515245 + k.i * 69069 * o.id + k.i >> 8) % 1000;
COMMIT;

CREATE INDEX orders_customer ON orders (customer, day);
CREATE INDEX items_order ON items ("order");
CREATE INDEX items_product ON items (product, quantity);
ANALYZE;

.print -- turnover by city
SELECT c.city, count(DISTINCT o.id), sum(i.quantity * i.price_cents)
FROM customers c JOIN orders o ON o.customer = c.id JOIN items i ON i."order" = o.id
WHERE o.state = 'paid' GROUP BY c.city ORDER BY 3 DESC;

.print -- best products of each kind
SELECT * FROM (
    SELECT substr(p.name, 1, 4) AS kind, p.name, sum(i.quantity) AS sold,
           rank() OVER (PARTITION BY substr(p.name, 1, 4) ORDER BY sum(i.quantity) DESC, p.id) AS place
    FROM products p JOIN items i ON i.product = p.id GROUP BY p.id)
WHERE place <= 3 ORDER BY kind, place;

.print -- a week's moving turnover
WITH days AS (
    SELECT o.day, sum(i.quantity * i.price_cents) AS cents FROM orders o JOIN items i ON i."order" = o.id GROUP BY o.day)
SELECT max(week), min(week), sum(week) FROM (
    SELECT sum(cents) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS week FROM days);

.print -- stock goes down, prices go up
BEGIN;
UPDATE products SET stock = stock - (SELECT sum(quantity) FROM items WHERE product = products.id) % 4000;
UPDATE products SET price_cents = price_cents * 105 / 100 WHERE stock < 800;
UPDATE items SET price_cents = (SELECT price_cents FROM products WHERE id = product)
WHERE "order" IN (SELECT id FROM orders WHERE state = 'open');
DELETE FROM items WHERE "order" IN (SELECT id FROM orders WHERE state = 'lost');
COMMIT;
SELECT count(*), sum(price_cents), (SELECT sum(stock) FROM products) FROM items;

.print -- customers who buy alike
WITH taste AS (
    SELECT o.customer, i.product FROM orders o JOIN items i ON i."order" = o.id WHERE o.customer <= 250 GROUP BY 1, 2)
SELECT a.customer, b.customer, count(*) AS same
FROM taste a JOIN taste b ON a.product = b.product AND a.customer < b.customer
GROUP BY 1, 2 ORDER BY same DESC, 1, 2 LIMIT 5;

.print -- words
SELECT count(*), sum(length(upper(name))), count(DISTINCT replace(name, '0', 'o')) FROM customers WHERE name LIKE '%7%' OR city GLOB '[BC]*';
SELECT group_concat(name, ' ') FROM (SELECT name FROM products ORDER BY stock * 31 % 101, name DESC LIMIT 6);
PRAGMA integrity_check;
