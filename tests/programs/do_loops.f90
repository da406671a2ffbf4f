! Loops of Fortran and its array statements.
program do_loops
  implicit none
  real :: a(10,10), b(10,10), c(10,10), s
  integer :: i, j, n
  n = 10
  a = 1.0                        ! loop
  b = a * 2 + n                  ! loop
  do i = 1, n                    ! loop
     do j = 1, n                 ! loop
        c(i,j) = a(i,j) + &
                 b(j,i)
     end do
  end do
  i = 0
  do while (i < n)               ! loop
     i = i + n / 3
  end do
  do                             ! loop
     i = i + n
     if (i > 30) exit
  end do
  do concurrent (i = 1:n)        ! loop
     c(i,i) = 0
  end do
  do i = n, 1, -3                ! loop
     call show(c(i,1))
  end do
  where (c > 1) b = c            ! loop
  s = sum(b)                     ! loop
  if (s < 0) print *, s
contains
  subroutine show(x)
    real, intent(in) :: x
    if (x > 1e6) print *, x
  end subroutine show
end program do_loops
