"""Writes random programs that print their own truth, and the table that asks about them: what nobody thought of when it was mended.

A program is some parts. A part is a function that goes through its own data in one way: the kinds of data, elements, access, loop and call are
drawn. Each part measures its own time. `run --random N` makes and tries them.
"""
import os
import random

REPEAT = 64  # calls of a part between two looks at the clock
SIZE = 16384


class Part:
    """One way through own data: declarations, the function, a call of it, and what is asked."""

    def __init__(self, draw, number):
        self.draw, self.number = draw, number
        self.element = draw.choice(["int", "long", "double", "float", "short", "unsigned char", "unsigned"])
        self.access = draw.choice(["read", "write", "update", "copy", "gather", "scatter", "stencil"])
        self.loop = draw.choice(["up", "down", "while", "do", "goto", "strided"])
        self.call = draw.choice(["plain", "plain", "pointer", "static", "tail", "nested"])
        self.helper = draw.choice(["no", "no", "no", "inline", "macro"])
        self.is_const = draw.random() < 0.5
        self.outer, self.before, self.parameters, self.arguments, self.after = [], [], [], [], []
        self.reads, self.writes = set(), set()
        self.levels = "0123gs"  # at which the function's own time is the part's; at -O0 methods are functions of their own
        self.alone = None  # the only array of this part, if it has no other name
        self.calls_library = False  # for each element, where that is not inlined: the time is one array's
        self.behind = {}  # what a parameter or pointer refers to: it is touched, too
        self.may_inline = draw.random() < 0.4  # it, and what calls it

    def name(self, word):
        return f"{word}{self.number}"


class CPart(Part):
    KINDS = ["global", "static", "pointer", "parameter", "local", "field", "field_parameter", "columns", "nested", "matrix", "rows", "heap", "union", "member", "local_static"]

    def data(self, word):
        """Declares data; returns the element at an index, as text, and the name in questions."""
        kind, name, element = self.draw.choice(self.KINDS), self.name(word), self.element
        if kind in ("global", "static"):
            self.alone = name
            self.outer.append(f"{'static USED ' if kind == 'static' else ''}{element} {name}[SIZE];")
            return lambda i: f"{name}[{i}]", name
        if kind == "pointer":
            self.outer.append(f"static USED {element} *{name};")
            self.after.append(f"{name} = ({element} *)calloc(SIZE, sizeof *{name});")
            return lambda i: f"{name}[{i}]", name
        if kind == "parameter":
            self.outer.append(f"static USED {element} store_{name}[SIZE];")
            self.parameters.append(f"{element} *{'__restrict ' if self.draw.random() < 0.3 else ''}{name}")
            self.arguments.append(f"store_{name}")
            self.behind[f"{self.name('part')}::{name}"] = f"store_{name}"
            return lambda i: f"{name}[{i}]", f"{self.name('part')}::{name}"
        if kind == "local":
            self.outer.append(f"static USED {element} store_{name}[SIZE];")
            self.before.append(f"{element} *{name} = store_{name};")
            self.behind[f"{self.name('part')}::{name}"] = f"store_{name}"
            return lambda i: f"{name}[{i}]", f"{self.name('part')}::{name}"
        if kind == "local_static":
            self.before.append(f"static USED {element} {name}[SIZE];")
            return lambda i: f"{name}[{i}]", f"{self.name('part')}::{name}"
        if kind == "heap":
            self.outer.append(f"static USED {element} *store_{name};")
            self.after.append(f"store_{name} = ({element} *)calloc(SIZE, sizeof *store_{name});")
            self.parameters.append(f"{element} *{name}")
            self.arguments.append(f"store_{name}")
            self.behind[f"{self.name('part')}::{name}"] = f"store_{name}"
            return lambda i: f"*({name} + {i})", f"{self.name('part')}::{name}"
        if kind in ("field", "field_parameter", "union"):
            outer = "union" if kind == "union" else "struct"
            tag = self.name(f"record_{word}_")
            self.outer.append(f"{outer} {tag} {{ {element} other_{name}; {element} {name}; }};")
            self.outer.append(f"static USED {outer} {tag} store_{name}[SIZE];")
            if kind == "field_parameter":
                self.parameters.append(f"{outer} {tag} *records_{name}")
                self.arguments.append(f"store_{name}")
                return lambda i: f"records_{name}[{i}].{name}", f"{tag}::{name}"
            return lambda i: f"store_{name}[{i}].{name}", f"{tag}::{name}"
        if kind == "columns":
            tag = self.name(f"columns_{word}_")
            self.outer.append(f"struct {tag} {{ size_t n; {element} *{name}; }};")
            self.outer.append(f"static USED struct {tag} store_{name};")
            self.after.append(f"store_{name}.{name} = ({element} *)calloc(SIZE, sizeof *store_{name}.{name});")
            self.parameters.append(f"struct {tag} *of_{name}")
            self.arguments.append(f"&store_{name}")
            return lambda i: f"of_{name}->{name}[{i}]", f"{tag}::{name}"
        if kind == "member":
            tag = self.name(f"holder_{word}_")
            self.outer.append(f"struct {tag} {{ int n; {element} {name}[SIZE]; }};")
            self.outer.append(f"static USED struct {tag} store_{name};")
            return lambda i: f"store_{name}.{name}[{i}]", f"{tag}::{name}"
        if kind == "nested":
            tag = self.name(f"inner_{word}_")
            self.outer.append(f"struct {tag} {{ {element} {name}, rest_{name}; }};")
            self.outer.append(f"static USED struct {{ int id; struct {tag} in; }} store_{name}[SIZE];")
            return lambda i: f"store_{name}[{i}].in.{name}", f"{tag}::{name}"
        if kind == "matrix":
            self.outer.append(f"static USED {element} {name}[SIZE / 32][32];")
            return lambda i: f"{name}[({i}) / 32][({i}) % 32]", name
        self.outer.append(f"static USED {element} *{name}[SIZE / 64];")  # rows
        self.after.append(f"for (int row = 0; row < SIZE / 64; row++) {name}[row] = ({element} *)calloc(64, sizeof *{name}[row]);")
        return lambda i: f"{name}[({i}) / 64][({i}) % 64]", name

    def indices(self):
        """Data that says where: filled before."""
        name = self.name("where")
        self.outer.append(f"static USED int {name}[SIZE];")
        self.after.append(f"for (int i = 0; i < SIZE; i++) {name}[i] = (i * 37L) % SIZE;")
        return lambda i: f"{name}[{i}]", name

    def statement(self):
        first, first_name = self.data("first")
        if self.access == "read":
            self.reads.add(first_name)
            self.before.append(f"{self.element} sum{self.number} = 0;")
            return f"sum{self.number} += {first('i')};", f"sink = (double)sum{self.number};"
        if self.access == "write":
            self.writes.add(first_name)
            return f"{first('i')} = ({self.element})(i + times);", ""
        if self.access == "update":
            self.reads.add(first_name)
            self.writes.add(first_name)
            return f"{first('i')} += ({self.element})times;", ""
        if self.access == "copy":
            second, second_name = self.data("second")
            self.reads.add(second_name)
            self.writes.add(first_name)
            return f"{first('i')} = {second('i')};", ""
        if self.access == "stencil":
            second, second_name = self.data("second")
            self.reads.add(second_name)
            self.writes.add(first_name)
            return f"{first('i')} = {second('i')} + {second('(i + 1) % SIZE')};", ""
        second, second_name = self.data("second")
        where, where_name = self.indices()
        self.reads |= {second_name, where_name}
        self.writes.add(first_name)
        if self.access == "gather":
            return f"{first('i')} = {second(where('i'))};", ""
        return f"{first(where('i'))} = {second('i')};", ""

    def turns(self, statement, label):
        forms = {
            "up": f"for (int i = 0; i < SIZE; i++) // @{label}\n            {statement} // @s_{label}",
            "strided": f"for (int i = 0; i < SIZE; i += 2) // @{label}\n            {statement} // @s_{label}",
            "down": f"for (int i = SIZE - 1; i >= 0; i--) // @{label}\n            {statement} // @s_{label}",
            "while": f"int i = 0;\n        while (i < SIZE) {{ // @{label}\n            {statement} // @s_{label}\n            i++;\n        }}",
            "do": f"int i = 0;\n        do {{ // @{label}\n            {statement} // @s_{label}\n        }} while (++i < SIZE);",
            "goto": f"int i = 0;\n    again{label}:\n        {statement} // @s_{label} @{label}\n        if (++i < SIZE)\n            goto again{label};",
        }
        return forms[self.loop]

    def text(self):
        statement, after = self.statement()
        label = self.name("loop")
        part = self.name("part")
        if self.helper == "macro":
            self.outer.append(f"#define ONCE{self.number}(i) {statement.rstrip(';')}")
            statement = f"ONCE{self.number}(i);"
        parameters = ", ".join(["int times", *self.parameters])
        turns = self.turns(statement, label)
        body = "\n    ".join([*self.before, f"AGAIN();\n        {turns}\n        AGAIN();", *([after] if after else [])])
        inlines = self.call == "static" or (self.call == "nested" and self.may_inline)
        quality = "static inline" if inlines else "NOINLINE static"
        lines = [*self.outer, f"{quality} void {part}({parameters})", "{", f"    {body}", "    (void)times;", "}"]
        call = f"{part}({', '.join(['times', *self.arguments])})"
        if self.call == "pointer":
            lines.append(f"static void (*volatile by_pointer{self.number})({parameters}) = {part};")
            call = call.replace(part, f"by_pointer{self.number}", 1)
        if self.call in ("tail", "nested"):
            again = "    sink = sink + 1;\n" if self.call == "nested" else ""
            around = quality if self.call == "nested" else "NOINLINE static"
            lines.append(f"{around} void around{self.number}(int times)\n{{\n    {call};\n{again}}}")
            call = f"around{self.number}(times)"
        lines.append(f"static void run{self.number}(double ms)\n{{\n    double begin = THREAD_MS();\n    long n = 0;\n    do {{\n"
                     f"        for (int times = 0; times < {REPEAT}; times++)\n            {call};\n        n += {REPEAT};\n    }} while (THREAD_MS() - begin < ms);\n"
                     f"    ms_of[{self.number}] = THREAD_MS() - begin;\n    n_of[{self.number}] = n;\n}}\n")
        return "\n".join(lines)

    def rows(self):
        share, part = self.name("share"), self.name("part")
        rows = []
        if self.call != "static" and not (self.call == "nested" and self.may_inline):
            rows.append(f"default | report --by function | own {part} | {share} | 3 | levels:{self.levels}")
            rows.append(f"default | report --by function | calls {part} | {self.name('calls')} | exact")
        if self.call in ("tail", "nested"):
            rows.append(f"default | report --by function | incl around{self.number} | {share} | 3")
            rows.append(f"default | report --tree --by function | path around{self.number}/{part} | {share} | 3")
        asked = "123gs" if self.loop in ("goto", "while") else self.levels  # at -O0 the statements that count have a share
        levels = f" | levels:{asked.replace('g', '') if self.calls_library else asked}"
        for names, verb in ((self.reads, "Reads"), (self.writes, "Writes")):
            names = names | {self.behind[name] for name in names if name in self.behind}
            rows += [f"default | ask '{{{name} {verb}}}' | answer | {share} | 3{levels}" for name in sorted(names)]
        rows += [f"default | ask '{{{name} Writes}}' | answer | 0 | 3" for name in sorted(self.reads - self.writes)]
        rows += [f"default | ask '{{{name} Reads}}' | answer | 0 | 3" for name in sorted(self.writes - self.reads)]
        if self.reads | self.writes == {self.alone}:  # of several each has the instructions that touch it
            rows.append(f"default | report --by array | own {self.alone} | {share} | 3")
        if self.loop not in ("goto", "algorithm"):
            rows.append(f"default | report --by loop | own @loop{self.number} | {share} | 3 | levels:{self.levels}")
        return rows


class CxxPart(CPart):
    """Also containers, range-for, iterators, algorithms, methods, templates and lambdas."""

    CONTAINERS = ["std::vector", "std::array", "std::valarray", "std::unique_ptr", "std::span", "std::deque", "records", "own"]

    def data(self, word):
        self.range = None
        if self.draw.random() < 0.25:
            return super().data(word)
        kind, name, element, part = self.draw.choice(self.CONTAINERS), self.name(word), self.element, self.name("part")
        self.calls_library = True
        place = self.draw.choice(["global", "parameter", "member", "local"])
        if kind == "own" and element == "unsigned char":  # what is stored may be the pointer, so operator[] reads it each time
            kind = "std::vector"
        types = {"std::array": f"std::array<{element}, SIZE>", "std::unique_ptr": f"std::unique_ptr<{element}[]>", "records": f"std::vector<record_{name}>",
                 "own": f"grid_{name}<{element}>"}
        type_of = types.get(kind, f"{kind}<{element}>")
        fill = {"std::array": "", "std::unique_ptr": f"{{}} = std::make_unique<{element}[]>(SIZE);", "std::span": f"{{}} = std::span<{element}>(store_{name});"}.get(kind, "{}.resize(SIZE);")
        if kind == "records":
            self.outer.append(f"struct record_{name} {{ {element} other_{name}; {element} {name}; }};")
        if kind == "std::span":
            self.outer.append(f"static USED {element} store_{name}[SIZE];")
        if kind == "own":
            self.levels = "123gs"
            self.outer.append(f"template <class T> struct grid_{name} {{\n    T *cells_{name} = nullptr;\n    void resize(size_t n) {{ cells_{name} = new T[n](); }}\n"
                              f"    T &operator[](size_t i) {{ return cells_{name}[i]; }}\n}};")
        variable = f"all_{name}" if kind == "records" else name
        if place == "global":
            self.outer.append(f"static USED {type_of} {variable};")
            stored, asked = variable, name
        elif place == "member":
            self.outer.append(f"struct holder_{name} {{ int n; {type_of} {variable}; }};\nstatic USED holder_{name} store_of_{name};")
            stored, asked = f"store_of_{name}.{variable}", f"holder_{name}::{name}"
        else:
            self.outer.append(f"static USED {type_of} store_of_{name};")
            stored, asked = f"store_of_{name}", f"{part}::{name}"
            if place == "parameter":
                self.parameters.append(f"{type_of} &{variable}")
                self.arguments.append(stored)
            else:
                self.before.append(f"{type_of} &{variable} = store_of_{name};")
        used = stored if place == "member" else variable
        if fill:
            self.after.append(fill.format(stored))
        if kind == "records":
            asked = f"record_{name}::{name}"
            return lambda i: f"{used}[{i}].{name}", asked
        if kind == "own":
            return lambda i: f"{used}[{i}]", f"grid_{name}::cells_{name}"
        if kind != "std::unique_ptr":
            self.range = used
        return lambda i: f"{used}[{i}]", asked

    def statement(self):
        self.access = self.draw.choice([self.access, "read", "write", "update", "copy"])
        once, after = super().statement()
        self.over = self.range if self.access in ("read", "write", "update") else None
        return once, after

    def turns(self, statement, label):
        form = self.draw.choice(["range", "iterator", "algorithm", "no"])
        if not self.over or self.helper == "macro" or form == "no":
            return super().turns(statement, label)
        self.loop = form
        if form == "algorithm":
            self.levels = "123gs"
        with_element = {"read": f"sum{self.number} += e;", "write": f"e = ({self.element})times;", "update": f"e += ({self.element})times;"}[self.access]
        if form == "range":
            return f"for (auto &e : {self.over}) // @{label}\n            {with_element} // @s_{label}"
        if form == "iterator":
            with_it = with_element.replace("e ", "*it ").replace("e;", "*it;")
            return (f"for (auto it = std::begin({self.over}); it != std::end({self.over}); ++it) // @{label}\n"
                    f"            {with_it} // @s_{label}")
        calls = {"read": f"sum{self.number} = std::accumulate(std::begin({self.over}), std::end({self.over}), sum{self.number});",
                 "write": f"std::fill(std::begin({self.over}), std::end({self.over}), ({self.element})times);",
                 "update": f"std::for_each(std::begin({self.over}), std::end({self.over}), [&](auto &e) {{ {with_element} }});"}
        return f"{calls[self.access]} // @s_{label}"


def c_program(draw, n_parts, kind=CPart, includes=("stddef.h", "stdlib.h")):
    parts = [kind(draw, number) for number in range(n_parts)]
    texts = [part.text() for part in parts]
    main = ["int main(void)", "{"]
    main += [f"    {line}" for part in parts for line in part.after]
    main += [f"    run{part.number}({draw.choice([20, 40, 60, 90])});" for part in parts]
    main += [f"    double all = 0;\n    for (int i = 0; i < {n_parts}; i++)\n        all += ms_of[i];"]
    for part in parts:
        main += [f"    truth(\"share{part.number}\", 100 * ms_of[{part.number}] / all);", f"    truth(\"calls{part.number}\", (double)n_of[{part.number}]);"]
    main += ["    return 0;", "}"]
    included = "".join(f"#include <{name}>\n" for name in includes)
    head = [f"#include \"truth.h\"\n\n{included}\nenum {{ SIZE = {SIZE} }};\n#define USED __attribute__((used))\nstatic volatile double sink;",
            f"static double ms_of[{n_parts}];\nstatic long n_of[{n_parts}];\n"]
    return "\n".join(head + texts + main) + "\n", [row for part in parts for row in part.rows()]


def cxx_program(draw, n_parts):
    return c_program(draw, n_parts, CxxPart, ("algorithm", "array", "cstddef", "cstdlib", "deque", "memory", "numeric", "span", "valarray", "vector"))


def fortran_program(draw, n_parts):
    import generate_fortran
    return generate_fortran.fortran_program(draw, n_parts)


LANGUAGES = {"c": (".c", c_program, ""), "c++": (".cc", cxx_program, "flags -std=c++20"), "fortran": (".f90", fortran_program, "flags -ffree-line-length-none")}


def write_folder(folder, language, seed, n_programs, n_parts, head):
    """`head`: the compilers and levels of the table."""
    programs = os.path.join(folder, "programs")
    os.makedirs(programs, exist_ok=True)
    suffix, program, flags = LANGUAGES[language]
    table = [head]
    for number in range(seed, seed + n_programs):
        text, rows = program(random.Random(number), n_parts)
        name = f"random{number}{suffix}"
        with open(os.path.join(programs, name), "w", encoding="utf-8") as file:
            file.write(text)
        table += [f"program {name}", flags, *rows, ""]
    with open(os.path.join(folder, "table"), "w", encoding="utf-8") as file:
        file.write("\n".join(table))
