program known
  implicit none
  real(8), allocatable :: u(:), v(:, :)
  integer :: i, n
  n = 2000
  allocate(u(n)) ! mark: u
  do i = 1, 3
    allocate(v(n, 10)) ! mark: v
    v = i
    u = u * 0 + sum(v(:, 1))
    deallocate(v)
  end do
  print '(F10.1)', u(1)
end program
