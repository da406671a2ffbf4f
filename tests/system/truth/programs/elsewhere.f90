! Arrays by other names and masks: ASSOCIATE of an allocatable, components of components, WHERE.
module work
  implicit none
  integer, parameter :: dp = kind(1d0), n = 4096
  type :: inner
    real(dp) :: c(64) = 0
  end type
  type :: outer
    type(inner), allocatable :: b(:)
  end type
contains
  real(dp) function now()
    call cpu_time(now)
  end function
end module

program elsewhere
  use work
  implicit none
  real(dp), allocatable :: named(:)
  type(outer) :: nested
  real(dp) :: img(64, 64), mask(64, 64), t(3), a, all
  integer :: i, j, k
  integer, parameter :: n_masked = 20000, n_named = 40000
  allocate(named(n), nested%b(n / 64))
  named = 1
  img = 1
  mask = 0
  mask(10:50, 10:50) = 1
  a = now()
  do k = 1, n_named
    associate (f => named)
      do i = 1, n
        f(i) = f(i) * 0.5_dp + k
      end do
    end associate
  end do
  t(1) = now() - a
  a = now()
  do k = 1, n_named
    do j = 1, n / 64
      do i = 1, 64
        nested%b(j)%c(i) = nested%b(j)%c(i) * 0.5_dp + k
      end do
    end do
  end do
  t(2) = now() - a
  a = now()
  do k = 1, n_masked
    where (mask > 0.5_dp)
      img = img * 0.5_dp
    elsewhere
      img = img + 1
    end where
  end do
  t(3) = now() - a
  all = sum(t)
  print '(a, f8.3)', 'truth named = ', 100 * t(1) / all
  print '(a, f8.3)', 'truth nested = ', 100 * t(2) / all
  print '(a, f8.3)', 'truth masked = ', 100 * t(3) / all
  print '(a, i0)', 'truth n_masked = ', n_masked
  print *, named(7), nested%b(3)%c(5), img(3, 3)
end program
