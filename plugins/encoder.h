/* The interface between phsic and an encoder: text in, vectors out.
 *
 * This header is all that a plugin needs. A plugin is a shared library that exports one object,
 *
 *     const struct phsic_encoder_plugin phsic_encoder = { ... };
 *
 * and is loaded with dlopen(RTLD_NOW | RTLD_LOCAL). docs/encoders.md teaches writing one.
 *
 * Rules that hold for every function here:
 * - Strings that carry a size need not end in a zero byte and may contain some. All others end in
 *   one.
 * - No function throws across the interface, prints or exits. - Each side frees what it allocated:
 * the plugin its instances, the caller its buffers. - The library stays loaded for as long as one
 * of its instances is open.
 */
#ifndef PHSIC_ENCODER_H
#define PHSIC_ENCODER_H

/* This is C. NOLINTBEGIN */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change that breaks a plugin already built. */
#define PHSIC_ENCODER_ABI 1u

/* The largest dimension an encoder may have. */
#define PHSIC_MAX_DIMENSION 32768u

/* One text: any bytes, meant to be UTF-8. Owned by the caller, valid during the call. An encoder
 * reads what is not well-formed as U+FFFD or refuses the text; it never fails otherwise. */
struct phsic_text {
  const char* bytes; /* may be NULL when size is 0 */
  size_t size;
};

enum phsic_layout { PHSIC_DENSE = 0, PHSIC_SPARSE = 1 };

/* What an instance promises beyond what every encoder must do: bits of phsic_encoder_facts.flags.
 * The caller may rely on them. Bits that have no name here are 0: an encoder that sets one is
 * refused, as it may mean something that the caller would have to heed. */
enum phsic_encoder_flag {
  /* Rows add up: where a text is cut at white space, its row is the sum of its parts' rows, but for
   * rounding. So no row is scaled to a length, divided by a number of words, or has anything of
   * words on both sides of the cut. What becomes of rows later, in a kernel, does not matter. */
  PHSIC_ADDITIVE = 1
};

/* What an instance is. Filled by describe(). */
struct phsic_encoder_facts {
  uint32_t dimension;  /* 1 to PHSIC_MAX_DIMENSION, the same for the life of the instance */
  uint32_t layout;     /* an enum phsic_layout */
  uint32_t concurrent; /* 1: encode() may run in several threads at once on one instance; 0: the
                          caller lets one thread in at a time */
  uint32_t flags;      /* of enum phsic_encoder_flag; 0: no promises. Was `reserved`, which was 0 */
  /* Everything that the vectors depend on: name, version, options that matter, a hash of the model
   * file. Two instances with the same identity give the same vectors. Owned by the instance, valid
   * until close(). */
  const char* identity;
};

/* Where encode() writes. The struct and the memory it points to belong to the caller and are valid
 * during the call. */
struct phsic_rows {
  /* Dense: room for n * dimension values, row after row. Sparse: room for `capacity` values. */
  float* values;
  /* Sparse: room for `capacity` indices, strictly increasing within a row, each below dimension.
   * Dense: NULL. */
  uint32_t* indices;
  /* Sparse: room for n; ends[i] is how many entries rows 0 to i have together. Dense: NULL. */
  size_t* ends;
  /* Sparse: at least dimension, so that one row always fits. Dense: 0. */
  size_t capacity;
  /* Set by encode(): how many rows, from the first on, are complete. */
  size_t done;
};

enum phsic_status {
  PHSIC_OK = 0,   /* done == n */
  PHSIC_FULL = 1, /* the next row does not fit; done >= 1. The caller comes again with the rest */
  PHSIC_BAD_TEXT = 2, /* texts[done] cannot be encoded, and `error` says why. The caller may go on
                         with the text after it */
  PHSIC_FAILED = 3    /* nothing can be encoded now, and `error` says why */
};

/* Everything lives as long as the library is loaded. */
struct phsic_encoder_plugin {
  uint32_t abi_version; /* PHSIC_ENCODER_ABI */
  uint32_t struct_size; /* sizeof(struct phsic_encoder_plugin) */

  const char* name;    /* as users write it: "hashing" */
  const char* version; /* of the plugin: "1.0" */
  const char* summary; /* one line for `phsic encoders` */
  /* The options as a JSON array of {"name": "dim", "default": 1024, "about": "..."}. */
  const char* options;

  /* A new instance from a JSON object of options, or NULL, and then `error` says why. `error` has
   * room for error_size >= 1 bytes; what is longer is cut. May take long and read files. */
  void* (*open)(const char* options, char* error, size_t error_size);

  /* Any thread, any time between open() and close(). */
  void (*describe)(const void* instance, struct phsic_encoder_facts* facts);

  /* Encodes texts[0] to texts[n - 1], n >= 1, and returns an enum phsic_status. A text without
   * anything in it that the encoder knows becomes a row of zeros, or an empty sparse row. Values
   * are finite. */
  int (*encode)(void* instance, const struct phsic_text* texts, size_t n, struct phsic_rows* rows,
                char* error, size_t error_size);

  /* Frees the instance; no other call on it runs or comes after. */
  void (*close)(void* instance);
};

#ifdef __cplusplus
}
#endif
/* NOLINTEND */

#endif
