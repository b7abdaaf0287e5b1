// HTTP resources of any kind, kept by the rules of HTTP (RFC 9111, as a private cache).
//
// The way of one request:
// 1. Content/     ``ContentManager`` takes a query, follows redirects, and turns answers into the caller's type.
// 2. Exchange/    ``HTTPCache`` builds the key and asks the cache, first for what is at hand in memory (HTTPCache+atHand,
//                 which who must not suspend asks alone), then for all it has: a hit ends here (HTTPCache+reuse). What
//                 has to come from the network comes in a `Transfer` that requests for the same thing share; `Pump`
//                 carries its content into the cache and to every reader.
// 3. Decisions/   what to do with a request, given what is stored; whether stale content stands in for a failure.
//                 Directives/ and Freshness/: Cache-Control and its kin; age and lifetime.
// 4. Storing/     which stored response fits a request, whether an answer may be stored, what it changes or invalidates.
// 5. Precondition/, Partial/   the client's own conditions; byte ranges: answered, combined, completed.
// 6. Cache/       ``Cache``: where entries are kept, in memory, in files, in SQLite.
// 7. CacheStatus/ what all this had to do with the answer.

// Those who import this module use these modules without another import.
@_exported public import LarderHTTP
@_exported public import LarderStorage
