! Arrays in OpenMP regions of procedures: dummies, sections passed on from a region, THREADPRIVATE, components, tasks. One thread, for
! waiting threads take time, too.
module work
  implicit none
  integer, parameter :: n = 20000
  real(8), allocatable :: grid(:), flux(:)
  real(8), save :: scratch(n)
!$omp threadprivate(scratch)
  type :: cell
    real(8) :: mass, heat
  end type
  type(cell), allocatable :: cells(:)
  real(8) :: ms(8)
contains
  subroutine sweep(u, v, times)
    real(8), intent(inout) :: u(:)
    real(8), intent(in) :: v(:)
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
!$omp parallel do schedule(static)
      do i = 1, n
        u(i) = u(i) * 0.5d0 + v(i)
      end do
!$omp end parallel do
    end do
  end subroutine
  subroutine private_work(times)
    integer, intent(in) :: times
    integer :: i, k
!$omp parallel private(i, k)
    do k = 1, times
      do i = 1, n
        scratch(i) = scratch(i) * 0.5d0 + k
      end do
    end do
!$omp end parallel
  end subroutine
  subroutine reduce(total, times)
    real(8), intent(out) :: total
    integer, intent(in) :: times
    integer :: i, k
    total = 0
    do k = 1, times
!$omp parallel do reduction(+:total)
      do i = 1, n
        total = total + cells(i)%heat
      end do
    end do
  end subroutine
  subroutine update_cells(times)
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
!$omp parallel do simd
      do i = 1, n
        cells(i)%mass = cells(i)%mass * 0.5d0 + k
      end do
    end do
  end subroutine
  subroutine each(x)
    real(8), intent(inout) :: x(:)
    integer :: i
    do i = 1, size(x) ! @each
      x(i) = x(i) * 0.25d0 + 1
    end do
  end subroutine
  subroutine chunks(times)
    integer, intent(in) :: times
    integer :: c, k
    do k = 1, times
!$omp parallel do
      do c = 0, 9
        call each(flux(c * n / 10 + 1:(c + 1) * n / 10))
      end do
    end do
  end subroutine
  subroutine tasks(times)
    integer, intent(in) :: times
    integer :: c, k, i
!$omp parallel
!$omp single
    do k = 1, times
      do c = 0, 3
!$omp task firstprivate(c) private(i)
        do i = c * n / 4 + 1, (c + 1) * n / 4 ! @task
          flux(i) = flux(i) * 0.125d0 + 2
        end do
!$omp end task
      end do
!$omp taskwait
    end do
!$omp end single
!$omp end parallel
  end subroutine
end module
program p
  use work
  use omp_lib
  implicit none
  real(8) :: begun, ended, total
  integer :: j, t(8), i
  character(8), parameter :: names(6) = [character(8) :: 'swept', 'private', 'reduced', 'updated', 'chunked', 'tasked']
  call omp_set_num_threads(1)
  allocate(grid(n), flux(n), cells(n)); grid = 1; flux = 1; cells%mass = 1; cells%heat = 2
  t = 50
  do j = 1, 2
    call cpu_time(begun); call sweep(grid, flux, t(1)); call cpu_time(ended); ms(1) = ms(1) + ended - begun
    begun = ended; call private_work(t(2)); call cpu_time(ended); ms(2) = ms(2) + ended - begun
    begun = ended; call reduce(total, t(3)); call cpu_time(ended); ms(3) = ms(3) + ended - begun
    begun = ended; call update_cells(t(4)); call cpu_time(ended); ms(4) = ms(4) + ended - begun
    begun = ended; call chunks(t(5)); call cpu_time(ended); ms(5) = ms(5) + ended - begun
    begun = ended; call tasks(t(6)); call cpu_time(ended); ms(6) = ms(6) + ended - begun
    t(1:6) = max(1, int(0.1 * t(1:6) / max(ms(1:6), 1d-5)))
  end do
  do i = 1, 6
    write (0, '(a,a,a,f8.4)') 'truth ', trim(names(i)), ' = ', 100 * ms(i) / sum(ms(1:6))
  end do
  if (total < 0) print *, grid(3), flux(4), cells(5)
end program
