/* Where things are written, and what functions are called. */
#include "backend.h"

#include "llvm/Demangle/Demangle.h"

#include <cctype>
#include <cxxabi.h>
#include <set>

extern "C" {
#include "../emit/paths.h"
#include "../../mapping/base/cxx_name.h"
}

const char *pm_lasting(const std::string &text)
{
    static thread_local std::set<std::string> strings;
    return strings.insert(text).first->c_str();
}

static thread_local std::vector<std::pair<std::string, std::string>> prefixes;

void pm_map_prefix(const std::string &from, const std::string &to)
{
    prefixes.push_back({from, to});
}

/* The last option that fits counts, as with Clang's debug information. */
static const char *mapped(const char *path)
{
    static thread_local std::string result;
    result = path;
    for (auto prefix = prefixes.rbegin(); prefix != prefixes.rend(); ++prefix)
        if (result.compare(0, prefix->first.size(), prefix->first) == 0) {
            result.replace(0, prefix->first.size(), prefix->second);
            break;
        }
    return result.c_str();
}

static struct pm_paths *all_paths(void)
{
    static thread_local struct pm_paths *paths = pm_paths_new(mapped);
    if (paths == NULL)
        pm_no_memory();
    return paths;
}

/* Most are in the file of the one before. */
void pm_place_set_file(struct pm_place *place, llvm::StringRef spelt, llvm::StringRef folder)
{
    static thread_local std::string latest_spelt, latest_folder;
    static thread_local struct pm_place latest;
    if (!latest.file || spelt != latest_spelt || folder != latest_folder) {
        latest_spelt = spelt.str();
        latest_folder = folder.str();
        if (!pm_paths_set_file(all_paths(), latest_spelt.c_str(), latest_folder.c_str(), &latest))
            pm_no_memory();
    }
    place->file = latest.file;
    place->shown = latest.shown;
}

void pm_place_set_known_file(struct pm_place *place, const std::string &file,
                             const std::string &shown)
{
    if (!pm_paths_set_known(all_paths(), file.c_str(), shown.c_str(), place))
        pm_no_memory();
}

const char *pm_absolute_path(const std::string &spelt, const std::string &folder)
{
    struct pm_place place;
    pm_place_set_file(&place, spelt, folder);
    return place.file;
}

/* --- names --- */

static std::string freed(char *text)
{
    std::string name = text != NULL ? text : "";
    free(text);
    return name;
}

/* What instances of templates return is part of their linkage names, and no part of what people
 * call them. */
static std::string returned_type(const std::string &linkage)
{
    llvm::ItaniumPartialDemangler demangler;
    if (demangler.partialDemangle(linkage.c_str()) || !demangler.isFunction())
        return "";
    return freed(demangler.getFunctionReturnType(NULL, NULL));
}

std::string pm_declared_name(const std::string &linkage)
{
    if (linkage.compare(0, 2, "_Z") != 0)
        return linkage;
    int status = 0;
    std::string name = freed(abi::__cxa_demangle(linkage.c_str(), NULL, NULL, &status));
    if (name.empty())
        return linkage;
    std::string type = returned_type(linkage);
    if (type.empty() && name.compare(0, 5, "auto ") == 0) /* LLVM 19 does not tell */
        type = "auto";
    if (!type.empty() && name.compare(0, type.size() + 1, type + " ") == 0)
        name.erase(0, type.size() + 1);
    struct pm_buf coroutine = PM_BUF_INIT(1 << 20);
    if (pm_cxx_name_coroutine(name.c_str(), &coroutine))
        name.assign(coroutine.data, coroutine.len);
    pm_buf_release(&coroutine);
    return name;
}

/* --- names of lambdas within names --- */

static bool ends_with(const std::string &text, size_t end, const char *tail)
{
    size_t size = strlen(tail);
    return end >= size && text.compare(end - size, size, tail) == 0;
}

/* Where what a bracket closes begins. */
static size_t opening(const std::string &text, size_t end)
{
    unsigned depth = 0;
    for (size_t at = end; at-- > 0;) {
        depth += strchr(")>}", text[at]) != NULL;
        if (strchr("(<{", text[at]) && --depth == 0)
            return at;
    }
    return 0;
}

/* Of "f(int) const", "operator()<int>(int)", "holder<int>", "{lambda()#1}" */
static size_t component_begin(const std::string &text, size_t end)
{
    if (ends_with(text, end, " const"))
        end -= strlen(" const");
    while (end > 0 && strchr(")>}", text[end - 1]) && !ends_with(text, end, "operator()"))
        end = opening(text, end);
    if (ends_with(text, end, "operator()"))
        return end - strlen("operator()");
    while (end > 0 && (isalnum((unsigned char)text[end - 1]) || strchr("_$~", text[end - 1])))
        end--;
    return end;
}

std::vector<struct pm_lambda_name> pm_numbered_lambdas(const std::string &name)
{
    std::vector<struct pm_lambda_name> all;
    for (size_t at = 0; (at = name.find("$_", at)) != std::string::npos;) {
        struct pm_lambda_name one = {at, at, name.find_first_not_of("0123456789", at + 2)};
        if (one.end == std::string::npos)
            one.end = name.size();
        while (ends_with(name, one.begin, "::")) {
            size_t begin = component_begin(name, one.begin - 2);
            if (begin == one.begin - 2)
                break;
            one.begin = begin;
        }
        at = one.end;
        all.push_back(one);
    }
    return all;
}
