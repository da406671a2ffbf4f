/* speedscope's files. */
#include "record.h"

#define SCHEMA "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
#define FRAMES \
    "\"shared\":{\"frames\":[{\"name\":\"f\"},{\"name\":\"g\",\"file\":\"a.c\",\"line\":3}]}"

static void samples_have_weights_in_the_profiles_unit(void **state)
{
    (void)state;
    assert_import(NULL,
                  SCHEMA FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"t\","
                                "\"unit\":\"milliseconds\",\"startValue\":0,\"endValue\":3.5,"
                                "\"samples\":[[0],[0,1],[]],\"weights\":[1,2.5,0.25]}]}",
                  "f cpu_ns 1000000\nf;g:3 cpu_ns 2500000\n cpu_ns 250000\n", NULL);
}

/* Keys in any order: the profiles before the frames that they name. */
static void frames_may_stand_behind_the_profiles(void **state)
{
    (void)state;
    assert_import(NULL,
                  SCHEMA "\"profiles\":[{\"weights\":[7],\"samples\":[[1]],\"unit\":\"bytes\","
                         "\"type\":\"sampled\"}]," FRAMES "}",
                  "g:3 bytes 7\n", NULL);
}

static void without_weights_samples_are_counted(void **state)
{
    (void)state;
    assert_import(NULL,
                  SCHEMA FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"unit\":\"none\","
                                "\"samples\":[[0],[0,1]]}]}",
                  "f n_samples 1\nf;g:3 n_samples 1\n", NULL);
    assert_import(NULL,
                  SCHEMA FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"unit\":\"none\","
                                "\"samples\":[[0],[0,1]],\"weights\":[5]}]}",
                  "f n_samples 5\n", "1 samples have no weight");
}

static void events_are_calls(void **state)
{
    (void)state;
    assert_import(NULL,
                  SCHEMA FRAMES ",\"profiles\":[{\"type\":\"evented\",\"unit\":\"microseconds\","
                                "\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1},"
                                "{\"type\":\"O\",\"frame\":1,\"at\":2.5},"
                                "{\"type\":\"C\",\"frame\":1,\"at\":4},"
                                "{\"type\":\"C\",\"frame\":0,\"at\":5}]}]}",
                  "f n_calls 1\n0 in f\nf wall_ns 1500\nf;g:3 n_calls 1\n1500 in f;g:3\n"
                  "f;g:3 wall_ns 1500\n3000 out \nf wall_ns 1000\n4000 out \n",
                  NULL);
}

static void several_profiles_are_threads(void **state)
{
    (void)state;
    assert_import(NULL,
                  SCHEMA FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"unit\":\"none\","
                                "\"samples\":[[0]]},{\"type\":\"sampled\",\"unit\":\"none\","
                                "\"samples\":[[1]]}]}",
                  "f n_samples 1\n2: g:3 n_samples 1\n",
                  "where some are views of the same costs, these count more than once");
}

static void damage_is_refused(void **state)
{
    (void)state;
    assert_refused("speedscope", "hello", "this is no file of speedscope");
    assert_refused("speedscope", "{\"profiles\":[", "ends in the middle");
    assert_refused("speedscope", "{\"profiles\":[]}", "no shared frames");
    assert_refused("speedscope", "{" FRAMES "}", "no list of profiles");
    assert_refused("speedscope", "{" FRAMES ",\"profiles\":[]}", "no samples and no events");
    assert_refused("speedscope",
                   "{" FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"samples\":[[2]]}]}",
                   "names a frame that is not there");
    assert_refused("speedscope",
                   "{" FRAMES ",\"profiles\":[{\"type\":\"evented\",\"unit\":\"none\","
                   "\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1}]}]}",
                   "events are in no unit of time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_have_weights_in_the_profiles_unit),
        cmocka_unit_test(frames_may_stand_behind_the_profiles),
        cmocka_unit_test(without_weights_samples_are_counted),
        cmocka_unit_test(events_are_calls),
        cmocka_unit_test(several_profiles_are_threads),
        cmocka_unit_test(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
