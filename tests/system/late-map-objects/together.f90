! What each line touches, as names.f90: arrays allocated by one statement, of which only debug information (-g) tells whose memory
! each is once their descriptors are registers.
program demo
  implicit none
  integer, parameter :: n = 100
  real(8), allocatable :: drawn(:), scaled(:), other(:)
  allocate(drawn(n), scaled(n), other(n))
  call draw(drawn)
  call scale(scaled)
  call random_number(other)
  if (scaled(3) + other(4) < 0) print *, drawn(5)
contains
  subroutine draw(u)
    real(8), intent(inout) :: u(n)
    integer :: i
    do i = 1, n
      call random_number(u(i)) ! touches demo::drawn
    end do
  end subroutine
  subroutine scale(u)
    real(8), intent(inout) :: u(n)
    integer :: i
    do i = 1, n
      u(i) = 2 * u(i) ! touches demo::scaled
    end do
  end subroutine
end program
