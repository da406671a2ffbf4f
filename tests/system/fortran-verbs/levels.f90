! field: assigned once as a whole, which is a sentence of level Fortran; the rest of the time are loops.
program levels
  implicit none
  integer, parameter :: n = 8192
  real(8) :: field(n), start
  integer :: i, k
  call random_number(start)
  field = start
  do k = 1, 12000
    do i = 2, n
      field(i) = field(i) * 0.5d0 + k
    end do
    if (field(mod(k, n) + 1) < -1) print *, k
  end do
end program
