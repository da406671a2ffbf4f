C What each line touches, as names.f90: arrays in COMMON and EQUIVALENCE.
      subroutine solve(n, k)
      integer n, k, i, j
      real*8 vm(3,40,40), va(3,2,40), t, x(100), y(100), b1(50), b2(50)
      common /mat/ vm, va, t
      common b1, b2
      equivalence (x(1), y(1))
      call get(y)
      do i = 1, n
        y(i) = y(i) + 1 ! touches solve::y
      end do
      do i = 1, n
        do j = 1, n
          vm(2,j,i) = vm(3,j,i) + va(1,1,j) * t ! touches mat::vm mat::va
        end do
        x(i) = b1(i) * b2(i) ! touches solve::x //::b1 //::b2
      end do
      do i = k, n
        vm(1,i,k) = vm(1,i,k) - 2 ! touches mat::vm
        b1(i) = b2(i-1) * 3 ! touches //::b1 //::b2
      end do
      call use(x)
      end
C The same block in another way, parts of it equivalent.
      subroutine clear(n)
      integer n, i
      real*8 all(4800), rest(241), halves(2400,2)
      common /mat/ all, rest
      equivalence (all(1), halves(1,1))
      do i = 1, n
        all(i) = 0 ! touches mat::all
      end do
      do i = 2, n
        halves(i,1) = halves(i-1,2) + rest(i) ! touches mat::halves mat::rest
      end do
      end
