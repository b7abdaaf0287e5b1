#ifndef LARDER_CSQLITE_SHIM_H
#define LARDER_CSQLITE_SHIM_H
#include <sqlite3.h>

/* Variadic in C, so Swift cannot call it: one inline for each shape that we use. */
static inline int larder_sqlite3_db_config_int(sqlite3 *db, int option, int value) {
  return sqlite3_db_config(db, option, value, (int *)0);
}

/* SQLITE_TRANSIENT is a cast that Swift does not import. */
static inline int larder_sqlite3_bind_text_copy(sqlite3_stmt *statement, int index, const char *text,
                                                sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* The bytes must stay where they are until the statement is reset or bound anew. */
static inline int larder_sqlite3_bind_blob_static(sqlite3_stmt *statement, int index, const void *bytes,
                                                  sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes, length, SQLITE_STATIC);
}

static inline int larder_sqlite3_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes,
                                                sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes, length, SQLITE_TRANSIENT);
}

/* As larder_sqlite3_bind_blob_static, for texts. */
static inline int larder_sqlite3_bind_text_static(sqlite3_stmt *statement, int index, const char *text,
                                                  sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text, length, SQLITE_STATIC, SQLITE_UTF8);
}

static inline void larder_sqlite3_result_text_copy(sqlite3_context *context, const char *text, sqlite3_uint64 length) {
  sqlite3_result_text64(context, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void larder_sqlite3_result_blob_copy(sqlite3_context *context, const void *bytes, sqlite3_uint64 length) {
  sqlite3_result_blob64(context, bytes, length, SQLITE_TRANSIENT);
}

#endif
