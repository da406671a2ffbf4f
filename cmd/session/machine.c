/* What a run was measured on (machine.h). */
#include "machine.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>

/* The processor is asked, not /proc/cpuinfo: older kernels interrupt every processor to fill that
 * in. */
static void find_model(char model[49])
{
    enum { NAME_FIRST = 0x80000002, NAME_LAST = 0x80000004 };
    unsigned words[12], highest = __get_cpuid_max(0x80000000, NULL);
    model[0] = 0;
    if (highest < NAME_LAST)
        return;
    for (unsigned leaf = NAME_FIRST, i = 0; leaf <= NAME_LAST; leaf++, i += 4)
        __cpuid(leaf, words[i], words[i + 1], words[i + 2], words[i + 3]);
    memcpy(model, words, sizeof words);
    model[sizeof words] = 0;
}
#else
static void find_model(char model[49])
{
    model[0] = 0;
}
#endif

static double load_now(void)
{
    struct sysinfo info;
    return sysinfo(&info) == 0 ? (double)info.loads[0] / (1 << SI_LOAD_SHIFT) : -1;
}

void session_machine_begin(struct session_machine *machine)
{
    machine->load = load_now();
}

/* Blanks at both ends, and those that follow another one, mean nothing. */
static bool add_text(struct pm_manifest *manifest, const char *key, const char *text)
{
    struct pm_buf value = PM_BUF_INIT(4096);
    for (const char *p = text; *p; p++)
        if (*p > ' ' && *p < 0x7f && *p != '%')
            pm_buf_add_byte(&value, *p);
        else if (value.len && p[1] > ' ')
            pm_buf_add_byte(&value, ' ');
    bool added = !value.len || pm_manifest_add_attribute(manifest, key, value.data);
    added &= !value.failed;
    pm_buf_release(&value);
    return added;
}

static bool add_load(struct pm_manifest *manifest, const char *key, double load)
{
    char text[32];
    snprintf(text, sizeof text, "%.2f", load);
    return load < 0 || pm_manifest_add_attribute(manifest, key, text);
}

/* Those that this process may use. */
static bool add_cpus(struct pm_manifest *manifest)
{
    cpu_set_t cpus;
    char text[32];
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return true;
    snprintf(text, sizeof text, "%d", CPU_COUNT(&cpus));
    return pm_manifest_add_attribute(manifest, "n_cpus", text);
}

static bool add_kernel(struct pm_manifest *manifest)
{
    struct utsname names;
    return uname(&names) != 0 || add_text(manifest, "kernel", names.release);
}

/* That of the first processor. Virtual machines have none. */
static bool add_governor(struct pm_manifest *manifest)
{
    char text[64];
    int fd = open("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return true;
    text[n] = 0;
    return add_text(manifest, "governor", text);
}

bool session_machine_end(const struct session_machine *machine, struct pm_manifest *manifest)
{
    char model[49];
    find_model(model);
    return add_text(manifest, "cpu_model", model) && add_cpus(manifest) && add_kernel(manifest) &&
           add_governor(manifest) && add_load(manifest, "load_start", machine->load) &&
           add_load(manifest, "load_end", load_now());
}
