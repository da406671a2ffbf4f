! Loops under OpenMP directives: each has the line of its own DO.
module loops
  implicit none
  integer, parameter :: n = 3000
  real(8) :: a(n) = 1, c(50, 60) = 3
contains
  subroutine inner_do()
    integer :: i
    !$omp parallel num_threads(2)
    !$omp do
    do i = 1, n ! @inner_do
      a(i) = a(i) * 0.5d0 + i
    end do
    !$omp end do
    !$omp end parallel
  end subroutine
  subroutine combined()
    integer :: i
    !$omp parallel do num_threads(2) &
    !$omp   schedule(static, 10)
    ! The loop is the next statement.
    do i = 1, n ! @combined
      a(i) = a(i) * 0.5d0 + i
    end do
  end subroutine
  subroutine collapsed()
    integer :: i, j
    !$omp parallel do collapse(2) num_threads(2)
    do j = 1, 60 ! @collapsed
      do i = 1, 50
        c(i, j) = c(i, j) * 0.5d0 + i
      end do
    end do
  end subroutine
  subroutine included()
    integer :: i
    include 'directives.inc'
  end subroutine
  subroutine in_lanes()
    integer :: i
    !$omp simd
    do i = 1, n ! @lanes
      a(i) = a(i) * 0.5d0 + i
    end do
  end subroutine
  subroutine in_shares()
    !$omp parallel workshare num_threads(2)
    a = a * 0.5d0 + 1 ! @first_share
    c = c * 0.5d0 &
        + 1
    a = sqrt(a) ! @last_share
    !$omp end parallel workshare
  end subroutine
end module
program directives
  use loops
  implicit none
  integer :: turn
  do turn = 1, 20
    call inner_do()
    call combined()
    call collapsed()
    call included()
    call in_lanes()
    call in_shares()
  end do
  print '(a, i0)', 'truth by_threads = ', 40
  print '(a, i0)', 'truth n_turns = ', 20
  if (a(7) + c(1, 1) == 7.5d0) print *, 'x'
end program
