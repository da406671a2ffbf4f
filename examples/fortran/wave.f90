! A wave on a string in Fortran: a module, array statements, contained and recursive procedures, an intrinsic sum.
module wave_model
  implicit none
  private
  public :: string_t, make_string, advance, energy, binomial
  type :: string_t
    real(8), allocatable :: now(:), before(:), next(:)
    real(8) :: speed = 0.5d0
  end type
contains
  subroutine make_string(s, n)
    type(string_t), intent(out) :: s
    integer, intent(in) :: n
    integer :: i
    allocate (s%now(n), s%before(n), s%next(n))
    do i = 1, n
      s%now(i) = bump(dble(i) / n)
    end do
    s%before = s%now
    s%next = 0
  contains
    pure function bump(x) result(y)
      real(8), intent(in) :: x
      real(8) :: y
      y = max(0d0, 1 - abs(x - 0.3d0) * 10)
    end function
  end subroutine

  subroutine advance(s)
    type(string_t), intent(inout) :: s
    integer :: n
    n = size(s%now)
    s%next(2:n - 1) = 2 * s%now(2:n - 1) - s%before(2:n - 1) &
                      + s%speed**2 * (s%now(3:n) - 2 * s%now(2:n - 1) + s%now(1:n - 2))
    s%before = s%now
    s%now = s%next
  end subroutine

  function energy(s) result(e)
    type(string_t), intent(in) :: s
    real(8) :: e
    e = sum((s%now - s%before)**2) + sum((s%now(2:) - s%now(:size(s%now) - 1))**2) * s%speed**2
  end function

  recursive function binomial(n, k) result(b)
    integer, intent(in) :: n, k
    integer :: b
    if (k == 0 .or. k == n) then
      b = 1
    else
      b = binomial(n - 1, k - 1) + binomial(n - 1, k)
    end if
  end function
end module

program wave
  use wave_model
  implicit none
  type(string_t) :: s
  integer :: t, n_steps
  character(len=20) :: argument
  n_steps = 20000
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) n_steps
  end if
  call make_string(s, 20000)
  do t = 1, n_steps
    call advance(s)
    if (mod(t, max(1, n_steps / 4)) == 0) print '(a, i6, a, f9.6)', 'step', t, ': energy', energy(s)
  end do
  print '(a, i0)', 'binomial(20, 8) = ', binomial(20, 8)
end program
