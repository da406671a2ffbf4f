! READ and RANDOM_NUMBER write their arguments, WRITE reads them: arrays, sections, elements, components, dummies. Each
! procedure has the whole time of one.
module held
  implicit none
  integer, parameter :: n = 200
  type :: body
    real(8) :: mass(n)
    real(8), allocatable :: heat(:)
  end type
contains
  subroutine draw(u, times)
    real(8), intent(inout) :: u(:)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      call random_number(u) ! @draw
    end do
  end subroutine
  subroutine draw_each(u, times)
    real(8), intent(inout) :: u(n)
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 1, n
        call random_number(u(i))
      end do
    end do
  end subroutine
  subroutine draw_component(it, times)
    type(body), intent(inout) :: it
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      call random_number(it%heat)
    end do
  end subroutine
  subroutine put(u, unit, times)
    real(8), intent(in) :: u(:)
    integer, intent(in) :: unit, times
    integer :: k
    do k = 1, times
      rewind (unit)
      write (unit, *) u ! @put
    end do
  end subroutine
  subroutine put_each(u, unit, times)
    real(8), intent(in) :: u(:)
    integer, intent(in) :: unit, times
    integer :: i, k
    do k = 1, times
      rewind (unit)
      write (unit, '(8f8.3)') (u(i), i = 1, n)
    end do
  end subroutine
  subroutine get(u, unit, times)
    integer, intent(in) :: unit, times
    real(8), intent(inout) :: u(:)
    integer :: k
    do k = 1, times
      rewind (unit)
      read (unit, *) u ! @get
    end do
  end subroutine
  subroutine get_text(u, text, times)
    integer, intent(in) :: times
    real(8), intent(inout) :: u(:)
    character(*), intent(in) :: text
    integer :: i, k
    do k = 1, times
      do i = 1, n / 4
        read (text, *) u(4 * i - 3 : 4 * i)
      end do
    end do
  end subroutine
  subroutine put_component(it, unit, times)
    type(body), intent(in) :: it
    integer, intent(in) :: unit, times
    integer :: k
    do k = 1, times
      rewind (unit)
      write (unit, '(8es14.6)') it%mass
    end do
  end subroutine
end module
program transfers
  use held
  implicit none
  integer, parameter :: n_kinds = 8
  character(8), parameter :: names(n_kinds) = [character(8) :: 'drawn', 'single', 'heat', 'shown', 'listed', 'loaded', &
      'parsed', 'mass']
  type(body) :: it
  real(8), allocatable :: drawn(:), single(:), shown(:), listed(:), loaded(:), parsed(:)
  real(8) :: ms(n_kinds), begun, ended
  integer :: i, j, times
  allocate(drawn(n), single(n), it%heat(n), shown(n), listed(n), loaded(n), parsed(n))
  drawn = 1; single = 1; it%heat = 1; it%mass = 1; shown = 1; listed = 1; loaded = 1; parsed = 1
  call random_number(drawn)
  open (10, status='scratch')
  open (11, status='scratch')
  open (12, status='scratch')
  do i = 1, n_kinds
    times = 5
    ms(i) = 0
    do j = 1, 2
      call cpu_time(begun)
      select case (i)
      case (1); call draw(drawn, times)
      case (2); call draw_each(single, times)
      case (3); call draw_component(it, times)
      case (4); call put(shown, 10, times)
      case (5); call put_each(listed, 11, times)
      case (6); call get(loaded, 10, times)
      case (7); call get_text(parsed, '1.5 2.5 3.5 4.25', times)
      case (8); call put_component(it, 12, times)
      end select
      call cpu_time(ended)
      ms(i) = ms(i) + (ended - begun)
      times = max(1, int(0.1d0 * times / max(ms(i), 1d-6)))
    end do
  end do
  do i = 1, n_kinds
    write (0, '(a,a,a,f8.4)') 'truth ', trim(names(i)), ' = ', 100 * ms(i) / sum(ms)
  end do
  if (ms(1) < 0) print *, drawn(7), single(7), loaded(7), parsed(7), it%heat(7)
end program
