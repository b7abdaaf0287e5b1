// An HTTP server on libmicrohttpd, and a caching proxy that it serves on this machine.
//
// How an exchange is processed:
// 1. Server/  `Listener` accepts a connection and passes it to one of libmicrohttpd's threads (`ServerEngine`).
// 2.          libmicrohttpd calls `ServerCallbacks`: `HeadReader` reads and checks the head. `ServerExchange` calls the
//             immediate responder; if that returns nil, it starts the responder in a task. It passes content in both
//             directions, each at the pace of its reader.
// 3. Proxy/   `CachingProxy` provides both responders. The immediate one returns fresh responses from memory on
//             libmicrohttpd's thread. The other one uses the rest of the content cache, or upstream through the
//             cache. The cache's engine alone decides which stored response may be used.
//
// `HTTPServer` is the public interface of stages 1 and 2, for any responder.

// Code that imports this module can use these modules without another import.
@_exported public import LarderContent
