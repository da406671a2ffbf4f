/* Two units that begin with the same function of a header. */
#include "truth.h"

#include "headed.h"

int headed_too(int n);

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 2000; i++) {
        BURN(30);
        sum += symbol(i) + headed_too(i);
    }
    truth("here", 37.5);
    truth("there", 37.5);
    truth("symbol", 25);
    return sum == 1;
}
