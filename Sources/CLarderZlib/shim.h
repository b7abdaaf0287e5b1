#ifndef LARDER_CZLIB_SHIM_H
#define LARDER_CZLIB_SHIM_H
#include <zlib.h>

/* inflateInit2 is a macro. The stream must be zeroed, and must not move until inflateEnd. */
static inline int larder_inflate_init(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }

/* One step. The counts hold what there is before it, and what is left after it. No pointer is kept. */
static inline int larder_inflate(
    z_stream *stream, const unsigned char *input, unsigned int *input_count, unsigned char *output,
    unsigned int *output_count) {
  stream->next_in = (Bytef *)input;
  stream->avail_in = *input_count;
  stream->next_out = output;
  stream->avail_out = *output_count;
  int code = inflate(stream, Z_NO_FLUSH);
  *input_count = stream->avail_in;
  *output_count = stream->avail_out;
  stream->next_in = Z_NULL;
  stream->avail_in = 0;
  stream->next_out = Z_NULL;
  stream->avail_out = 0;
  return code;
}

#endif
