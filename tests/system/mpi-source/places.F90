! As places.c, by each of Fortran's three ways to MPI: -DBINDING=1 mpif.h, 2 use mpi, 3 use mpi_f08. Arrays are static, allocatable, a component
! and a part of one.
module grids
  implicit none
  type :: grid
    double precision, allocatable :: edge(:)
    integer :: n = 0
  end type grid
  double precision :: left(4096), got(4096), totals(16)
  double precision, allocatable :: right(:)
  type(grid) :: field
  integer :: rank, n_ranks
  integer :: sent(2, 8) = 0
contains
  subroutine note(at, messages, bytes)
    integer, intent(in) :: at, messages, bytes
    sent(1, at) = sent(1, at) + messages
    sent(2, at) = sent(2, at) + bytes
  end subroutine note
end module grids

module exchange
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  use grids
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
contains
  subroutine pass_on(from, n, tag)
    integer, intent(in) :: n, tag
    double precision, intent(in) :: from(n)
    integer :: ierr
    call MPI_Sendrecv(from, n, MPI_DOUBLE_PRECISION, mod(rank + 1, n_ranks), tag, got, 4096, MPI_DOUBLE_PRECISION, &
                      mod(rank + n_ranks - 1, n_ranks), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call note(1, 1, 8 * n)
  end subroutine pass_on

  subroutine step()
    integer :: ierr, k
    call pass_on(left, 64, 1)
    call note(5, 1, 512)
    do k = 1, 4096
      left(k) = left(k) * 0.5d0 + got(1 + mod(k, 64))
    end do
    call pass_on(right(17:32), 16, 2)
    call note(6, 1, 128)
    if (rank == 0) then
      call MPI_Send(field%edge, 5, MPI_DOUBLE_PRECISION, 1, 3, MPI_COMM_WORLD, ierr)
      call note(2, 1, 40)
      call note(7, 1, 40)
    end if
    if (rank == 1) call MPI_Recv(got, 5, MPI_DOUBLE_PRECISION, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Allreduce(right, totals, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call note(2, 0, 32)
    call note(6, 0, 32)
  end subroutine step
end module exchange

program places
  use exchange
  implicit none
  character(len=20), parameter :: names(8) = [character(len=20) :: 'function pass_on', 'function step', '', '', 'array left', &
                                              'array right', 'array edge', '']
  integer :: i, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierr)
  allocate (right(4096), field%edge(64))
  left = 1
  right = 2
  field%edge = 3
  do i = 1, 100
    call step()
  end do
  do i = 1, 8
    if (names(i) /= '') print '(a, 1x, i0, 1x, i0)', trim(names(i)), sent(1, i), sent(2, i)
  end do
  call MPI_Finalize(ierr)
end program places
