/* Which compilers are here, and does the plugin really work in each? */
#include "doctor.h"
#include "cmd/core/paths.h"

#include "mapping/pif/pif.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_COMPILERS = 64 };

enum language { LANGUAGE_C, LANGUAGE_CXX, LANGUAGE_FORTRAN };

/* The trial programs: a loop that calls `work` a thousand times, which doctor_runtime looks for. */
static const struct {
    const char *file, *text;
} trials[] = {
    [LANGUAGE_C] =
        {"trial.c",
         "__attribute__((noinline)) static double work(double x) { __asm__(\"\" : \"+x\"(x)); "
         "return x * 0.5; }\n"
         "int main(int argc, char **argv)\n{\n    double sum = argc;\n    (void)argv;\n"
         "    for (int i = 0; i < 1000; i++)\n        sum += work(sum);\n    return sum < 0;\n}\n"},
    [LANGUAGE_CXX] =
        {"trial.cc",
         "struct worker { double x; __attribute__((noinline)) void work() { __asm__(\"\" : "
         "\"+x\"(x)); x *= 0.5; } };\n"
         "int main(int argc, char **)\n{\n    worker w{double(argc)};\n"
         "    for (int i = 0; i < 1000; i++)\n        w.work();\n    return w.x < 0;\n}\n"},
    [LANGUAGE_FORTRAN] = {"trial.f90",
                          "program trial\n  real :: a(1000)\n  integer :: i\n  do i = 1, 1000\n"
                          "    a(i) = real(i)\n  end do\n  if (sum(a) < 0) stop 1\nend program\n"},
};

struct compiler {
    char *name; /* as in PATH; several joined by ", " when they are one file */
    char *path;
    char *real; /* path with links resolved */
    enum language language;
    bool is_clang;
};

struct compilers {
    struct compiler items[MAX_COMPILERS];
    size_t n;
};

/* gcc, g++, gfortran, clang, clang++, each alone or with -N behind it. */
static bool is_compiler_name(const char *name, enum language *ret_language, bool *ret_is_clang)
{
    static const struct {
        const char *stem;
        enum language language;
        bool is_clang;
    } stems[] = {{"gfortran", LANGUAGE_FORTRAN, false},
                 {"gcc", LANGUAGE_C, false},
                 {"g++", LANGUAGE_CXX, false},
                 {"clang++", LANGUAGE_CXX, true},
                 {"clang", LANGUAGE_C, true}};
    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        size_t len = strlen(stems[i].stem);
        if (strncmp(name, stems[i].stem, len) != 0)
            continue;
        const char *rest = name + len;
        if (*rest == '-')
            rest = rest[1] ? rest + 1 + strspn(rest + 1, "0123456789") : rest;
        if (*rest)
            continue;
        *ret_language = stems[i].language;
        *ret_is_clang = stems[i].is_clang;
        return true;
    }
    return false;
}

/* "a, b" holds the word "a". */
static bool names_hold(const char *names, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = names; (at = strstr(at, name)) != NULL; at++)
        if ((at == names || at[-1] == ' ') && (at[len] == 0 || at[len] == ','))
            return true;
    return false;
}

/* Takes path and real over. One file under several names (gcc, gcc-12) is one compiler. */
static void add_found(struct compilers *compilers, struct compiler found)
{
    for (size_t i = 0; i < compilers->n; i++) {
        struct compiler *other = &compilers->items[i];
        if (strcmp(other->real, found.real) != 0)
            continue;
        char *joined = names_hold(other->name, found.name)
                           ? NULL
                           : doctor_text("%s, %s", other->name, found.name);
        if (joined) {
            free(other->name);
            other->name = joined;
        }
        goto out;
    }
    if (compilers->n < MAX_COMPILERS) {
        compilers->items[compilers->n++] = found;
        return;
    }
out:
    free(found.name);
    free(found.path);
    free(found.real);
}

/* What stands in front of a compiler under its name (ccache, distcc) is left out: the compiler
 * itself comes later in PATH. */
static void add_compiler(struct compilers *compilers, const char *folder, const char *name,
                         enum language language, bool is_clang)
{
    struct compiler found = {
        .name = pm_strndup(name, strlen(name)), .language = language, .is_clang = is_clang};
    char stem[16];
    snprintf(stem, sizeof stem, "%.*s", (int)strcspn(name, "-+0123456789"), name);
    found.path = doctor_text("%s/%s", folder, name);
    found.real = found.path && access(found.path, X_OK) == 0 ? realpath(found.path, NULL) : NULL;
    const char *base = found.real ? strrchr(found.real, '/') + 1 : "";
    bool is_it = strcmp(stem, "g") == 0 ? strstr(base, "g++") != NULL : strstr(base, stem) != NULL;
    if (found.name && is_it) {
        add_found(compilers, found);
        return;
    }
    free(found.name);
    free(found.path);
    free(found.real);
}

static void find_compilers(struct compilers *compilers)
{
    const char *path = getenv("PATH");
    char *copy = pm_strndup(path ? path : "/usr/bin:/bin", strlen(path ? path : "/usr/bin:/bin")),
         *rest = copy;
    for (char *folder; copy && (folder = strsep(&rest, ":")) != NULL;) {
        struct dirent **names = NULL;
        int n = scandir(*folder ? folder : ".", &names, NULL, versionsort);
        for (int i = 0; i < n; i++) {
            enum language language;
            bool is_clang;
            if (is_compiler_name(names[i]->d_name, &language, &is_clang))
                add_compiler(compilers, *folder ? folder : ".", names[i]->d_name, language,
                             is_clang);
            free(names[i]);
        }
        free(names);
    }
    free(copy);
}

static char *version_of(const struct compiler *compiler)
{
    char *argv[] = {compiler->path, compiler->is_clang ? "-dumpversion" : "-dumpfullversion", NULL};
    struct pm_buf output = PM_BUF_INIT(1 << 16);
    bool ok = doctor_command("/", argv, &output) == 0 && output.len > 0 &&
              isdigit((unsigned char)output.data[0]);
    char *version = ok ? pm_strndup(output.data, strcspn(output.data, "\n")) : NULL;
    pm_buf_release(&output);
    return version;
}

/* Compiles the trial with the plugin. Returns the number of sleds, 0 with a reason. */
static size_t try_compiler(struct doctor *doctor, const struct compiler *compiler,
                           const char *plugin, char **ret_reason)
{
    static unsigned n_programs; /* names in the folder; doctor runs once in a process */
    char *source = doctor_text("%s/%s", doctor->folder, trials[compiler->language].file);
    char *program = doctor_text("%s/trial%u", doctor->folder, n_programs++);
    char *option = doctor_text("-fplugin=%s", plugin);
    struct pm_buf output = PM_BUF_INIT(1 << 16);
    struct pm_error err = PM_ERROR_INIT;
    size_t n_sleds = 0;
    *ret_reason = NULL;
    if (!source || !program || !option ||
        pm_file_write(source, trials[compiler->language].text,
                      strlen(trials[compiler->language].text), &err) != PM_OK) {
        *ret_reason = doctor_text("cannot write a test program: %s", pm_error_text(&err));
    } else {
        char *argv[] = {compiler->path, "-O2", "-g", option, source, "-o", program, NULL};
        struct pm_pif *pif = pm_pif_new();
        if (doctor_command(doctor->folder, argv, &output) != 0)
            *ret_reason = doctor_first_error(&output);
        else if (!pif || pm_pif_read_elf(pif, program, &err, &n_sleds) != PM_OK)
            *ret_reason = doctor_text("compiled, but: %s", pm_error_text(&err));
        else if (n_sleds == 0)
            *ret_reason = doctor_text("compiled, but the program has no sleds");
        else if (!doctor->program && compiler->language == LANGUAGE_C)
            doctor->program = pm_strndup(program, strlen(program));
        pm_pif_free(pif);
    }
    pm_error_release(&err);
    pm_buf_release(&output);
    free(source);
    free(program);
    free(option);
    return n_sleds;
}

/* The name of the compiler's back end; NULL: memory. */
static char *back_end_name(const struct compiler *compiler, const char *version)
{
    return doctor_text("perfmap-%s%.*s.so", compiler->is_clang ? "clang" : "gcc",
                       (int)strspn(version, "0123456789"), version);
}

static void add_without_back_end(struct doctor *doctor, const struct compiler *compiler,
                                 const char *name, const char *version, const char *back_end)
{
    if (compiler->is_clang)
        doctor_add(doctor, "compiler", name, DOCTOR_UNUSED,
                   doctor_text("no plugin back end for clang in this version"), NULL);
    else
        doctor_add(
            doctor, "compiler", name, DOCTOR_MISSING,
            doctor_text("no plugin back end '%s'", back_end),
            doctor_text(
                "apt-get install gcc-%.*s-plugin-dev, then configure and build PerfMap again",
                (int)strspn(version, "0123456789"), version));
}

static void check_back_end(struct doctor *doctor, const struct compiler *compiler, const char *name,
                           const char *version, const char *plugin)
{
    char *file = back_end_name(compiler, version), *reason = NULL;
    char *back_end = file ? cmd_find_beside_plugin(file) : NULL;
    size_t n_sleds = back_end && plugin ? try_compiler(doctor, compiler, plugin, &reason) : 0;
    if (!back_end)
        add_without_back_end(doctor, compiler, name, version, file ? file : "");
    else if (reason)
        doctor_add(doctor, "compiler", name, DOCTOR_FAILS, reason, NULL);
    else
        doctor_add(doctor, "compiler", name, DOCTOR_WORKS,
                   doctor_text("%zu sleds in a test program", n_sleds), NULL);
    free(back_end);
    free(file);
}

static void check_compiler(struct doctor *doctor, const struct compiler *compiler,
                           const char *plugin)
{
    char *version = version_of(compiler);
    char *name = doctor_text("%s %s", compiler->name, version ? version : "");
    if (version && name)
        check_back_end(doctor, compiler, name, version, plugin);
    else
        doctor_add(doctor, "compiler", name ? name : "", DOCTOR_FAILS,
                   doctor_text("'%s' does not tell its version", compiler->path), NULL);
    free(name);
    free(version);
}

void doctor_compilers(struct doctor *doctor)
{
    struct compilers compilers = {0};
    struct pm_error err = PM_ERROR_INIT;
    char *plugin = NULL;
    if (cmd_find_plugin(&err, &plugin) == PM_OK)
        doctor_add(doctor, "compiler", "plugin", DOCTOR_WORKS, doctor_text("%s", plugin), NULL);
    else
        doctor_add(doctor, "compiler", "plugin", DOCTOR_MISSING,
                   doctor_text("%s", pm_error_text(&err)),
                   doctor_text("build or install PerfMap completely"));
    find_compilers(&compilers);
    if (compilers.n == 0)
        doctor_add(doctor, "compiler", "gcc", DOCTOR_MISSING, doctor_text("no compiler in PATH"),
                   doctor_text("apt-get install gcc g++ gfortran"));
    for (size_t i = 0; i < compilers.n; i++) {
        check_compiler(doctor, &compilers.items[i], plugin);
        free(compilers.items[i].name);
        free(compilers.items[i].path);
        free(compilers.items[i].real);
    }
    free(plugin);
    pm_error_release(&err);
}
