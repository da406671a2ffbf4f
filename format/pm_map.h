/* The late map: which source construct each piece of emitted code implements. Written by the
 * compiler where code is emitted, read by mapping/code.
 *
 * It lies in the section `.perfmap.map` (not allocated, alignment 1, in the group of the code
 * that it describes). The section is a row of blocks, joined by the linker, without padding. A
 * block describes one contiguous part of one emitted symbol (a function split into a hot and a
 * cold part has two). Blocks stand for themselves; nouns are named by the ids of pm_id.h, which
 * the facts (PIF) explain.
 *
 * Fixed numbers are little-endian; `u` is an unsigned LEB128 number of at most 64 bits; `s` is a
 * signed one in zig-zag form (0, -1, 1, -2 are 0, 1, 2, 3) as LEB128. Block:
 *
 *     offset size meaning
 *          0    4 magic "PMmp"
 *          4    2 version, 1; another one is refused
 *          6    2 flags, PM_MAP_BLOCK_*
 *          8    4 size of the whole block in bytes
 *         12    8 ELF address of the first range (relocated). 0 or all ones: the linker dropped the
 *                 code
 *         20    8 id of the symbol (level Base)
 *         28      tables, then ranges to the block's end
 *
 * Tables, each `u` count and then the items:
 *     functions   8-byte id (level Source, "func"). The first is the symbol's own source function
 *     files       8-byte id ("file")
 *     loops       8-byte id ("loop")
 *     objects     8-byte id: variable, array, field
 *     sites       where functions were inlined: `u` parent (0: the symbol's own function, k: site k
 *                 - 1, an earlier one), `u` function (position in functions) that was inlined, `u`
 *                 file and `s` line less the line of the site before (0 before the first), `u`
 *                 column: the place of the call in the parent. No place known: line 0
 *
 * Blocks of one section of code share their ids where they can (a sixth of the size): with
 * PM_MAP_BLOCK_SHARED the tables are preceded by 4 bytes, the distance in bytes from this
 * block's begin to a later block of the section, with PM_MAP_BLOCK_IDS, and items of the first
 * four tables are `u` positions in its ids. That block has address 0; after its header stand `u`
 * count and the 8-byte ids, no tables and no ranges.
 *
 * A range is `u` length in bytes of the code it covers (ranges follow each other without holes),
 * and `u` ref: 0, a new tuple follows; k, the tuple that was the k-th last new one of this block
 * (1: the newest). A tuple says what a range implements:
 *     `u` flags, PM_MAP_* below; bits 8 and up: enum pm_map_kind
 *     SITE:    `u` 0 the symbol's own function, k: site k - 1. Without: as in the tuple before (0
 *              at first)
 *     PLACE:   `s` line less the last line of a tuple of this block (0 at first), `u` column (0
 *              unknown). Without: the place of the tuple before. Line 0: no place
 *     FILE:    `u` position in files. Without: as in the tuple before (0 at first)
 *     LOOP:    `u` 0 not in a loop, k: loop k - 1, the innermost natural loop. Without: as in the
 *              tuple before (0 at first)
 *     OBJECTS: `u` count, and for each `u` position in objects << 3 | PM_MAP_READS | PM_MAP_WRITES
 *     | PM_MAP_THROUGH. Without: none.
 *              Without READS and WRITES: of a call, it is passed to C++'s library; else its
 *              descriptor is read (Fortran), to find what the statement reads or writes of it
 *     ALSO:    `u` count, and for each: other statements that this code implements too: `u` reason
 *              (enum pm_map_reason) << 1 | inferred, `u` function, `u` file, `s` line less the
 *              tuple's line, `u` column. Without: none
 * "The tuple before" is the new tuple before in the block, whatever ranges referred to in
 * between. Of the kinds SLED and PADDING only the kind counts: site, place and loop are left as
 * they were.
 *
 * A place is the beginning of its statement where the compiler's front end told it, else any
 * point of it: readers take the statement of the function that begins there, or the last one
 * that begins before. The function of a place is that of its site (the symbol's own without
 * one).
 */
#ifndef PM_MAP_FORMAT_H
#define PM_MAP_FORMAT_H

#define PM_MAP_SECTION ".perfmap.map"
#define PM_MAP_MAGIC "PMmp" /* 4 bytes, no ending zero */
#define PM_MAP_VERSION 1u
#define PM_MAP_BLOCK_HEADER 28u

enum {
    PM_MAP_BLOCK_COLD = 1,   /* the unlikely part of a split function */
    PM_MAP_BLOCK_SHARED = 2, /* its ids stand in another block */
    PM_MAP_BLOCK_IDS = 4,    /* holds ids for others */
};

enum {
    PM_MAP_SITE = 1,
    PM_MAP_PLACE = 2,
    PM_MAP_FILE = 4,
    PM_MAP_LOOP = 8,
    PM_MAP_OBJECTS = 16,
    PM_MAP_ALSO = 32,
    PM_MAP_UNNAMED = 64, /* it touches memory (not its stack frame) whose object is not known */
    PM_MAP_KIND_SHIFT = 8,
};

enum {
    PM_MAP_READS = 1,
    PM_MAP_WRITES = 2,
    PM_MAP_THROUGH = 4 /* the memory that the object points to */
};

enum pm_map_kind {
    PM_MAP_ORDINARY = 0,
    PM_MAP_FRAME = 1,  /* prologue, epilogue */
    PM_MAP_SPILL = 2,  /* registers saved in the stack frame and fetched back */
    PM_MAP_SLED = 3,   /* PerfMap's own sleds */
    PM_MAP_CALL = 4,   /* the call of another function: the range holds the call instruction */
    PM_MAP_PADDING = 5 /* alignment, jump tables: never executed */
};

enum pm_map_reason {
    PM_MAP_VECTORISED = 1, /* vectorised together */
    PM_MAP_STORES_MERGED = 2,
    PM_MAP_LOOP_TO_CALL = 3, /* the loop became a call of memset, memcpy, ... */
    PM_MAP_FOLDED = 4,       /* functions with equal code were made one */
    PM_MAP_COMMON_TAIL = 5,  /* equal ends of several ways were made one */
    PM_MAP_LOOPS_FUSED = 6,
    PM_MAP_COMBINED = 7, /* computed by the same instructions */
};

#endif
