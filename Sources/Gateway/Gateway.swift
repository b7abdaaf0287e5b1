// An HTTP server on libmicrohttpd, and what it serves on this machine: a caching proxy.
//
// The way of one exchange:
// 1. Server/  `HTTPServer` reads the head of a request and hands it to a responder; content is pulled, answers stream.
// 2. Proxy/   `CachingProxy` answers from the content cache, or through it from the upstream server.

import CMicroHTTPD
