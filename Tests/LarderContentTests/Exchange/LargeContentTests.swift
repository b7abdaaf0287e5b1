import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig

/// A gigabyte passes through the engine in little memory, wherever it goes. Each run has a process of its own, so that
/// other tests do not count.
@Suite("A gigabyte", .timeLimit(.minutes(5)))
struct LargeContentTests {
  @Test("through a cache that keeps nothing")
  func noCache() async {
    await #expect(processExitsWith: .success) {
      try await pass(1 << 30, NoCache(), ["Cache-Control": "max-age=60"], readers: 2)
    }
  }

  @Test("that must not be stored")
  func unstorable() async {
    await #expect(processExitsWith: .success) {
      try await pass(1 << 30, MemoryCache(), ["Cache-Control": "no-store"], readers: 1)
    }
  }

  @Test("that is too large for the memory it was to be kept in")
  func tooLarge() async {
    await #expect(processExitsWith: .success) {
      try await pass(1 << 30, MemoryCache(byteLimit: 1 << 20), ["Cache-Control": "max-age=60"], readers: 2)
    }
  }

  @Test("A quarter of it, into a file and out of it")
  func file() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let cache = try FileCache(path: folder.path, encryptionKey: try RigKey.fromEnvironment())
      try await pass(1 << 28, cache, ["Cache-Control": "max-age=60"], readers: 2)
      try await pass(1 << 28, cache, [:], readers: 2)
    }
  }
}

/// Lets several readers take the same content at once, and looks at what the process holds meanwhile.
private func pass(_ length: Int, _ cache: any Cache, _ fields: HTTPFields, readers: Int) async throws {
  let engine = HTTPCache(cache: cache, transport: GeneratedContent(length: length, fields: fields))
  let request = HTTPRequest(url: try #require(URL(string: "http://h/large")))
  let before = try residentMemory().now
  let highest = Highest(before)
  let responses = try await withThrowingTaskGroup(of: CachedResponse.self) { group in
    for _ in 0..<readers { group.addTask { try await engine.response(to: request) } }
    return try await group.reduce(into: []) { $0.append($1) }
  }
  try await withThrowingTaskGroup(of: Int.self) { group in
    for response in responses {
      group.addTask {
        var count = 0
        for try await chunk in response.response.body {
          count += chunk.count
          if count % (16 << 20) < chunk.count { highest.note(try residentMemory().now) }
        }
        return count
      }
    }
    for try await count in group { #expect(count == length) }
  }
  await engine.close()
  let growth = highest.value - before
  print("\(length >> 20) MiB, \(readers) readers, \(type(of: cache)): \(growth >> 20) MiB more resident")
  #expect(growth < 32 << 20)
}

/// A server of one long content that is made while it is read.
private struct GeneratedContent: HTTPTransport {
  let length: Int
  let fields: HTTPFields

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let left = Mutex(length)
    let body = HTTPBodyStream(
      length: length,
      next: {
        let count = left.withLock { left in
          let count = min(left, 1 << 16)
          left -= count
          return count
        }
        // Not the same array each time, as from a network.
        return count == 0 ? nil : [UInt8](repeating: 0x5A, count: count)
      })
    return HTTPResponse(status: 200, fields: fields, url: request.url, body: body)
  }
}

/// The largest of the values noted from any task.
private final class Highest: Sendable {
  private let highest: Mutex<Int>
  init(_ first: Int) { highest = Mutex(first) }
  var value: Int { highest.withLock { $0 } }
  func note(_ value: Int) { highest.withLock { $0 = max($0, value) } }
}
