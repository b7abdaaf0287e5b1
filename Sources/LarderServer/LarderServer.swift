// An HTTP server on libmicrohttpd, and what it serves on this machine: a caching proxy.
//
// The way of one exchange:
// 1. Server/  `Listener` accepts a connection and gives it to one of libmicrohttpd's threads (`ServerEngine`);
// 2.          `ServerCallbacks` is where libmicrohttpd calls: `HeadReader` reads and checks the head, `Exchange` asks the
//             immediate responder, and where that has no answer starts the responder, a task; it carries content both ways,
//             each at the pace of its reader;
// 3. Proxy/   `CachingProxy` is both: at once it answers what is fresh and in memory, on libmicrohttpd's thread; else from
//             the rest of the content cache, or through it from upstream. What it may use is decided in one place, by
//             the cache's engine.
//
// `HTTPServer` is the face of the first two, for any responder.

// Those who import this module use these modules without another import.
@_exported public import LarderContent
