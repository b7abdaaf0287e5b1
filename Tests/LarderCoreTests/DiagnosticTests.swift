import Foundation
import LarderContent
import LarderCore
import LarderObjects
import LarderOffline
import LarderOnline
import Testing

@Suite("Diagnostics", .timeLimit(.minutes(1)))
struct DiagnosticTests {
  private enum Sample: String, DiagnosticName {
    case happened
    static let module = "Sample"
    var form: (level: LarderDiagnostic.Level, fields: [String]) { (.info, ["url", "status"]) }
  }

  @Test("A diagnostic has the level of its name, and only the fields with a value")
  func fields() {
    let diagnostic = LarderDiagnostic(
      Sample.happened, "It happened", ["url": "http://h/a", "status": nil], error: CancellationError())
    #expect(diagnostic.level == .info && diagnostic.module == "Sample" && diagnostic.name == "happened")
    #expect(diagnostic.fields == ["url": "http://h/a"])
    #expect(diagnostic.message == "It happened." && diagnostic.description == diagnostic.message)
    #expect(diagnostic.error?.isCancelled == true)
  }

  @Test("Levels are ordered by the attention that they deserve")
  func levels() {
    #expect(LarderDiagnostic.Level.allCases == [.debug, .info, .warning, .error])
    #expect(LarderDiagnostic.Level.allCases.sorted() == LarderDiagnostic.Level.allCases)
  }

  @Test(
    "A URL in a field has no user information, query or fragment",
    arguments: [
      ("http://h/a?secret=1", "http://h/a"), ("http://h/a#secret", "http://h/a"), ("http://u:p@h/a", "http://h/a"),
      ("http://u@h", "http://h"), ("http://h/a@b", "http://h/a@b"), ("Orders(1)?$filter=x", "Orders(1)"),
      ("http://h?next=http://u:p@i/", "http://h"), ("", ""),
    ])
  func url(_ text: String, _ expected: String) {
    #expect(LarderDiagnostic.url(text) == expected)
  }

  // MARK: The table of the article

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func lines(_ path: String) throws -> [String] {
    try String(contentsOf: root.appending(path: path), encoding: .utf8).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
  }

  /// The rows of a module's names: with the levels and fields of the code, and the comments of their declarations.
  private static func rows<Name: DiagnosticName>(_: Name.Type, _ source: String) throws -> [String] {
    var meanings: [String: String] = [:]
    var comment: [Substring] = []
    for line in try lines("Sources/\(Name.module)/\(source)") {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("/// ") {
        comment.append(text.dropFirst(4))
      } else {
        if text.hasPrefix("case ") { meanings[String(text.dropFirst(5))] = comment.joined(separator: " ") }
        comment = []
      }
    }
    return Name.allCases.map { name in
      let (level, fields) = name.form
      let list = fields.isEmpty ? "-" : fields.map { "`\($0)`" }.joined(separator: ", ")
      return "| `\(Name.module)` | `\(name.rawValue)` | \(level) | \(list) | \(meanings[name.rawValue] ?? "") |"
    }
  }

  @Test("The article lists the diagnostics of all modules, as the code has them")
  func table() throws {
    let expected =
      try Self.rows(OnlineDiagnostic.self, "Error/OnlineDiagnostic.swift")
      + Self.rows(OfflineDiagnostic.self, "Error/OfflineDiagnostic.swift")
      + Self.rows(ContentDiagnostic.self, "Cache/ContentDiagnostic.swift")
      + Self.rows(ObjectDiagnostic.self, "Error/ObjectDiagnostic.swift")
    let article = try Self.lines("docs/Larder.docc/Diagnostics.md")
    let rows = Array(article.drop { $0 != "## All diagnostics" }.filter { $0.hasPrefix("| ") }.dropFirst(2))
    #expect(Set(rows).subtracting(expected).sorted() == [])
    #expect(Set(expected).subtracting(rows).sorted() == [])
    #expect(rows == expected)
  }
}
