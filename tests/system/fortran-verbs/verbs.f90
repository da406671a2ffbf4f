program verbs
  implicit none
  integer, parameter :: n = 400
  real(8) :: a(n, n), b(n, n), c(n, n), v(n)
  real(8) :: s, t
  integer :: i
  a = 1; b = 2; s = 0; t = 0
  do i = 1, 300
    s = s + sum(a)
    t = t + maxval(b) - minval(b)
    c = transpose(a)
    a = cshift(a, 1, dim=2)
    v = a(:, 1) * 2 + i
    b(:, mod(i, n) + 1) = v
    if (mod(i, 10) == 0) c = matmul(a, b)
  end do
  print *, s, t, c(1, 1)
end program
