subroutine keeps_statement(a, n, found)
    integer, intent(in) :: n, a(n)
    logical, intent(out) :: found
    found = any(a == 3)
end subroutine
