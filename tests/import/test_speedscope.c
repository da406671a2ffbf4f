/* speedscope's JSON: as py-spy, speedscope and perfmap write it. */
#include "record.h"

#define FRAMES                                                                  \
    "\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"a.py\",\"line\":3}," \
    "{\"name\":\"f\\u0020\\\"g\\\"\",\"file\":null,\"line\":null,\"col\":{\"x\":[1]}}]}"

static void frames_may_come_behind_their_samples(void **state)
{
    (void)state;
    assert_import(NULL,
                  "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                  "\"profiles\":[{\"type\":\"sampled\",\"name\":\"Thread 1\",\"unit\":\"seconds\","
                  "\"startValue\":0,\"endValue\":0.04,\"samples\":[[0],[0,1],[0,1],[]],"
                  "\"weights\":[0.01,0.01,2e-2,0.5]}]," FRAMES ",\"exporter\":\"py-spy@0.3\"}",
                  "main:3 cpu_ns 10000000\nmain:3;f \"g\" cpu_ns 30000000\n cpu_ns 500000000\n",
                  "producer=py-spy@0.3");
}

static void weights_may_come_first_or_be_missing(void **state)
{
    (void)state;
    assert_import("speedscope",
                  "{" FRAMES ",\"profiles\":[{\"weights\":[5,7],\"samples\":[[0],[0]],"
                  "\"unit\":\"bytes\"},{\"unit\":\"seconds\",\"samples\":[[1],[0],[1]]}]}",
                  "main:3 bytes 12\n2: f \"g\" n_samples 2\n2: main:3 n_samples 1\n",
                  "where some are views of the same costs, these count more than once");
}

static void events_are_calls(void **state)
{
    (void)state;
    assert_import(NULL,
                  "{\"profiles\":[{\"type\":\"evented\",\"name\":\"t\",\"unit\":\"microseconds\","
                  "\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1.5},"
                  "{\"at\":2,\"frame\":1,\"type\":\"O\"},{\"type\":\"C\",\"frame\":1,\"at\":1},"
                  "{\"type\":\"C\",\"frame\":0,\"at\":4}]}]," FRAMES "}",
                  "main:3 n_calls 1\n0 in main:3\nmain:3 wall_ns 500\nmain:3;f \"g\" n_calls 1\n"
                  "500 in main:3;f \"g\"\n500 out \nmain:3 wall_ns 2000\n2500 out \n",
                  "events earlier than the one before them, taken to be then: 1");
}

static void events_of_no_time_are_told(void **state)
{
    (void)state;
    assert_import("speedscope",
                  "{" FRAMES ",\"profiles\":[{\"type\":\"evented\",\"unit\":\"bytes\",\"events\":["
                  "{\"type\":\"O\",\"frame\":0,\"at\":1},{\"type\":\"C\",\"frame\":0,\"at\":2}]}]}",
                  "", "events of profiles whose unit is no time, left out: 2");
}

static void parts_of_our_own_count_once(void **state)
{
    (void)state;
    assert_import("speedscope",
                  "{\"exporter\":\"perfmap 1\"," FRAMES ",\"profiles\":["
                  "{\"name\":\"all: waiting_ns\",\"unit\":\"nanoseconds\",\"samples\":[[0]],"
                  "\"weights\":[7]},{\"name\":\"all: faults\",\"unit\":\"none\",\"samples\":[[0]],"
                  "\"weights\":[2]},{\"name\":\"x (process 1): waiting_ns\",\"unit\":"
                  "\"nanoseconds\",\"samples\":[[0]],\"weights\":[7]}]}",
                  "main:3 waiting_ns 7\nmain:3 faults 2\n",
                  "profiles of single threads, which are part of those of all, left out: 1");
}

static void weights_below_zero_are_told(void **state)
{
    (void)state;
    assert_import("speedscope",
                  "{" FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[0],[1]],"
                  "\"weights\":[-1,3]}]}",
                  "f \"g\" n_samples 3\n", "weights less than 0, left out: 1");
}

static void samples_without_a_weight_are_told(void **state)
{
    (void)state;
    assert_import("speedscope",
                  "{" FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[0],[1]],"
                  "\"weights\":[5]}]}",
                  "main:3 n_samples 5\n", "samples that have no weight, left out: 1");
}

static void what_is_not_sound_is_refused(void **state)
{
    (void)state;
    assert_refused("speedscope", "{" FRAMES "}", "it has no profiles");
    assert_refused("speedscope", "{" FRAMES "," FRAMES "}", "it has frames twice");
    assert_refused("speedscope",
                   "{" FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[2]]}]}",
                   "frame 2 is used, and there are 2");
    assert_refused("speedscope", "{" FRAMES ",\"profiles\":[{\"samples\":[[-1]]}]}",
                   "is no JSON of speedscope");
    assert_refused("speedscope",
                   "{" FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[0]],"
                   "\"weights\":[1,2]}]}",
                   "a profile has 1 samples and 2 weights");
    assert_refused("speedscope", "{\"profiles\":[{\"unit\":\"fathoms\"}]}",
                   "a profile has an unknown unit");
    assert_refused("speedscope", "{\"profiles\":[{\"events\":[]}]}",
                   "a profile has its unit behind its events");
    assert_refused("speedscope",
                   "{\"profiles\":[{\"unit\":\"seconds\",\"events\":[{\"type\":\"X\"}]}]}",
                   "an event has no type O or C, frame and time");
    assert_refused("speedscope",
                   "{\"profiles\":[{\"unit\":\"seconds\",\"events\":[{\"type\":\"O\",\"frame\":0,"
                   "\"at\":-1}]}]}",
                   "the time of an event is out of range");
    assert_refused("speedscope", "{" FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[0]",
                   "the file ends before it is complete");
    assert_refused("speedscope", "hello", "'hello' is no JSON of speedscope");
    assert_refused("speedscope", "", "the file ends before it is complete");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_may_come_behind_their_samples),
        cmocka_unit_test(weights_may_come_first_or_be_missing),
        cmocka_unit_test(events_are_calls),
        cmocka_unit_test(events_of_no_time_are_told),
        cmocka_unit_test(parts_of_our_own_count_once),
        cmocka_unit_test(weights_below_zero_are_told),
        cmocka_unit_test(samples_without_a_weight_are_told),
        cmocka_unit_test(what_is_not_sound_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
