subroutine shift
  implicit none
  real(8) :: head(500), mid(1000), tail(500)
  common /pool/ head, mid, tail
  integer :: i
  do i = 1, 1000
    mid(i) = mid(i) * 0.25 + 1
  end do
end subroutine

subroutine other
  implicit none
  real(8) :: head(500), mid(1000), tail(500)
  common /pool/ head, mid, tail
  integer :: i
  do i = 1, 500
    tail(i) = tail(i) * 0.25 + 1
  end do
end subroutine
