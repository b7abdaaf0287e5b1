import Foundation
import LarderHTTP
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderContent
@testable import LarderCrashRig

/// What is stored under a key is searched for in every byte that was written; without one it is found, so that the search
/// can fail.
@Suite("The files of an encrypted cache contain no plain text", .serialized, .timeLimit(.minutes(5)))
struct CacheMarkerTests {
  private static let markers = uniqueMarkers + ["example.com", "text/plain", "CREATE TABLE"]
  /// Those that no other test has in files of its own, which this process has open too.
  private static let uniqueMarkers = [
    "Markierung-Inhalt", "Markierung-URL", "Markierung-Feld", "Markierung-Schluessel",
  ]

  private static func entry(_ number: Int, count: Int) -> CacheEntry {
    let words = Array("Markierung-Inhalt \(number) ".utf8)
    let bytes = (0..<count).map { words[$0 % words.count] }
    let metadata = CacheMetadata(
      url: "https://example.com/Markierung-URL/\(number)", status: 200,
      fields: ["Content-Type": "text/plain", "X-Markierung-Feld": "1"], requestTime: 1, responseTime: 2)
    return CacheEntry(metadata: metadata, bytes: bytes)
  }

  private static func fill(
    _ cache: any Cache, _ folder: String, _ search: inout MarkerSearch, isKeyed: Bool
  ) async throws {
    for number in 0..<24 {
      let entry = entry(number, count: [10, 5000, 70_000, 300_000][number % 4])
      try await cache.store(entry, forKey: "Markierung-Schluessel-\(number)")
      try await cache.update(entry, to: entry.metadata, forKey: "Markierung-Schluessel-\(number)")
    }
    // In progress: a content being written, one that was given up, what was removed and replaced.
    let writer = try await cache.makeWriter()
    for _ in 0..<5 { try await writer.append(try await entry(77, count: 200_000).allBytes()) }
    for number in 0..<10 { try await cache.removeEntry(forKey: "Markierung-Schluessel-\(number)") }
    try await cache.store(entry(50, count: 200_000), forKey: "Markierung-Schluessel-11")
    search.look(in: folder)
    #if os(Linux)
      var open = MarkerSearch(for: uniqueMarkers)
      open.look(atOpenFilesOf: getpid())
      if isKeyed { #expect(open.matches == []) }
    #endif
    _ = try await writer.commit(entry(77, count: 1).metadata, forKey: "Markierung-Schluessel-77")
    search.look(in: folder)
  }

  @Test("files", arguments: [true, false])
  func files(isKeyed: Bool) async throws {
    let folder = try TemporaryFolder()
    var search = MarkerSearch(for: Self.markers)
    let cache = try FileCache(path: folder.file("files"), encryptionKey: isKeyed ? try RigKey.make() : nil)
    try await Self.fill(cache, folder.path, &search, isKeyed: isKeyed)
    try await cache.removeAll()
    search.look(in: folder.path)
    await cache.close()
    search.look(in: folder.path)
    #expect(isKeyed ? search.matches == [] : search.matches.count > 20)
    // About fifty: a file that is just being removed is looked at or not.
    #expect(search.looks > 40)
  }

  @Test("Content for a custom cache, whatever that does with it")
  func spool() async throws {
    let folder = try TemporaryFolder()
    let spool = Spool(memoryLimit: 10) { [path = folder.path] () throws(CacheError) in try SpoolFile(folder: path) }
    let words = Array("Markierung-Spule-91b7 ".utf8)
    let bytes = (0..<400_000).map { words[$0 % words.count] }
    for start in stride(from: 0, to: bytes.count, by: 30_000) {
      try spool.append(Array(bytes[start..<min(start + 30_000, bytes.count)]))
    }
    #expect(try spool.read(0..<bytes.count) == bytes)
    #if os(Linux)
      var search = MarkerSearch(for: ["Markierung-Spule-91b7"])
      search.look(atOpenFilesOf: getpid())
      #expect(search.matches == [])
      // As Linux names what has no name.
      #expect(search.names.contains { $0.hasPrefix("#") })
    #endif
  }

  #if os(Linux)
    @Test(
      "the files that a busy process has open at any time, and those that remain when it is killed",
      arguments: [true, false])
    func killed(isKeyed: Bool) async throws {
      let folder = try TemporaryFolder()
      let process = try CrashRigProcess(
        ["content", CacheRig.Kind.files.rawValue, folder.path, "\(1 << 30)", "1"],
        environment: [RigKey.variable: isKeyed ? "1" : nil])
      let search = await MarkerSearch.search(
        for: [CacheRig.marker, "example.com", "X-Round", "CREATE TABLE"], in: folder.path, of: process,
        untilLine: 1500)
      #expect(isKeyed ? search.matches == [] : search.matches.count > 5)
      #expect(search.looks > 20)
      print(
        "files, \(isKeyed ? "encrypted" : "plain"): \(search.looks) files, \(search.bytes >> 20) MiB looked through")
    }
  #endif
}
