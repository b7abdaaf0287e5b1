// HTTP resources of any kind, stored by the rules of HTTP (RFC 9111, as a private cache).
//
// How a request is processed:
// 1. Content/     ``ContentManager`` takes a query, follows redirects, and parses responses into the caller's type.
// 2. Exchange/    ``HTTPCache`` builds the key and looks it up in the cache: first for a response in memory
//                 (HTTPCache+memory, which callers that must not suspend use alone), then for all stored responses. A
//                 hit ends here (HTTPCache+reuse). A network request runs in a `Transfer`, which requests for the same
//                 resource share; `Pump` passes its content into the cache and to every reader.
// 3. Decisions/   decides how to handle a request, given what is stored, and whether stale content replaces a failure.
//                 Directives/ and Freshness/: Cache-Control and related fields; age and lifetime.
// 4. Storing/     decides which stored response matches a request, whether a response may be stored, and what it
//                 changes or invalidates.
// 5. Precondition/, Partial/   handle the client's own conditions, and byte ranges: served, combined, completed.
// 6. Cache/       ``Cache``: stores entries in memory or in files.
// 7. CacheStatus/ describes what the cache did for a request.

// Code that imports this module can use these modules without another import.
@_exported public import LarderHTTP
@_exported public import LarderStorage
