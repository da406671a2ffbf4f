/* A function of a header that is the first of two units, compiled by one command. */
static int symbol(int n)
{
    BURN(10);
    return n;
}
