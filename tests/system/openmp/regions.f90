! A region in a subroutine that is called three times, by three threads each.
module m
  implicit none
  real(8) :: a(30000) = 0
contains
  subroutine work(n)
    integer, intent(in) :: n
    integer :: i, k
    !$omp parallel do num_threads(3) private(k)
    do i = 1, size(a)
      do k = 1, n
        a(i) = a(i) * 0.999d0 + k
      end do
    end do
    !$omp end parallel do
  end subroutine
end module
program regions
  use m
  integer :: r
  do r = 1, 3
    call work(1000)
  end do
  print *, a(1) > 0
end program
