// HTTP resources of any kind, kept by the rules of HTTP (RFC 9111, as a private cache).
//
// The way of one request:
// 1. Content/     ``ContentManager`` takes a query, and turns answers into the caller's type.
// 2. Exchange/    `HTTPCache` asks the cache, then the network where it must; requests for one resource share a transfer.
// 3. Storing/     which stored response fits a request, whether an answer may be stored, what it changes or invalidates.
// 4. Decisions/   what to do with a request; whether stale content stands in for a failure. They rest on
//    Directives/ and Freshness/: Cache-Control and its kin, age and lifetime.
// 5. Precondition/, Partial/   the client's own conditions; byte ranges: answered, combined, completed.
// 6. CacheStatus/ what each answer says of the cache's part in it.
// 7. Cache/       ``Cache``: where entries are kept, in memory, in files, in SQLite.
