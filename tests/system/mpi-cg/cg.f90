! Conjugate gradients in the manner of NAS CG: a sparse matrix with rows divided over the ranks, an inner iteration of matrix-vector products and dot
! products, an outer one that estimates the largest eigenvalue's shift. Rank 0 prints what all ranks counted: "operation NAME calls bytes",
! "function NAME calls", "reads ARRAY calls".
module cg_data
  use mpi
  implicit none
  integer, parameter :: n = 1400, per_row = 7, n_inner = 25, n_outer = 4
  integer :: me, n_ranks, first, last, ierr
  integer, allocatable :: counts(:), places(:), column(:, :)
  real(8), allocatable :: value(:, :)
  real(8) :: x(n), z(n), p(n), q(n), r(n), whole(n)
  integer(8) :: n_reduces = 0, n_gathers = 0, by_dot = 0, by_norm = 0, of_p = 0, of_r = 0, of_x = 0, of_z = 0
contains
  subroutine make_matrix
    integer :: i, k
    allocate(counts(0:n_ranks - 1), places(0:n_ranks - 1))
    do i = 0, n_ranks - 1
      places(i) = i * n / n_ranks
      counts(i) = (i + 1) * n / n_ranks - places(i)
    end do
    first = places(me) + 1
    last = places(me) + counts(me)
    allocate(column(per_row, first:last), value(per_row, first:last))
    do i = first, last
      do k = 1, per_row
        column(k, i) = modulo(i - 1 + (k - 4) * (k - 4) * sign(13, k - 4), n) + 1
        value(k, i) = merge(20d0, -1d0 / max(1, abs(k - 4)), k == 4)
      end do
    end do
  end subroutine

  function dot(a, b) result(all)
    real(8), intent(in) :: a(:), b(:)
    real(8) :: own, all
    integer :: i
    own = 0
    do i = first, last
      own = own + a(i) * b(i)
    end do
    call MPI_Allreduce(own, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    n_reduces = n_reduces + 1
    by_dot = by_dot + 1
  end function

  subroutine multiply(from, to)
    real(8), intent(in) :: from(:)
    real(8), intent(out) :: to(:)
    real(8) :: sum
    integer :: i, k
    call MPI_Allgatherv(from(first:last), counts(me), MPI_DOUBLE_PRECISION, whole, counts, places, &
                        MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierr)
    n_gathers = n_gathers + 1
    do i = first, last
      sum = 0
      do k = 1, per_row
        sum = sum + value(k, i) * whole(column(k, i))
      end do
      to(i) = sum
    end do
  end subroutine

  subroutine conjugate_gradients(norm)
    real(8), intent(out) :: norm
    real(8) :: rho, before, alpha, beta
    integer :: i, k
    z = 0
    r = x
    p = r
    rho = dot(r, r)
    of_r = of_r + 1
    do k = 1, n_inner
      call multiply(p, q)
      of_p = of_p + 1
      alpha = rho / dot(p, q)
      of_p = of_p + 1
      do i = first, last
        z(i) = z(i) + alpha * p(i)
        r(i) = r(i) - alpha * q(i)
      end do
      before = rho
      rho = dot(r, r)
      of_r = of_r + 1
      beta = rho / before
      do i = first, last
        p(i) = r(i) + beta * p(i)
      end do
    end do
    call multiply(z, q)
    of_z = of_z + 1
    norm = sqrt(dot(q, q))
  end subroutine
end module

program cg
  use cg_data
  implicit none
  integer :: outer
  integer(8) :: all(2)
  real(8) :: norm, zeta
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, ierr)
  call make_matrix
  x = [(modulo(37 * outer, 101) / 100d0, outer = 1, n)]
  do outer = 1, n_outer
    call conjugate_gradients(norm)
    zeta = 10 + 1 / dot(x, z)
    of_x = of_x + 1
    of_z = of_z + 1
    x = z / sqrt(dot(z, z))
    of_z = of_z + 1
  end do
  all = [n_reduces, n_gathers] * n_ranks
  if (me == 0) then
    print '(a, i0, a, i0)', 'operation AllReduce ', all(1), ' ', all(1) * 8
    print '(a, i0, a, i0)', 'operation AllGather ', all(2), ' ', n_gathers * n * 8
    print '(a, i0)', 'reads p ', of_p * n_ranks, 'reads r ', of_r * n_ranks, 'reads x ', of_x * n_ranks, &
      'reads z ', of_z * n_ranks
    print '(a, f12.6)', 'zeta ', zeta
  end if
  call MPI_Finalize(ierr)
end program
