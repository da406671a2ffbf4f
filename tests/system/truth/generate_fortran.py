"""Random programs in Fortran: see generate.py. A module has the parts, or the main program as internal procedures, which see its variables."""
from generate import REPEAT, SIZE, Part

KINDS = ["module", "save", "allocatable", "pointer", "pointed", "explicit", "assumed", "size", "dummy_allocatable", "dummy_pointer", "section", "strided_section",
         "local_pointer", "associate", "records", "record_dummy", "component", "allocatable_component", "pointer_component", "class", "matrix", "common", "local_save", "host"]
HOST_KINDS = ["host", "host_allocatable"]  # of variables that only internal procedures see


class FortranPart(Part):
    def __init__(self, draw, number):
        super().__init__(draw, number)
        self.element = draw.choice(["integer", "integer(8)", "integer(2)", "real", "real(8)", "complex(8)"])
        self.loop = draw.choice(["up", "up", "down", "strided", "while", "exit", "concurrent", "forall", "whole", "whole"])
        self.call = draw.choice(["plain", "plain", "pointer", "nested"])
        self.is_internal = draw.random() < 0.3
        self.types, self.uses, self.host, self.around = [], [], [], []
        self.touched = []  # an element of each: compilers leave out what nobody reads

    def attributes(self, name, word, shape):
        return f"{self.element}{word} :: {name}{shape}"

    def dummy(self, name, word, shape, stored):
        self.parameters.append(name)
        self.arguments.append(stored)
        self.before.append(f"{self.element}{word} :: {name}{shape}")

    def made(self, name, word=", allocatable"):
        """A variable of the module with memory of its own."""
        self.outer.append(f"{self.element}{word} :: {name}(:)")
        self.after.append(f"allocate({name}(n)); {name} = 1")

    def fixed(self, name, word=""):
        self.outer.append(f"{self.element}{word} :: {name}(n) = 1")

    def plain(self, name):
        return lambda i: f"{name}({i})", name

    def data(self, word):
        """Declares data; returns the element (or the section) at an index, as text, and the name in questions."""
        kind, name = self.draw.choice(KINDS), self.name(word)
        store = f"store_{name}"
        if kind in ("module", "save"):
            self.alone = name
            self.fixed(name, {"module": "", "save": ", save, target"}[kind])
        elif kind in ("allocatable", "pointer"):
            self.made(name, f", {kind}")
        elif kind == "pointed":
            self.fixed(store, ", target")
            self.outer.append(f"{self.element}, pointer :: {name}(:)")
            self.after.append(f"{name} => {store}")
        elif kind in ("explicit", "assumed", "size", "section", "strided_section"):
            self.outer.append(f"{self.element} :: {store}(2 * n) = 1")
            stored = {"section": f"{store}(n / 2 + 1:n / 2 + n)", "strided_section": f"{store}(1:2 * n:2)"}.get(kind, f"{store}(1:n)")
            self.dummy(name, ", intent(inout)", {"explicit": "(n)", "size": "(*)"}.get(kind, "(:)"), stored)
            self.behind[name] = store
        elif kind in ("dummy_allocatable", "dummy_pointer"):
            attribute = kind.replace("dummy_", "")
            self.made(store, f", {attribute}")
            self.dummy(name, f", {attribute}, intent({'in' if kind == 'dummy_pointer' else 'inout'})", "(:)", store)
            self.behind[name] = store
        elif kind == "local_pointer":
            self.fixed(store, ", target")
            self.before.append(f"{self.element}, pointer :: {name}(:)")
            self.uses.append(f"{name} => {store}")
            self.behind[name] = store
        elif kind == "associate":
            self.fixed(store)
            self.around.append(f"{name} => {store}")
            return lambda i: f"{name}({i})", store  # the name is another one for the same
        elif kind in ("records", "record_dummy"):
            self.types.append(f"type :: record_{name}\n    {self.element} :: other_{name} = 1, {name} = 1\n  end type")
            self.outer.append(f"type(record_{name}) :: {store}(n)")
            used = store
            if kind == "record_dummy":
                used = f"records_{name}"
                self.parameters.append(used)
                self.arguments.append(store)
                self.before.append(f"type(record_{name}), intent(inout) :: {used}(:)")
            return lambda i: f"{used}({i})%{name}", name
        elif kind in ("component", "allocatable_component", "pointer_component", "class"):
            word = {"component": "", "pointer_component": ", pointer"}.get(kind, ", allocatable")
            self.types.append(f"type :: holder_{name}\n    integer :: id = 1\n    {self.element}{word} :: {name}({'n' if not word else ':'})\n  end type")
            self.outer.append(f"type(holder_{name}) :: {store}")
            self.after.append(f"{store}%{name} = 1" if not word else f"allocate({store}%{name}(n)); {store}%{name} = 1")
            used = store
            if kind == "class" or self.draw.random() < 0.5:
                used = f"it_{name}"
                self.parameters.append(used)
                self.arguments.append(store)
                self.before.append(f"{'class' if kind == 'class' else 'type'}(holder_{name}), intent(inout) :: {used}")
            return lambda i: f"{used}%{name}({i})", name
        elif kind == "matrix":
            self.outer.append(f"{self.element} :: {name}(32, n / 32) = 1")
            if self.loop == "whole":
                self.loop = "up"
            return lambda i: f"{name}(mod({i} - 1, 32) + 1, ({i} - 1) / 32 + 1)", name
        elif kind == "common":
            self.before.append(f"{self.element} :: {name}(n)\n    common /block_{name}/ {name}")
        elif kind == "local_save":
            self.before.append(f"{self.element}, save :: {name}(n) = 1")
        else:  # host
            allocatable = self.draw.random() < 0.5
            self.is_internal = True
            self.host.append(f"{self.element}{', allocatable' if allocatable else ''} :: {name}({':' if allocatable else 'n'})")
            self.after.append(f"allocate({name}(n)); {name} = 1" if allocatable else f"{name} = 1")
        return lambda i: f"{name}({i})", name

    def indices(self):
        name = self.name("where")
        self.outer.append(f"integer :: {name}(n)")
        self.after.append(f"{name} = [(mod(i * 37, n) + 1, i = 1, n)]")
        return lambda i: f"{name}({i})", name

    def touch(self, reads=(), writes=()):
        self.reads |= set(reads)
        self.writes |= set(writes)

    def statement(self):
        """The statement at index i, and with sections; what comes after the loop."""
        first, first_name = self.data("first")
        self.touched.append(first("7"))
        every = "1:n"
        if self.access == "read":
            if self.loop in ("concurrent", "forall"):
                self.loop = "up"
            total = self.name("total")
            self.touch([first_name])
            self.before.append(f"{self.element} :: {total}")
            self.uses.append(f"{total} = 0")
            return f"{total} = {total} + {first('i')}", f"{total} = sum({first(every)})", f"sink = real({total}, 8)"
        if self.access == "write":
            self.touch(writes=[first_name])
            return f"{first('i')} = i + times", f"{first(every)} = times", ""
        if self.access == "update":
            self.touch([first_name], [first_name])
            return f"{first('i')} = {first('i')} + times", f"{first(every)} = {first(every)} + times", ""
        second, second_name = self.data("second")
        self.touch([second_name], [first_name])
        if self.access == "copy":
            return f"{first('i')} = {second('i')}", f"{first(every)} = {second(every)}", ""
        if self.access == "stencil":
            return (f"{first('i')} = {second('i')} + {second('mod(i, n) + 1')}",
                    f"{first('1:n - 1')} = {second('1:n - 1')} + {second('2:n')}", "")
        where, where_name = self.indices()
        self.touch([where_name])
        if self.access == "gather":
            return f"{first('i')} = {second(where('i'))}", f"{first(every)} = {second(where(every))}", ""
        return f"{first(where('i'))} = {second('i')}", f"{first(where(every))} = {second(every)}", ""

    def turns(self, statement, whole, label):
        forms = {
            "up": f"do i = 1, n ! @{label}\n      {statement} ! @s_{label}\n    end do",
            "down": f"do i = n, 1, -1 ! @{label}\n      {statement} ! @s_{label}\n    end do",
            "strided": f"do i = 1, n, 2 ! @{label}\n      {statement} ! @s_{label}\n    end do",
            "while": f"i = 1\n    do while (i <= n) ! @{label}\n      {statement} ! @s_{label}\n      i = i + 1\n    end do",
            "exit": f"i = 0\n    do ! @{label}\n      i = i + 1\n      if (i > n) exit\n      {statement} ! @s_{label}\n    end do",
            "concurrent": f"do concurrent (i = 1:n) ! @{label}\n      {statement} ! @s_{label}\n    end do",
            "forall": f"forall (i = 1:n) ! @{label}\n      {statement} ! @s_{label}\n    end forall",
            "whole": f"{whole} ! @s_{label}",
        }
        return forms[self.loop]

    def text(self):
        statement, whole, after = self.statement()
        label, part = self.name("loop"), self.name("part")
        turns = self.turns(statement, whole, label)
        shown = ", ".join(self.touched)
        body = [*self.uses, turns, *([after] if after else []), f"if (never) print *, {shown}"]
        if self.around:
            body = [f"associate ({', '.join(self.around)})", *body, "end associate"]
        parameters = ", ".join(["times", *self.parameters])
        lines = [f"subroutine {part}({parameters})", "  integer, intent(in) :: times", "  integer :: i", *(f"  {line}" for line in self.before),
                 *(f"  {line}" for line in body), "end subroutine"]
        call = f"call {part}({', '.join(['times', *self.arguments])})"
        if self.call == "pointer" and self.is_internal:
            self.call = "plain"
        if self.call == "nested":
            lines += [f"subroutine around{self.number}(times)", "  integer, intent(in) :: times", f"  {call}", "  sink = sink + 1", "end subroutine"]
            call = f"call around{self.number}(times)"
        pointer = []
        if self.call == "pointer":
            pointer = [f"  procedure({part}), pointer :: by_pointer", f"  by_pointer => {part}"]
            call = call.replace(part, "by_pointer", 1)
        run = [f"subroutine run{self.number}(ms)", "  real(8), intent(in) :: ms", "  real(8) :: begun, now", "  integer(8) :: n_calls", "  integer :: times",
               *pointer, "  n_calls = 0", "  call cpu_time(begun)", "  do", f"    do times = 1, {REPEAT}", f"      {call}", "      sink = again()", "    end do",
               f"    n_calls = n_calls + {REPEAT}", "    call cpu_time(now)", "    if ((now - begun) * 1000 >= ms) exit", "  end do",
               f"  ms_of({self.number + 1}) = (now - begun) * 1000", f"  n_of({self.number + 1}) = n_calls", "end subroutine"]
        return [f"  {line}" for line in lines], [f"  {line}" for line in run]

    def rows(self):
        share, part = self.name("share"), self.name("part")
        rows = [f"default | report --by function | own {part} | {share} | 3",
                f"default | report --by function | calls {part} | {self.name('calls')} | exact"]
        if self.call == "nested":
            rows.append(f"default | report --by function | incl around{self.number} | {share} | 3")
        levels = " | levels:123gs" if self.loop in ("exit", "while") else ""
        for names, verb in ((self.reads, "Reads"), (self.writes, "Writes")):
            names = names | {self.behind[name] for name in names if name in self.behind}
            rows += [f"default | ask '{{{name} {verb}}}' | answer | {share} | 3{levels}" for name in sorted(names)]
        rows += [f"default | ask '{{{name} Writes}}' | answer | 0 | 3" for name in sorted(self.reads - self.writes)]
        rows += [f"default | ask '{{{name} Reads}}' | answer | 0 | 3" for name in sorted(self.writes - self.reads)]
        if self.reads | self.writes == {self.alone}:
            rows.append(f"default | report --by array | own {self.alone} | {share} | 3")
        if self.loop not in ("whole",):
            rows.append(f"default | report --by loop | own @loop{self.number} | {share} | 3")
        return rows


def fortran_program(draw, n_parts):
    parts = [FortranPart(draw, number) for number in range(n_parts)]
    texts = [part.text() for part in parts]
    lines = ["module parts", "  use iso_c_binding, only: c_int", "  implicit none", f"  integer, parameter :: n = {SIZE}, n_parts = {n_parts}", "  real(8), volatile :: sink",
             "  real(8) :: ms_of(n_parts)", "  integer(8) :: n_of(n_parts)", "  logical, volatile :: never = .false.",
             "  interface", "    integer(c_int) function again() bind(c, name='rand') ! compilers do not see into it", "      import :: c_int",
             "    end function", "  end interface"]
    lines += [f"  {line}" for part in parts for line in part.types + part.outer]
    lines.append("contains")
    lines += [line for part, text in zip(parts, texts) if not part.is_internal for line in text[0] + text[1]]
    lines += ["end module", "program random", "  use parts", "  implicit none", "  integer :: i"]
    lines += [f"  {line}" for part in parts for line in part.host]
    lines += [f"  {line}" for part in parts for line in part.after]
    lines += [f"  call run{part.number}({draw.choice([20, 40, 60, 90])}d0)" for part in parts]
    lines += ["  do i = 1, n_parts", "    write (0, '(a,i0,a,f10.4)') 'truth share', i - 1, ' = ', 100 * ms_of(i) / sum(ms_of)",
              "    write (0, '(a,i0,a,i0)') 'truth calls', i - 1, ' = ', n_of(i)", "  end do", "contains"]
    lines += [line for part, text in zip(parts, texts) if part.is_internal for line in text[0] + text[1]]
    lines += ["end program"]
    return "\n".join(lines) + "\n", [row for part in parts for row in part.rows()]
