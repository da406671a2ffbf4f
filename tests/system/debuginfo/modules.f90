module m
contains
  subroutine scale(a, n, k)
    integer, intent(in) :: n
    real :: a(n)
    real, intent(in) :: k
    integer :: i
    do i = 1, n
      a(i) = a(i) * k + helper(i)
    end do
  contains
    real function helper(i)
      integer, intent(in) :: i
      helper = real(i) * k
    end function
  end subroutine
end module
subroutine outer(a, n)
  use m
  integer :: n
  real :: a(n)
  call scale(a, n, 2.0)
end subroutine
program p
  real :: a(100)
  a = 1
  call outer(a, 100)
  print *, sum(a)
end program
