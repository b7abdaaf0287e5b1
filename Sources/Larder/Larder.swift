// All of Larder for an application, which only needs `import Larder`.
//
// 1. The four stores, each with the types of its API: values, queries, requests, keys and errors.
// 2. The platform's transport, ``PlatformTransport``: URLSession on Apple platforms, libcurl elsewhere.

@_exported public import LarderContent
@_exported public import LarderObjects
@_exported public import LarderOffline
@_exported public import LarderOnline

#if canImport(Darwin)
  @_exported public import LarderURLSession

  /// The transport of the platform: URLSession on Apple platforms, libcurl elsewhere.
  public typealias PlatformTransport = URLSessionTransport
#else
  @_exported public import LarderCurl

  /// The transport of the platform: URLSession on Apple platforms, libcurl elsewhere.
  public typealias PlatformTransport = CurlTransport
#endif
