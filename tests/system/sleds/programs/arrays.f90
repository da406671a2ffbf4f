! Fortran: module and internal procedures, array statements, intrinsics, DO CONCURRENT, recursion. Prints one checksum.
module work
   implicit none
   integer, parameter :: n = 24
contains
   subroutine relax(a, b)
      real(8), intent(inout) :: a(:, :)
      real(8), intent(in) :: b(:, :)
      integer :: i, j
      do j = 2, n - 1
         do i = 2, n - 1
            a(i, j) = 0.25d0*(a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + b(i, j + 1))
         end do
      end do
      a = a + b/2
      where (a > 1d0) a = a - 1d0
   end subroutine
   recursive integer function fact(k) result(r)
      integer, intent(in) :: k
      if (k <= 1) then
         r = 1
      else
         r = k*fact(k - 1)
      end if
   end function
   real(8) function outer(x)
      real(8), intent(in) :: x(:)
      outer = helper(3) + sum(x) + maxval(x)
   contains
      real(8) function helper(k)
         integer, intent(in) :: k
         helper = k*x(1)
      end function
   end function
end module
program main
   use work
   implicit none
   real(8) :: a(n, n), b(n, n), c(n, n)
   integer :: i, j
   do concurrent(i=1:n, j=1:n)
      a(i, j) = mod(i*7 + j*3, 11)
      b(i, j) = mod(i + j, 5)
   end do
   do i = 1, 10
      call relax(a, b)
   end do
   c = matmul(a, b)
   print '(f20.8, i10, f16.8)', sum(c), fact(10), outer(c(:, 3))
end program
