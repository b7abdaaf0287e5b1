import LarderHTTP
import LarderStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension ContentManager {
  /// Downloads content of any length into a file, and returns the response.
  ///
  /// The file appears when all of the content was received. It replaces an existing file of that path and keeps its
  /// permissions. Before that, and if the download fails, no new file appears. A symbolic link, a device or a pipe is
  /// written through. The returned response's content has already been read.
  ///
  /// - Throws: ``ContentError/Category/file(path:reason:)`` if the file cannot be written.
  @discardableResult
  public func download<Value>(
    _ query: ContentQuery<Value>, toFile path: String
  ) async throws(ContentError) -> CachedResponse {
    let cachedResponse = try await stream(query)
    let url = cachedResponse.response.url
    do {
      let file = try WholeFile.create(path)
      for try await bytes in cachedResponse.response.body { try file.write(bytes) }
      try file.finish()
    } catch let failure as WholeFile.Failure {
      cachedResponse.response.body.cancel()
      throw ContentError(.file(path: path, reason: unsafe String(cString: strerror(failure.number))), url: url)
    } catch {
      throw ContentError(.transport(error as? HTTPTransportError ?? .other("\(error)")), cachedResponse)
    }
    return cachedResponse
  }
}
