/* What a file is that was given to the wrong command. */
#include "cmd.h"

#include "format/pm_run.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_manifest(const char *folder)
{
    struct pm_buf path = PM_BUF_INIT(1 << 20);
    struct stat st;
    pm_buf_printf(&path, "%s/manifest", folder);
    bool has = !path.failed && stat(path.data, &st) == 0;
    pm_buf_release(&path);
    return has;
}

enum cmd_file_kind cmd_file_kind(const char *path)
{
    static const char sqlite[] = "SQLite format 3";
    char head[sizeof sqlite] = "";
    struct stat st;
    if (stat(path, &st) != 0)
        return CMD_FILE_OTHER;
    if (S_ISDIR(st.st_mode))
        return has_manifest(path) ? CMD_FILE_RUN : CMD_FILE_OTHER;
    if (!S_ISREG(st.st_mode))
        return CMD_FILE_OTHER; /* opening a pipe might wait */
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0)
        close(fd);
    if (n == (ssize_t)sizeof head && !memcmp(head, sqlite, sizeof sqlite))
        return CMD_FILE_ARCHIVE;
    if (n >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG))
        return CMD_FILE_BINARY;
    return n >= 8 && !memcmp(head, PM_RUN_MAGIC, 8) ? CMD_FILE_PROCESS : CMD_FILE_OTHER;
}

void cmd_add_file_hint(const char *path, enum cmd_file_kind wanted, struct pm_error *err)
{
    static const char *const hints[] = {
        [CMD_FILE_ARCHIVE] = "it is an archive: 'perfmap report' shows it",
        [CMD_FILE_BINARY] = "it is a program or a library: 'perfmap run' measures it, 'perfmap "
                            "pif' shows what the compiler said of it",
        [CMD_FILE_RUN] = "it is the folder of a run: 'perfmap collect' makes its archive",
        [CMD_FILE_PROCESS] =
            "it is the file of one process: 'perfmap collect' on its folder makes the archive",
    };
    enum cmd_file_kind kind = cmd_file_kind(path);
    if (kind != wanted && hints[kind])
        pm_error_add(err, "%s", hints[kind]);
}
