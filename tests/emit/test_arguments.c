#include "plugin/emit/arguments.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { BOTH = PM_USE_READS | PM_USE_WRITES };

static void memory_functions_say_what_they_do_with_each_argument(void **state)
{
    (void)state;
    const char *copy = pm_memory_arguments(pm_builtin_free_name("__builtin_memcpy"));
    assert_non_null(copy);
    assert_int_equal(pm_argument_use(copy, 0), PM_USE_WRITES);
    assert_int_equal(pm_argument_use(copy, 1), PM_USE_READS);
    assert_int_equal(pm_argument_use(copy, 2), 0);
    assert_int_equal(pm_argument_use(copy, UINT32_MAX), 0);
    assert_int_equal(pm_argument_use(pm_memory_arguments("strcat"), 0), BOTH);
    assert_int_equal(pm_argument_use(pm_memory_arguments("strtok_r"), 2), BOTH);
    assert_null(pm_memory_arguments("memcpy2"));
    assert_null(pm_memory_arguments("snprintf"));
    assert_int_equal(pm_argument_use(pm_library_arguments("snprintf"), 0), PM_USE_WRITES);
    assert_int_equal(pm_argument_use(pm_library_arguments("memcpy"), 1), PM_USE_READS);
    assert_null(pm_library_arguments("read2"));
    assert_null(pm_memory_arguments(""));
    assert_string_equal(pm_builtin_free_name("my__builtin_memcpy"), "my__builtin_memcpy");
}

static unsigned mpi_use(const char *name, unsigned index)
{
    const char *arguments = pm_data_arguments(name);
    return arguments ? pm_argument_use(arguments, index) : UINT32_MAX;
}

static void mpi_reads_and_writes_buffers_in_all_its_languages(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned index, use;
    } cases[] = {{"MPI_Send", 0, PM_USE_READS},
                 {"PMPI_Recv", 0, PM_USE_WRITES},
                 {"MPI_Isend_c", 0, PM_USE_READS},
                 {"MPI_Issend", 0, PM_USE_READS},
                 {"MPI_Recv_init", 0, PM_USE_WRITES},
                 {"MPI_Irecv", 0, PM_USE_WRITES},
                 {"mpi_irsend_", 0, PM_USE_READS},
                 {"mpi_sendrecv_", 5, PM_USE_WRITES},
                 {"mpi_allreduce_f08_", 1, PM_USE_WRITES},
                 {"mpi_ireduce_scatter_block_f08ts_", 1, PM_USE_WRITES},
                 {"mpi_bcast__", 0, BOTH},
                 {"MPI_Rget_accumulate", 3, PM_USE_WRITES},
                 {"MPI_File_iread_at", 2, PM_USE_WRITES},
                 {"MPI_File_write_all", 1, PM_USE_READS},
                 {"MPI_Ineighbor_alltoallw", 4, PM_USE_WRITES},
                 {"MPI_Allreduce_init", 0, PM_USE_READS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (mpi_use(cases[i].name, cases[i].index) != cases[i].use)
            fail_msg("argument %u of %s: %u", cases[i].index, cases[i].name,
                     mpi_use(cases[i].name, cases[i].index));
    static const char *const others[] = {
        "MPI_Comm_rank",
        "MPI_",
        "mpi_f08_",
        "Send",
        "send_",
        "MPI_Wait",
        "MPI_A_name_that_is_longer_than_any_of_the_functions_of_MPI_that_there_are"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_null(pm_data_arguments(others[i]));
    assert_int_equal(pm_argument_use(pm_library_arguments("MPI_Send"), 0), PM_USE_READS);
    assert_null(pm_memory_arguments("MPI_Send"));
}

static void algorithms_read_unless_they_are_known_to_write(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned n_arguments, index, use;
    } cases[] = {{"sort", 2, 1, BOTH},
                 {"copy", 3, 1, PM_USE_READS},
                 {"copy", 3, 2, PM_USE_WRITES},
                 {"copy", 4, 3, PM_USE_READS},
                 {"copy_n", 3, 1, PM_USE_READS},
                 {"transform", 4, 2, PM_USE_WRITES},
                 {"transform", 4, 3, PM_USE_READS},
                 {"transform", 5, 2, PM_USE_READS},
                 {"transform", 5, 3, PM_USE_WRITES},
                 {"swap_ranges", 3, 2, BOTH},
                 {"accumulate", 3, 0, PM_USE_READS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pm_algorithm_use(cases[i].name, cases[i].n_arguments, cases[i].index),
                         cases[i].use);
}

static void algorithms_take_whole_elements_if_they_move_them(void **state)
{
    (void)state;
    assert_int_equal(pm_algorithm_whole_use("sort", 2, 0), BOTH);
    assert_int_equal(pm_algorithm_whole_use("copy", 3, 0), PM_USE_READS);
    assert_int_equal(pm_algorithm_whole_use("copy", 3, 2), PM_USE_WRITES);
    assert_int_equal(pm_algorithm_whole_use("transform", 4, 0), 0);
    assert_int_equal(pm_algorithm_whole_use("transform", 4, 2), PM_USE_WRITES);
    assert_int_equal(pm_algorithm_whole_use("find_if", 3, 0), 0);
    assert_int_equal(pm_algorithm_whole_use("sort", 3, 2), 0);
}

static void functions_that_call_back_pass_known_arguments_on(void **state)
{
    (void)state;
    assert_int_equal(pm_passes_argument("bsearch", 0, 0), PM_PASSES);
    assert_int_equal(pm_passes_argument("bsearch", 1, 1), PM_PASSES);
    assert_int_equal(pm_passes_argument("bsearch", 1, 0), PM_PASSES_NOT);
    assert_int_equal(pm_passes_argument("qsort_r", 4, 2), PM_PASSES);
    assert_int_equal(pm_passes_argument("qsort_r", 4, 3), PM_PASSES_NOT);
    assert_int_equal(pm_passes_argument("pthread_create", 3, 0), PM_PASSES);
    assert_int_equal(pm_passes_argument("own_sort", 0, 0), PM_PASSES_UNKNOWN);
}

static void fortran_reads_into_arguments_and_writes_from_them(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned index, use;
    } cases[] = {{"_gfortran_transfer_real", 1, PM_USE_WRITES},
                 {"_gfortran_transfer_real", 0, PM_USE_READS},
                 {"_gfortran_transfer_array", 1, PM_USE_WRITES},
                 {"_gfortran_transfer_array_write", 1, PM_USE_READS},
                 {"_gfortran_transfer_real_write", 1, PM_USE_READS},
                 {"_gfortran_transfer_real_write", 0, PM_USE_WRITES},
                 {"_gfortran_arandom_r8", 0, PM_USE_WRITES},
                 {"_gfortran_random_seed_i4", 1, PM_USE_READS},
                 {"_gfortran_st_write", 0, PM_USE_WRITES},
                 {"_gfortran_st_read_done", 0, PM_USE_READS},
                 {"transfer_real", 1, PM_USE_READS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(pm_fortran_library_use(cases[i].name, cases[i].index), cases[i].use);
    assert_true(pm_fortran_library_works_on_data("_gfortran_random_r8"));
    assert_false(pm_fortran_library_works_on_data("_gfortran_st_open"));
    assert_false(pm_fortran_library_works_on_data("random_r8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_functions_say_what_they_do_with_each_argument),
        cmocka_unit_test(mpi_reads_and_writes_buffers_in_all_its_languages),
        cmocka_unit_test(algorithms_read_unless_they_are_known_to_write),
        cmocka_unit_test(algorithms_take_whole_elements_if_they_move_them),
        cmocka_unit_test(functions_that_call_back_pass_known_arguments_on),
        cmocka_unit_test(fortran_reads_into_arguments_and_writes_from_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
