/* Words by which readers of an archive know reasons of mappings, and types of nouns. */
#ifndef PM_REASONS_H
#define PM_REASONS_H

/* Of origin "possible": the code touches none of that data, but may work for it. Questions give a
 * bound of it; rows, lines and explanations leave it out. */
#define PM_REASON_MAY_SERVE "touches none, may work for it"

/* Of code that other code called, of what it is by debug information alone: questions know it by
 * that; rows, lines and explanations have it where it was called. */
#define PM_REASON_CALLED "called, compiled without the plugin"

/* Of the code of a call, or of one whose callers are known: the data that they pass. Its statement
 * tells no more of data. */
#define PM_REASON_PASSED "passed by the call, or by callers"

/* Type of machine code (kind "code") of which nothing tells what data it touches: no late map
 * covers it, and it is in no library of a language. */
#define PM_CODE_OF_UNKNOWN_DATA "compiled without the plugin"

/* Noun of such a type, before code of C++'s library in a thread in which nothing of the program is
 * active, as of TBB: {this, code Executes}. */
#define PM_TASK_OF_LIBRARY "task of a library"

#endif
