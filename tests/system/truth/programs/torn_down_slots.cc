// With calls through the table itself: -fno-plt.
#include "torn_down.cc"
