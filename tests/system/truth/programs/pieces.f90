! What is done through other names of arrays: associate, pointers, sections, dummies, modules, intrinsics. Each procedure
! has the whole time of one.
module held
  implicit none
  integer, parameter :: n = 4096
  real(8), allocatable :: stock(:), pool(:,:)
  type :: body
    real(8), allocatable :: mass(:)
    real(8) :: heat(n)
  end type
contains
  subroutine renew(times)
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 2, n
        stock(i) = stock(i-1) * 0.5d0 + 1
      end do
    end do
  end subroutine
  subroutine cool(it, times)
    type(body), intent(inout) :: it
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 2, n
        it%heat(i) = it%heat(i-1) * 0.5d0 + 1
      end do
    end do
  end subroutine
  subroutine weigh(it, times)
    type(body), intent(inout) :: it
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 2, n
        it%mass(i) = it%mass(i-1) * 0.5d0 + 1
      end do
    end do
  end subroutine
  subroutine shape_up(a, times)
    real(8), intent(inout) :: a(:)
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do i = 2, size(a)
        a(i) = a(i-1) * 0.5d0 + 1
      end do
    end do
  end subroutine
  subroutine section(c, times)
    real(8), intent(inout) :: c(:)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      c(2:n/2) = c(n/2+2:n) * 0.5d0 + k
    end do
  end subroutine
  subroutine total(d, answer, times)
    real(8), intent(in) :: d(:)
    real(8), intent(out) :: answer
    integer, intent(in) :: times
    integer :: k
    answer = 0
    do k = 1, times
      answer = answer + sum(d) * k
    end do
  end subroutine
  subroutine alone(e, times)
    real(8), intent(inout) :: e(:)
    integer, intent(in) :: times
    integer :: i, k
    do k = 1, times
      do concurrent (i = 1:n)
        e(i) = e(i) * 0.5d0 + k
      end do
    end do
  end subroutine
  subroutine renamed(times)
    integer, intent(in) :: times
    integer :: i, k
    associate (b => pool(:, 2))
      do k = 1, times
        do i = 2, n
          b(i) = b(i-1) * 0.5d0 + 1
        end do
      end do
    end associate
  end subroutine
  subroutine pointed(t, times)
    real(8), target, intent(inout) :: t(:)
    integer, intent(in) :: times
    real(8), pointer :: p(:)
    integer :: i, k
    p => t(1:n)
    do k = 1, times
      do i = 2, n
        p(i) = p(i-1) * 0.5d0 + 1
      end do
    end do
  end subroutine
  subroutine product_of(x, y, z, times)
    real(8), intent(in) :: x(:,:), y(:,:)
    real(8), intent(out) :: z(:,:)
    integer, intent(in) :: times
    integer :: k
    do k = 1, times
      z = matmul(x, y)
      z(1,1) = k
    end do
  end subroutine
end module
program pieces
  use held
  implicit none
  type(body) :: it
  real(8), allocatable :: formed(:), cut(:), summed(:), lone(:), aim(:), x(:,:), y(:,:), z(:,:)
  real(8) :: ms(10), begun, answer, kept
  character(8), parameter :: names(10) = [character(8) :: 'stock', 'heat', 'mass', 'formed', 'cut', 'summed', 'lone', &
      'pool', 'aim', 'z']
  integer :: i, j, times
  allocate(stock(n), pool(n, 2), it%mass(n), formed(n), cut(n), summed(n), lone(n), aim(n))
  allocate(x(64,64), y(64,64), z(64,64))
  stock = 1; pool = 1; it%mass = 1; it%heat = 1; formed = 1; cut = 1; summed = 1; lone = 1; aim = 1
  x = 1; y = 2; z = 0; kept = 0
  do i = 1, 10
    times = 20
    ms(i) = 0
    do j = 1, 2
      call cpu_time(begun)
      select case (i)
      case (1); call renew(times)
      case (2); call cool(it, times)
      case (3); call weigh(it, times)
      case (4); call shape_up(formed, times)
      case (5); call section(cut, times)
      case (6); call total(summed, answer, times); kept = kept + answer
      case (7); call alone(lone, times)
      case (8); call renamed(times)
      case (9); call pointed(aim, times)
      case (10); call product_of(x, y, z, times)
      end select
      call cpu_time(answer)
      ms(i) = ms(i) + (answer - begun)
      times = max(1, int(0.1d0 * times / max(ms(i), 1d-6)))
    end do
  end do
  do i = 1, 10
    write (0, '(a,a,a,f8.4)') 'truth ', trim(names(i)), ' = ', 100 * ms(i) / sum(ms)
  end do
  if (kept < 0) print *, kept, z(1,1), stock(n), formed(n), cut(n), lone(n), aim(n), it%mass(n)
end program
