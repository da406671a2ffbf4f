/* Compiled without the plugin. */
void fill(int *to, int n);
void fill(int *to, int n)
{
    for (int k = 0; k < 20; k++)
        for (int i = 0; i < n; i++)
            to[i] = to[i] * 3 + i - to[2];
    for (int i = 0; i < n; i++)
        to[i] = 0;
}
