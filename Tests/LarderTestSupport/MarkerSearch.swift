import Foundation
import Synchronization

/// Looks for words that must be readable in no file: in those of a folder, and in those that a process has open.
public struct MarkerSearch: Sendable {
  private let markers: [String]
  /// How many files were looked through.
  public private(set) var looks = 0
  /// The bytes in them together.
  public private(set) var bytes = 0
  /// The words that were found, and where.
  public private(set) var matches: [String] = []
  /// The names of the files.
  public private(set) var names: Set<String> = []

  /// Nothing has been looked at yet.
  public init(for markers: [String]) { self.markers = markers }

  /// Looks through a folder at any depth: names and contents.
  public mutating func look(in folder: String) {
    guard let walker = FileManager.default.enumerator(atPath: folder) else { return }
    while let item = walker.nextObject() as? String { look(at: folder + "/" + item, named: item) }
  }

  /// Looks through the files that a process has open, those without a name too. On Linux alone: elsewhere no process shows those.
  public mutating func look(atOpenFilesOf identifier: Int32) {
    #if os(Linux)
      let folder = "/proc/\(identifier)/fd"
      for number in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)"),
          target.hasPrefix("/"), !target.hasPrefix("/dev"), !target.hasPrefix("/proc"),
          let slash = target.lastIndex(of: "/")
        else { continue }
        let name = String(target[target.index(after: slash)...])
        // The loader has libraries open while the program starts.
        guard !(name.hasPrefix("lib") && name.contains(".so")) else { continue }
        look(at: "\(folder)/\(number)", named: name)
      }
    #endif
  }

  private mutating func look(at path: String, named name: String) {
    if names.count < 10_000 { names.insert(name) }
    for marker in markers where name.contains(marker) { matches.append("\(name): \(marker) in its name") }
    // Not mapped: a file that becomes shorter meanwhile would end this process.
    guard let data = try? Data(contentsOf: URL(filePath: path)) else { return }
    looks += 1
    bytes += data.count
    for marker in markers where MarkerSearch.contains(data, Array(marker.utf8)) { matches.append("\(name): \(marker)") }
  }

  private static func contains(_ data: Data, _ marker: [UInt8]) -> Bool {
    guard let first = marker.first, data.count >= marker.count else { return false }
    return data.withUnsafeBytes { raw in
      // From one byte like the first to the next: several times as fast as `Data.range(of:)`. All is inside the buffer.
      guard let start = raw.baseAddress else { return false }
      var place = start
      let last = start + (raw.count - marker.count)
      while place <= last, let matches = memchr(place, Int32(first), last - place + 1) {
        if memcmp(matches, marker, marker.count) == 0 { return true }
        place = UnsafeRawPointer(matches) + 1
      }
      return false
    }
  }

  /// Searches a folder and the open files of a process, which is stopped again and again at random times that do not
  /// with what it does, until it has said so many lines and is killed; then once more through what is left. On Linux alone.
  public static func search(
    for markers: [String], in folder: String, of process: CrashRigProcess, untilLine last: Int
  ) async -> MarkerSearch {
    let seen = Mutex(MarkerSearch(for: markers))
    let isOver = Atomic(false)
    let ends = Tally("completed searches")
    // Beside the process, off the threads that tasks share.
    let looking = Thread {
      var round: UInt32 = 0
      while !isOver.load(ordering: .acquiring) {
        process.stop(true)
        seen.withLock { search in
          search.look(atOpenFilesOf: process.identifier)
          search.look(in: folder)
        }
        process.stop(false)
        round += 1
        usleep(round % 7 * 10_000)
      }
      ends.add()
    }
    looking.start()
    let lines = Atomic(0)
    await process.forEachLine { _ in lines.add(1, ordering: .relaxed).newValue >= last }
    isOver.store(true, ordering: .releasing)
    // Thrown only where the test is over.
    try? await ends.wait(for: 1)
    var all = seen.withLock { $0 }
    all.look(in: folder)
    return all
  }
}
