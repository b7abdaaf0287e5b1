// An HTTP server on libmicrohttpd, and what it serves on this machine: a caching proxy.
//
// The way of one exchange:
// 1. Server/  `Listener` accepts a connection and gives it to one of libmicrohttpd's threads (`ServerEngine`);
// 2.          `ServerCallbacks` is where libmicrohttpd calls: `HeadReader` reads and checks the head, `Exchange` starts the
//             responder, and carries content both ways, each at the pace of its reader;
// 3. Proxy/   `CachingProxy` is such a responder: it answers from the content cache, or through it from upstream.
//
// `HTTPServer` is the face of the first two, for any responder.
