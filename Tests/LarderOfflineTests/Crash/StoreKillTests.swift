import Foundation
import LarderTestSupport
import Testing

/// How often a process is killed; `LARDER_KILLS` sets more.
private enum StoreKills {
  static let count = ProcessInfo.processInfo.environment["LARDER_KILLS"].flatMap { Int($0) } ?? 12
  /// A kill takes half a second, on a busy machine three.
  static let limit: TimeLimitTrait.Duration = .minutes(5 + count / 20)
}

@Suite("Offline store: a process that is killed while it downloads", .timeLimit(StoreKills.limit))
struct StoreKillTests {
  @Test("the file is sound, readers see one state, the next one resumes at the interrupted page, nothing stays behind")
  func kills() async throws {
    var random = PrintedSeed(for: "kills of an offline store")
    var left = StoreKills.count
    var finished = 0
    while left > 0 {
      // A new store now and then: first downloads are interrupted as well as later ones.
      let count = min(left, Int.random(in: 1...25, using: &random))
      left -= count
      finished += try await life(of: count, &random)
    }
    print("\(StoreKills.count) kills, \(finished) downloads ended before them")
  }

  /// Kills a store's processes so often, then lets one end. Returns how many downloads ended before kills.
  private func life(of kills: Int, _ random: inout PrintedSeed) async throws -> Int {
    let place = try VersionedFolder()
    let (service, server) = (place.service, place.server)
    defer { server.stop() }
    var finished = 0
    var before: [String: Place] = [:]
    for kill in 0..<kills {
      let process = try place.process(downloads: 3)
      let pause = UInt32.random(in: 0...15_000, using: &random)
      service.onRequest(Int.random(in: 1...110, using: &random)) {
        Thread.detachNewThread {
          usleep(pause)
          process.kill()
        }
      }
      finished += await process.lines().filter { $0.hasPrefix("done") || $0 == "open" }.count
      let note = "kill \(kill)"
      // What the process had requested is recorded to its end, and counted as its own.
      try await server.waitForClosedConnections(server.connectionCount)
      resumed(service.takeRequested(), &before, note)
      try await place.check(note)
    }
    try await place.finish()
    resumed(service.takeRequested(), &before, "the end")
    return finished
  }

  /// Where a process was killed: the page that it requested last, and the one before, whose rows may not have been
  /// written.
  private struct Place {
    let last: VersionedService.RequestedPage
    let earlier: String?
  }

  /// Each set resumes with one of the last two requested pages, or the one after them; and no download begins it
  /// twice.
  private func resumed(
    _ requested: (pages: [VersionedService.RequestedPage], downloads: Int), _ before: inout [String: Place],
    _ note: String
  ) {
    for (set, pages) in Dictionary(grouping: requested.pages, by: \.set) {
      let goesOn = pages.first?.link.contains("skip") == true
      let begins = pages.filter { !$0.link.contains("skip") }.count + (goesOn ? 1 : 0)
      #expect(
        begins <= requested.downloads, "\(note): \(set) began \(begins) times in \(requested.downloads) downloads")
      if let place = before[set], let next = place.last.next, let first = pages.first {
        #expect(
          [place.earlier, place.last.link, next].contains(first.link),
          "\(note): \(set) begins at \(first), was at \(place)")
      }
      before[set] = pages.last.map { Place(last: $0, earlier: pages.dropLast().last?.link) }
    }
  }
}
