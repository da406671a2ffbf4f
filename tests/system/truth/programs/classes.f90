! Objects by CLASS: allocatable components, SELECT TYPE with a name; arrays that a procedure only writes.
module work
  implicit none
  integer, parameter :: dp = kind(1d0), n = 4096
  type :: ring
    real(dp), allocatable :: buf(:)
  contains
    procedure :: step
  end type
  type :: base
    integer :: id = 0
  end type
  type, extends(base) :: child
    real(dp) :: w(64) = 0
  end type
  type :: slot
    class(base), allocatable :: p
  end type
contains
  real(dp) function now()
    call cpu_time(now)
  end function
  subroutine step(self, k)
    class(ring), intent(inout) :: self
    integer, intent(in) :: k
    integer :: i
    do i = 1, n
      self%buf(i) = self%buf(i) * 0.5_dp + k
    end do
  end subroutine
  subroutine fill(x, m, k)
    integer, intent(in) :: m, k
    real(dp), intent(out) :: x(m)
    integer :: i
    do i = 1, m
      x(i) = k + i
    end do
  end subroutine
end module

program classes
  use work
  implicit none
  type(ring) :: rings
  type(slot) :: slots(64)
  real(dp) :: filled(n), t(3), a
  integer :: i, j, k
  allocate(rings%buf(n))
  rings%buf = 1
  do i = 1, 64
    allocate(child :: slots(i)%p)
  end do
  a = now()
  do k = 1, 30000
    call rings%step(k)
  end do
  t(1) = now() - a
  a = now()
  do k = 1, 30000
    do j = 1, 64
      select type (q => slots(j)%p)
      type is (child)
        do i = 1, 64
          q%w(i) = q%w(i) * 0.5_dp + k
        end do
      end select
    end do
  end do
  t(2) = now() - a
  a = now()
  do k = 1, 40000
    call fill(filled, n, k)
  end do
  t(3) = now() - a
  print '(a, f8.3)', 'truth stepped = ', 100 * t(1) / sum(t)
  print '(a, f8.3)', 'truth chosen = ', 100 * t(2) / sum(t)
  print '(a, f8.3)', 'truth filled = ', 100 * t(3) / sum(t)
  print *, rings%buf(4), filled(4)
end program
