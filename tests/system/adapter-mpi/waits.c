/* Who waits for whom, by clocks of its own around each call: rank 0 prints "function milliseconds"
 * for all ranks together. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LATE_SENDER, LATE_RECEIVER, EAGER, LATE_WAIT, BARRIER, BROADCAST, REDUCE, HALVES, LATE_TAKER, LATER_GROUP, N_CASES };
enum { RANKS = 3 };

struct times {
    double begin, end;
};
static struct times own[N_CASES], all[RANKS][N_CASES];
static int rank;
static char buffer[64];
static MPI_Comm halves;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void begin(int which)
{
    own[which].begin = now_ms();
}

static void end(int which)
{
    own[which].end = now_ms();
}

static void late(int who, int ms)
{
    if (rank == who)
        usleep((useconds_t)ms * 1000);
}

static void send(int which, int tag, int is_synchronous)
{
    begin(which);
    (is_synchronous ? MPI_Ssend : MPI_Send)(buffer, 4, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
    end(which);
}

static void receive(int which, int tag)
{
    begin(which);
    MPI_Recv(buffer, 64, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    end(which);
}

static __attribute__((noinline)) void late_sender(void)
{
    late(0, 120);
    if (rank == 0)
        send(LATE_SENDER, 1, 0);
    else if (rank == 1)
        receive(LATE_SENDER, 1);
}

static __attribute__((noinline)) void late_receiver(void)
{
    late(1, 90);
    if (rank == 0)
        send(LATE_RECEIVER, 2, 1);
    else if (rank == 1)
        receive(LATE_RECEIVER, 2);
}

static __attribute__((noinline)) void eager(void)
{
    late(1, 60);
    if (rank == 0)
        send(EAGER, 3, 0);
    else if (rank == 1)
        receive(EAGER, 3);
}

/* Two messages, of which the second is late; the first is asked for last. */
static __attribute__((noinline)) void late_wait(void)
{
    MPI_Request requests[2];
    if (rank == 0) {
        send(LATE_WAIT, 5, 0);
        late(0, 80);
        send(LATE_WAIT, 4, 0);
    } else if (rank == 1) {
        MPI_Irecv(buffer, 8, MPI_CHAR, 0, 4, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(buffer + 8, 8, MPI_CHAR, 0, 5, MPI_COMM_WORLD, &requests[1]);
        begin(LATE_WAIT);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        end(LATE_WAIT);
    }
}

static __attribute__((noinline)) void barrier(void)
{
    late(2, 100);
    begin(BARRIER);
    MPI_Barrier(MPI_COMM_WORLD);
    end(BARRIER);
}

static __attribute__((noinline)) void broadcast(void)
{
    late(1, 110);
    begin(BROADCAST);
    MPI_Bcast(buffer, 4, MPI_CHAR, 1, MPI_COMM_WORLD);
    end(BROADCAST);
}

static __attribute__((noinline)) void reduce(void)
{
    double out = 1, in;
    late(2, 70);
    begin(REDUCE);
    MPI_Reduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    end(REDUCE);
}

/* Ranks 0 and 2 are one half, 1 is the other. */
static __attribute__((noinline)) void in_halves(void)
{
    double out = 1, in;
    late(0, 50);
    begin(HALVES);
    MPI_Allreduce(&out, &in, 1, MPI_DOUBLE, MPI_SUM, halves);
    end(HALVES);
}

/* A large message waits for its receiver. */
static __attribute__((noinline)) void late_taker(void)
{
    static char large[1 << 22];
    MPI_Request request;
    if (rank == 0) {
        MPI_Issend(large, sizeof large, MPI_CHAR, 1, 9, MPI_COMM_WORLD, &request);
        begin(LATE_TAKER);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        end(LATE_TAKER);
    } else if (rank == 1) {
        late(1, 65);
        begin(LATE_TAKER);
        MPI_Recv(large, sizeof large, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        end(LATE_TAKER);
    }
}

/* Who starts early waits later. */
static __attribute__((noinline)) void later_group(void)
{
    MPI_Request request;
    late(2, 85);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    late(0, 30);
    begin(LATER_GROUP);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end(LATER_GROUP);
}

/* From when to when, at most, somebody waited. */
static double waited(int who, int which, double until)
{
    const struct times *t = &all[who][which];
    double end = until < t->end ? until : t->end;
    return end > t->begin ? end - t->begin : 0;
}

static double last(int which)
{
    double at = 0;
    for (int i = 0; i < RANKS; i++)
        at = all[i][which].begin > at ? all[i][which].begin : at;
    return at;
}

static void tell(void)
{
    double barrier_ms = 0, broadcast_ms = 0;
    for (int i = 0; i < RANKS; i++) {
        barrier_ms += waited(i, BARRIER, last(BARRIER));
        broadcast_ms += waited(i, BROADCAST, all[1][BROADCAST].begin);
    }
    printf("late_sender %.3f\n", waited(1, LATE_SENDER, all[0][LATE_SENDER].begin));
    printf("late_receiver %.3f\n", waited(0, LATE_RECEIVER, all[1][LATE_RECEIVER].begin));
    printf("eager 0\n");
    printf("late_wait %.3f\n", waited(1, LATE_WAIT, all[0][LATE_WAIT].begin));
    printf("barrier %.3f\nbroadcast %.3f\n", barrier_ms, broadcast_ms);
    printf("reduce %.3f\n", waited(0, REDUCE, last(REDUCE)));
    printf("in_halves %.3f\n", waited(2, HALVES, all[0][HALVES].begin));
    printf("late_taker %.3f\n", waited(0, LATE_TAKER, all[1][LATE_TAKER].begin));
    printf("later_group %.3f\n", waited(0, LATER_GROUP, all[2][LATER_GROUP].begin) +
                                      waited(1, LATER_GROUP, all[2][LATER_GROUP].begin));
}

int main(int argc, char **argv)
{
    static void (*const cases[])(void) = {late_sender, late_receiver, eager,     late_wait,
                                          barrier,     broadcast,     reduce,    in_halves,
                                          late_taker,  later_group};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
    for (int i = 0; i < N_CASES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        cases[i]();
    }
    MPI_Gather(own, sizeof own, MPI_CHAR, all, sizeof own, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        tell();
    MPI_Finalize();
    return 0;
}
