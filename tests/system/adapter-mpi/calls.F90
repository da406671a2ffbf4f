! The same as calls.c does, by each of Fortran's three ways to MPI: -DBINDING=1 mpif.h, 2 use mpi, 3 use mpi_f08.
program calls
#if BINDING == 3
  use mpi_f08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define STATUS type(MPI_Status)
#define STATUS_SHAPE
#define WINDOW type(MPI_Win)
#define DATATYPE type(MPI_Datatype)
#elif BINDING == 2
  use mpi
#endif
#if BINDING < 3
#define COMM integer
#define REQUEST integer
#define STATUS integer
#define STATUS_SHAPE , dimension(MPI_STATUS_SIZE)
#define WINDOW integer
#define DATATYPE integer
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
  integer, parameter :: n = 100, rounds = 3, d = 8
  character(len=16) :: verbs(64)
  integer :: truth(4, 64), n_verbs = 0
  integer :: rank, ranks, next, before, ierr, round, i, done, index
  double precision :: out(16 * n), in(16 * n)
  logical :: flag
  STATUS STATUS_SHAPE :: state
  REQUEST :: requests(80), one
  COMM :: half, grid
  WINDOW :: win
  DATATYPE :: pair
  integer :: counts(16), places(16), all
  logical :: around(1) = .true.
  integer :: length(1)

  out = 1
  in = 0
  call MPI_Init(ierr)
  call is_true('Initialise', 0, 0, 0)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  do round = 1, rounds
    if (mod(rank, 2) == 0) then
      call MPI_Send(out, n, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, ierr)
      call MPI_Recv(in, 2 * n, MPI_DOUBLE_PRECISION, before, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    else
      call MPI_Recv(in, 2 * n, MPI_DOUBLE_PRECISION, before, 7, MPI_COMM_WORLD, state, ierr)
      call MPI_Ssend(out, n, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, ierr)
    end if
    call is_true('Send', 1, n * d, 0)
    call is_true('Receive', 0, 0, n * d)
    call MPI_Sendrecv(out, 3, MPI_INTEGER, next, 8, in, 10, MPI_INTEGER, before, 8, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierr)
    call is_true('Send', 1, 12, 12)
    call is_true('Receive', 0, 0, 12)
    call MPI_Send(out, 1, MPI_INTEGER, MPI_PROC_NULL, 7, MPI_COMM_WORLD, ierr)
    call is_true('Send', 0, 0, 0)
    call MPI_Isend(out, 6, MPI_CHARACTER, next, 20, MPI_COMM_WORLD, one, ierr)
    call is_true('Send', 1, 6, 0)
    call MPI_Recv(in, n, MPI_CHARACTER, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call is_true('Receive', 0, 0, 6)
    call is_true('Arrive', 0, 0, 6)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(one, flag, MPI_STATUS_IGNORE, ierr)
      call is_true('Test', 0, 0, 0)
    end do
    do i = 1, 40
      call MPI_Irecv(in(i), 1, MPI_DOUBLE_PRECISION, before, i, MPI_COMM_WORLD, requests(i), ierr)
      call is_true('Receive', 0, 0, d)
      call MPI_Isend(out(i), 1, MPI_DOUBLE_PRECISION, next, i, MPI_COMM_WORLD, requests(40 + i), ierr)
      call is_true('Send', 1, d, 0)
    end do
    call MPI_Waitall(80, requests, MPI_STATUSES_IGNORE, ierr)
    call is_true('Wait', 0, 0, 40 * d)
    do i = 1, 3
      call MPI_Irecv(in(i), 9, MPI_INTEGER, before, i, MPI_COMM_WORLD, requests(i), ierr)
      call is_true('Receive', 0, 0, 8)
      call MPI_Send(out, 2, MPI_INTEGER, next, i, MPI_COMM_WORLD, ierr)
      call is_true('Send', 1, 8, 0)
    end do
    do i = 1, 3
      call MPI_Waitany(3, requests, index, MPI_STATUS_IGNORE, ierr)
      call is_true('Wait', 0, 0, 8)
    end do
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call is_true('Barrier', 0, 0, 0)
    call MPI_Bcast(out, n, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
    call is_true('Broadcast', 0, merge(n * d, 0, rank == 1), merge(0, n * d, rank == 1))
    call MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
    call is_true('AllReduce', 0, 2 * d, 2 * d)
    call MPI_Reduce(out, in, 3, MPI_DOUBLE_PRECISION, MPI_SUM, 1, MPI_COMM_WORLD, ierr)
    call is_true('Reduce', 0, 3 * d, merge(3 * d, 0, rank == 1))
    all = 0
    do i = 1, ranks
      counts(i) = i
      places(i) = all
      all = all + i
    end do
    call MPI_Allgatherv(out, rank + 1, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call is_true('AllGather', 0, 4 * (rank + 1), 4 * all)
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_INTEGER, in, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call is_true('AllGather', 0, 8, 8 * ranks)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
    call is_true('Create', 0, 0, 0)
    length(1) = ranks
    call MPI_Cart_create(MPI_COMM_WORLD, 1, length, around, .false., grid, ierr)
    call is_true('Create', 0, 0, 0)
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, ierr)
    call MPI_Type_commit(pair, ierr)
    call MPI_Neighbor_allgather(out, 1, pair, in, 1, pair, grid, ierr)
    call is_true('AllGather', 0, 16, 16)
    call MPI_Type_free(pair, ierr)
    call MPI_Comm_free(half, ierr)
    call is_true('Free', 0, 0, 0)
    call MPI_Comm_free(grid, ierr)
    call is_true('Free', 0, 0, 0)
    call MPI_Iallreduce(out, in, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, one, ierr)
    call is_true('AllReduce', 0, 2 * d, 2 * d)
    call MPI_Wait(one, MPI_STATUS_IGNORE, ierr)
    call is_true('Wait', 0, 0, 0)
    call MPI_Win_create(in, int(100 * d, MPI_ADDRESS_KIND), d, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call is_true('Create', 0, 0, 0)
    call MPI_Win_fence(0, win, ierr)
    call is_true('Synchronise', 0, 0, 0)
    call MPI_Put(out, 5, MPI_DOUBLE_PRECISION, next, 0_MPI_ADDRESS_KIND, 5, MPI_DOUBLE_PRECISION, win, ierr)
    call is_true('Put', 1, 5 * d, 0)
    call MPI_Win_fence(0, win, ierr)
    call is_true('Synchronise', 0, 0, 0)
    call MPI_Win_free(win, ierr)
    call is_true('Free', 0, 0, 0)
  end do
  call is_true('Finalise', 0, 0, 0)
  do done = 1, n_verbs
    write (*, '(a,4(1x,i0))') trim(verbs(done)), truth(:, done)
  end do
  flush (6)
  call MPI_Finalize(ierr)

contains
  subroutine is_true(verb, messages, sent, received)
    character(len=*), intent(in) :: verb
    integer, intent(in) :: messages, sent, received
    integer :: k
    do k = 1, n_verbs
      if (verbs(k) == verb) exit
    end do
    if (k > n_verbs) then
      n_verbs = k
      verbs(k) = verb
      truth(:, k) = 0
    end if
    truth(:, k) = truth(:, k) + [1, messages, sent, received]
  end subroutine
end program
