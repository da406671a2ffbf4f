! Internal procedures and the variables of the procedure around them, of every kind: only those within touch them.
! And arrays that are results.
module clk
  implicit none
  real(8), private :: begun = 0, times(40) = 0
  character(24), private :: names(40) = ''
  integer, private :: n_names = 0
contains
  subroutine tic()
    call cpu_time(begun)
  end subroutine
  subroutine toc(name)
    character(*), intent(in) :: name
    real(8) :: now
    integer :: k
    call cpu_time(now)
    do k = 1, n_names
      if (names(k) == name) exit
    end do
    if (k > n_names) then
      n_names = k
      names(k) = name
    end if
    times(k) = times(k) + (now - begun)
    call cpu_time(begun)
  end subroutine
  logical function more()
    more = sum(times) < 0.4d0
  end function
  subroutine tell()
    integer :: k
    do k = 1, n_names
      print '(3a,f9.4)', 'truth ', trim(names(k)), ' = ', 100 * times(k) / sum(times)
    end do
  end subroutine
end module
module hosts
  implicit none
  integer, parameter :: n = 4000
  real(8) :: kept(n)
  type :: box
    real(8) :: parts(n) = 1
    real(8), allocatable :: inner_parts(:)
  end type
contains
  function filled(k) result(forms)
    integer, intent(in) :: k
    real(8) :: forms(n)
    integer :: i
    forms(1) = k
    do i = 2, n
      forms(i) = forms(i - 1) * 0.5d0 + k
    end do
  end function
  function listed(k) &
      result (list)
    integer, intent(in) :: k
    real(8), allocatable :: list(:)
    integer :: i
    allocate(list(n))
    list(1) = k
    do i = 2, n
      list(i) = list(i - 1) * 0.25d0 + k
    end do
  end function
  subroutine host(shape, star, sized2, m, times)
    use clk
    integer, intent(in) :: m, times
    real(8), intent(inout) :: shape(:), star(*), sized2(m)
    real(8) :: fixed(n), sized(m)
    real(8), allocatable :: grown(:)
    real(8), pointer :: aimed(:)
    type(box) :: held
    integer :: k, j
    allocate(grown(n), aimed(n), held%inner_parts(n))
    fixed = 1; sized = 1; grown = 1; aimed = 1; held%inner_parts = 1
    call tic()
    do k = 1, times
      call with_fixed(); call toc('fixed')
      call with_sized(); call toc('sized')
      call with_grown(); call toc('grown')
      call with_aimed(); call toc('aimed')
      call with_shape(); call toc('shape')
      call with_star(); call toc('star')
      call with_sized2(); call toc('sized2')
      call with_parts(); call toc('parts')
      call with_inner(); call toc('inner_parts')
      do j = 1, 30
        kept = filled(k + j)
      end do
      call toc('forms')
      do j = 1, 30
        kept = listed(k + j)
      end do
      call toc('list')
    end do
    if (fixed(2) + sized(3) + grown(4) + aimed(5) + held%parts(3) + held%inner_parts(3) + kept(3) == 7.5d0) print *, 'x'
    deallocate(aimed)
  contains
    subroutine with_fixed()
      integer :: i, j
      do j = 1, 40
        do i = 2, n
          fixed(i) = fixed(i - 1) * 0.5d0 + k
        end do
      end do
    end subroutine
    subroutine with_sized()
      integer :: i, j
      do j = 1, 30
        do i = 2, m
          sized(i) = sized(i - 1) * 0.25d0 + k
        end do
      end do
    end subroutine
    subroutine with_grown()
      integer :: i, j
      do j = 1, 20
        do i = 2, size(grown)
          grown(i) = grown(i - 1) * 0.5d0 + k
        end do
      end do
    end subroutine
    subroutine with_aimed()
      integer :: i, j
      do j = 1, 30
        do i = 2, n
          aimed(i) = aimed(i - 1) * 0.75d0 + k
        end do
      end do
    end subroutine
    subroutine with_shape()
      integer :: i, j
      do j = 1, 30
        do i = 2, n
          shape(i) = shape(i - 1) * 0.125d0 + k
        end do
      end do
    end subroutine
    subroutine with_star()
      integer :: i, j
      do j = 1, 20
        do i = 2, n
          star(i) = star(i - 1) * 0.5d0 + k
        end do
      end do
    end subroutine
    subroutine with_sized2()
      integer :: i, j
      do j = 1, 20
        do i = 2, n
          sized2(i) = sized2(i - 1) * 0.5d0 + k
        end do
      end do
    end subroutine
    subroutine with_parts()
      integer :: i, j
      do j = 1, 30
        do i = 2, n
          held%parts(i) = held%parts(i - 1) * 0.5d0 + k
        end do
      end do
    end subroutine
    subroutine with_inner()
      integer :: i, j
      do j = 1, 20
        do i = 2, n
          held%inner_parts(i) = held%inner_parts(i - 1) * 0.5d0 + k
        end do
      end do
    end subroutine
  end subroutine
end module
program hosted
  use clk
  use hosts
  implicit none
  real(8) :: first(n), second(n)
  first = 1
  second = 1
  do while (more())
    call host(first, second, second, n, 10)
  end do
  call tell()
  if (first(3) + second(4) == 7.5d0) print *, 'x'
end program
