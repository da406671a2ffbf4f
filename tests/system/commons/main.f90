! A COMMON block that another file divides otherwise.
program main
  implicit none
  real(8) :: grid(1000), rest(1000)
  common /pool/ grid, rest
  integer :: k, i
  grid = 1
  rest = 2
  do k = 1, 60000
    do i = 1, 1000
      grid(i) = grid(i) * 0.5 + rest(i)
    end do
    call shift
    call other
  end do
  print *, grid(3), rest(5)
end program
