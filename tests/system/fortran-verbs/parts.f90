! Statements of which the library carries out a part: they run as often as their loop is entered.
program parts
  implicit none
  real(8) :: m(100, 200), c(200), d(200)
  real(8), allocatable :: p(:)
  integer :: k
  m = 1
  c = 2
  d = 0
  do k = 1, 300
    c = maxval(m, dim=1) + d
    m = cshift(m, 1) * 0.99
    d = d * 0.5 + eoshift(c, 1) + cshift(d, 2)
    p = pack(cshift(c, 1), c > 0)
  end do
  print *, sum(d), size(p)
end program
