! Fortran 2008: coarrays of one image, submodules, blocks, do concurrent, type-bound procedures, procedure pointers, assumed-shape sections that
! have to be packed, associate, internal procedures passed on.
module shapes
  implicit none
  type :: body
    real(8) :: mass = 0
  contains
    procedure :: move
  end type
  interface
    module subroutine deep_work(x)
      real(8), intent(inout) :: x
    end subroutine
  end interface
contains
  subroutine move(self, n)
    class(body), intent(inout) :: self
    integer, intent(in) :: n
    call spend(self%mass, n)
  end subroutine
  ! a chain of divisions: the same at every level
  subroutine spend(x, n)
    real(8), intent(inout) :: x
    integer, intent(in) :: n
    integer :: i
    do i = 1, n * 4000
      x = 1 / (x + 1.5d0)
    end do
  end subroutine
end module

submodule (shapes) depths
contains
  module procedure deep_work
    call spend(x, 4)
  end procedure
end submodule

program images
  use shapes
  implicit none
  abstract interface
    subroutine worker(x)
      real(8), intent(inout) :: x
    end subroutine
  end interface
  procedure(worker), pointer :: chosen
  real(8), save :: shared(100)[*]
  type(body) :: one
  real(8) :: ms(5), start, now, x, table(60, 60)
  integer :: turn, i
  ms = 0
  x = 1
  table = 1
  chosen => pointed
  shared = 0
  do turn = 1, 800
    start = clock()
    call one%move(3)
    now = clock(); ms(1) = ms(1) + now - start; start = now
    call deep_work(x)
    now = clock(); ms(2) = ms(2) + now - start; start = now
    call chosen(x)
    now = clock(); ms(3) = ms(3) + now - start; start = now
    call pass_on(within)
    now = clock(); ms(4) = ms(4) + now - start; start = now
    do i = 1, 60
      call strided(table(i, :))
    end do
    shared(1)[1] = shared(1) + x
    now = clock(); ms(5) = ms(5) + now - start
    sync all
  end do
  call say('moving', 100 * ms(1) / sum(ms))
  call say('deepening', 100 * ms(2) / sum(ms))
  call say('pointing', 100 * ms(3) / sum(ms))
  call say('passing', 100 * ms(4) / sum(ms))
  call say('striding', 100 * ms(5) / sum(ms))
  call say('n_turns', 800d0)
  if (shared(1) + x + one%mass + sum(table) == 7) print *, x
contains
  subroutine pointed(x)
    real(8), intent(inout) :: x
    call spend(x, 5)
  end subroutine
  subroutine pass_on(work)
    procedure(worker) :: work
    call work(x)
  end subroutine
  subroutine within(y)
    real(8), intent(inout) :: y
    call spend(y, 2)
    x = x + turn * 1d-9
  end subroutine
  subroutine strided(row)
    real(8), intent(inout) :: row(:)
    integer :: k
    do k = 1, size(row)
      row(k) = 1 / (row(k) + 1.5d0)
    end do
    call spend(row(1), 1)
  end subroutine
  real(8) function clock()
    real(8) :: seconds
    call cpu_time(seconds)
    clock = 1000 * seconds
  end function
  subroutine say(name, value)
    character(*), intent(in) :: name
    real(8), intent(in) :: value
    print '(a, a, a, f0.6)', 'truth ', name, ' = ', value
  end subroutine
end program
