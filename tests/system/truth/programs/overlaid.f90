! Memory with several names: EQUIVALENCE, and a COMMON block that each unit divides in its own way.
subroutine one(k)
  real(8) :: vec(4096), rest(4096)
  common /blk/ vec, rest
  integer :: i, k
  do i = 1, 4096
    vec(i) = vec(i)*0.5d0 + k
  end do
end subroutine
subroutine two(k, s)
  real(8) :: a(4096), b(2048), c(2048), s
  common /blk/ a, b, c
  integer :: i, k
  do i = 1, 2048
    s = s + a(i)*b(i)
  end do
end subroutine
program overlaid
  real(8) :: field(4096), alias(4096), whole(4096), lower(2048), s
  equivalence (field, alias), (whole(2049), lower)
  integer :: k, i
  real(8) :: t0, t1, t2, t3, t4
  field = 0; s = 0
  call cpu_time(t0)
  do k = 1, 40000
    do i = 1, 4096
      alias(i) = alias(i)*0.5d0 + k
    end do
  end do
  print *, field(4)
  call cpu_time(t1)
  do k = 1, 40000
    do i = 1, 2048
      lower(i) = lower(i)*0.5d0 + k
    end do
  end do
  print *, whole(3000)
  call cpu_time(t2)
  do k = 1, 40000
    call one(k)
  end do
  call cpu_time(t3)
  do k = 1, 20000
    call two(k, s)
  end do
  call cpu_time(t4)
  print *, s
  call tell("equiv", (t1 - t0)/(t4 - t0))
  call tell("part", (t2 - t1)/(t4 - t0))
  call tell("one", (t3 - t2)/(t4 - t0))
  call tell("two", (t4 - t3)/(t4 - t0))
contains
  subroutine tell(name, share)
    character(len=*) :: name
    real(8) :: share
    write (0, '(a,f0.4)') 'truth '//name//' = ', 100*share
  end subroutine
end program
