/* LLVM makes copies of a function for callers that pass constants (`apply.specialized.1`). */
static double halved(double x) { return x / 2; }
static double squared(double x) { return x * x; }
static double numbers[1000];

__attribute__((noinline)) static double apply(double (*change)(double), int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        numbers[i] = change(numbers[i]); /* in apply */
        sum += numbers[i];
    }
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    return (int)(apply(halved, 900 + argc) + apply(squared, 800 + argc));
}
