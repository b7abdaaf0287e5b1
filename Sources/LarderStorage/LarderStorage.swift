// SQLite from Swift, and everything else that accesses the disk or digests bytes. All other targets use only these
// types.
//
// The stages of one piece of work:
// 1. Schema/      ``Database/open(_:key:schema:options:)`` checks the file first (whose it is, whether it is intact),
//                 then brings it up to date by ``Schema``.
// 2. Connection/  one writer on its serial queue, readers lent from a pool; no async call blocks a thread of the
//                 concurrency pool. Closures are transactions.
//                 A ``ReadSession`` keeps a transaction open between calls.
// 3. Statement/   each connection prepares SQL once; values are bound by storage class; a ``Row`` is read in place. A
//                 ``RowBatch`` is many rows for one statement, a ``RowCursor`` a query that can pause between rows.
//    Function/    the package's own functions, aggregate functions and collations: ``SQLExtensions``.
// 4. Error/       every failure is a ``StorageError``: category, the engine's codes, the SQL without values, the file.
// 5. Lock/        an advisory lock that shows other stores and processes that a file is in use; a number that shows them
//                 that it has changed; whether a store is open, suspended or closed.
// 6. Digest/      SHA-256, HMAC and random bytes from the platform's library.
// 7. Encryption/  a VFS between SQLite and the system's files that seals pages, log and temporary files; keys; rekeying.
// 8. Recency/     least-recently-used order, for the memory tiers of the stores above.
// 9. File/        a file that is replaced completely or not at all, for files beside databases; flushing the
//                 disk itself.
