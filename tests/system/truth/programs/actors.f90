! Calls through procedure pointers that are components of elements, type-bound procedures, assumed rank, select type, entries at a module's end.
module acting
  implicit none
  integer, parameter :: n = 4096
  type :: actor
    real(8) :: state(n)
    procedure(doing), pointer, nopass :: does => null()
  end type
  type :: stem
    real(8) :: grade(n)
  contains
    procedure :: step => step_stem
  end type
  type, extends(stem) :: special
    real(8) :: extra(n)
  contains
    procedure :: step => step_special
  end type
  abstract interface
    subroutine doing(a, times)
      import :: n
      real(8), intent(inout) :: a(n)
      integer, intent(in) :: times
    end subroutine
  end interface
contains
  subroutine smooth(a, times)
    real(8), intent(inout) :: a(n)
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 2, n
        a(i) = a(i-1) * 0.5d0 + 1
      end do
    end do
  end subroutine
  subroutine step_stem(this, times)
    class(stem), intent(inout) :: this
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 2, n
        this%grade(i) = this%grade(i-1) * 0.5d0 + 1
      end do
    end do
  end subroutine
  subroutine step_special(this, times)
    class(special), intent(inout) :: this
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 2, n
        this%extra(i) = this%extra(i-1) * 0.5d0 + 1
      end do
    end do
  end subroutine
  subroutine of_any_rank(x, times)
    real(8), intent(inout) :: x(..)
    integer, intent(in) :: times
    integer :: i, k
    select rank (x)
    rank (1)
      do k = 1, times
        do i = 2, size(x)
          x(i) = x(i-1) * 0.5d0 + 1
        end do
      end do
    rank (2)
      do k = 1, times
        do i = 2, size(x, 1)
          x(i, 1) = x(i-1, 1) * 0.5d0 + 1
        end do
      end do
    end select
  end subroutine
  subroutine many_kinds(it, times)
    class(*), intent(inout) :: it(:)
    integer, intent(in) :: times
    integer :: i, k
    select type (it)
    type is (real(8))
      do k = 1, times
        do i = 2, n
          it(i) = it(i-1) * 0.5d0 + 1
        end do
      end do
    end select
  end subroutine
  subroutine enters(b, times)
    real(8), intent(inout) :: b(n)
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 2, n
        b(i) = b(i-1) * 0.5d0 + 1 ! @enters
      end do
    end do
    return
    entry also_enters(b, times)
    do k = 1, times
      do i = 2, n
        b(i) = b(i-1) * 0.25d0 + 2 ! @also
      end do
    end do
  end subroutine
end module
program actors_play
  use acting
  implicit none
  type(actor), allocatable :: actors(:)
  class(stem), allocatable :: one, two
  real(8) :: flat(n), square(n, 2), any_kind(n), entered(n), also(n)
  real(8) :: ms(8), begun
  integer :: turn, i
  character(8), parameter :: names(8) = [character(8) :: 'state', 'grade', 'extra', 'flat', 'square', 'kinds', 'entered', 'also']
  allocate (actors(2))
  allocate (stem :: one)
  allocate (special :: two)
  do i = 1, 2
    actors(i)%state = 1
    actors(i)%does => smooth
  end do
  one%grade = 1
  two%grade = 1
  flat = 1
  square = 1
  any_kind = 1
  entered = 1
  also = 1
  ms = 0
  do turn = 1, 40
    begun = clock()
    call actors(1)%does(actors(1)%state, 150)
    call note(1)
    call one%step(200)
    call note(2)
    call two%step(110)
    call note(3)
    call of_any_rank(flat, 170)
    call note(4)
    call of_any_rank(square, 130)
    call note(5)
    call many_kinds(any_kind, 90)
    call note(6)
    call enters(entered, 120)
    call note(7)
    call also_enters(also, 100)
    call note(8)
  end do
  do i = 1, 8
    print '(a, a, a, f8.3)', ' truth ', trim(names(i)), ' = ', 100 * ms(i) / sum(ms)
  end do
  if (actors(1)%state(n) + one%grade(n) + flat(n) + square(n, 1) + any_kind(n) + entered(n) + also(n) < 0) stop 2
contains
  subroutine note(which)
    integer, intent(in) :: which
    real(8) :: now
    now = clock()
    ms(which) = ms(which) + now - begun
    begun = now
  end subroutine
  real(8) function clock()
    call cpu_time(clock)
  end function
end program
