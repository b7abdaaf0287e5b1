import Foundation
import Testing

@testable import LarderOffline

@Suite("Offline store: the table of missing data", .timeLimit(.minutes(1)))
struct ReadOutcomeTests {
  typealias Cell = (content: ReadOutcome.Content, use: ReadOutcome.Use, outcome: ReadOutcome)

  /// Each cell, as documented.
  static let cells: [Cell] = {
    let missing = ReadOutcome.failure(.notDownloaded)
    let there = ReadOutcome.rowOrFailure(.notDownloaded)
    let early = ReadOutcome.failure(.neverDownloaded)
    let rows: [(ReadOutcome.Content, [ReadOutcome])] = [
      (.downloaded, [.available, .available, .available, .available, .available, .available]),
      (.createdLocally, [.available, .available, .available, .available, .available, .available]),
      (.leftOut, [.absent, missing, missing, .available, .available, .available]),
      (.linkNotDownloaded, [.absent, missing, missing, .available, there, .available]),
      (.notCovered, [.absent, missing, missing, missing, there, .available]),
      (.awaited, [.absent, early, early, early, .rowOrFailure(.neverDownloaded), .available]),
    ]
    return rows.flatMap { content, outcomes in
      zip(ReadOutcome.Use.allCases, outcomes).map { (content, $0, $1) }
    }
  }()

  @Test("each cell", arguments: cells.indices)
  func cell(_ number: Int) {
    let (content, use, outcome) = Self.cells[number]
    #expect(ReadOutcome(use, of: content) == outcome, "\(content) \(use)")
  }

  @Test("every cell is tested, and the tables in the sources and in the article agree")
  func tables() throws {
    #expect(Self.cells.count == ReadOutcome.Content.allCases.count * ReadOutcome.Use.allCases.count)
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    for (path, mark) in [
      ("Sources/LarderOffline/Coverage/ReadOutcome.swift", "/// | `"), ("docs/Larder.docc/TheOfflineStore.md", "| `"),
    ] {
      let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
      for content in ReadOutcome.Content.allCases {
        let words = Self.cells.filter { $0.content == content }.map { Self.word($0.outcome) }
        let line = "\(mark)\(content)` | \(words.joined(separator: " | ")) |"
        #expect(text.contains(line + "\n"), "\(path): \(line)")
      }
    }
  }

  private static func word(_ outcome: ReadOutcome) -> String {
    switch outcome {
    case .available: "available"
    case .absent: "absent"
    case .rowOrFailure(let name): "the row, else `\(name)`"
    case .failure(let name): "`\(name)`"
    }
  }
}
