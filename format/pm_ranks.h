/* How starters of parallel programs tell a process which rank it has, of how many, and of which
 * job: variables of its environment. This is the only list of them. */
#ifndef PM_RANKS_H
#define PM_RANKS_H

/* Rank, number of ranks (NULL: it does not say), and the least number that means something: SLURM
 * says so of whatever it starts, alone as well. */
#define PM_RANK_VARIABLES(X)                             \
    X("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 1) \
    X("PMI_RANK", "PMI_SIZE", 1)                         \
    X("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", 1)   \
    X("PMIX_RANK", NULL, 0)                              \
    X("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", 2)

/* Equal in all ranks of a job, and in no other job; none: MPICH, whose ranks have one parent. */
#define PM_JOB_VARIABLES(X) \
    X("PMIX_NAMESPACE") X("OMPI_MCA_ess_base_jobid") X("SLURM_JOB_ID") X("SLURM_STEP_ID")

/* The number of the batch job, for people: kept with what was measured. */
#define PM_BATCH_VARIABLES(X) X("SLURM_JOB_ID") X("PBS_JOBID") X("LSB_JOBID")

#endif
