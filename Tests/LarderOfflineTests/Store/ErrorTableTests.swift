import Foundation
import LarderOData
import Testing

@testable import LarderOffline

@Suite("Offline store: the table of errors in the documentation", .timeLimit(.minutes(1)))
struct ErrorTableTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func lines(_ path: String) throws -> [String] {
    try String(contentsOf: root.appending(path: path), encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
  }

  /// The rows of the table below a heading, without its head.
  private static func rows(_ heading: String) throws -> [String] {
    let article = try lines("docs/Larder.docc/ErrorsOfTheOfflineStore.md")
    let below = article.drop { $0 != "## " + heading }.dropFirst().prefix { !$0.hasPrefix("## ") }
    return Array(below.filter { $0.hasPrefix("| ") }.dropFirst(2))
  }

  /// What each name comes of, as its declaration says it.
  private static func causes() throws -> [String: String] {
    var causes: [String: String] = [:]
    var comment: [Substring] = []
    for line in try lines("Sources/LarderOffline/Error/OfflineODataErrorName.swift") {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("/// ") {
        comment.append(text.dropFirst(4))
      } else {
        if text.hasPrefix("case "), let name = text.dropFirst(5).split(separator: " ").first {
          causes[String(name)] = comment.joined(separator: " ")
        }
        comment = []
      }
    }
    return causes
  }

  @Test("by name: each with its number, its category and what it comes of")
  func byName() throws {
    let causes = try Self.causes()
    let expected = OfflineODataErrorName.allCases.sorted { "\($0)".lowercased() < "\($1)".lowercased() }.map { name in
      "| `\(name)` | \(name.rawValue) | `\(name.category.rawValue)` | \(causes["\(name)"] ?? "") |"
    }
    let rows = try Self.rows("By name")
    #expect(Set(rows).subtracting(expected).sorted() == [])
    #expect(Set(expected).subtracting(rows).sorted() == [])
    #expect(rows == expected)
  }

  @Test("by code: each with its name, its message and what to do about it")
  func byCode() throws {
    let expected = OfflineODataErrorName.allCases.sorted { $0.rawValue < $1.rawValue }.map { name in
      "| \(name.rawValue) | `\(name)` | \(name.message) | \(name.cure ?? "-") |"
    }
    let rows = try Self.rows("By code")
    #expect(Set(rows).subtracting(expected).sorted() == [])
    #expect(Set(expected).subtracting(rows).sorted() == [])
    #expect(rows == expected)
  }
}
