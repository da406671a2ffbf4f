/* The compact form's numbers, shared by its writer and reader. What they mean:
 * docs/formats/pif-section.md.
 *
 *     offset size meaning
 *          0    4 magic "PIFc"
 *          4    2 version_major (little-endian, as all fixed numbers): 1, or 2 for a compressed
 *                 chunk
 *          6    2 version_minor, 0
 *          8    4 size_bytes of what follows the header
 *         12    4 XXH32 (seed 0) of what follows the header
 *         16      blocks: kind (ULEB128), size_bytes (ULEB128), contents
 * or, compressed:
 *         16    4 size_bytes of the blocks
 *         20      blocks as a zlib stream (RFC 1950)
 */
#ifndef PM_PIF_CHUNK_H
#define PM_PIF_CHUNK_H

#include "pif_model.h"

#define PIF_CHUNK_MAGIC "PIFc"

enum {
    PIF_CHUNK_MAJOR = 1,
    PIF_CHUNK_MAJOR_COMPRESSED = 2,
    PIF_CHUNK_MINOR = 0,
    PIF_CHUNK_HEADER_BYTES = 16,
    PIF_AFFIX_MAX_BYTES = 255, /* prefix and suffix of a name that is made from its place */
    /* Of a string with the one before. What few bytes of damage can unfold to is bounded: from
     * the second on by the bytes that all strings before have stated (pif_shared_max). */
    PIF_SHARED_MAX_BYTES = 4096,
    PIF_SHARED_FREE_BYTES = 255,
    PIF_UNFOLD_FREE_BYTES = 65536,
    PIF_UNFOLD_MAX = 64,
    /* What a compressed chunk may hold, by its bytes in the file: of blocks, and of bytes that
     * its strings share. */
    PIF_COMPRESSED_MAX = 64,
    PIF_COMPRESSED_SHARED_MAX = 256,
    PIF_ANCESTORS_MAX = 64, /* steps to the function that an id is made from */
};

/* How much a string may share with the one before, when strings before it have shared and stated
 * so many bytes. */
static inline size_t pif_shared_max(size_t n_shared_bytes, size_t n_stated_bytes)
{
    size_t most = PIF_UNFOLD_FREE_BYTES + PIF_UNFOLD_MAX * n_stated_bytes;
    return n_shared_bytes + PIF_SHARED_MAX_BYTES <= most ? PIF_SHARED_MAX_BYTES
                                                         : PIF_SHARED_FREE_BYTES;
}

static inline size_t pif_compressed_shared_max(size_t compressed_bytes)
{
    return PIF_UNFOLD_FREE_BYTES + PIF_COMPRESSED_SHARED_MAX * compressed_bytes;
}

enum pif_block {
    PIF_BLOCK_STRINGS = 1,
    PIF_BLOCK_PRODUCER,
    PIF_BLOCK_LEVELS,
    PIF_BLOCK_CLASSES,
    PIF_BLOCK_NOUNS,
    PIF_BLOCK_VERBS,
    PIF_BLOCK_FOREIGN,
    PIF_BLOCK_MAPPINGS,
    PIF_BLOCK_ATTRIBUTES,
    PIF_BLOCK_RAW,
    PIF_N_BLOCKS
};

/* Which facts the nouns of a class state, in the order in which they follow. */
enum pif_fact {
    PIF_FACT_ID = 1 << 0, /* 8 bytes; without it and the next two: the id of level and name */
    PIF_FACT_ID_STATEMENT = 1 << 1, /* made: hash("stmt", function, path, line, column) */
    PIF_FACT_ID_LOOP = 1 << 2,      /* made: hash("loop", ...) */
    PIF_FACT_NAME_LINE = 1 << 3,    /* name made: prefix, line, suffix */
    PIF_FACT_NAME_COLUMN = 1 << 4,  /* name made: prefix, line, ":", column, suffix */
    PIF_FACT_PARENT = 1 << 5, /* noun of this chunk: number, less that of the noun before (SLEB) */
    PIF_FACT_PARENT_ID = 1 << 6, /* noun that is not in this chunk: 8 bytes */
    PIF_FACT_LINE = 1 << 7,      /* less the line of the noun before that has one (SLEB) */
    PIF_FACT_COLUMN = 1 << 8,
    PIF_FACT_END_LINE = 1 << 9, /* less line (SLEB) */
    PIF_FACT_TYPE = 1 << 10,
    PIF_FACT_LINKAGE = 1 << 11,
    PIF_FACT_DESCRIPTION = 1 << 12,
    PIF_FACT_ADDRESS = 1 << 13,
    PIF_FACT_MENTIONED = 1 << 14, /* it has no record of its own in the text form */
    PIF_FACTS_ALL = (1 << 15) - 1,
};

enum { PIF_VERB_ID = 1, PIF_VERB_MENTIONED = 2 };

/* "stmt" or "loop" ids as format/pm_id.h makes them. */
static inline pm_id pif_place_id(bool is_loop, pm_id function, const char *path, uint32_t line,
                                 uint32_t column)
{
    struct pm_id_hash hash;
    pm_id_hash_init(&hash, is_loop ? "loop" : "stmt");
    pm_id_hash_id(&hash, function);
    pm_id_hash_string(&hash, path);
    pm_id_hash_number(&hash, line);
    pm_id_hash_number(&hash, column);
    return pm_id_hash_done(&hash);
}

#endif
