! Modules, entry, functions that return arrays, elemental and recursive ones, generic names, do concurrent, blocks, pointers to procedures.
module works
  implicit none
  integer(8) :: n_square = 0, n_twice = 0, n_tree = 0, n_first = 0, n_second = 0
  interface spend
    module procedure spend_integer, spend_real
  end interface
contains
  ! the same at every level: a chain that cannot be shortened
  integer(8) function burn(n)
    integer, intent(in) :: n
    integer :: i
    integer(8) :: x
    x = n
    do i = 1, n * 20000
      x = ieor(x * 6364136223846793005_8, ishft(x, -7)) + 1
    end do
    burn = x
  end function
  subroutine spend_integer(n)
    integer, intent(in) :: n
    if (burn(3 * n) == 0) stop 3
  end subroutine
  subroutine spend_real(r)
    real, intent(in) :: r
    if (burn(5 * int(r)) == 0) stop 3
  end subroutine
  function squares(n) result(list)
    integer, intent(in) :: n
    integer(8) :: list(n)
    integer :: i
    n_square = n_square + 1
    do i = 1, n
      list(i) = burn(1)
    end do
  end function
  recursive integer(8) function tree(depth) result(sum)
    integer, intent(in) :: depth
    n_tree = n_tree + 1
    sum = burn(1)
    if (depth > 0) sum = sum + tree(depth - 1) + tree(depth - 1)
  end function
  subroutine first_entry(x)
    integer(8), intent(inout) :: x
    n_first = n_first + 1
    x = ieor(x, burn(6))
    return
    entry second_entry(x)
    n_second = n_second + 1
    x = ieor(x, burn(2))
  end subroutine
end module

program units
  use works
  implicit none
  integer :: turn
  integer(8) :: x, list(4)
  real(8) :: start, now, ms(7)
  x = 1
  ms = 0
  do turn = 1, 500
    start = clock()
    x = ieor(x, burn(mod(turn * 7919, 23))) ! turns of equal length would meet samples at equal places
    now = clock(); ms(7) = ms(7) + now - start; start = now
    call spend(1)
    now = clock(); ms(1) = ms(1) + now - start; start = now
    call spend(1.0)
    now = clock(); ms(2) = ms(2) + now - start; start = now
    list = squares(4)
    x = ieor(x, sum(list))
    now = clock(); ms(3) = ms(3) + now - start; start = now
    x = ieor(x, tree(2))
    now = clock(); ms(4) = ms(4) + now - start; start = now
    call first_entry(x)
    now = clock(); ms(5) = ms(5) + now - start; start = now
    call second_entry(x)
    now = clock(); ms(6) = ms(6) + now - start
  end do
  call say('integers', 100 * ms(1) / sum(ms))
  call say('reals', 100 * ms(2) / sum(ms))
  call say('squaring', 100 * ms(3) / sum(ms))
  call say('growing', 100 * ms(4) / sum(ms))
  call say('entering', 100 * ms(5) / sum(ms))
  call say('entering_second', 100 * ms(6) / sum(ms))
  call say('n_turns', 500d0)
  call say('n_tree', real(n_tree, 8))
  if (x == 7) print *, x
contains
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
