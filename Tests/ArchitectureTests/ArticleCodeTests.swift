import Foundation
import LarderTestSupport
import Testing

/// The code in articles, as readers see it.
enum ArticleCode {
  /// The articles whose code is compiled: each line of it occurs in one of the snippets.
  static let articles = [
    "GettingStarted", "TypedServices", "TheOnlineStore", "SwiftUIAndObservation", "TestingYourApplication",
    "BackgroundWork", "Performance", "Troubleshooting", "Diagnostics", "ComingFromDatasync", "ComingFromOkHttpOrNuke",
    "OneApplicationTwice", "TheObjectStore", "TheOfflineStore",
    "CachingHTTPResources",
  ]

  /// The lines of each block of Swift, without manifests of packages.
  static func swiftBlocks(in text: String) -> [[String]] {
    var blocks: [[String]] = []
    var block: [String]?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let lines = block {
        if line.hasPrefix("```") {
          blocks.append(lines)
          block = nil
        } else {
          block?.append(String(line))
        }
      } else if line == "```swift" {
        block = []
      }
    }
    // A block that does not end is one that the reader sees, too.
    if let block { blocks.append(block) }
    return blocks.filter { $0.first?.hasPrefix("// swift-tools-version") != true }
  }

  /// The lines of blocks that no snippet has, without the spaces around them.
  static func uncompiledLines(in text: String, snippets: Set<String>) -> [String] {
    swiftBlocks(in: text).joined().map { trimmed($0) }.filter { !$0.isEmpty && !snippets.contains($0) }
  }

  /// Whether a string in the line contains one of the names as a word.
  static func names(_ names: Set<String>, inStringsOf line: String) -> Bool {
    !names.isDisjoint(with: textOfStrings(in: line).matches(of: #/\w+/#).map { String($0.0) })
  }

  /// The text of all strings in the line, also of those inside of interpolations, which themselves are code.
  private static func textOfStrings(in line: String) -> String {
    var text = ""
    /// What contains the character: code with a number of open parentheses, or a string, which is nil.
    var open: [Int?] = [0]
    var isEscaped = false
    for character in line {
      guard let innermost = open.last else { break }
      switch (innermost, character) {
      case (nil, "(") where isEscaped: open.append(0)
      case (nil, _) where isEscaped: text += " "
      case (nil, "\\"):
        isEscaped = true
        continue
      case (nil, "\""): open.removeLast()
      case (nil, _): text.append(character)
      case (_, "\""):
        open.append(nil)
        text += " "
      case (let depth?, "("): open[open.count - 1] = depth + 1
      case (0?, ")") where open.count > 1:
        open.removeLast()
        text += " "
      case (let depth?, ")"): open[open.count - 1] = depth - 1
      default: break
      }
      isEscaped = false
    }
    return text
  }

  /// All lines of these texts, without the spaces around them.
  static func lines(of texts: [String]) -> Set<String> {
    Set(texts.flatMap { $0.split(separator: "\n").map { trimmed($0) } })
  }

  private static func trimmed(_ line: some StringProtocol) -> String { line.trimmingCharacters(in: .whitespaces) }
}

@Suite("Code in articles", .timeLimit(.minutes(5)))
struct ArticleCodeTests {
  static let snippets = ArticleCode.lines(
    of: SourceFile.all(below: ["Snippets"], extensions: ["swift"]).map(\.text))

  @Test("Each line of code is in a snippet, which the build compiles", arguments: ArticleCode.articles)
  func code(article: String) throws {
    let file = try #require(SourceFile.all(below: ["docs/Larder.docc/\(article).md"]).first)
    #expect(!ArticleCode.swiftBlocks(in: file.text).isEmpty, "\(article) has no code")
    let violations = ArticleCode.uncompiledLines(in: file.text, snippets: Self.snippets)
    #expect(violations.isEmpty, "\(violations.joined(separator: "\n"))")
  }

  @Test("The application that is written twice has the lines that its article counts, and names properties as it says")
  func comparison() throws {
    let article = try #require(SourceFile.all(below: ["docs/Larder.docc/OneApplicationTwice.md"]).first).text
    let snippet = try #require(SourceFile.all(below: ["Snippets/OneApplicationTwice.swift"]).first).text
    let parts = snippet.components(separatedBy: "// snippet.hide")
    try #require(parts.count == 2)
    // The properties of the generated types, and those of the error archive that the article's code reads.
    let archive = ["RequestID", "RequestURL", "HTTPStatusCode", "Message", "AffectedEntity"]
    let names = Set(parts[1].matches(of: #/case `?\w+`? = "(\w+)"/#).map { String($0.1) } + archive)
    #expect(names.isSuperset(of: ["Customer", "Note", "Items", "Quantity"]))
    let larder = try #require(ArticleCode.swiftBlocks(in: article).first)
    let sap = try #require(article.components(separatedBy: "```text\n").last?.components(separatedBy: "\n```").first)
      .components(separatedBy: "\n")
    let lines = [sap, larder].map { $0.count { !$0.isEmpty } }
    let naming = [sap, larder].map { $0.count { ArticleCode.names(names, inStringsOf: $0) } }
    #expect(article.contains("| lines without empty ones | \(lines[0]) | \(lines[1]) |"))
    #expect(article.contains("| lines with a property's name in a string | \(naming[0]) | \(naming[1]) |"))
    #expect(lines[1] < lines[0] && naming[0] > 0 && naming[1] == 0)
    // No line of the whole program does, not only those that the article shows.
    let program = parts[0].components(separatedBy: "\n").filter { ArticleCode.names(names, inStringsOf: $0) }
    #expect(program.isEmpty, "\(program)")
  }

  @Test("A line that is in no snippet is found; manifests and other languages are ignored")
  func badSample() {
    let text = """
      ```swift
      // swift-tools-version: 6.2
      let package = Package()
      ```
      ```csharp
      await table.PullAsync();
      ```
      ```swift
        let known = 1

      let unknown = 2
      ```
      """
    let snippets = ArticleCode.lines(of: ["  let known = 1\n"])
    #expect(ArticleCode.uncompiledLines(in: text, snippets: snippets) == ["let unknown = 2"])
    #expect(ArticleCode.swiftBlocks(in: text).count == 1)
    #expect(ArticleCode.swiftBlocks(in: "```swift\nlet open = 1\n") == [["let open = 1", ""]])
  }

  @Test(
    "Names are found in strings, also in those inside of interpolations, and not in code",
    arguments: [
      (#"property("Note")"#, true), (#"text("a", "b Note c")"#, true), (#""\(text($0, property("Note"))) of""#, true),
      (#""\(a) \(property("x", (1)) + "y") Note""#, true), (#""\(property("\(b("Note"))"))""#, true),
      (#"Note("a", "b")"#, false), (#""a" + Note + "b""#, false), (#""\(Note) and \(text(Note))""#, false),
      (#""Notes" + "\"" + Note"#, false), ("Note", false), ("", false),
    ])
  func names(line: String, isFound: Bool) {
    #expect(ArticleCode.names(["Note"], inStringsOf: line) == isFound)
  }

  @Test("The landing page links to each article, and has no dead links")
  func links() throws {
    let folder = "docs/Larder.docc"
    let landing = try #require(SourceFile.all(below: ["\(folder)/Larder.md"]).first)
    let links = landing.text.matches(of: #/^- <doc:(\w+)>$/#.anchorsMatchLineEndings()).map { String($0.1) }
    let articles = SourceFile.all(below: [folder], extensions: ["md"])
      .filter { $0.path != landing.path && !$0.text.hasPrefix("# ``") }
      .map { String($0.path.dropFirst(folder.count + 1).dropLast(3)) }
    #expect(links.sorted() == articles.sorted())
  }
}
