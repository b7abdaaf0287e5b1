// All of Larder for an application, which only needs `import Larder`.
//
// 1. The four stores, each with the types of its API: values, queries, requests, keys and errors.
// 2. The platform's transport: URLSession on Apple platforms, libcurl elsewhere.

@_exported public import LarderContent
@_exported public import LarderObjects
@_exported public import LarderOffline
@_exported public import LarderOnline

#if canImport(Darwin)
  @_exported public import LarderURLSession
#else
  @_exported public import LarderCurl
#endif
