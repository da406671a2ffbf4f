double first[4096], second[4096], weight[4096];
int key[4096];

/* Clang makes one of both statements, and keeps the line of neither. */
__attribute__((noinline)) void either(int n)
{
    for (int i = 0; i < n; i++) {
        if (key[i] & 1)
            first[i] = weight[i] * weight[i] * 3.0 + 1;
        else
            second[i] = weight[i] * weight[i] * 3.0 + 2;
    }
}

int main(void)
{
    either(4096);
    return first[3] + second[4] > 100;
}
