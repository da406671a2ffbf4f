/* A library that counts what it does, for PAPI (software-defined events): stones by a variable that PAPI reads, bricks by a counter that
 * PAPI sees change, sand by a function. */
#ifndef TOY_H
#define TOY_H
void toy_stones(long long n);
void toy_bricks(long long n);
void toy_begin(void);
extern long long toy_n_stones, toy_n_bricks;
#endif
