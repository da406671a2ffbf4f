C     COMMON and EQUIVALENCE of Fortran 77: members are variables, whatever
C     the unit calls the rest of the block.
      program commons
      integer i, n, counts(8)
      real*8 grid(10,10), scale, x(20), y(5)
      common /field/ grid, scale
      common counts, n
      equivalence (x(6), y(1))
      n = 10
      scale = 0.5
      do i = 1, 8                  ! loop
        counts(i) = i
      end do
      do i = 1, 20                 ! loop
        x(i) = counts(1)
      end do
      do i = 1, 5                  ! loop
        y(i) = y(i) * scale
      end do
      call clear
      if (grid(2,2) .gt. x(7)) print *, y
      end
      subroutine clear
      integer i
      real*8 flat(100), scale
      common /field/ flat, scale
      do i = 1, 100                ! loop
        flat(i) = scale
      end do
      end
