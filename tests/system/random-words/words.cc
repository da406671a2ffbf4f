// words SCRIPT [wait]: does what a script of generate.py says, in eight threads and those that they start. With `wait` it says its number and waits for a
// line before and after that.
#include <perfmap.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <pthread.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

enum { THREADS = 8, METRICS = 2, SLOTS = 100000 };

struct Operation {
    std::string name;
    long a, b;
    size_t end; // of a block: where its end is
};

struct Thrown {
    long tries;
};

static std::vector<pm_level> levels;
static std::vector<pm_noun> nouns;
static std::vector<pm_verb> verbs;
static std::vector<int> noun_levels, verb_levels;
static std::vector<pm_sentence> sentences;
static std::vector<Operation> threads[THREADS];
static pm_metric metrics[METRICS];
static pm_cause slots[SLOTS];
static pthread_barrier_t barrier;
static bool waits;

struct Place {
    const std::vector<Operation> *operations;
    size_t at;
};

// What was thrown last is told in the frame that catches it, and so is what a function left behind.
#define SEPARATE __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))
SEPARATE static void run(Place *place);

SEPARATE static void lose(Place *place, pm_sentence sentence)
{
    pm_enter(sentence);
    run(place);
    __asm__ volatile("");
}

static void *start(void *place)
{
    run(static_cast<Place *>(place));
    return NULL;
}

static void spawn(Place *place)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, start, place) != 0 || pthread_join(thread, NULL) != 0)
        abort();
}

// As a request that goes out of the process and comes back.
static pm_cause travelled(pm_cause cause)
{
    char text[PM_EXPORT_BYTES];
    return pm_context_import(text, pm_context_export(cause, text, sizeof text));
}

// The operations of a block, up to its end.
SEPARATE static void run(Place *place)
{
    for (;;) {
        const Operation &o = (*place->operations)[place->at++];
        if (o.name == "end") {
            return;
        } else if (o.name == "cost") {
            pm_cost(metrics[o.a], static_cast<uint64_t>(o.b));
        } else if (o.name == "enter") {
            pm_enter(sentences[o.a]);
            run(place);
            pm_leave(sentences[o.a]);
        } else if (o.name == "active") {
            perfmap::active active(sentences[o.a]);
            run(place);
        } else if (o.name == "lost") {
            lose(place, sentences[o.a]);
        } else if (o.name == "leave") {
            pm_leave(sentences[o.a]);
        } else if (o.name == "try") {
            try {
                run(place);
            } catch (Thrown &thrown) {
                if (--thrown.tries > 0)
                    throw;
                place->at = o.end + 1;
            }
        } else if (o.name == "throw") {
            throw Thrown{o.a};
        } else if (o.name == "begin") {
            pm_begin(sentences[o.a]);
        } else if (o.name == "unbegin") {
            pm_end(sentences[o.a]);
        } else if (o.name == "beginp") {
            pm_begin_process(sentences[o.a]);
        } else if (o.name == "unbeginp") {
            pm_end_process(sentences[o.a]);
        } else if (o.name == "capture") {
            slots[o.a] = o.a % 3 ? pm_capture() : travelled(pm_capture());
        } else if (o.name == "adopt") {
            pm_adopt(slots[o.a]);
            run(place);
            pm_release(slots[o.a]);
        } else if (o.name == "adopted") {
            perfmap::adopted adopted(slots[o.a]);
            run(place);
        } else if (o.name == "spawn") {
            spawn(place);
        } else if (o.name == "barrier") {
            if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD && waits)
                usleep(60000); // so that there are several intervals
        } else {
            fprintf(stderr, "unknown operation %s\n", o.name.c_str());
            abort();
        }
    }
}

static bool is_block(const std::string &name)
{
    return name == "enter" || name == "active" || name == "lost" || name == "try" || name == "adopt" || name == "adopted" || name == "spawn";
}

static void find_ends(std::vector<Operation> &operations)
{
    std::vector<size_t> open;
    for (size_t i = 0; i < operations.size(); i++)
        if (is_block(operations[i].name)) {
            open.push_back(i);
        } else if (operations[i].name == "end" && !open.empty()) {
            operations[open.back()].end = i;
            open.pop_back();
        }
}

static void define(const std::string &what, std::istringstream &words)
{
    std::string name, kind, rest;
    long number, level;
    words >> number;
    if (what == "level") {
        words >> rest;
        levels.push_back(pm_define_level(number ? "Up" : "Low", rest == "-" ? "Source" : "Low"));
    } else if (what == "noun") {
        words >> level >> name >> kind >> rest;
        pm_noun_facts facts = {name.c_str(), kind.c_str(), NULL, rest == "-" ? 0 : nouns[std::stoul(rest)].id, 0, 0, 0};
        nouns.push_back(pm_define_noun_at(levels[level], &facts));
    } else if (what == "verb") {
        words >> level >> name;
        verbs.push_back(pm_define_verb(levels[level], name.c_str()));
    } else if (what == "sentence") {
        std::vector<pm_noun> some;
        long noun;
        words >> level;
        while (words >> noun)
            some.push_back(nouns[noun]);
        sentences.push_back(pm_define_sentence(verbs[level], some.data(), some.size()));
    } else if (what == "phase") {
        words >> name;
        sentences.push_back(pm_define_phase(name.c_str()));
    } else {
        words >> level;
        pm_map(sentences[number], sentences[level], 0);
    }
}

static void read_script(const char *path)
{
    std::ifstream file(path);
    std::vector<Operation> *operations = NULL;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string what;
        words >> what;
        if (what == "thread") {
            long number;
            words >> number;
            operations = &threads[number];
        } else if (operations) {
            Operation o = {what, 0, 0, 0};
            words >> o.a >> o.b;
            operations->push_back(o);
        } else {
            define(what, words);
        }
    }
}

static void *work(void *operations)
{
    Place place = {static_cast<std::vector<Operation> *>(operations), 0};
    char name[16];
    snprintf(name, sizeof name, "w%d", static_cast<int>(place.operations - threads));
    pthread_setname_np(pthread_self(), name);
    run(&place);
    return NULL;
}

static void wait_for_line(const char *word)
{
    printf("%s %d\n", word, static_cast<int>(getpid()));
    fflush(stdout);
    for (int c = 0; c != '\n' && c != EOF;)
        c = getchar();
}

int main(int argc, char **argv)
{
    pthread_t ids[THREADS];
    waits = argc == 3;
    if (argc < 2)
        return 2;
    metrics[0] = pm_define_metric("rows", "rows", "count");
    metrics[1] = pm_define_metric("moved_bytes", "bytes", "bytes");
    read_script(argv[1]);
    if (waits)
        wait_for_line("ready");
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        find_ends(threads[i]);
        if (pthread_create(&ids[i], NULL, work, &threads[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    if (waits)
        wait_for_line("done");
    return 0;
}
