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
  /// Puts content into a file, whatever its length; answers what is known of it.
  ///
  /// The file appears when all of the content is there, in place of what was under the path, whose permissions it keeps;
  /// before that, and where something fails, there is none. A symbolic link, a device or a pipe is written through. The
  /// response's own content has been read then.
  ///
  /// - Throws: ``ContentError/Kind/file(path:reason:)`` where the file cannot be written.
  @discardableResult
  public func download<Value>(
    _ query: ContentQuery<Value>, toFile path: String
  ) async throws(ContentError) -> CachedResponse {
    let answer = try await stream(query)
    let url = answer.response.url
    do {
      let file = try WholeFile.create(path)
      for try await bytes in answer.response.body { try file.write(bytes) }
      try file.finish()
    } catch let failure as WholeFile.Failure {
      answer.response.body.cancel()
      throw ContentError(.file(path: path, reason: unsafe String(cString: strerror(failure.number))), url: url)
    } catch {
      throw ContentError(.transport(error as? HTTPTransportError ?? .other("\(error)")), answer)
    }
    return answer
  }
}
