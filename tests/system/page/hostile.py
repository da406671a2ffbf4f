"""A copy of an archive whose nouns, command and threads have names that a page must not take for more than text."""
import shutil
import sqlite3
import sys

NAMES = ["<script>document.title = 'taken'</script>", "</script><img src=x onerror=\"document.title = 'taken'\">", "a\u202eb\u202d\u2067c\u2066", "n" * 10000,
         "\x00\x1b[31mred", "{\"a\": [", "`${document.title = 'taken'}`", "<!--", "]]>", "&lt;b&gt;"]

shutil.copy(sys.argv[1], sys.argv[2])
db = sqlite3.connect(sys.argv[2])
nouns = [row[0] for row in db.execute("SELECT n.id FROM nouns n ORDER BY n.id")]
for at, noun in enumerate(nouns):
    if at % 2 == 0:
        db.execute("UPDATE nouns SET name = ? WHERE id = ?", (NAMES[at // 2 % len(NAMES)] + (str(at) if at > 20 else ""), noun))
db.execute("UPDATE executions SET command = ?", (NAMES[0] + NAMES[1] + NAMES[2] + NAMES[3],))
db.commit()
