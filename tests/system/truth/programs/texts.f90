! Numbers to text and back, by the language's own library.
program texts
  implicit none
  integer :: i, n
  real(8) :: x, y, t0, t1, writing, reading, listing, start
  character(len=40) :: word
  character(len=200) :: line
  writing = 0
  reading = 0
  listing = 0
  x = 1
  y = 0
  n = 0
  call cpu_time(start)
  t1 = start
  do while (t1 - start < 0.5d0)
    call cpu_time(t0)
    do i = 1, 1500
      write (line, '(3(es24.15,1x))') x, y, x*y ! @write
      x = x + 1d0/3d0
    end do
    call cpu_time(t1)
    writing = writing + t1 - t0
    word = '  3.14159265358979E+00'
    do i = 1, 3000
      read (word, *) y ! @read
    end do
    call cpu_time(t0)
    reading = reading + t0 - t1
    do i = 1, 2000
      write (line, *) i, y ! @list
    end do
    call cpu_time(t1)
    listing = listing + t1 - t0
  end do
  print '(a,f12.6)', 'truth writing = ', 100*writing/(t1 - start)
  print '(a,f12.6)', 'truth reading = ', 100*reading/(t1 - start)
  print '(a,f12.6)', 'truth listing = ', 100*listing/(t1 - start)
end program
