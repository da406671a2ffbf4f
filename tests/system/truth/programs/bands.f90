! OpenMP: what the bodies of regions do with arrays: of modules, dummies, local, private, components, in WORKSHARE. Each
! thread measures its own time.
module held
  use iso_c_binding
  implicit none
  integer, parameter :: n = 4096
  real(8) :: fixed(n), source(n)
  real(8), allocatable :: grown(:), plane(:,:)
  type :: grid
    real(8), allocatable :: mass(:)
    real(8) :: heat(n)
  end type
  real(8) :: ms(10)
  integer(c_int), parameter :: thread_clock = 3
  type, bind(c) :: timespec
    integer(c_long) :: s, ns
  end type
  interface
    integer(c_int) function clock_gettime(clock, t) bind(c)
      import
      integer(c_int), value :: clock
      type(timespec), intent(out) :: t
    end function
  end interface
contains
  real(8) function now()
    type(timespec) :: t
    if (clock_gettime(thread_clock, t) /= 0) stop 1
    now = t%s * 1d3 + t%ns / 1d6
  end function
  subroutine spent(place, begun)
    integer, intent(in) :: place
    real(8), intent(in) :: begun
    real(8) :: time
    time = now() - begun
    !$omp atomic
    ms(place) = ms(place) + time
  end subroutine
  subroutine in_module(times)
    integer, intent(in) :: times
    real(8) :: begun
    integer :: i, k
    !$omp parallel num_threads(2) private(begun, k)
    begun = now()
    do k = 1, times
      !$omp do
      do i = 1, n
        fixed(i) = fixed(i) * 0.5d0 + source(i)
      end do
      !$omp end do nowait
    end do
    call spent(1, begun)
    !$omp end parallel
  end subroutine
  subroutine allocated(times)
    integer, intent(in) :: times
    real(8) :: begun
    integer :: i, k
    !$omp parallel num_threads(2) private(begun, k)
    begun = now()
    do k = 1, times
      !$omp do
      do i = 1, n
        grown(i) = grown(i) * 0.5d0 + k
      end do
      !$omp end do nowait
    end do
    call spent(2, begun)
    !$omp end parallel
  end subroutine
  subroutine shaped(a, times)
    real(8), intent(inout) :: a(:)
    integer, intent(in) :: times
    real(8) :: begun
    integer :: i, k
    !$omp parallel num_threads(2) private(begun, k)
    begun = now()
    do k = 1, times
      !$omp do
      do i = 1, size(a)
        a(i) = a(i) * 0.5d0 + k
      end do
      !$omp end do nowait
    end do
    call spent(3, begun)
    !$omp end parallel
  end subroutine
  subroutine sized(m, b, times)
    integer, intent(in) :: m, times
    real(8), intent(inout) :: b(m)
    real(8) :: begun
    integer :: i, k
    !$omp parallel num_threads(2) private(begun, k)
    begun = now()
    do k = 1, times
      !$omp do
      do i = 1, m
        b(i) = b(i) * 0.5d0 + k
      end do
      !$omp end do nowait
    end do
    call spent(4, begun)
    !$omp end parallel
  end subroutine
  subroutine components(it, times)
    type(grid), intent(inout) :: it
    integer, intent(in) :: times
    real(8) :: begun
    integer :: i, k
    !$omp parallel num_threads(2) private(begun, k)
    begun = now()
    do k = 1, times
      !$omp do
      do i = 1, n
        it%heat(i) = it%heat(i) * 0.5d0 + k
      end do
      !$omp end do nowait
    end do
    call spent(5, begun)
    begun = now()
    do k = 1, times
      !$omp do
      do i = 1, n
        it%mass(i) = it%mass(i) * 0.5d0 + k
      end do
      !$omp end do nowait
    end do
    call spent(6, begun)
    !$omp end parallel
  end subroutine
  subroutine planes(times)
    integer, intent(in) :: times
    real(8) :: begun
    integer :: i, j, k
    !$omp parallel num_threads(2) private(begun, k)
    begun = now()
    do k = 1, times
      !$omp do collapse(2)
      do j = 1, n / 64
        do i = 1, 64
          plane(i, j) = plane(i, j) * 0.5d0 + k
        end do
      end do
      !$omp end do nowait
    end do
    call spent(7, begun)
    !$omp end parallel
  end subroutine
  subroutine private_one(total, times)
    real(8), intent(inout) :: total
    integer, intent(in) :: times
    real(8) :: begun, own(n)
    integer :: i, k
    own = 1
    !$omp parallel num_threads(2) firstprivate(own) private(begun, i, k) reduction(+: total)
    begun = now()
    do k = 1, times / 2
      do i = 1, n
        own(i) = own(i) * 0.5d0 + k
      end do
    end do
    call spent(8, begun)
    total = total + own(7)
    !$omp end parallel
  end subroutine
  subroutine automatic(m, total, times)
    integer, intent(in) :: m, times
    real(8), intent(inout) :: total
    real(8) :: begun, near(m)
    integer :: i, k
    near = 1
    !$omp parallel num_threads(2) private(begun, k)
    begun = now()
    do k = 1, times
      !$omp do
      do i = 1, m
        near(i) = near(i) * 0.5d0 + k
      end do
      !$omp end do nowait
    end do
    call spent(9, begun)
    !$omp end parallel
    total = total + near(7)
  end subroutine
  subroutine halves(c, times)
    real(8), intent(inout) :: c(:)
    integer, intent(in) :: times
    real(8) :: begun
    integer :: k, part
    !$omp parallel do num_threads(2) private(begun, k)
    do part = 0, 1
      begun = now()
      do k = 1, times
        c(part * n / 2 + 1 : (part + 1) * n / 2) = c(part * n / 2 + 1 : (part + 1) * n / 2) * 0.5d0 + k
      end do
      call spent(10, begun)
    end do
  end subroutine
end module
program bands
  use held
  implicit none
  character(8), parameter :: names(10) = [character(8) :: 'fixed', 'grown', 'shape', 'star', 'heat', 'mass', 'plane', &
      'own', 'near', 'cut']
  type(grid) :: it
  real(8), allocatable :: shape(:), star(:), cut(:)
  real(8) :: total, all
  integer :: turn, times
  character(8) :: policy
  interface
    integer(c_int) function setenv(name, value, over) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int), value :: over
    end function
    integer(c_int) function execl(path, first, last) bind(c)
      import
      character(kind=c_char), intent(in) :: path(*), first(*)
      type(c_ptr), value :: last
    end function
  end interface
  ! Threads that wait sleep, so that all time is that of arrays. The library asks once, at its beginning.
  call get_environment_variable('OMP_WAIT_POLICY', policy)
  if (policy == ' ') then
    if (setenv('OMP_WAIT_POLICY' // c_null_char, 'passive' // c_null_char, 1) == 0) &
      turn = execl('/proc/self/exe' // c_null_char, 'program' // c_null_char, c_null_ptr)
  end if
  allocate(grown(n), plane(64, n / 64), it%mass(n), shape(n), star(n), cut(n))
  fixed = 1; source = 1; grown = 1; plane = 1; it%mass = 1; it%heat = 1; shape = 1; star = 1; cut = 1
  total = 0; ms = 0; times = 1000
  do turn = 1, 40
    call in_module(times)
    call allocated(times)
    call shaped(shape, times)
    call sized(n, star, times)
    call components(it, times)
    call planes(times)
    call private_one(total, times)
    call automatic(n, total, times)
    call halves(cut, times)
  end do
  call cpu_time(all)
  do turn = 1, 10
    write (0, '(a,a,a,f8.4)') 'truth ', trim(names(turn)), ' = ', 0.1d0 * ms(turn) / all
  end do
  if (total < 0) print *, fixed(7), grown(7), plane(1, 1), it%mass(7), it%heat(7), shape(7), star(7), cut(7)
end program
