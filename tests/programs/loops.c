/* Every form of loop. The lines where a loop begins are marked; tests/system/pif/run compares them with the nouns. */
int sink;

int every_form(int n, const double *p)
{
    double s = 0;
    for (int i = 0; /* loop */
         i < n;
         i++)
        s += p[i];
    do { /* loop */
        s -= 1;
        if (s < 3)
            break;
    } while (s > 0);
    while (n > 3 && s < 100) { /* loop */
        n--;
        s += sink;
    }
    for (;;) { /* loop */
        s += 1 + sink;
        if (s > 10)
            break;
    }
    while (1) /* loop */
        if (++n + sink > 100)
            break;
again: /* loop */
    n -= 3;
    if (n + sink > 0)
        goto again;
    return (int)s + n;
}

#define TIMES(n) for (int times = 0; times < (n); times++)

int nested(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) { /* loop */
        for (int j = 0; j < i; j++) /* loop */
            s += j * sink;
        for (int j = i; j > 0; j--) { int k = j; while (k > 0) k -= 1 + s; s += k; } /* loop */
    }
    TIMES(n) /* loop */
        s += times ^ sink;
    for (int i = 0; i < n; i++) { /* loop */
        switch (s) {
        case 1:
            continue;
        case 2:
            s += 3;
            break;
        default:
            s -= i;
        }
    }
    return s;
}

int main(int argc, char **argv)
{
    double p[4] = {1, 2, 3, 4};
    (void)argv;
    return every_form(argc + 3, p) + nested(argc + 1) > 1000;
}
