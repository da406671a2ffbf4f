/* An MPI that nobody knows, and a program that uses it. */
int MPI_Send(const void *buffer, int n, int type, int to, int tag, int comm);
int PMPI_Get_library_version(char *text, int *n);

#ifdef LIBRARY
#include <string.h>

int MPI_Send(const void *buffer, int n, int type, int to, int tag, int comm)
{
    return !buffer + n + type + to + tag + comm;
}

int PMPI_Get_library_version(char *text, int *n)
{
    strcpy(text, "Some other MPI 9\nand more");
    *n = (int)strlen(text);
    return 0;
}
#else
int main(void)
{
    int result = 0;
    for (int i = 0; i < 5; i++)
        result |= MPI_Send("", 1, 2, 3, 4, 5) != 15;
    return result;
}
#endif
