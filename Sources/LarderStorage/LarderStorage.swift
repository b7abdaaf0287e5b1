// SQLite from Swift, and everything else that accesses the disk or digests bytes. All other targets use only these
// types.
//
// The stages of one piece of work:
// 1. Database/    ``Database/open(_:key:schema:options:)`` checks the file first (its owner, whether it is intact), then brings it
//                 up to date by ``Schema``. A ``ReadSession`` keeps a transaction open between calls. Encrypting a file,
//                 decrypting it and changing its key.
// 2. Connection/  one writer on its serial queue, and a pool of readers; no async call blocks a thread of the
//                 concurrency pool. Closures are transactions.
//    Statement/   each connection prepares SQL once; values are bound by storage class; a ``Row`` is read in place. A
//                 ``RowBatch`` is many rows for one statement, a ``RowCursor`` a query that can pause between rows.
//    Function/    the package's own functions, aggregate functions and collations: ``SQLExtensions``.
// 3. Encryption/  a VFS between SQLite and the system's files that seals pages, log and temporary files; keys.
// 4. File/        a file that is replaced completely or not at all, for files beside databases; flushing the disk;
//                 default folders. Lock/: an advisory lock that shows other stores and processes that a file is in use, and a
//                 counter that shows them that it has changed.
// 5. Error/       every failure is a ``StorageError``: category, the engine's codes, the SQL without values, the file.
// 6. Digest/      SHA-256, HMAC and random bytes from the platform's library.
// 7. Recency/     least-recently-used order, for the memory tiers of the stores above.
