module work
  implicit none
  real(8), allocatable :: u(:,:), v(:,:)
contains
  subroutine sweep(n)
    integer, intent(in) :: n
    integer :: i, j
    do j = 2, n - 1
      do i = 2, n - 1
        v(i, j) = 0.25d0 * (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
      end do
    end do
  end subroutine
end module

program stencil
  use work
  implicit none
  integer :: step
  allocate(u(64, 64), v(64, 64))
  u = 1
  v = 0
  do step = 1, 10
    call sweep(64)
    u = v
  end do
  print *, sum(u), maxval(v)
end program
