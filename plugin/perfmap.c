/* perfmap.so: the one file that any supported compiler loads with -fplugin=, and linkers that emit
 * LLVM's code. It knows no compiler's headers. It finds out which compiler it is in and hands over
 * to the back end beside it: perfmap-gcc12.so for GCC 12, perfmap-clang19.so for Clang 19,
 * perfmap-llvm19.so for other programs with LLVM 19 in them.
 *
 * GCC calls plugin_init() with its version. Clang calls nothing that is the same in all its
 * versions, so a constructor looks whether the process has LLVM in it. LLVM's own linker asks for
 * llvmGetPassPluginInfo(), others call onload(). Whatever is wrong ends the compilation: a program
 * that silently has no sleds would cost its user hours.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* GCC's two argument structs, as far as we read them (gcc/plugin.h; unchanged since 4.5). They are
 * passed on as they are. */
struct gcc_arguments;
struct gcc_version {
    const char *base, *date, *phase, *revision, *configuration;
};

EXPORT int plugin_is_GPL_compatible;
EXPORT int plugin_init(struct gcc_arguments *arguments, struct gcc_version *version);
EXPORT void llvmGetPassPluginInfo(void);
EXPORT int onload(void *linker);

enum { PATH_BYTES = 4096, LIST_BYTES = 1024 };

__attribute__((format(printf, 1, 2))) static _Noreturn void refuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("perfmap: error: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    fflush(NULL);
    _Exit(1);
}

/* The folder that this file lies in. */
static void own_folder(char folder[PATH_BYTES])
{
    Dl_info info;
    if (!dladdr((void *)&plugin_init, &info) || info.dli_fname == NULL)
        refuse("cannot find the folder of perfmap.so");
    const char *slash = strrchr(info.dli_fname, '/');
    if (slash)
        snprintf(folder, PATH_BYTES, "%.*s", (int)(slash - info.dli_fname), info.dli_fname);
    else
        snprintf(folder, PATH_BYTES, ".");
}

/* "perfmap-gcc11.so, perfmap-gcc12.so", or "none". */
static void list_back_ends(const char *folder, char list[LIST_BYTES])
{
    struct dirent **entries;
    size_t used = 0;
    int n = scandir(folder, &entries, NULL, alphasort);
    snprintf(list, LIST_BYTES, "none");
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        size_t len = strlen(name);
        if (strncmp(name, "perfmap-", 8) == 0 && len > 3 && strcmp(name + len - 3, ".so") == 0 &&
            used + len + 3 < LIST_BYTES)
            used +=
                (size_t)snprintf(list + used, LIST_BYTES - used, "%s%s", used ? ", " : "", name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* kind: "gcc", "clang" or "llvm"; version: as the compiler says it, the major number first. */
static void *load_back_end(const char *kind, const char *version, int flags)
{
    char folder[PATH_BYTES], path[PATH_BYTES + 64], list[LIST_BYTES];
    int n_digits = (int)strspn(version, "0123456789");
    own_folder(folder);
    snprintf(path, sizeof path, "%s/perfmap-%s%.*s.so", folder, kind, n_digits, version);
    void *back_end = dlopen(path, flags);
    if (back_end)
        return back_end;
    const char *reason = dlerror();
    list_back_ends(folder, list);
    FILE *there = fopen(path, "rb");
    if (there)
        refuse("the back end '%s' cannot be loaded into %s %s: %s", path, kind, version, reason);
    if (strcmp(kind, "gcc") == 0)
        refuse(
            "no back end for gcc %s: '%s' does not exist (there are: %s); install its plugin "
            "headers (Debian and Ubuntu: apt-get install gcc-%.*s-plugin-dev) and build one where "
            "PerfMap's source is: cmake --preset release && cmake --build --preset release; or use "
            "a compiler that has one",
            version, path, list, n_digits, version);
    refuse(
        "no back end for %s %s: '%s' does not exist (there are: %s); install its headers "
        "(Debian and Ubuntu: apt-get install libclang-%.*s-dev llvm-%.*s-dev) and build one where "
        "PerfMap's source is: cmake --preset release && cmake --build --preset release; or use "
        "a compiler that has one",
        kind, version, path, list, n_digits, version, n_digits, version);
}

int plugin_init(struct gcc_arguments *arguments, struct gcc_version *version)
{
    int (*init)(struct gcc_arguments *, struct gcc_version *);
    void *back_end = load_back_end("gcc", version->base, RTLD_NOW | RTLD_LOCAL);
    *(void **)&init = dlsym(back_end, "plugin_init");
    if (init == NULL)
        refuse("the back end for gcc %s has no plugin_init", version->base);
    return init(arguments, version);
}

/* --- LLVM --- */

struct llvm {
    char version[16]; /* "" none; "0" too old to say it */
    char path[PATH_BYTES];
};

/* The version in a name like libclang-cpp.so.14, libLLVM-14.so.1, libLLVM.so.19.1. */
static int find_llvm(struct dl_phdr_info *info, size_t size, void *ret_llvm)
{
    static const char *const prefixes[] = {"libLLVM-", "libLLVM.so.", "libclang-cpp.so."};
    struct llvm *llvm = ret_llvm;
    const char *name = strrchr(info->dlpi_name, '/');
    name = name ? name + 1 : info->dlpi_name;
    (void)size;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t len = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], len) == 0) {
            snprintf(llvm->version, sizeof llvm->version, "%.*s",
                     (int)strspn(name + len, "0123456789"), name + len);
            snprintf(llvm->path, sizeof llvm->path, "%s", info->dlpi_name);
            return 1;
        }
    }
    return 0;
}

static struct llvm llvm_of_process(void)
{
    struct llvm llvm = {"", ""};
    void (*llvm_version)(unsigned *, unsigned *, unsigned *);
    *(void **)&llvm_version = dlsym(RTLD_DEFAULT, "LLVMGetVersion"); /* LLVM 16 and later */
    if (llvm_version) {
        unsigned major, minor, patch;
        llvm_version(&major, &minor, &patch);
        snprintf(llvm.version, sizeof llvm.version, "%u", major);
    } else if (!dl_iterate_phdr(find_llvm, &llvm) && dlsym(RTLD_DEFAULT, "LLVMContextCreate")) {
        snprintf(llvm.version, sizeof llvm.version, "0"); /* linked statically, and old */
    }
    return llvm;
}

static void *llvm_back_end;

static void no_pass_plugin(void)
{
    refuse("perfmap.so finds no LLVM in the program that loads it as a pass plugin");
}

/* llvmGetPassPluginInfo() of the back end */
__attribute__((used)) static void (*pass_plugin_info)(void) = no_pass_plugin;

/* GCC's compilers hold no LLVM; other programs that load this file (to look at it) hold neither. */
__attribute__((constructor)) static void load_into_llvm(void)
{
    static const char of_clang[] = "_ZN5clang14FrontendAction7ExecuteEv";
    struct llvm llvm = llvm_of_process();
    if (llvm.version[0] == 0)
        return;
    /* A linker loads LLVM with a plugin, for that one alone. */
    if (llvm.path[0] != 0)
        dlopen(llvm.path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    const char *kind = dlsym(RTLD_DEFAULT, of_clang) ? "clang" : "llvm";
    llvm_back_end = load_back_end(kind, llvm.version, RTLD_NOW | RTLD_GLOBAL);
    *(void **)&pass_plugin_info = dlsym(llvm_back_end, "llvmGetPassPluginInfo");
    if (!pass_plugin_info)
        pass_plugin_info = no_pass_plugin;
}

/* What it returns has another size in each version of LLVM's plugin API. */
#ifdef __x86_64__
__attribute__((naked)) void llvmGetPassPluginInfo(void)
{
    __asm__("jmp *pass_plugin_info(%rip)");
}
#else
void llvmGetPassPluginInfo(void)
{
    pass_plugin_info();
}
#endif

/* Linkers whose plugin is LLVMgold.so: it comes first on their command lines, and LLVM is ready by
 * now. Without it the objects are GCC's: nothing is to be done. The answer is LDPS_OK. */
int onload(void *linker)
{
    void (*is_ready)(void);
    (void)linker;
    if (llvm_back_end == NULL)
        load_into_llvm();
    if (llvm_back_end == NULL)
        return 0;
    *(void **)&is_ready = dlsym(llvm_back_end, "perfmap_llvm_is_ready");
    if (is_ready)
        is_ready();
    return 0;
}
