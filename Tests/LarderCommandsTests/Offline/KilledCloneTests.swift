import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `kill -9` of the built `larder` while it clones.
@Suite("A clone whose process is killed", .serialized, .timeLimit(.minutes(10)))
struct KilledCloneTests {
  /// When the process is killed.
  enum Point: CustomStringConvertible {
    /// At a request for data, before its response.
    case request(Int)
    /// After this number of changes in the folder.
    case change(Int)

    var description: String {
      switch self {
      case .request(let number): "request \(number)"
      case .change(let number): "change \(number)"
      }
    }
  }

  /// A folder of its own for one clone, and the service.
  struct Place {
    let things: Things
    let server: ScriptedServer
    let folder: TemporaryFolder
    let key: String?

    init(_ things: Things, _ server: ScriptedServer, key: String?, isThere: Bool) throws {
      (self.things, self.server, self.key) = (things, server, key)
      folder = try TemporaryFolder()
      if isThere {
        try FileManager.default.createDirectory(atPath: folder.file("copy"), withIntermediateDirectories: false)
      }
    }

    var environment: [String: String] { key.map { ["LARDER_KEY": $0] } ?? [:] }
    var rig: Rig { Rig(environment: environment, directory: folder.path) }
    var line: [String] {
      ["clone", server.text("/s/"), "copy", "--query", "a=Things", "--query", "b=Others", "--query", "c=Odds"]
    }

    func run(_ arguments: String...) async -> Outcome { await rig.run(["-C", "copy"] + arguments) }

    func names(_ name: String = "") -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: folder.file(name))) ?? []).sorted()
    }

    /// Clones until the process is killed; returns how often the folder changed.
    @discardableResult
    func clone(until point: Point?) async throws -> Int {
      var limit = Int.max
      switch point {
      case .request(let number): things.arm(SIGKILL, at: number)
      case .change(let number): limit = number
      case nil: break
      }
      let watch = FolderWatch(folder.path, limit: limit)
      _ = try await things.larder(["-C", folder.path] + line, environment: environment) { watch.start($0) }
      return watch.end()
    }

    /// All rows of all queries, and nothing beside the clone.
    func checkWhole(_ context: Comment) async throws {
      for set in ["Things", "Others", "Odds"] {
        let count = await run("query", "\(set)/$count")
        #expect(count.output == "6", "\(set): \(count.diagnostics) \(context)")
      }
      let status = try JSONNode(await run("status", "--json").outputBytes)["queries"]?.items ?? []
      #expect(status.map { $0["name"]?.string } == ["a", "b", "c"], context)
      #expect(status.allSatisfy { $0["hasPendingDownload"] == .boolean(false) }, context)
      #expect(names() == ["copy"], context)
      let strange = names("copy").filter { $0 != "larder.json" && !$0.hasPrefix("store.larder") }
      #expect(strange == [], context)
      let download = await run("download")
      #expect(download.status == .done, "\(download.diagnostics) \(context)")
    }
  }

  /// At any time the target is absent or complete, and the same command finishes the clone.
  private func check(_ point: Point, _ place: Place, isThere: Bool) async throws {
    try await place.clone(until: point)
    let context: Comment = "killed at \(point)"
    #expect(Set(place.names()).isSubset(of: ["copy", "copy.cloning"]), context)
    guard !place.names("copy").contains("larder.json") else {
      // It was killed behind its work. The command says so, and takes away what that has left beside it.
      #expect(await place.rig.run(place.line).status == .storage, context)
      return try await place.checkWhole(context)
    }
    #expect(place.names("copy") == [] && place.names().contains("copy") == isThere, context)
    if place.names("copy.cloning").contains("clone.json") {
      let status = await place.run("status")
      #expect(status.status == .done && status.output.contains("'larder clone "), "\(status) \(context)")
      for verb in [["query", "Things"], ["download"], ["log"]] {
        let rejected = await place.rig.run(["-C", "copy"] + verb)
        #expect(
          rejected.status == .negative && rejected.diagnostics.contains("'larder clone "), "\(rejected) \(context)")
      }
    }
    let resumed = await place.rig.run(place.line)
    #expect(resumed.status == .done, "\(resumed.diagnostics) \(context)")
    try await place.checkWhole(context)
  }

  static let kinds = [(nil, false), (nil, true), ("a key", false)] as [(String?, Bool)]

  @Test(
    "The clone is absent or complete, and the same command resumes it: killed at each request", arguments: kinds)
  func requests(_ key: String?, _ isThere: Bool) async throws {
    for number in 1...10 {
      let things = Things()
      let server = try things.serve()
      defer { server.stop() }
      try await check(.request(number), Place(things, server, key: key, isThere: isThere), isThere: isThere)
    }
  }

  @Test(
    "The clone is absent or complete, and the same command resumes it: killed during file operations", arguments: kinds)
  func changes(_ key: String?, _ isThere: Bool) async throws {
    let things = Things()
    let server = try things.serve()
    defer { server.stop() }
    let count = try await Place(things, server, key: key, isThere: isThere).clone(until: nil)
    #expect(count > 5)
    for number in stride(from: 1, through: count + 2, by: max(1, count / 12)) {
      try await check(.change(number), Place(things, server, key: key, isThere: isThere), isThere: isThere)
    }
  }

  @Test("A clone that is killed again and again, each time a little later, completes", arguments: [nil, "a key"])
  func again(_ key: String?) async throws {
    let things = Things()
    let server = try things.serve()
    defer { server.stop() }
    let place = try Place(things, server, key: key, isThere: false)
    for number in 1...6 {
      try await place.clone(until: .request(number))
      #expect(place.names() == ["copy.cloning"])
    }
    for number in 1...12 where !place.names().contains("copy") { try await place.clone(until: .change(number)) }
    things.arm(SIGKILL, at: 0)
    let resumed = await place.rig.run(place.line)
    #expect(resumed.status == .done || place.names("copy").contains("larder.json"), "\(resumed.diagnostics)")
    try await place.checkWhole("again and again")
  }

  @Test("A handled signal keeps the downloaded data for the same command, and leaves nothing else")
  func signals() async throws {
    for (signal, code) in [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)] as [(Int32, Int32)] {
      // The first request is for the metadata. Of the first pages of three queries none need be stored at the fourth.
      for number in [1, 8] {
        let things = Things()
        let server = try things.serve()
        defer { server.stop() }
        let place = try Place(things, server, key: nil, isThere: false)
        things.arm(signal, at: number)
        let ending = try await things.larder(["-C", place.folder.path] + place.line)
        #expect(ending.code == code, "\(signal): \(ending.diagnostics)")
        #expect(ending.diagnostics.contains("larder: interrupted\n"), "\(ending.diagnostics)")
        #expect(place.names() == (number == 1 ? [] : ["copy.cloning"]), "\(signal) at \(number)")
        #expect(place.names("copy.cloning") == (number == 1 ? [] : ["clone", "clone.json"]))
        #expect(place.names("copy.cloning/clone").allSatisfy { !$0.hasSuffix("-wal") && !$0.hasSuffix(".part") })
        #expect(ending.diagnostics.contains("the same 'larder clone' resumes it") == (number > 1))
        #expect(await place.rig.run(place.line).status == .done)
        try await place.checkWhole("\(signal)")
      }
    }
  }
}

/// Watches what is in a folder, names and sizes, as closely as it can, and kills a process at a change of its choice.
private final class FolderWatch: Sendable {
  private let path: String
  private let limit: Int
  private let state = Mutex((count: 0, isOver: false))
  private let thread = DispatchGroup()

  init(_ path: String, limit: Int) { (self.path, self.limit) = (path, limit) }

  func start(_ process: Int32) {
    let first = content()
    thread.enter()
    Thread.detachNewThread { [self] in
      defer { thread.leave() }
      var last = first
      while !state.withLock({ $0.isOver }) {
        let now = content()
        guard now != last else {
          sched_yield()
          continue
        }
        last = now
        let count = state.withLock { state in
          state.count += 1
          return state.count
        }
        if count == limit { kill(process, SIGKILL) }
      }
    }
  }

  /// Ends; returns how many changes there were.
  func end() -> Int {
    state.withLock { $0.isOver = true }
    thread.wait()
    return state.withLock { $0.count }
  }

  private func content() -> [String: Int] {
    var content: [String: Int] = [:]
    for name in FileManager.default.enumerator(atPath: path)?.compactMap({ $0 as? String }) ?? [] {
      content[name] = InputFile.size(path + "/" + name)
    }
    return content
  }
}
