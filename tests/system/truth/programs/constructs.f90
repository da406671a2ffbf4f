! DO CONCURRENT with a mask is one loop, at its own line; a module's procedure with ENTRY is where it begins.
module constructs
  implicit none
  integer, parameter :: n = 3000
  real(8) :: a(n) = 1, b(n) = 2
contains
  subroutine masked(turns)
    integer, intent(in) :: turns
    integer :: i, k
    do k = 1, turns ! @turns
      do concurrent (i = 1:n, a(i) > 0.5d0) ! @masked
        b(i) = sqrt(a(i)) + k
        a(i) = 1 + b(i) * 1d-9
      end do
    end do
  end subroutine
  subroutine first_entry(turns, x) ! @first_entry
    integer, intent(in) :: turns
    real(8), intent(inout) :: x(n)
    integer :: i, k
    do k = 1, turns
      do i = 2, n
        x(i) = x(i - 1) * 0.5d0 + k
      end do
    end do
    return
  entry second_entry(turns)
    do k = 1, turns
      do i = 2, n
        b(i) = b(i - 1) * 0.25d0 + k
      end do
    end do
  end subroutine
end module
program main
  use constructs
  implicit none
  integer :: turn
  real(8) :: times(4), spent(3) = 0
  do turn = 1, 20
    call cpu_time(times(1))
    call masked(3000)
    call cpu_time(times(2))
    call first_entry(1000, a)
    call cpu_time(times(3))
    call second_entry(1000)
    call cpu_time(times(4))
    spent = spent + times(2:4) - times(1:3)
  end do
  print '(a, f9.4)', 'truth masking = ', 100 * spent(1) / sum(spent)
  print '(a, f9.4)', 'truth entering = ', 100 * sum(spent(2:3)) / sum(spent)
  if (a(7) + b(7) == 7.5d0) print *, 'x'
end program
