import HTTPCore

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
  /// The file appears when all of the content is there, in place of what was under the path; before that, and where
  /// something fails, there is none. The response's own content has been read then.
  ///
  /// - Throws: ``ContentError/Kind/file(path:reason:)`` where the file cannot be written.
  @discardableResult
  public func download<Value>(
    _ query: ContentQuery<Value>, toFile path: String
  ) async throws(ContentError) -> CachedAnswer {
    let answer = try await stream(query)
    let url = answer.response.url
    let part: PartialFile
    do throws(PartialFile.Failure) {
      part = try PartialFile(besides: path)
    } catch {
      answer.response.body.cancel()
      throw ContentError(.file(path: path, reason: error.reason), url: url)
    }
    do {
      for try await bytes in answer.response.body { try part.write(bytes) }
      try part.finish(path)
    } catch let failure as PartialFile.Failure {
      throw ContentError(.file(path: path, reason: failure.reason), url: url)
    } catch {
      throw ContentError(.transport(error as? HTTPTransportError ?? .other("\(error)")), answer)
    }
    return answer
  }
}

/// A file that is written under another name until it is whole; removed where it never is.
private final class PartialFile {
  struct Failure: Error {
    let reason: String

    init(_ call: String) { reason = "\(call): \(unsafe String(cString: strerror(errno)))" }
  }

  private let descriptor: Int32
  private let name: String
  private var isFinished = false

  init(besides path: String) throws(Failure) {
    name = "\(path).\(UInt64.random(in: 0...UInt64.max)).part"
    // The name is passed as a C string for the call alone.
    descriptor = unsafe open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    if descriptor < 0 { throw Failure("open") }
  }

  func write(_ bytes: [UInt8]) throws(Failure) {
    var done = 0
    while done < bytes.count {
      // The buffer lives for the call, and `done` lies within it.
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[done...]))
      }
      if count < 0, errno != EINTR { throw Failure("write") }
      done += max(0, count)
    }
  }

  func finish(_ path: String) throws(Failure) {
    if unsafe rename(name, path) != 0 { throw Failure("rename") }
    isFinished = true
  }

  deinit {
    close(descriptor)
    if !isFinished { unsafe unlink(name) }
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
