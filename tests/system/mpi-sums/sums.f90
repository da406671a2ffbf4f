! As sums.c, in Fortran: assumed-shape and explicit-shape dummies, what is passed on, allocatables and components.
module sums
  use mpi
  implicit none
  integer, parameter :: n = 1000
  integer :: me, n_ranks, ierr
  type field
    real(8) :: edge(n), inner(n)
  end type
contains
  subroutine send_one(value)
    real(8), intent(in) :: value
    real(8) :: other
    integer :: status(MPI_STATUS_SIZE)
    call MPI_Sendrecv(value, 1, MPI_DOUBLE_PRECISION, mod(me + 1, n_ranks), 1, other, 1, MPI_DOUBLE_PRECISION, &
                      mod(me + n_ranks - 1, n_ranks), 1, MPI_COMM_WORLD, status, ierr)
  end subroutine
  function total(values, times) result(all)
    real(8), intent(in) :: values(:)
    integer, intent(in) :: times
    real(8) :: all
    integer :: i
    all = 0
    do i = 1, times
      all = all + sum(values)
      call send_one(all)
    end do
  end function
  function dot(a, b) result(all)
    real(8), intent(in) :: a(n), b(n)
    real(8) :: all
    all = dot_product(a, b)
    call send_one(all)
  end function
  function norm(values) result(all)
    real(8), intent(in) :: values(:)
    real(8) :: all
    all = dot(values, values) + total(values, 2)
  end function
  subroutine scale(values, by)
    real(8), intent(inout) :: values(:)
    real(8), intent(in) :: by
    values = values * by
    call send_one(by)
  end subroutine
end module

program main
  use sums
  implicit none
  real(8) :: left(n), right(n)
  real(8), allocatable :: edges(:)
  type(field) :: f
  real(8) :: t
  integer :: i
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierr)
  allocate(edges(n))
  left = 1; right = 2; edges = 3; f%edge = 4; f%inner = 5
  t = 0
  do i = 1, 7
    t = t + total(left, 3)
    if (mod(i, 2) == 0) t = t - total(right, 5)
    t = t + dot(left, right)
    t = t + norm(edges)
    t = t + norm(right)
    t = t + total(f%edge, 4)
    t = t + total(f%inner, 1)
    call scale(edges, 0.5d0)
    call send_one(t)
  end do
  print '(a,i0)', 'array left ', 7 * 4
  print '(a,i0)', 'array right ', 3 * 5 + 7 * 4
  print '(a,i0)', 'array edges ', 7 * 4
  print '(a,i0)', 'array edge ', 7 * 4
  print '(a,i0)', 'array inner ', 7
  print '(a,i0)', 'writes edges ', 7
  if (t == 42) print *, '!'
  call MPI_Finalize(ierr)
end program
